"""How lines made again are counted."""

from __future__ import annotations

import pytest

from crawler.reading.comparison import Tally
from tests.support.catalog_rows import page


@pytest.mark.parametrize(
    ("before", "after", "counted"),
    [
        (b"a", b"a", "same"),
        (b"a", b"b", "changed"),
        (None, b"b", "new"),
        (b"a", None, "gone"),
    ],
)
def test_each_page_counts_once(before, after, counted):
    """By whether it had a line, has one, and whether that is the same."""
    tally = Tally()
    tally.note(page(1, text_offset=0), before, after)
    assert [getattr(tally, name) for name in ("same", "changed", "new", "gone")].count(1) == 1
    assert getattr(tally, counted) == 1
    assert bool(tally.differences) == (counted != "same")


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
    assert tally.differences == 1
