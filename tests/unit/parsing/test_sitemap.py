"""Sitemaps: which URLs are found, and what hostile ones cost."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parsing.listing import LONGEST_HREF, SitemapOptions
from crawler.parsing.sitemap import looks_like_sitemap, parse_sitemap
from crawler.parsing.xml_entries import ELEMENTS_PER_ENTRY, MOST_NAMES
from crawler.urls import Canonicalizer

CORPUS = Path(__file__).parents[2] / "corpus" / "sitemaps"
ROWS = json.loads((CORPUS / "sitemaps.json").read_text(encoding="ascii"))
URL = "http://a.test/s.xml"
ONE = b"<urlset><url><loc>http://a.test/1</loc></url></urlset>"


def read(body, *, url=URL, **more):
    return parse_sitemap(body, url=url, canonicalizer=Canonicalizer(), **more)


def pages(body, **more):
    return [page.url for page in read(body, **more).pages]


@pytest.mark.parametrize(
    ("url", "body", "kind", "found", "children", "skipped"),
    [row[1:] for row in ROWS],
    ids=[row[0] for row in ROWS],
)
def test_a_sitemap_lists_what_the_row_says(url, body, kind, found, children, skipped):
    """Every row of the corpus must give its URLs, in order, and the count of the others."""
    sitemap = read(body.encode(), url=url)
    assert [page.url for page in sitemap.pages] == found
    assert [child.url for child in sitemap.sitemaps] == children
    assert (sitemap.kind, sitemap.skipped, sitemap.truncated) == (kind, skipped, False)
    assert kind != "none" or sitemap.error


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(gzip.compress(ONE), id="a gzip file"),
        pytest.param(gzip.compress(gzip.compress(ONE)), id="packed twice"),
        pytest.param(gzip.compress(ONE[:20]) + gzip.compress(ONE[20:]), id="two members"),
        pytest.param(gzip.compress(ONE) + b"\0\0\0", id="padding"),
        pytest.param(gzip.compress(ONE)[:-8], id="no checksum"),
        pytest.param(gzip.compress(b"http://a.test/1\n"), id="a packed text"),
        pytest.param(ONE, id="not packed"),
    ],
)
def test_gzip_is_told_by_its_first_bytes(body):
    """The file must be unpacked whatever it is called (RFC 1952 §2.3.1)."""
    assert pages(body, url="http://a.test/sitemap.xml.gz") == ["http://a.test/1"]


def test_a_broken_gzip_file_gives_what_comes_before_its_fault():
    """A cut file must give its first entries and no half of an address."""
    entries = b"".join(b"<url><loc>http://a.test/%d</loc></url>" % n**5 for n in range(9000))
    packed = gzip.compress(b"<urlset>" + entries + b"</urlset>")
    sitemap = read(packed[: len(packed) // 2])
    found = [page.url for page in sitemap.pages]
    assert len(found) > 1000
    assert found == [f"http://a.test/{n**5}" for n in range(len(found))]
    assert sitemap.error == "gzip: cut short"


def test_a_line_that_may_be_cut_is_not_taken():
    """The last line of a text must not count where the text was cut short."""
    text = b"http://a.test/1\nhttp://a.test/2"
    assert pages(text) == ["http://a.test/1", "http://a.test/2"]
    cut = SitemapOptions(max_bytes=len(text) - 1)
    assert pages(text + b"22", options=cut) == ["http://a.test/1"]
    assert pages(gzip.compress(text)[:-9]) == ["http://a.test/1"]


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("\ufeff{}".encode("utf-16-le"), None),
        ("\ufeff{}".encode("utf-16-be"), "utf-8"),
        ("{}".encode("utf-16-le"), None),
        ("{}".encode("utf-16-be"), None),
        ("<?xml version='1.0' encoding='iso-8859-1'?>{}".encode("latin-1"), None),
        (b"{}", "iso-8859-1"),
        (b"<?xml version='1.0' encoding='utf-16'?>{}", None),
    ],
)
def test_the_encoding_is_found(body, charset):
    """A byte order mark, the header or the declaration must decide (RFC 7303 §3)."""
    width = 2 if b"\0" in body else 1
    codec = "latin-1" if width == 1 else ("utf-16-le" if body[-1:] == b"\0" else "utf-16-be")
    text = "<urlset><url><loc>http://a.test/\u00e9</loc></url></urlset>"
    body = body.replace("{}".encode(codec), text.encode("utf-8" if b"utf-16" in body else codec))
    assert pages(body, header_charset=charset) == ["http://a.test/%C3%A9"]


def test_bytes_that_cannot_be_decoded_spoil_their_entry_only():
    """A URL with a replacement character would be one that the site does not have."""
    body = b"<?xml version='1.0' encoding='utf-8'?><urlset><url><loc>http://a.test/\xff</loc></url>"
    sitemap = read(body + b"<url><loc>http://a.test/1</loc></url></urlset>")
    assert [page.url for page in sitemap.pages] == ["http://a.test/1"]
    assert sitemap.skipped == 1


def test_dates_belong_to_their_entry_and_are_not_of_the_future():
    """A date that is invalid, or later than a day from now, must be none."""
    entry = "<url><lastmod>{1}</lastmod><loc>/{0}</loc></url>"
    dates = ["2024-01-01", "never", "2024-01-03", "2099-01-01"]
    body = "<urlset>" + "".join(entry.format(*pair) for pair in enumerate(dates)) + "</urlset>"
    sitemap = read(body.encode(), now=1_704_153_600.0)  # 2024-01-02
    assert [page.modified_at for page in sitemap.pages] == [1704067200.0, None, 1704240000.0, None]
    assert read(body.encode()).pages[3].modified_at == 4070908800.0


def test_no_more_entries_are_taken_than_allowed():
    """The first entries must win, and the cut be reported (protocol: 50,000)."""
    body = b"<urlset>" + b"".join(b"<url><loc>/%d</loc></url>" % n for n in range(9)) + b"</urlset>"
    text = b"\n".join(b"http://a.test/%d" % n for n in range(9))
    for nine in (body, text):
        few = read(nine, options=SitemapOptions(max_entries=8))
        assert [page.url for page in few.pages] == [f"http://a.test/{n}" for n in range(8)]
        assert few.truncated
        assert not read(nine, options=SitemapOptions(max_entries=9)).truncated


@pytest.mark.parametrize(
    ("body", "skipped"),
    [
        pytest.param(b"<urlset>" + b"<url/>" * 100, 40, id="entries without address"),
        pytest.param(b"<urlset>" + b"<url><loc>/1</loc></url>" * 100, 0, id="repeated entries"),
        pytest.param(
            b"<urlset>" + b"<a/>" * (10 * ELEMENTS_PER_ENTRY + MOST_NAMES), 0, id="elements"
        ),
        pytest.param(
            b"<urlset>" + b"".join(b"<a%d/>" % n for n in range(MOST_NAMES)), 0, id="names"
        ),
        pytest.param(
            b"<urlset><a %s/>" % b" ".join(b"a%d=''" % n for n in range(MOST_NAMES + 1)),
            0,
            id="attributes",
        ),
        pytest.param(b"http://a.test/1\n" + b"x\n" * 100, 39, id="lines"),
        pytest.param(b"http://a.test/1\n" + b"#\n" * 100, 0, id="comments"),
    ],
)
def test_what_lists_nothing_is_not_read_for_ever(body, skipped):
    """A flood of useless parts must end the reading, visibly."""
    sitemap = read(body, options=SitemapOptions(max_entries=10))
    assert sitemap.truncated
    assert len(sitemap.pages) <= 1
    assert sitemap.skipped == skipped


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(b"<a>" * 1000, id="nesting"),
        pytest.param(b"<a b='" + b"x" * 2_000_000 + b"'/>", id="a long tag"),
        pytest.param(b"<url><loc>/" + b"x" * LONGEST_HREF + b"</loc></url>", id="a long address"),
        pytest.param(b"<url><loc>http://a.test/" + b"&#65;" * LONGEST_HREF, id="references"),
        pytest.param(b"<url><loc>http://a.test/2<b></loc></url>", id="a tag not closed"),
    ],
)
def test_reading_goes_on_after_what_was_too_much(junk):
    """A part that is not read must cost no more than itself."""
    entry = b"<url><loc>http://a.test/%d</loc></url>"
    assert pages(b"<urlset>" + entry % 1 + junk + entry % 3) == [
        "http://a.test/1",
        "http://a.test/3",
    ]


def test_a_tag_without_end_is_not_waited_for():
    """A tag must be given up after a mebibyte: the parser holds all of it in memory."""
    sitemap = read(ONE[:-9] + b"<a " + b"b='' " * 500_000 + b"/><url><loc>/2</loc></url>")
    assert [page.url for page in sitemap.pages] == ["http://a.test/1", "http://a.test/2"]
    assert sitemap.error == "a tag of more than 1048576 bytes"


def test_a_sitemap_full_of_errors_is_given_up():
    """After a hundred errors the other entries must be counted and not read."""
    sitemap = read(b"<urlset>" + b"<url><loc>/1</lok>" * 1000)
    assert (sitemap.pages, sitemap.truncated) == ([], True)
    assert sitemap.skipped == 1000
    assert sitemap.error.startswith("mismatched tag")


def test_unpacking_stops_at_the_limit():
    """A bomb must not be unpacked beyond the limit, in either layer."""
    bomb = gzip.compress(ONE[:-9] + bytes(5_000_000))
    for body in (bomb, gzip.compress(bomb)):
        sitemap = read(body, options=SitemapOptions(max_bytes=100_000))
        assert [page.url for page in sitemap.pages] == ["http://a.test/1"]
        assert sitemap.truncated


def test_a_resolver_that_fails_is_an_error_in_the_answer():
    """Whatever raises inside must end in a value."""

    class Broken:
        def resolve(self, base, href, encoding="utf-8"):
            raise RuntimeError("no")

    sitemap = parse_sitemap(ONE, url=URL, canonicalizer=Broken())
    assert (sitemap.pages, sitemap.error) == ([], "RuntimeError: no")


@pytest.mark.parametrize(
    ("media_type", "url", "start", "expected"),
    [
        ("text/xml", "http://a.test/x", ONE[:12], True),
        ("text/html", "http://a.test/x", b"\xef\xbb\xbf\n<?xml?><!-- x --><s:urlset xmlns", True),
        ("", "http://a.test/x", b"<sitemapindex>", True),
        ("application/gzip", "http://a.test/x", gzip.compress(ONE)[:50], True),
        ("text/plain", "http://a.test/sitemap.txt", b"http://a.test/1\nhttp", True),
        ("text/plain", "http://a.test/list.txt", b"http://a.test/1\nhttp", False),
        ("text/html", "http://a.test/sitemap.txt", b"http://a.test/1\n", False),
        ("text/html", "http://a.test/sitemap.xml", b"<!DOCTYPE html><html><urlset>", False),
        ("text/xml", "http://a.test/sitemap.xml", b"<rss version='2.0'>", False),
        ("text/xml", "http://a.test/sitemap.xml", b"", False),
        ("application/gzip", "http://a.test/sitemap.xml.gz", b"\x1f\x8b\x08junk", False),
    ],
)
def test_a_sitemap_is_told_from_other_bodies(media_type, url, start, expected):
    """The root element must decide, and the name only for texts."""
    assert looks_like_sitemap(media_type, url, start) is expected


PIECES = (
    "<urlset> </urlset> <sitemapindex> <sitemap> </sitemap> <url> </url> <loc> </loc> <![CDATA[ ]]>"
    " http://a.test/1 <lastmod> </lastmod> 2024 & &amp; &#0; &x; < > <!-- --> \0 \ufeff <?xml ?>"
    " <!DOCTYPE [ ]> <x:loc> ' = \n # <rss> <item> <link> </link> </item> <feed xml:base='x'>"
    " <entry> <link/href='2'/>"
)


@given(
    st.one_of(
        st.binary(),
        st.lists(st.sampled_from(PIECES.split(" ")), max_size=40).map(
            lambda p: "".join(p).encode()
        ),
    )
)
def test_nothing_raises_and_every_bound_holds(body):
    """Any bytes must give a list of distinct http(s) URLs within the bounds."""
    for form in (body, gzip.compress(body), gzip.compress(body)[: len(body)]):
        sitemap = read(form, options=SitemapOptions(max_entries=3, max_bytes=200))
        urls = [listed.url for listed in sitemap.pages + sitemap.sitemaps]
        assert len(set(urls)) == len(urls) <= 3
        assert all(url.startswith(("http://", "https://")) for url in urls)
        assert sitemap.error is None or not sitemap.error.startswith(("Runtime", "Type", "Index"))
        assert looks_like_sitemap("", "sitemap", form) in (True, False)


@given(st.integers(0, 2000))
def test_a_cut_never_makes_a_new_address(size):
    """A sitemap cut anywhere must list the first of its pages, and no other."""
    whole = b"<urlset>" + b"".join(
        b"<url><loc>http://a.test/%d?a&amp;b</loc><lastmod>2024</lastmod></url>" % n**9
        for n in range(25)
    )
    found = pages(whole[:size])
    assert found == [f"http://a.test/{n**9}?a&b" for n in range(len(found))]
