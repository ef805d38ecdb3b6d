"""Lines made again from an archive and a catalog that were written by hand."""

from __future__ import annotations

import random

import orjson
import pytest

from crawler.config import Config
from crawler.reading import Kept, Reprocess, read_query
from crawler.store import Exchange, PageRow, Revisited, WarcWriter
from crawler.store.catalog import Catalog
from crawler.urls import Canonicalizer, UrlOptions, fingerprint, host_key, host_of, site_of
from tests.support.prose import Prose, document, paragraphs
from tests.support.shell import project_settings

_AT = 1_796_119_200.4567
_HTML = [(b"Content-Type", b"text/html; charset=utf-8")]


class Archive:
    """A job directory that grows as it would in a crawl, but by hand."""

    def __init__(self, directory):
        self.directory = directory
        (directory / "warc").mkdir()
        self._canonicalizer = Canonicalizer(UrlOptions())
        self._writer = WarcWriter(
            directory / "warc", "web", committed={}, limit=2**16, random=random.Random(1)
        )
        self._catalog = Catalog.open(str(directory / "catalog.sqlite"))
        self._count = 0

    def add(self, url, body, *, in_catalog=True, revisit_of=None, **known):
        """Archive an answer, and give it a row."""
        at = _AT + self._count
        self._count += 1
        exchange = Exchange(url, at, 200, _HTML, body)
        place = self._writer.response(exchange, revisit_of=revisit_of)
        row = PageRow(
            url_hash=fingerprint(host_key(url), self._canonicalizer.key(url)),
            url=url,
            host=host_key(url),
            domain=site_of(host_of(url)),
            fetched_at=at,
            status_code=200,
            content_type="text/html",
            warc_file=place.file,
            warc_offset=place.offset,
            warc_length=place.length,
            **{"outcome": "stored", **known},
        )
        if in_catalog:
            self._catalog.write([row])
        return Revisited(url, at, place.record_id)

    def lines(self):
        """Close it and return its lines as made again, and what differs."""
        self._writer.sync()
        self._writer.close()
        self._catalog.close()
        faults = []
        with Kept(self.directory, Config.read(project_settings())) as kept:
            run = Reprocess(kept, read_query({}), warn=faults.append, tick=lambda run: None)
            lines = [orjson.loads(line) for line in run.lines()]
        return lines, run.tally, faults


@pytest.fixture
def archive(tmp_path):
    return Archive(tmp_path)


def _page(seed):
    prose = Prose(seed)
    return document(prose.title(), paragraphs(prose, 3, 50))


def test_pages_become_lines_in_the_order_of_the_archive(archive):
    """With what the catalog knows, and the time that the line had."""
    archive.add("http://a.test/2", _page(2), depth=3, referrer="http://a.test/")
    archive.add("http://a.test/1", _page(1))
    lines, tally, _ = archive.lines()
    assert [line["url"] for line in lines] == ["http://a.test/2", "http://a.test/1"]
    assert (lines[0]["depth"], lines[0]["referrer"]) == (3, "http://a.test/")
    assert lines[0]["fetched_at"] == "2026-12-01T10:00:00.457Z"
    assert str(tally) == "0 same, 0 changed, 2 new, 0 gone"


def test_a_copy_that_was_archived_first_is_still_the_copy(archive):
    """The page that a copy repeats is judged before it, and its line stays in its place."""
    archive.add("http://a.test/0", _page(0))
    archive.add(
        "http://a.test/copy", _page(1), outcome="duplicate_exact", duplicate_of="http://a.test/1"
    )
    archive.add("http://a.test/2", _page(2))
    archive.add("http://a.test/1", _page(1))
    lines, tally, _ = archive.lines()
    assert [line["url"][-1] for line in lines] == ["0", "2", "1"]
    assert tally.new == 3


def test_a_record_that_was_not_committed_does_not_count(archive):
    """What has no row, as robots.txt or the last pages before a kill, is passed over."""
    archive.add("http://a.test/robots.txt", b"User-agent: *", in_catalog=False)
    archive.add("http://a.test/1", _page("old"), in_catalog=False)
    archive.add("http://a.test/1", _page("new"))
    lines, _, _ = archive.lines()
    assert len(lines) == 1
    assert lines[0]["title"] in _page("new").decode()


def test_the_bytes_of_a_copy_are_those_of_its_original(archive, monkeypatch):
    """A record without a body, should its page be none of a kind any more, has that body."""
    body = _page(1)
    first = archive.add("http://a.test/1", body)
    archive.add("http://b.test/2", body, revisit_of=first, outcome="duplicate_exact")
    monkeypatch.setattr("crawler.dedupe.verdicts.Verdicts.verdict", lambda *_: None)
    lines, _, faults = archive.lines()
    assert faults == []
    assert [line["bytes"] for line in lines] == [len(body)] * 2
    assert lines[0]["text"] == lines[1]["text"]


def test_a_copy_whose_original_is_away_is_told(archive):
    """Without the record that has the body there is no page, and it is said which is missing."""
    gone = Revisited("http://a.test/gone", _AT, "<urn:uuid:1>")
    archive.add("http://b.test/2", _page(1), revisit_of=gone, outcome="duplicate_exact")
    lines, tally, (fault,) = archive.lines()
    assert (lines, tally.unreadable) == ([], 1)
    assert fault.startswith("http://b.test/2: has the bytes of http://a.test/gone at 2026-12-01")


def test_many_segments_are_read_in_their_order(archive):
    """The order is that of the segments' numbers, and nothing is left out between two."""
    rng = random.Random(5)
    for number in range(30):
        words = " ".join(rng.randbytes(6).hex() for _ in range(900))
        archive.add(f"http://a.test/{number}", f"<p>{words}</p>".encode())
    lines, _, _ = archive.lines()
    assert len(list((archive.directory / "warc").glob("*.warc.gz"))) > 2
    assert [line["url"] for line in lines] == [f"http://a.test/{n}" for n in range(30)]
