"""The group commit when a part of it fails: nothing is lost, and nothing is half there."""

from __future__ import annotations

import contextlib
import errno
import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from crawler.commit import WITNESS, GroupCommit, committed_lengths, last_commit, verify
from crawler.config import Config
from crawler.errors import StoreError
from crawler.frontier import Frontier, FrontierOptions, MemoryEngine
from crawler.job import Job
from crawler.model import Allow, Discovery, Outcome, Page
from crawler.seams import current_visit
from crawler.store import JsonLines
from tests.support.books import read_books
from tests.support.shell import begin, project_settings


class FailingEngine(MemoryEngine):
    """Fails as often as it is told; a batch whose sync failed goes as in a power cut."""

    __slots__ = ("fail_sync", "fail_write", "lost", "written")

    def __init__(self):
        super().__init__()
        self.fail_write = self.fail_sync = 0
        self.written = 0
        self.lost = None

    def write(self, batch):
        if self.fail_write:
            self.fail_write -= 1
            raise StoreError("the store cannot be written: No space left on device")
        if self.fail_sync:
            return  # the log was not synced: nothing of it has to be there afterwards
        self.written += 1
        super().write(batch)

    def sync(self):
        if self.fail_sync:
            self.fail_sync -= 1
            raise StoreError("the log cannot be synced: No space left on device")


class FullFile:
    """An output on a disk that is full for so many syncs."""

    path = Path("full.jsonl")

    def __init__(self, failures):
        self.failures = failures

    def sync(self):
        if self.failures:
            self.failures -= 1
            raise OSError(errno.ENOSPC, "No space left on device", str(self.path))
        return {self.path.name: 42}

    def close(self):
        pass


class Setup:
    def __init__(self, **options):
        self.engine = FailingEngine()
        self.frontier = self.open_frontier()
        self.commits = GroupCommit(
            self.engine, self.frontier, **{"interval": 1.0, "pages": 3, "now": 0.0, **options}
        )

    def open_frontier(self):
        options = FrontierOptions(delay=0.0)
        return Frontier(self.engine, options, admit=lambda _: None, key=str, now=0.0)

    def fetch(self, now):
        lease = self.frontier.next(now, lambda url, origin: Allow())
        self.frontier.done(lease, Outcome.STORED, now)
        return lease.url


URLS = [f"http://h{number}.test/" for number in range(6)]


@pytest.mark.parametrize("where", ["output", "write", "sync"])
@pytest.mark.parametrize("failures", [1, 3])
def test_what_cannot_be_stored_is_stored_later(where, failures, caplog):
    """Wherever the disk is full, the commit says so once, stays stalled while it lasts, and the
    first that succeeds brings everything, however long ago it was settled.
    """
    one = Setup()
    one.commits.add_output(FullFile(failures if where == "output" else 0))
    one.engine.fail_write = failures if where == "write" else 0
    one.engine.fail_sync = failures if where == "sync" else 0
    one.frontier.add(Discovery(URLS), 0.0)
    for number in range(failures):
        one.fetch(float(number))
        assert not one.commits.commit(float(number))
        assert "No space left" in one.commits.stalled
        assert one.open_frontier().counts.discovered == 0
    assert one.commits.commit(10.0)
    assert one.commits.stalled is None
    assert committed_lengths(one.engine) == {"full.jsonl": 42}
    again = one.open_frontier()
    assert again.counts.done == Counter({Outcome.STORED: failures})
    assert again.counts.queued == len(URLS) - failures
    assert again.counts.imbalance() == 0
    warnings = [record.message for record in caplog.records]
    assert len(warnings) == 2
    assert "nothing is lost" in warnings[0]
    assert "goes on" in warnings[1]


def test_a_stalled_commit_is_tried_by_the_clock_and_not_by_every_page():
    """While the disk is full, pages that were in flight settle without a try each."""
    one = Setup()
    output = FullFile(100)
    one.commits.add_output(output)
    one.frontier.add(Discovery(URLS), 0.0)
    for _ in range(3):
        one.fetch(0.0)
        one.commits.page_settled(0.5)
    assert output.failures == 99
    one.fetch(0.0)
    one.commits.page_settled(0.6)
    one.commits.tick(0.7)
    assert output.failures == 99
    one.commits.tick(1.6)
    assert output.failures == 98


def test_closing_a_stalled_commit_leaves_the_last_good_one(tmp_path, monkeypatch, caplog):
    """A crawl that ends while the disk is full leaves whole lines, as long as was committed."""
    one = Setup()
    lines = JsonLines(tmp_path / "pages.jsonl", committed=0)
    one.commits.add_output(lines)
    one.frontier.add(Discovery(URLS), 0.0)
    lines.write({"url": one.fetch(0.0)})
    assert one.commits.commit(0.0)
    lines.write({"url": one.fetch(0.0)})

    def full(number, data, at):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("crawler.store.jsonl.os.pwrite", full)
    one.commits.close(1.0)
    written = (tmp_path / "pages.jsonl").read_bytes()
    assert written == b'{"url":"%s"}\n' % URLS[0].encode()
    assert committed_lengths(one.engine) == {"pages.jsonl": len(written)}
    assert one.open_frontier().counts.done == Counter({Outcome.STORED: 1})
    assert "fetches them again" in caplog.text


def test_an_output_that_a_run_does_not_open_keeps_its_length():
    """A pipeline that is off for one run finds its file whole in the next."""
    one = Setup()
    one.commits.add_output(FullFile(0))
    assert one.commits.commit(0.0)
    other = GroupCommit(one.engine, one.open_frontier(), interval=1.0, pages=3, now=0.0)
    assert other.commit(0.0)
    assert committed_lengths(one.engine) == {"full.jsonl": 42}


# --- lines and outcomes -------------------------------------------------------------------


def make_job(directory):
    settings = project_settings(POLITENESS_DELAY=0.0)
    return Job(Config.read(settings), SimpleNamespace(), directory)


def page_of(url):
    nothing = dict.fromkeys(["referrer", "title", "lang", "canonical", "etag", "last_modified"])
    return Page(
        url=url,
        status=200,
        fetched_at=0.0,
        depth=0,
        content_type="text/html",
        charset="utf-8",
        headings=[],
        text="some words",
        robots=[],
        bytes=10,
        **nothing,
    )


def test_a_line_is_committed_with_its_outcome_and_not_before(tmp_path):
    """Between a page's line and its outcome another page may bring about a commit: the line
    is not part of it, or a crash would leave the page stored and queued.
    """
    job = make_job(tmp_path / "job")
    visit, _ = begin(job, "http://a.example/")
    token = current_visit.set(visit)
    job.store(page_of("http://a.example/"))
    current_visit.reset(token)
    assert job.commits.commit(job.now())
    assert job.pages.length == 0
    job.settle(visit, Outcome.STORED)
    assert job.commits.commit(job.now())
    assert job.pages.length > 0
    job.close()
    books = read_books(tmp_path / "job", ["http://a.example/"])
    assert books.states == {"http://a.example/": Outcome.STORED}
    assert books.lines == ["http://a.example/"]
    assert books.faults == []


def test_a_page_that_is_taken_back_leaves_no_line(tmp_path):
    """A visit that ends in a further try writes nothing: the try will."""
    job = make_job(tmp_path / "job")
    visit, _ = begin(job, "http://a.example/")
    token = current_visit.set(visit)
    job.store(page_of("http://a.example/"))
    current_visit.reset(token)
    visit.retry_at = job.now()
    job.take_back(visit)
    job.close()
    books = read_books(tmp_path / "job", ["http://a.example/"])
    assert books.states == {"http://a.example/": None}
    assert books.lines == []
    assert books.faults == []


# --- a store that is not the last one ------------------------------------------------------


@pytest.mark.parametrize(
    ("witness", "refused"),
    [
        (None, False),
        (b"", False),
        (b"[7, 1", False),
        (b'{"a": 1}', False),
        (b"[1, 100.0]", False),
        (b"[2, 130.0]", False),
        (b"[2, 161.0]", True),
        (b"[900, 5000.0]        ", True),
    ],
    ids=["none", "empty", "torn", "foreign", "the same", "a copy's lag", "older", "much older"],
)
def test_a_store_older_than_its_last_commit_is_refused(tmp_path, witness, refused):
    """The witness beside the store may be behind it or gone, as after a power cut; a store
    that is more than a minute of commits behind its witness is not the one that made them.
    """
    one = Setup(directory=tmp_path)
    assert one.commits.commit(100.0)
    assert json.loads((tmp_path / WITNESS).read_bytes()) == [1, 100.0]
    (tmp_path / WITNESS).unlink()
    if witness is not None:
        (tmp_path / WITNESS).write_bytes(witness)
    with pytest.raises(StoreError, match="old copy") if refused else contextlib.nullcontext():
        verify(tmp_path, one.engine)


def test_the_commits_are_numbered_through_restarts_and_failures(tmp_path):
    """Only a commit that succeeded counts, and the next run counts on."""
    one = Setup(directory=tmp_path)
    one.engine.fail_write = 1
    assert not one.commits.commit(1.0)
    assert not (tmp_path / WITNESS).exists()
    assert one.commits.commit(2.0)
    again = GroupCommit(
        one.engine, one.open_frontier(), interval=1.0, pages=3, now=3.0, directory=tmp_path
    )
    assert again.commit(3.0)
    assert last_commit(one.engine) == (2, 3.0)
    assert json.loads((tmp_path / WITNESS).read_bytes()) == [2, 3.0]
