"""Large answers: complete, in order, and bounded."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from crawler.api.streams import ROWS_AT_ONCE, BodyResponse, Flow, page_lines
from crawler.store.pages import PageQuery
from tests.support.archived import SEED, Archived, hash_of
from tests.support.live_api import open_library


@pytest.fixture
def archived(tmp_path):
    with Archived(tmp_path) as archived:
        row = archived.page(SEED, b"", archived=False)
        urls = [f"{SEED}{n}" for n in range(2 * ROWS_AT_ONCE + 49)]
        archived.write(
            *(replace(row, url=url, url_hash=hash_of(url), fetched_at=n) for n, url in
              enumerate(urls))
        )  # fmt: skip
        yield archived


@pytest.fixture
def catalog(archived):
    with open_library(archived.directory) as library:
        yield library.catalog


@pytest.mark.parametrize(
    ("most", "lines"), [(None, 450), (450, 450), (449, 449), (250, 250), (200, 200), (1, 1)]
)
def test_lines_are_all_rows_once_in_order(catalog, most, lines):
    """As many as are wanted, whichever number of answers they came in."""
    query = PageQuery(limit=min(most or ROWS_AT_ONCE, ROWS_AT_ONCE))
    pieces = list(page_lines(catalog, query, catalog.pages(query), most))
    urls = [json.loads(line)["url"] for line in b"".join(pieces).splitlines()]
    assert len(urls) == len(set(urls)) == lines
    assert urls[0] == f"{SEED}0"
    assert max(piece.count(b"\n") for piece in pieces) <= ROWS_AT_ONCE


def test_rows_are_looked_up_while_lines_are_sent(archived, catalog):
    """Memory holds some hundred rows at a time: what is written meanwhile comes, too."""
    query = PageQuery(limit=ROWS_AT_ONCE)
    lines = page_lines(catalog, query, catalog.pages(query), None)
    next(lines)
    archived.page(f"{SEED}late", b"", archived=False)
    assert json.loads(b"".join(lines).splitlines()[-1])["url"] == f"{SEED}late"


def test_no_rows_are_no_lines(catalog):
    """An empty answer has no line at all."""
    query = PageQuery(domain="example.net")
    assert list(page_lines(catalog, query, catalog.pages(query), None)) == []


def test_bodies_under_way_are_bounded():
    """What goes beyond the bound is refused until bytes come back; one alone always goes."""
    flow = Flow(100)
    assert flow.take(1000)
    assert not flow.take(1)
    flow.give_back(1000)
    assert flow.take(60)
    assert flow.take(40)
    assert not flow.take(1)


def _send(response, send):
    asyncio.run(response({"type": "http"}, None, send))


def test_a_body_is_sent_in_pieces_and_given_back():
    """The pieces make the whole, and its bytes no longer count afterwards."""
    content, sent, flow = b"0123456789" * 100_000, [], Flow(1)
    assert flow.take(len(content))

    async def send(message):
        sent.append(message)

    _send(BodyResponse(content, {"Content-Type": "a/b"}, flow), send)
    assert dict(sent[0]["headers"])[b"content-length"] == b"1000000"
    assert b"".join(message["body"] for message in sent[1:]) == content
    assert max(len(message["body"]) for message in sent[1:]) <= 256 << 10
    assert flow.take(1)


def test_a_body_that_nobody_takes_is_given_back():
    """A client that has left does not count for ever."""
    flow = Flow(1)
    assert flow.take(10)

    async def send(message):
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        _send(BodyResponse(b"0123456789", {}, flow), send)
    assert flow.take(1)
