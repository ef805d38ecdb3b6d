"""Finished files of a crawl in an object store: all of them, whole, whatever happens."""

from __future__ import annotations

import random

import pytest

from crawler.errors import StoreError
from crawler.store import ArchiveReader, ObjectStore
from tests.support.archive import read_rows
from tests.support.crawl import crawl, options, start_crawl
from tests.support.exchange import Answer, Request
from tests.support.s3 import BUCKET
from tests.support.server import LocalWeb

pytestmark = pytest.mark.e2e

_PAGES = 40
_SEGMENT = 2**16


def _site(request: Request) -> Answer:
    """Pages that do not compress well, so that segments fill quickly."""
    if request.path == "/robots.txt":
        return Answer(404)
    rng = random.Random(request.path)
    words = " ".join(rng.randbytes(6).hex() for _ in range(600))
    links = "".join(f'<a href="/{n}">{n}</a>' for n in range(_PAGES))
    return Answer(body=f"<title>{request.path}</title><p>{words}</p>{links}".encode())


def _settings(target, **more):
    return options(
        POLITENESS_DELAY=0,
        STORE_OBJECTS=target.as_uri(),
        STORE_WARC_SEGMENT=_SEGMENT,
        FRONTIER_COMMIT_PAGES=5,
        **more,
    )


def _same(target, jobdir):
    """Names of the objects, each of which is the local file of its name."""
    names = {path.name for path in target.iterdir() if not path.name.startswith(".")}
    local = {path.name: path for path in [*(jobdir / "warc").iterdir(), jobdir / "pages.jsonl"]}
    for name in names & local.keys():
        assert (target / name).read_bytes() == local[name].read_bytes()
    return names, local


def test_a_finished_crawl_is_in_the_store_whole(tmp_path):
    """Every segment, its index and the export are there, byte for byte."""
    with LocalWeb(_site) as web:
        crawl([web.url("/0")], *_settings(tmp_path / "there"), jobdir=tmp_path / "job").check()
    names, local = _same(tmp_path / "there", tmp_path / "job")
    assert names == local.keys()
    assert len(names) > 6


def test_local_segments_go_when_they_are_safe(tmp_path):
    """Without STORE_KEEP_LOCAL full segments are in the store alone, and are read from there."""
    target, jobdir = tmp_path / "there", tmp_path / "job"
    settings = _settings(target, STORE_KEEP_LOCAL=0)
    with LocalWeb(_site) as web:
        crawl([web.url("/0")], *settings, "-a", "max_pages=30", jobdir=jobdir).check()
        crawl([web.url("/0")], *settings, jobdir=jobdir).check()
    names, local = _same(target, jobdir)
    assert {"web-00000.warc.gz", "web-00000.cdxj"} <= names - local.keys()
    reader = ArchiveReader(jobdir / "warc", ObjectStore.open(target.as_uri(), options={}))
    rows = read_rows(jobdir)
    assert len(rows) == _PAGES
    for url, row in rows.items():
        record = reader.read(row.warc_file, row.warc_offset, row.warc_length)
        assert record.fields["warc-target-uri"] == url
    with pytest.raises(StoreError, match="STORE_OBJECTS"):
        ArchiveReader(jobdir / "warc", None).read("web-00000.warc.gz", 0, 100)


def test_a_killed_crawl_uploads_the_rest_at_its_next_start(tmp_path):
    """Files that were full and not recorded as uploaded are handed over again."""
    target, jobdir = tmp_path / "there", tmp_path / "job"
    with LocalWeb(_site) as web:
        for _ in range(3):
            with start_crawl([web.url("/0")], *_settings(target), jobdir=jobdir) as running:
                while not (jobdir / "warc/web-00001.warc.gz").exists():
                    assert running.process.poll() is None
                running.kill()
        crawl([web.url("/0")], *_settings(target), jobdir=jobdir).check()
    names, local = _same(target, jobdir)
    assert names == local.keys()


def test_another_crawl_does_not_overwrite_it(tmp_path):
    """A second crawl at the same place is refused before it starts, in one line."""
    with LocalWeb(_site) as web:
        one = _settings(tmp_path / "there")
        crawl([web.url("/0")], *one, "-a", "max_pages=2", jobdir=tmp_path / "one").check()
        second = crawl([web.url("/0")], *one, jobdir=tmp_path / "two")
    assert second.exit_code == 2
    assert "has the files of another crawl" in second.stderr


def test_segments_go_to_a_bucket(tmp_path, s3):
    """The same with a server that speaks S3."""
    given = options(
        POLITENESS_DELAY=0,
        STORE_OBJECTS=f"s3://{BUCKET}/crawls/one",
        STORE_WARC_SEGMENT=_SEGMENT,
    )
    with LocalWeb(_site) as web:
        crawl([web.url("/0")], *given, jobdir=tmp_path / "job").check()
    files = [*(tmp_path / "job/warc").iterdir(), tmp_path / "job/pages.jsonl"]
    expected = {f"crawls/one/{path.name}": path.read_bytes() for path in files}
    assert {name: data for name, data in s3.objects().items() if "/." not in name} == expected
