"""Values on their way to the database and back, and what a group of visits changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.clock import iso_utc
from crawler.store.catalog_changes import Changes, Known
from crawler.store.catalog_rows import (
    cursor_of,
    first_at,
    indexable,
    milliseconds,
    page_values,
    position,
    storable,
)
from tests.support.catalog_rows import AT, any_page, page


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        ("plain", "plain"),
        ("\U0001f600 é 中", "\U0001f600 é 中"),
        ("a\0b", "a\ufffdb"),
        ("\ud83d\ude00", "\ufffd\ufffd"),
        ("\udfff\r\n\t", "\ufffd\r\n\t"),
    ],
    ids=ascii,
)
def test_what_no_database_keeps_is_replaced(text, kept):
    """NUL and surrogates, each by one U+FFFD; nothing else."""
    assert storable(text) == kept
    kept.encode()


@given(any_page(bytes(16)))
def test_the_values_of_any_page_suit_both_databases(row):
    """Texts can be encoded and have no NUL, keys are short, numbers have 64 bits with sign."""
    for name, value in page_values(row).items():
        if isinstance(value, str):
            value.encode()
            assert "\0" not in value
        elif isinstance(value, int) and name != "first_seen_at":
            assert -(2**63) <= value < 2**63
    assert len(page_values(row)["domain"].encode()) <= 4 * 255


def test_keys_of_an_index_are_cut():
    """What is asked for is cut as what is stored, so that it is found."""
    long = "x" * 3_000
    values = page_values(page(1, content_type=long, domain=long, title=long))
    assert values["content_type"] == values["domain"] == indexable(long) == "x" * 255
    assert values["title"] == long


@given(st.floats(0, 1e11), st.integers(0, 10**14))
def test_a_bound_is_the_first_millisecond_that_is_not_before_it(at, kept):
    """Kept times compare with a bound as they would as seconds; and keeping twice is once."""
    assert (kept >= first_at(at)) == (kept / 1000 >= at)
    assert milliseconds(kept / 1000) == kept


@given(st.floats(0, 4e9))
def test_a_visit_has_one_time(at):
    """What lines and archive say of it is what the catalog keeps."""
    shown = datetime.fromisoformat(iso_utc(at))
    assert shown == datetime.fromtimestamp(milliseconds(at) / 1000, tz=UTC)


class Place:
    """A row of which only the place is known."""

    def __init__(self, fetched_at, url_hash):
        self.fetched_at, self.url_hash = fetched_at, url_hash


@given(st.integers(-(2**63), 2**63 - 1), st.binary(min_size=16, max_size=16))
def test_a_cursor_is_the_place_and_needs_no_escaping(at, url_hash):
    """It goes into a URL as it is."""
    cursor = cursor_of(Place(at, url_hash))
    assert position(cursor) == (at, url_hash)
    assert cursor.replace("-", "").replace("_", "").isalnum()


@given(st.text(max_size=40) | st.binary(max_size=40).map(lambda raw: raw.decode("latin-1")))
def test_no_text_but_a_cursor_is_a_place(text):
    """Anything else is refused by ValueError, whatever it is."""
    try:
        at, url_hash = position(text)
    except ValueError:
        return
    assert cursor_of(Place(at, url_hash)) == text


def test_visits_are_taken_in_the_order_of_their_times():
    """Of several in one group the last stays; of two at one time the first is the visit."""
    rows = [
        page(1, AT + 2, content_hash=b"b" * 32, title="last"),
        page(1, AT, content_hash=b"a" * 32),
        page(1, AT + 2, content_hash=b"c" * 32, title="not"),
        page(1, AT + 1, content_hash=b"a" * 32),
    ]
    changes = Changes(rows, {})
    assert [values["title"] for values in changes.pages] == ["last"]
    assert changes.pages[0]["first_seen_at"] == milliseconds(AT)
    assert [visit["changed"] for visit in changes.visits][:3] == [True, False, True]
    assert changes.added == 1
    assert changes.domains == [
        {"domain": "example.com", "pages": 1, "last_fetched_at": milliseconds(AT + 2)}
    ]


def test_a_page_that_moves_between_domains_is_counted_once():
    """Also when it moves within one group, and back."""
    row = page(1, AT + 1, domain="b.example")
    known = {row.url_hash: Known("a.example", milliseconds(AT), milliseconds(AT), None)}
    moved = Changes([row], known).domains
    assert {one["domain"]: one["pages"] for one in moved} == {"a.example": -1, "b.example": 1}
    back = Changes([row, replace(row, fetched_at=AT + 2, domain="a.example")], known).domains
    assert [(one["domain"], one["pages"]) for one in back] == [("a.example", 0)]


def test_an_older_visit_of_a_known_page_changes_no_page():
    """It is added to the history, and may show when the page was first seen."""
    row = page(1, AT - 1)
    at = milliseconds(AT)
    known = {row.url_hash: Known("example.com", at, at, bytes(32))}
    changes = Changes([row], known)
    assert (changes.pages, changes.domains, changes.added) == ([], [], 0)
    assert changes.earlier == {row.url_hash: at - 1000}
    assert len(changes.visits) == 1
    assert Changes([replace(row, fetched_at=AT)], known).earlier == {}
