"""A file appears whole, or what was there stays."""

from __future__ import annotations

import os
import stat

import pytest

from crawler.errors import StoreError
from crawler.reading.whole_file import whole_file


@pytest.fixture
def job(tmp_path):
    (tmp_path / "job").mkdir()
    return tmp_path / "job"


def test_a_whole_file_takes_its_name(tmp_path, job):
    """While it is written what was there stays; then it is replaced, and nothing else is left."""
    path = tmp_path / "x"
    path.write_text("before")
    with whole_file(path, outside=job) as file:
        file.write(b"after")
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["job", "x"]


def _fail(path, job, error):
    with whole_file(path, outside=job) as file:
        file.write(b"half")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, StoreError])
def test_what_fails_leaves_what_was_there(tmp_path, job, error):
    """Whatever ends it early, the file of before is untouched and no part is left."""
    path = tmp_path / "x"
    path.write_text("before")
    with pytest.raises(error):
        _fail(path, job, error)
    assert path.read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["job", "x"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("job/pages.jsonl", "the job directory is the crawl's own"),
        ("job/deep/../x", "the job directory is the crawl's own"),
        ("link/x", "the job directory is the crawl's own"),
        ("job", "is a directory"),
        ("none/x", "No such file or directory"),
    ],
)
def test_where_no_file_may_be_nothing_is_written(tmp_path, job, name, said):
    """The message names the option and the reason; the crawl's files are out of reach."""
    (tmp_path / "link").symlink_to(job)
    with pytest.raises(StoreError, match=said), whole_file(tmp_path / name, outside=job) as file:
        file.write(b"x")
    assert not list(job.iterdir())


def test_a_pipe_is_written_to_and_stays_one(tmp_path, job):
    """What is no regular file, such as /dev/null, is never replaced by one."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with whole_file(tmp_path / "pipe", outside=job) as file:
        file.write(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
