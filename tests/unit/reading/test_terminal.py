"""Tables of what is printed of the web."""

from __future__ import annotations

import pytest

from crawler.reading.terminal import table


def test_a_table_has_its_columns_and_its_bounds():
    """Cells begin where the head says; what is too long is cut, the last column by the line."""
    rows = [("when", "what", "where"), ("now", "much too long", "http://x.test/" + "a" * 50)]
    assert list(table(rows, (6, 5))) == [
        "when    what   where",
        "now     much…  http://x.test/" + "a" * 50,
    ]
    assert list(table(rows, (6, 5), 20))[1] == "now     much…  http…"


@pytest.mark.parametrize(
    ("most", "line"),
    [
        (None, "2026  stored  200     http://x.at/page"),
        (60, "2026  stored  200     http://x.at/page"),
        (40, "2026  stored  http://x.at/page"),
        (20, "stored  http://x.at…"),
        (10, "http://x.…"),
    ],
)
def test_the_last_column_has_half_of_a_line(most, line):
    """Columns that would leave it less than half are left out, the least important ones first."""
    row = ("2026", "stored", "200", "http://x.at/page")
    assert list(table([row], (4, 6, 6), most, ranks=(1, 0, 2))) == [line]


def test_a_cell_cannot_make_a_row():
    """A line end in a cell is an escape."""
    assert list(table([("a\nb", "c\x1b[m")], (8,))) == [r"a\nb      c\x1b[m"]
