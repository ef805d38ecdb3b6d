"""Bounds of markup: what they cut and mend, and that honest pages pass untouched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.parsing.bounds import (
    DEEPEST,
    MANY_TAGS,
    MOST_ATTRIBUTES,
    MOST_TAGS,
    bound,
)

LONG = "<p>" + "word " * 20_000 + "</p>"  # enough for all checks of long pages


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>plain <b>bold</b></p>",
        "<b x=1>" * 400,
        LONG + "<a href='/x' title='a > b < c'>x</a>",
        "<p>one<p>two<br><li>three" * 6_000,
        "<div><ul><li>x</li></ul></div>" * 20_000,
        "<p><font color=red>x</font> <i class=a>y</i></p>" * 5_000,
    ],
    ids=["empty", "plain", "few open", "odd attribute", "unclosed", "many blocks", "many fonts"],
)
def test_honest_pages_pass_untouched(html):
    """What people write must reach the parser as it is."""
    assert bound(html) == (html, html.count("<"), False)


def test_scripts_styles_and_comments_of_long_pages_are_emptied():
    """Their content is never read, so it must be gone, and nothing else."""
    html = bound(
        LONG + "<script a='b'>if (a<b && c) {}</script><STYLE>p{}</STYLE><!-- <x> --><p>kept</p>"
        "<!--><i>seen</i><script><!-- </script> --></script>end"
    ).html
    assert html[len(LONG) :] == (
        "<script a='b'></script><STYLE></STYLE><!----><p>kept</p><!----><i>seen</i>"
        "<script></script>end"
    )


@pytest.mark.parametrize(
    ("pattern", "ends"),
    [
        ("a{}=1", " "),
        ('a{}=">"', " "),
        ("a{}='<'", "\n"),
        ('a{}="1"', ""),
        ("a{}", "/"),
        ("={}", " "),
        ("a{} = 1", " "),
    ],
)
def test_too_many_attributes_leave_those_that_are_read(pattern, ends):
    """The tag must keep href and rel wherever they stand, and end where it ended."""
    many = ends.join(pattern.format(n) for n in range(2 * MOST_ATTRIBUTES))
    html = bound(f"{LONG}<a rel=nofollow {many} href='/x y' HREF=/z>x</a><p>{LONG}").html
    node = LexborHTMLParser(html).css_first("a")
    assert node.attributes == {"rel": "nofollow", "href": "/x y"}
    assert node.text() == "x"


def test_an_allowed_number_of_attributes_stays():
    """Up to the bound nothing is dropped."""
    many = " ".join(f"a{n}=1" for n in range(MOST_ATTRIBUTES))
    html = f"{LONG}<p {many}>x</p>"
    assert bound(html).html == html


def _nodes(html: str) -> int:
    return len(LexborHTMLParser(html).css("*"))


@pytest.mark.parametrize(
    "tag",
    ["<font x={}>", "<b x='>{}'>", '<i "><i x={}><i y={}>', "<B\nX={}>", "<tt/x={}>"],
)
def test_open_formatting_elements_do_not_multiply(tag):
    """Elements left open must not be opened again in every later paragraph."""
    html = "<p>" + "".join(tag.format(n, n) for n in range(900)) + "</p><p>x" * 900
    assert _nodes(bound(html).html) < 20_000  # untamed: 800,000


def test_formatting_is_tamed_without_loss():
    """Taming must leave text and links as they were."""
    html = "<p>" + "".join(f"<font x={n}>w{n} " for n in range(900)) + "</p><p><a href=/x>x " * 90
    tamed = LexborHTMLParser(bound(html).html)
    assert tamed.body.text().split() == [*(f"w{n}" for n in range(900)), *(["x"] * 90)]
    assert len(tamed.css("a[href]")) == 90


@pytest.mark.parametrize("unit", ["<div>", "<ul><li>", "<dl><dd>", "<section><p>", "<x-y>"])
def test_a_page_is_cut_where_it_gets_too_deep(unit):
    """Beyond the deepest level nothing is parsed; what came before is."""
    found = bound("<a href=/x>f</a>" + unit * MANY_TAGS)
    assert found.cut
    assert found.html.startswith("<a href=/x>f</a>")
    assert found.html.count("<") == found.tags
    assert DEEPEST <= found.tags <= 2 * DEEPEST + 4


def test_end_tags_hidden_in_comments_do_not_hide_depth():
    """Only real end tags may count as closing."""
    assert bound("<ul><li><!--</ul>-->" * MANY_TAGS).cut
    assert bound("<ul><script></ul></script>" * MANY_TAGS).cut
    assert bound("<ul></ol>" * MANY_TAGS).cut


def test_tags_are_counted_and_cut():
    """A page with more tags than the bound must end before the one too many."""
    found = bound("<p>x" * (MOST_TAGS + 5))
    assert found == ("<p>x" * MOST_TAGS, MOST_TAGS, True)


@given(
    st.lists(
        st.sampled_from(
            ["<", ">", "'", '"', "=", " ", "/", "a", "<a ", "</a", "<!--", "-->", "<script", "\0"]
        ),
        max_size=200,
    )
)
def test_any_soup_is_bounded(pieces):
    """Nothing raises, and what comes out is no longer than what went in but for a comment each."""
    html = "".join(pieces) + LONG
    found = bound(html)
    assert found.html.count("<") <= found.tags
    assert len(found.html) <= len(html) + 7 * html.count("<!--")
