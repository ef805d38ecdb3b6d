"""How lines made again are counted."""

from __future__ import annotations

import pytest

from crawler.reading.comparison import Tally
from tests.support.catalog_rows import page


@pytest.mark.parametrize(
    ("before", "after", "counted"),
    [
        (b'{"a":1}', b'{"a":1}', "same"),
        (b'{"a":1}', b'{"a":2}', "changed"),
        (None, b'{"a":1}', "new"),
        (b'{"a":1}', None, "gone"),
    ],
)
def test_each_page_counts_once(before, after, counted):
    """By whether it had a line, has one, and whether that is the same."""
    tally = Tally()
    tally.note(page(1, text_offset=0), before, after)
    assert [getattr(tally, name) for name in ("same", "changed", "new", "gone")].count(1) == 1
    assert getattr(tally, counted) == 1
    assert bool(tally.differences) == (counted != "same")


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        (b'{"a":1,"b":2,"c":3}', b'{"a":1,"b":3,"d":4}', "b, c, d"),
        (b'{"a":1,"b":2}', b'{"b":2,"a":1}', "the same fields, written otherwise"),
        (b'{"a":1', b'{"a":1}', "it was no JSON"),
    ],
)
def test_a_change_names_page_and_fields(before, after, fields):
    """Whoever checks sees what to look at."""
    tally = Tally()
    tally.note(page(1, text_offset=0), before, after)
    assert tally.examples == [f"changed: {page(1).url}: {fields}"]


def test_the_first_differences_are_shown():
    """Ten at the most, of any kind, in the order of the archive."""
    tally = Tally()
    tally.note(page(1), None, b"{}")
    tally.note(page(2, text_offset=0), b"{}", None)
    for n in range(20):
        tally.note(page(3 + n, text_offset=1 + n), b"{}", b"{ }")
    assert tally.examples[:2] == [f"new: {page(1).url}", f"gone: {page(2).url}"]
    assert (len(tally.examples), tally.differences) == (10, 22)


def test_a_page_without_a_line_then_and_now_counts_for_nothing():
    """A redirect or an error page is no line in either."""
    tally = Tally()
    tally.note(page(1), None, None)
    assert (tally.differences, tally.lines) == (0, 0)


def test_another_order_is_a_difference():
    """Lines that are the same but in another order are told."""
    tally = Tally()
    for offset in (0, 20, 10, 30):
        tally.note(page(1, text_offset=offset), b"a", b"a")
    assert str(tally) == "4 same, 0 changed, 0 new, 0 gone, 1 in another order"
    assert tally.examples == [f"in another order: {page(1).url}"]
    assert tally.differences == 1
