"""Tables of what is printed of the web."""

from __future__ import annotations

from crawler.reading.terminal import table


def test_a_table_has_its_columns_and_its_bounds():
    """Cells begin where the head says; what is too long is cut, the last column by the line."""
    rows = [("when", "what", "where"), ("now", "much too long", "http://x.test/" + "a" * 50)]
    assert list(table(rows, (6, 5))) == [
        "when    what   where",
        "now     much…  http://x.test/" + "a" * 50,
    ]
    assert list(table(rows, (6, 5), 20))[1] == "now     much…  http…"


def test_a_cell_cannot_make_a_row():
    """A line end in a cell is an escape."""
    assert list(table([("a\nb", "c\x1b[m")], (8,))) == [r"a\nb      c\x1b[m"]
