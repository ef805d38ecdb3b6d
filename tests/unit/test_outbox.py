"""The way of rows to the catalog: each gets there, whatever stops in between."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.commit import GroupCommit
from crawler.errors import StoreError
from crawler.frontier import Frontier, FrontierOptions, MemoryEngine
from crawler.frontier.engine import Table
from crawler.outbox import Outbox, decode_row, encode_row
from crawler.store import PageRow

ROW = PageRow(b"h" * 8 + b"u" * 8, "http://a.test/", "a.test", "a.test", "stored", 1.5)


class Rows:
    """A catalog that is away as often as it is told."""

    def __init__(self, failures=0):
        self.failures = failures
        self.rows = []
        self.closed = False

    def write(self, rows):
        if self.failures:
            self.failures -= 1
            raise StoreError("the catalog is away")
        self.rows += rows

    def close(self):
        self.closed = True


def _open(engine, catalog):
    frontier = Frontier(engine, FrontierOptions(), admit=lambda _: None, key=str, now=0.0)
    outbox = Outbox(engine, frontier, catalog)
    commits = GroupCommit(engine, frontier, interval=1.0, pages=10, now=0.0)
    commits.add_sink(outbox)
    return outbox, commits


def _row(number):
    return replace(ROW, url=f"http://a.test/{number}")


def test_rows_arrive_with_the_commit_and_leave_with_the_next():
    """The catalog has a row when its commit is made; one commit later the store has it no more."""
    engine, catalog = MemoryEngine(), Rows()
    outbox, commits = _open(engine, catalog)
    outbox.add(_row(1))
    assert catalog.rows == []
    assert commits.commit(1.0)
    assert catalog.rows == [_row(1)]
    assert commits.commit(2.0)
    assert engine.scan(Table.OUTBOX) == []
    commits.close(3.0)
    assert catalog.closed


def test_a_start_delivers_what_a_crash_left():
    """Rows that were committed, and not delivered when the process died, are by the next one."""
    engine = MemoryEngine()
    outbox, commits = _open(engine, Rows(failures=1))
    outbox.add(_row(1))
    outbox.add(_row(2))
    commits.commit(1.0)
    catalog = Rows()
    again, commits = _open(engine, catalog)
    again.deliver()
    again.add(_row(3))
    commits.commit(2.0)
    assert catalog.rows == [_row(1), _row(2), _row(3)]


def test_a_catalog_that_is_away_pauses_the_crawl(caplog):
    """It is said once, the pages are durable all the same, and all rows get there in the end."""
    engine, catalog = MemoryEngine(), Rows(failures=3)
    outbox, commits = _open(engine, catalog)
    for number in range(3):
        outbox.add(_row(number))
        assert commits.commit(float(number))
        assert commits.stalled == "the catalog is away"
    assert len(engine.scan(Table.OUTBOX)) == 3
    commits.commit(4.0)
    assert commits.stalled is None
    assert catalog.rows == [_row(0), _row(1), _row(2)]
    said = [record.getMessage() for record in caplog.records]
    assert [text.startswith("The crawl pauses") for text in said] == [True, False]


def test_many_rows_go_in_parts():
    """However many rows wait, one delivery's memory and transaction are bounded."""
    engine, catalog = MemoryEngine(), Rows()
    outbox, _ = _open(engine, catalog)
    for number in range(1201):
        outbox.add(_row(number))
    outbox.deliver()
    assert catalog.rows == [_row(number) for number in range(1201)]
    assert len(outbox) == 0


_KINDS = {
    "str": st.text(),
    "str | None": st.none() | st.text(),
    "bytes": st.binary(min_size=16, max_size=16),
    "bytes | None": st.none() | st.binary(max_size=32),
    "int": st.integers(0, 2**40),
    "int | None": st.none() | st.integers(0, 2**64 - 1),
    "float": st.floats(0, 4e9),
    "float | None": st.none() | st.floats(0, 4e9),
    "tuple[str, ...]": st.lists(st.text()).map(tuple),
}


@given(st.builds(PageRow, **{field.name: _KINDS[str(field.type)] for field in fields(PageRow)}))
def test_every_row_comes_back_as_it_was(row):
    """A row on its way is the row that was sent, field by field."""
    assert decode_row(encode_row(row)) == row


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_half_characters_are_replaced(text):
    """What JSON cannot carry becomes U+FFFD instead of an error amid a commit."""
    assert "\ufffd" in decode_row(encode_row(replace(ROW, title=text))).title
