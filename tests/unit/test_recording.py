"""What is kept of a visit: whatever an answer consists of, it is kept, and nothing raises."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import Response

from crawler.errors import StoreError
from crawler.frontier import Frontier, FrontierOptions, MemoryEngine
from crawler.model import Allow, Discovery, Duplicate, Outcome, Page
from crawler.recording import Recorder, exchange_of
from crawler.store import PageRow, WarcWriter, read_record
from crawler.visits import Answer, Visit

URL = "http://a.test/p?q=1"
NAMES = st.binary(min_size=1, max_size=20)
HEADERS = st.dictionaries(NAMES, st.lists(st.binary(max_size=50), min_size=1, max_size=3))


class Rows(list):
    """An outbox that keeps what it is given."""

    add = list.append


def _visit(url=URL, **answer):
    frontier = Frontier(
        MemoryEngine(), FrontierOptions(delay=0.0), admit=lambda _: None, key=str, now=0.0
    )
    frontier.add(Discovery([url], depth=2, referrer="http://a.test/"), 0.0)
    visit = Visit(frontier.next(0.0, lambda *_: Allow()))
    if answer:
        response = Response(url, **answer)
        visit.answer = Answer(Request(url), response, 1.5, response.body)
    return visit


def _recorder(directory, *, find=lambda _: None, read=None, other_types=True):
    rows = Rows()
    archive = WarcWriter(directory, "web", committed={}, limit=1 << 30, random=Random(1))
    recorder = Recorder(archive=archive, outbox=rows, find=find, read=read, other_types=other_types)
    return recorder, archive, rows


def _page(visit, **changes):
    fields = {
        "url": URL, "status": 200, "fetched_at": 1.5, "depth": 2, "referrer": None,
        "content_type": "text/html", "charset": "utf-8", "title": None, "lang": None,
        "headings": [], "text": "", "canonical": None, "robots": [], "etag": None,
        "last_modified": None, "bytes": 4,
    }  # fmt: skip
    visit.page = Page(**(fields | changes))


@settings(deadline=None)
@given(
    status=st.integers(100, 999),
    headers=HEADERS,
    body=st.binary(max_size=300),
    outcome=st.sampled_from(Outcome),
)
def test_any_answer_is_kept(tmp_path_factory, status, headers, body, outcome):
    """Whatever header fields, status and body a server makes up: one record, one row."""
    directory = tmp_path_factory.mktemp("any")
    recorder, archive, rows = _recorder(directory)
    recorder.page(_visit(status=status, headers=headers, body=body), outcome, 2.0)
    archive.sync()
    [row] = rows
    record = read_record(directory / row.warc_file, row.warc_offset, row.warc_length)
    assert (record.status, record.body) == (status, body)
    assert (row.status_code, row.fetched_at, row.body_bytes) == (status, 1.5, len(body))


@settings(deadline=None)
@given(url=st.from_regex(r"\Ahttps?://[a-z0-9.:\[\]-]{1,20}(/[!-~]{0,30})?\Z"))
def test_any_url_becomes_a_request_line(url):
    """The request has one line with the path, and a Host."""
    exchange = exchange_of(
        url, Answer(Request("http://a.test/"), Response("http://a.test/"), 0, b"")
    )
    first, *fields, _, _ = exchange.request.split(b"\r\n")
    assert first.startswith(b"GET /")
    assert first.endswith(b" HTTP/1.1")
    assert any(field.startswith(b"Host: ") for field in fields)


def test_a_url_without_an_answer_has_a_row(tmp_path):
    """Its time is that of its end, its cause what went wrong."""
    recorder, _, rows = _recorder(tmp_path)
    visit = _visit()
    visit.cause = "dns: no such name"
    recorder.page(visit, Outcome.FAILED_NETWORK, 7.0)
    [row] = rows
    assert (row.outcome, row.cause, row.fetched_at) == ("failed_network", "dns: no such name", 7.0)
    assert (row.status_code, row.warc_file, row.depth) == (None, None, 2)


@pytest.mark.parametrize(
    ("body", "kind"), [(b"body", "revisit"), (b"BODY", "response")], ids=["same", "other"]
)
def test_an_old_original_is_read_from_the_archive(tmp_path, body, kind):
    """A page first met long ago is referred to if its bytes are the same, else kept whole."""
    recorder, archive, rows = _recorder(tmp_path)
    recorder.page(_visit(body=b"body"), Outcome.STORED, 2.0)
    archive.sync()
    [first] = rows

    def read(row):
        return read_record(tmp_path / row.warc_file, row.warc_offset, row.warc_length)

    later = Recorder(
        archive=archive, outbox=rows, find={URL: first}.get, read=read, other_types=True
    )
    copy = _visit("http://a.test/copy", body=body)
    _page(copy, duplicate=Duplicate(URL, Outcome.DUPLICATE_EXACT))
    later.page(copy, Outcome.DUPLICATE_EXACT, 3.0)
    archive.sync()
    assert read(rows[1]).kind == kind
    assert rows[1].duplicate_of == URL


def test_an_original_that_cannot_be_read_costs_space_alone(tmp_path):
    """When the archive or the catalog fails to answer, the page is kept whole."""

    def fail(_):
        raise StoreError("away")

    for number, (find, read) in enumerate(
        [(fail, None), (lambda _: PageRow(b"", URL, "", "", "stored", 0.0, warc_file="x"), fail)]
    ):
        directory = tmp_path / str(number)
        directory.mkdir()
        recorder, archive, rows = _recorder(directory, find=find, read=read)
        copy = _visit(body=b"body")
        _page(copy, duplicate=Duplicate("http://a.test/first", Outcome.DUPLICATE_EXACT))
        recorder.page(copy, Outcome.DUPLICATE_EXACT, 3.0)
        archive.sync()
        [row] = rows
        record = read_record(directory / row.warc_file, row.warc_offset, row.warc_length)
        assert record.kind == "response"


def test_other_types_can_be_left_out(tmp_path):
    """STORE_OTHER_TYPES off keeps the row and no bytes."""
    recorder, _, rows = _recorder(tmp_path, other_types=False)
    recorder.page(_visit(body=b"\x89PNG"), Outcome.SKIPPED_TYPE, 2.0)
    [row] = rows
    assert row.warc_file is None
    assert row.status_code == 200
