"""What strangers write is printed as text, and as nothing else."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.printable import printable, printable_json, printable_lines

_ANY = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)
_DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
ROWS = {
    "plain": ("http://a.test/?q=%0A", "http://a.test/?q=%0A"),
    "letters": ("Übergrößen, 中文, עברית", "Übergrößen, 中文, עברית"),
    "line feed": ("a\nb", "a\\nb"),
    "carriage return": ("one\rtwo\nthree", "one\\rtwo\\nthree"),
    "colour": ("\x1b[31mred", "\\x1b[31mred"),
    "title of the window": ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
    "control of eight bits": ("a\x9b2J", "a\\x9b2J"),
    "backspace": ("ok\x08\x08no", "ok\\x08\\x08no"),
    "next line": ("a\x85b", "a\\x85b"),
    "line separator": ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
    "turned around": ("\u202egpj.exe\u2066", "\\u202egpj.exe\\u2066"),
    "invisible": ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
    "half a character": ("a\ud800", "a\\ud800"),
    "tag": ("\U000e0041", "\\U000e0041"),
    "nothing": ("", ""),
}


def _moves(char):
    return (
        unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs")
        or unicodedata.bidirectional(char) in _DIRECTIONS
    )


@pytest.mark.parametrize(("text", "shown"), ROWS.values(), ids=ROWS)
def test_what_is_not_print_is_shown_as_an_escape(text, shown):
    """A reader sees what is there, and the terminal does nothing but print."""
    assert printable(text) == shown


@given(_ANY)
def test_any_text_is_one_line_of_print(text):
    """No control, separator, surrogate or direction character is left, whatever comes; twice is
    once, and no text is more than ten times as long.
    """
    shown = printable(text)
    assert not [char for char in shown if _moves(char)]
    assert printable(shown) == shown
    assert len(shown) <= 10 * len(text)
    laid_out = printable(text, layout=True)
    assert not [char for char in laid_out if _moves(char) and char not in "\n\t"]


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Zl", "Zp", "Cs"))))
def test_a_harmless_text_stays_as_it_is(text):
    """Letters of all scripts are printed as they are."""
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("crawled x\n2026-01-01 [y] ERROR: z", "crawled x\n  2026-01-01 [y] ERROR: z"),
        ("Dumping\n{'a': 1,\n 'b': 2}", "Dumping\n{'a': 1,\n 'b': 2}"),
        ("Tracing\n  File x\n\tcode\nError: \x1b[J", "Tracing\n  File x\n\tcode\n  Error: \\x1b[J"),
        ("a\r\n[b", "a\\r\n  [b"),
        ("a\n\n\nb", "a\n\n\n  b"),
        ("a\n\rb", "a\n  \\rb"),
    ],
)
def test_several_lines_stay_lines_of_one_record(text, shown):
    """Dumps and tracebacks can be read; none of their lines passes for one of the log."""
    assert printable_lines(text) == shown


@given(_ANY)
def test_no_line_but_the_first_begins_in_the_first_column(text):
    """And no line has a control but tabs."""
    first, *rest = printable_lines(text).split("\n")
    assert all(line[:1].isspace() or line[:1] in ("", "{") for line in rest)
    assert not [char for line in [first, *rest] for char in line if _moves(char) and char != "\t"]
    assert printable_lines("\n".join([first, *rest])) == "\n".join([first, *rest])


@given(st.recursive(_ANY, lambda one: st.lists(one) | st.dictionaries(_ANY, one)))
def test_json_says_the_same(value):
    """JSON with escapes is JSON of the same value, and moves nothing."""
    text = printable_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert not [char for char in text if _moves(char)]
