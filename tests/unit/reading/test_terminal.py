"""What is printed of the web cannot drive a terminal, and says what was there."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.terminal import printable, printable_json, table

_ANY = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)
_DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def _moves(char):
    return (
        unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs")
        or unicodedata.bidirectional(char) in _DIRECTIONS
    )


@given(_ANY)
def test_nothing_that_moves_a_cursor_gets_through(text):
    """No control, separator, surrogate or direction character is left, whatever comes."""
    assert not [char for char in printable(text) if _moves(char)]
    assert not [
        char for char in printable(text, layout=True) if _moves(char) and char not in "\n\t"
    ]


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Zl", "Zp", "Cs"))))
def test_a_harmless_text_stays_as_it_is(text):
    """Letters of all scripts are printed as they are."""
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
        ("a\x9b2J", r"a\x9b2J"),
        ("one\rtwo\nthree", r"one\rtwo\nthree"),
        ("\u202egpj.exe", r"\u202egpj.exe"),
        ("\U000e0041", r"\U000e0041"),
        ("\udc80", r"\udc80"),
    ],
)
def test_what_is_not_printed_is_seen(text, shown):
    """Each unsafe character is shown as its escape."""
    assert printable(text) == shown


@given(st.recursive(_ANY, lambda one: st.lists(one) | st.dictionaries(_ANY, one)))
def test_json_says_the_same(value):
    """JSON with escapes is JSON of the same value, and moves nothing."""
    text = printable_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert not [char for char in text if _moves(char)]


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
