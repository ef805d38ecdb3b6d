"""Plain text: its charset, its first line as a title, and no links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parsing import Document, ParsingOptions
from crawler.parsing.plain_text import parse_text
from tests.unit.parsing.resolver import Joiner


def parse(body, charset=None, **options):
    if isinstance(body, str):
        body = body.encode()
    return parse_text(
        Document(
            body=body,
            url="http://a.test/x.txt",
            resolver=Joiner(),
            charset=charset,
            options=ParsingOptions(**options),
        )
    )


@pytest.mark.parametrize(
    ("body", "charset", "text", "name"),
    [
        ("caf\u00e9".encode(), None, "caf\u00e9", "utf-8"),
        ("caf\u00e9".encode("koi8-r", "replace"), "koi8-r", "caf?", "koi8-r"),
        ("\u0442\u0435\u043a".encode("koi8-r"), "KOI8-R", "\u0442\u0435\u043a", "koi8-r"),
        ("\ufeffcaf\u00e9".encode("utf-16-le"), "utf-8", "caf\u00e9", "utf-16le"),
        (b"caf\xe9", "us-ascii", "caf\u00e9", "windows-1252"),
        (b"<meta charset=koi8-r> caf\xc3\xa9", None, "<meta charset=koi8-r> caf\u00e9", "utf-8"),
    ],
    ids=["utf-8", "lost letters", "label", "BOM before label", "ascii label", "no prescan"],
)  # fmt: skip
def test_the_charset_is_found_as_for_pages(body, charset, text, name):
    """BOM, then label, then the bytes; text has no declaration in it (Encoding §4.2, §6)."""
    found = parse(body, charset)
    assert (found.text, found.charset) == (text, name)


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("Release notes\n\nWe have ...", "Release notes"),
        ("\n\n  Indented  \n", "Indented"),
        ("# Markdown title\n\ntext", "Markdown title"),
        ("======\nTitle\n======\n", "Title"),
        ("#hashtag of a day", "#hashtag of a day"),
        ("---\n***\n", None),
        ("x" * 121 + "\nshort", None),
        ("", None),
        ("\x0c\n", None),
    ],
)
def test_the_title_is_the_first_line_that_reads_like_one(body, title):
    """Marks of light markup are left out; a long first line is a paragraph and no title."""
    assert parse(body).title == title


def test_addresses_in_text_are_no_links():
    """Nobody meant them to be followed."""
    assert parse("see http://a.test/1 and [this](http://a.test/2)").hrefs == []


def test_line_ends_become_one_kind():
    """Texts that differ in line ends only are equal."""
    assert parse("a\r\nb\rc\n").text == "a\nb\nc"


def test_text_is_bounded():
    """What follows the bound is not read, and that is said."""
    found = parse("x" * 200, max_bytes=100)
    assert (len(found.text), found.truncated) == (100, True)
    assert not parse("x" * 100, max_bytes=100).truncated


@given(st.binary(max_size=500), st.none() | st.text(max_size=20))
def test_any_bytes_are_some_text(body, charset):
    """Nothing raises."""
    found = parse(body, charset)
    assert "\0" not in found.text
    assert found.error is None
