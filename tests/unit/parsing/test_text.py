"""Main text, its stand-in, and the language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.parsing.text import (
    PageText,
    has_words,
    is_searchable,
    language,
    read_text,
    visible_text,
)

ENGLISH = (
    "The harbour was quiet when the first boats came in, and the people who had waited since the "
    "early morning walked down to the water to see what they had caught. Nobody spoke much, "
    "because the night had been long and everyone knew that the weather would turn before noon."
)
GERMAN = (
    "Der Hafen war still, als die ersten Boote einliefen, und die Leute, die seit dem "
    "frühen Morgen gewartet hatten, gingen zum Wasser hinunter. Niemand sprach viel, denn die "
    "Nacht war lang."
)
DANISH = (
    "Havnen var stille, da de første både kom ind, og folk, der havde ventet siden den tidlige "
    "morgen, gik ned til vandet for at se, hvad de havde fanget. Ingen sagde noget, for natten "
    "havde været lang, og alle vidste det."
)
JAPANESE = "最初の船が入ってきたとき、港は静かでした。早朝から待っていた人々は水辺に降りました。"
CODE = "xlen = strtol(ptr, &endp, 0); idx++; memcpy_s(buf, n); ioctl fd, tty; qsort argv " * 4


def read(html: str) -> PageText:
    tree = LexborHTMLParser(html)
    tree.strip_tags(["script", "style"])
    return read_text(html, tree, html.count("<"))


@pytest.mark.parametrize(
    ("text", "enough"),
    [
        ("", False),
        ("word " * 24, False),
        ("word " * 25, True),
        ("  word\n" * 25, True),
        ("x" * 10_000, False),
        ("字" * 50, True),
        ("字" * 49, False),
        ("ภาษาไทย" * 10, True),
        ("слово " * 24, False),
        ("слово " * 25, True),
    ],
    ids=lambda value: str(value)[:12],
)
def test_twenty_five_words_are_enough(text, enough):
    """Words are counted at blanks; scripts without blanks count two characters as a word."""
    assert has_words(text) is enough


def test_main_text_must_be_a_fair_share_of_the_page():
    """A main text of less than a twentieth of the page's text is none."""
    article = f"<article><p>{ENGLISH}</p></article>"
    menu = "<nav>" + "<a href=/x>Some menu entry</a> " * 600 + "</nav>"
    assert read(article + "<nav>" + "<a href=/x>Menu</a> " * 60 + "</nav>").is_main
    poor = read(article + menu)
    assert not poor.is_main
    assert poor.text == poor.full
    assert poor.text.count("menu entry") == 600


def test_white_space_and_scripts_are_no_text():
    """Neither may make a main text look poor."""
    page = f"<article><p>{ENGLISH}</p></article>"
    assert read(page + "<div>\n      </div>" * 1_000).is_main
    assert read(page + "<p>x" + " " * 50_000 + "</p>").is_main
    assert read(page + "<script>" + "code();" * 5_000 + "</script>").is_main


def test_blocks_are_apart_and_inline_elements_are_not():
    """Words of neighbouring blocks must not grow together, nor one word fall apart."""
    text = visible_text("<ul><li>one</li><li>two</li></ul><p>th<b>re</b>e</p><img alt=pic>")
    assert text.split() == ["one", "two", "three"]


def test_deep_and_huge_pages_are_not_searched():
    """Where the search for main text takes too long the plain text stands in."""
    deep = "<div>" * 500 + f"<p>{ENGLISH}</p>" * 1_000
    tree = LexborHTMLParser(deep)
    assert is_searchable(tree, 1_500)
    assert not is_searchable(tree, 5_000)
    found = read_text(deep, tree, 5_000)
    assert not found.is_main
    assert "harbour was quiet" in found.text
    shallow = LexborHTMLParser("<p>x")
    assert is_searchable(shallow, 50_000)
    assert not is_searchable(shallow, 100_001)
    options = LexborHTMLParser("<select>" + "<option>x" * 5_001)
    assert not is_searchable(options, 10_000)


@pytest.mark.parametrize(
    ("text", "declared", "expected"),
    [
        (ENGLISH, None, "en"),
        (ENGLISH, "de", "en"),
        (GERMAN * 2, "en-US", "de"),
        (GERMAN, None, "de"),
        (DANISH, "no", "no"),
        (DANISH, "en", "da"),
        (JAPANESE * 6, "en", "ja"),
        (CODE, "en", "en"),
        (CODE, None, None),
        ("Short", "en-GB", "en"),
        ("Short", "EN_us", "en"),
        ("Short", " fr ", "fr"),
        ("Short", "gsw-CH", "gsw"),
        ("Short", "english", None),
        ("Short", "x", None),
        ("Short", "", None),
        ("Short", None, None),
        ("", None, None),
        ("1234567890 " * 40, "pl", "pl"),
    ],
    ids=lambda value: str(value)[:10],
)
def test_language(text, declared, expected):
    """A long text decides; a short one leaves it to the page; unknown is None (RFC 5646)."""
    assert language(text, declared) == expected


@given(st.text(max_size=300), st.one_of(st.none(), st.text(max_size=12)))
def test_no_text_raises(text, declared):
    """Any text and any lang attribute must end in a short lower-case tag or None."""
    found = language(text, declared)
    assert found is None or (found == found.lower() and 2 <= len(found) <= 8)
    assert isinstance(has_words(text), bool)
