"""Link headers: the relations a crawler follows, and nothing that garbage could make of them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parsing.link_header import LONGEST, MOST_LINKS, parse_link_headers

# rule, values, canonical, {reference: may be followed}
ROWS = [
    ("RFC 8288 §3.5", ['<http://a.test/2>; rel="next"'], None, {"http://a.test/2": True}),
    ("token form", ["</2>; rel=next"], None, {"/2": True}),
    ("names in any case", ["</2>;REL=Next"], None, {"/2": True}),
    ("several relations", ['</2>; rel="up next"'], None, {"/2": True}),
    ("several links", ["</1>; rel=prev, </2>; rel=next"], None, {"/1": True, "/2": True}),
    ("several headers", ["</1>; rel=prev", "</2>; rel=next"], None, {"/1": True, "/2": True}),
    ("first rel counts §3.3", ["</2>; rel=up; rel=next"], None, {}),
    ("comma in a reference", ["</a,b>; rel=next"], None, {"/a,b": True}),
    ("comma in quotes", ['</1>; title="a, <b>; c"; rel=next'], None, {"/1": True}),
    ("quoted pair", ['</1>; title="\\"\\\\"; rel="ne\\xt"'], None, {"/1": True}),
    ("blanks", [' < /1 > ; rel = "next" '], None, {"/1": True}),
    ("empty members", [",, </1>; rel=next ,,"], None, {"/1": True}),
    ("nofollow", ['</1>; rel="next nofollow"'], None, {"/1": False}),
    ("nofollow once", ['</1>; rel="next nofollow", </1>; rel=next'], None, {"/1": True}),
    ("alternate page", ["</de>; rel=alternate; hreflang=de"], None, {"/de": True}),
    ("feed", ['</f>; rel=alternate; type="application/rss+xml"'], None, {"/f": True}),
    ("alternate JSON", ['</j>; rel=alternate; type="application/json"'], None, {}),
    ("sitemap", ['</s.xml>; rel="sitemap"'], None, {"/s.xml": True}),
    ("canonical RFC 6596", ['</c>; rel="canonical"'], "/c", {}),
    ("first canonical", ["</c>; rel=canonical, </d>; rel=canonical"], "/c", {}),
    ("another context §3.2", ['</c>; rel=canonical; anchor="/other"'], None, {}),
    ("own context", ['</c>; rel=canonical; anchor=""'], "/c", {}),
    ("resources", ["</x.css>; rel=preload; as=style, </y>; rel=preconnect"], None, {}),
    ("no relation", ["</x>"], None, {}),
    ("no brackets", ["/x; rel=next, </y>; rel=next"], None, {"/y": True}),
    ("open bracket", ["</x; rel=next"], None, {}),
    ("open quote", ['</x>; rel="next, </y>; rel=next'], None, {"/y": True}),
    ("junk behind a link", ["</x>; rel=next junk, </y>; rel=next"], None, {"/y": True}),
    ("empty", [""], None, {}),
]


@pytest.mark.parametrize(
    ("values", "canonical", "hrefs"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_what_a_header_says(values, canonical, hrefs):
    """The relations that lead on are those of ``link`` elements (RFC 8288 §3, appendix B.2)."""
    found = parse_link_headers(values)
    assert (found.canonical, found.hrefs) == (canonical, hrefs)


def test_a_link_that_is_cut_is_none():
    """Where the bound cuts a reference, its beginning would be another address."""
    start = "</1>; rel=next, "
    value = start + "</" + "x" * LONGEST + ">; rel=next"
    assert parse_link_headers([value]).hrefs == {"/1": True}
    cut = start + "</2>; rel=next".rjust(LONGEST - len(start)) + "; anchor=x"
    assert parse_link_headers([cut]).hrefs == {"/1": True}


def test_no_more_links_than_the_bound():
    """A header of thousands of links gives the first ones."""
    many = ",".join(f"</{n}>;rel=next" for n in range(MOST_LINKS + 50))
    assert len(parse_link_headers([many]).hrefs) == MOST_LINKS


@pytest.mark.parametrize(
    "unit", ['<a>;b="\\",', '"\\"', "<", ";", "<a>;;;", '<a>;b="c,', "<a>;b=c d,", "<a> ;\t"]
)
def test_odd_headers_cost_little(unit):
    """No header of the longest kind takes longer than a page does."""
    value = unit * (LONGEST // len(unit))
    start = time.process_time()
    parse_link_headers([value, value])
    assert time.process_time() - start < 0.5


_PIECES = st.sampled_from(
    [
        "<",
        ">",
        "</x>",
        ";",
        ",",
        "=",
        '"',
        "\\",
        " ",
        "rel",
        "next",
        "canonical",
        "anchor",
        "\u00e9",
    ]
)


@given(st.lists(st.lists(_PIECES, max_size=60).map("".join) | st.text(max_size=200), max_size=5))
def test_any_header_ends_in_an_answer(values):
    """Nothing raises; no reference has a bracket, and the bound on links holds."""
    found = parse_link_headers(values)
    hrefs = [*found.hrefs, *([found.canonical] if found.canonical is not None else [])]
    assert len(hrefs) <= MOST_LINKS
    assert not [href for href in hrefs if "<" in href or ">" in href]
