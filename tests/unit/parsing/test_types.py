"""Content types: what reads a document, and the bounds around whoever reads it."""

from __future__ import annotations

import logging
import re
import sys
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import ConfigError
from crawler.model import Link
from crawler.parsing import (
    ContentType,
    ContentTypes,
    Document,
    Extract,
    Feed,
    ParsedPage,
    ParsingOptions,
    read,
)
from crawler.parsing.types import BUILT_IN
from tests.support.pdf import pdf
from tests.unit.parsing.resolver import Joiner

PDF = pdf(["some words"])
PAGE = b"<!doctype html><title>T</title><p>text"
XHTML = b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><title>T</title></html>"
RSS = (
    b"<?xml version='1.0'?>\n<rss version='2.0'><channel>"
    b"<item><link>/1</link></item></channel></rss>"
)
URLSET = b"<?xml version='1.0'?><urlset><url><loc>http://a.test/1</loc></url></urlset>"
JSON_FEED = b'{"version": "https://jsonfeed.org/version/1.1", "items": []}'
ADDRESSES = b"http://a.test/1\nhttp://a.test/2\n"
WORDS = "Viele W\u00f6rter".encode()

# rule, declared type, body, what reads it, its real type
ROWS = [
    ("a page", "text/html", PAGE, "html", "text/html"),
    ("xhtml", "application/xhtml+xml", XHTML, "html", "application/xhtml+xml"),
    ("a page of no type", "", PAGE, "html", "text/html"),
    ("a page as bytes", "application/octet-stream", PAGE, "html", "text/html"),
    ("a page as text is text", "text/plain", PAGE, "text", "text/plain"),
    ("a page as something else", "application/json", PAGE, None, None),
    ("words as a page", "text/html", WORDS, "html", "text/html"),
    ("text", "text/plain", WORDS, "text", "text/plain"),
    ("markdown", "text/markdown", b"# T", "text", "text/markdown"),
    ("text of no type", "", WORDS, "text", "text/plain"),
    ("bytes", "application/octet-stream", WORDS, None, None),
    ("bytes as text", "text/plain", bytes(range(256)), None, None),
    ("a picture as text", "text/plain", b"\x89PNG\r\n\x1a\n and words", None, None),
    ("pdf", "application/pdf", PDF, "pdf", "application/pdf"),
    ("pdf by another name", "application/x-pdf", PDF, "pdf", "application/x-pdf"),
    ("pdf as bytes", "application/octet-stream", PDF, "pdf", "application/pdf"),
    ("pdf as a page", "text/html", PDF, "pdf", "application/pdf"),
    ("pdf as text", "text/plain", PDF, "pdf", "application/pdf"),
    ("pdf of no type", "", PDF, "pdf", "application/pdf"),
    ("junk before a pdf", "application/pdf", b"\n" + PDF, "pdf", "application/pdf"),
    ("feed", "application/rss+xml", RSS, "feed", "application/rss+xml"),
    ("feed as xml", "text/xml", RSS, "feed", "application/rss+xml"),
    ("feed as a page, §7.3", "text/html", RSS, "feed", "application/rss+xml"),
    ("json feed", "application/json", JSON_FEED, "feed", "application/rss+xml"),
    ("sitemap", "application/xml", URLSET, "sitemap", "application/xml"),
    ("sitemap as a page", "text/html", URLSET, "sitemap", "text/html"),
    ("a page's words about feeds", "text/html", b"<p>" + RSS, "html", "text/html"),
    ("addresses", "text/plain", ADDRESSES, "text", "text/plain"),
    ("a picture", "image/png", b"\x89PNG\r\n\x1a\n", None, None),
    ("json", "application/json", b'{"a": 1}', None, None),
    ("nothing", "text/html", b"", None, None),
]


@pytest.fixture(scope="module")
def types():
    return ContentTypes.named({"pdf": "crawler.parsing.pdf"})


def document(body=b"words", media="text/plain", **more):
    return Document(body=body, url="http://a.test/dir/", media=media, resolver=Joiner(), **more)


@pytest.mark.parametrize(
    ("media", "body", "name", "real"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_what_reads_a_document(types, media, body, name, real):
    """Signatures, then the start of a document, then the declared type (MIME Sniffing §7)."""
    chosen = types.choose(document(body, media))
    assert (chosen and chosen.name, chosen and chosen.media) == (name, real)


def test_what_was_named_a_sitemap_may_be_a_list_of_addresses(types):
    """Text with one address a line is a sitemap if a robots.txt or the operator says so."""
    chosen = types.choose(document(ADDRESSES, listed=True))
    assert chosen.name == "sitemap"
    assert types.choose(document(WORDS, listed=True)).name == "text"


def test_a_type_that_is_off_reads_nothing():
    """An empty path switches a built-in type off."""
    types = ContentTypes.named({"text": ""})
    assert types.choose(document()) is None
    assert types.choose(document(PAGE, "text/html")).name == "html"


@pytest.fixture
def module(monkeypatch):
    """Return what makes a module of a content type, importable as ``added_type``."""

    def make(kind):
        found = ModuleType("added_type")
        if kind is not None:
            found.CONTENT_TYPE = kind
        monkeypatch.setitem(sys.modules, "added_type", found)
        return {"added": "added_type"}

    return make


def _nothing(_):
    return Extract()


def test_an_added_type_is_asked_first(module):
    """Who adds a type for a kind of feed gets it before the built-in types do."""
    kind = ContentType(_nothing, looks=lambda found: b"<rss" in found.start, media=("text/x-rss",))
    chosen = ContentTypes.named(module(kind)).choose(document(RSS, "text/xml"))
    assert (chosen.name, chosen.module, chosen.media) == ("added", "added_type", "text/x-rss")


def test_a_type_says_what_it_brings(module):
    """Endings and pipelines of all types are known together."""
    kind = ContentType(_nothing, extensions=("ics",), pipelines={"added_type.P": 950})
    types = ContentTypes.named(module(kind))
    assert {"ics", "txt"} <= types.extensions
    assert types.pipelines == {"added_type.P": 950}


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (None, "added='added_type' is no module with a CONTENT_TYPE"),
        ("text/x", "added='added_type' is no module with a CONTENT_TYPE"),
        (ContentType(_nothing, requires=("no-such-thing==1.0",)), "pip install no-such-thing==1.0"),
        (ContentType(_nothing, media=("text/html",)), "added and html both take text/html"),
    ],
    ids=["no declaration", "another value", "not installed", "taken"],
)
def test_a_type_that_cannot_be_used_stops_the_start(module, kind, message):
    """The message names the type and what to do."""
    with pytest.raises(ConfigError, match="PARSING_TYPES: ") as caught:
        ContentTypes.named(module(kind))
    assert message in str(caught.value)


@pytest.mark.parametrize("path", ["no.such.module", "crawler.parsing.dates", "", ".relative"])
def test_a_path_that_leads_nowhere_stops_the_start(path):
    """The path is named; only an empty one means that a type is off."""
    if not path:
        assert ContentTypes.named({"added": path}).choose(document(PAGE, "text/html"))
        return
    with pytest.raises(ConfigError, match=path.replace(".", r"\.")):
        ContentTypes.named({"added": path})


def test_the_built_in_types_are_complete():
    """Each built-in name has its module, and each of them reads its own kind."""
    types = ContentTypes.named({})
    bodies = {"html": PAGE, "sitemap": URLSET, "feed": RSS, "text": WORDS}
    assert bodies.keys() == BUILT_IN.keys()
    for name, body in bodies.items():
        media = {"html": "text/html", "text": "text/plain"}.get(name, "text/xml")
        chosen = types.choose(document(body, media))
        found = read(chosen.kind, document(body, media))
        assert isinstance(found, Feed if name in ("sitemap", "feed") else ParsedPage)
        assert found.error is None


def _read(extract, **more):
    return read(ContentType(lambda _: extract), document(**more))


def test_an_extract_becomes_a_page():
    """References are resolved, each URL once; white space of titles is collapsed."""
    found = _read(
        Extract(
            text="Das war ein Text",
            title=" A \n title ",
            headings=["One", " ", "Two"],
            hrefs=["x", "http://b.test/", "x", "mailto:a@b.test"],
            lang="de-AT",
            charset="koi8-r",
        )
    )
    assert found.title == "A title"
    assert found.headings == ["One", "Two"]
    assert found.links == [Link("http://a.test/dir/x"), Link("http://b.test/")]
    assert (found.lang, found.charset, found.main_text) == ("de", "koi8-r", True)
    assert found.full_text == found.text == "Das war ein Text"
    assert not found.truncated


def test_the_bounds_of_pages_hold_for_any_type():
    """A careless module breaks none of them."""
    options = ParsingOptions(max_text=10, max_title=5, max_headings=2, max_heading=3, max_links=2)
    found = _read(
        Extract(
            text="x" * 99, title="y" * 99, headings=["zzzz"] * 9, hrefs=[str(n) for n in range(9)]
        ),
        options=options,
    )
    assert (found.text, found.title, found.headings) == ("x" * 10, "y" * 5, ["zzz", "zzz"])
    assert len(found.links) == 2
    assert found.truncated


def test_what_a_module_raises_is_the_error_of_its_document():
    """One document fails, and no other."""

    def fail(_):
        raise ValueError("no good" * 99)

    found = read(ContentType(fail), document())
    assert re.match(rf"{__name__}, test_types.py line \d+: ValueError: no good", found.error)
    assert len(found.error) == 200


def test_the_traceback_of_a_module_is_for_those_who_debug_it(caplog):
    """The log has it, with the URL and the module, at the level DEBUG."""
    with caplog.at_level(logging.DEBUG, "crawler.parsing"):
        read(ContentType(lambda _: {}["boom"]), document())
    (record,) = caplog.records
    assert (record.levelname, record.getMessage()) == (
        "DEBUG",
        f"http://a.test/dir/: {__name__} raised:",
    )
    assert record.exc_info[0] is KeyError


@pytest.mark.parametrize(
    ("field", "rule"),
    [
        ({"media": "text/calendar"}, r"media='text/calendar': .* such as \('text/calendar',\)"),
        ({"media": ["text/calendar"]}, "expected a tuple of str"),
        ({"media": ("Text/Calendar",)}, "'Text/Calendar' never matches; write 'text/calendar'"),
        ({"media": ("text/x; charset=a",)}, "never matches; write 'text/x'"),
        ({"signatures": b"BEGIN"}, r"such as \(b'BEGIN',\)"),
        ({"signatures": ("BEGIN",)}, "expected a tuple of bytes"),
        ({"extensions": "ics"}, r"such as \('ics',\)"),
        ({"extensions": (".ics",)}, "'.ics' never matches; write 'ics'"),
        ({"requires": "icalendar==6"}, r"such as \('icalendar==6',\)"),
    ],
)
def test_a_declaration_that_never_matches_is_refused(field, rule):
    """A text for a tuple, or another spelling, names the field, the rule and the remedy."""
    with pytest.raises((TypeError, ValueError), match=rule):
        ContentType(_nothing, **field)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def parse(:", "SyntaxError: .*broken_type.py, line 1"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        (
            "import crawler.parsing as p; CONTENT_TYPE = p.ContentType(print, media='text/x')",
            "TypeError: media='text/x': expected a tuple",
        ),
    ],
    ids=["syntax", "import", "error", "declaration"],
)
def test_a_module_that_breaks_stops_the_start(tmp_path, monkeypatch, source, reason):
    """Whatever it raises when it is imported is said in one line, with setting and module."""
    (tmp_path / "broken_type.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_type", raising=False)
    with pytest.raises(ConfigError, match=reason) as caught:
        ContentTypes.named({"broken": "broken_type"})
    assert str(caught.value).startswith("PARSING_TYPES: broken='broken_type' is no module")
    assert "\n" not in str(caught.value)


def test_directives_in_headers_hold_for_any_type():
    """X-Robots-Tag is there for files that have no meta element (Google's documentation)."""
    found = _read(
        Extract(text="x", hrefs=["y"]), robots_headers=["noindex, nofollow", "other: noarchive"]
    )
    assert found.robots.raw == ("noindex", "nofollow")
    assert found.links == [Link("http://a.test/dir/y", nofollow=True)]


HEADER = ['</c>; rel="canonical", <next>; rel="next", <y>; rel="next nofollow"']


def test_links_in_headers_stand_behind_those_of_the_document():
    """They are resolved against the URL, and follow the page's nofollow (RFC 8288 §3.2)."""
    found = _read(Extract(text="x", hrefs=["y"]), link_headers=HEADER)
    assert found.canonical == "http://a.test/c"
    assert found.links == [Link("http://a.test/dir/y"), Link("http://a.test/dir/next")]
    forbidden = _read(Extract(text="x"), link_headers=HEADER, robots_headers=["nofollow"])
    assert {link.nofollow for link in forbidden.links} == {True}


@pytest.mark.parametrize(
    ("head", "canonical"),
    [("<link rel=canonical href=/own>", "http://a.test/own"), ("", "http://a.test/c")],
    ids=["both", "header alone"],
)
def test_house_rule_the_canonical_of_a_page_beats_that_of_its_header(types, head, canonical):
    """RFC 6596 names no order, nor does Google: the page's own word is the more particular one."""
    page = document(f"<!doctype html>{head}<p>x".encode(), "text/html", link_headers=HEADER)
    found = read(types.choose(page).kind, page)
    assert found.canonical == canonical
    assert [link.url for link in found.links] == ["http://a.test/dir/next", "http://a.test/dir/y"]


@given(st.binary(max_size=600), st.sampled_from(["", "text/html", "text/plain", "text/xml", "x/y"]))
def test_any_body_ends_in_an_answer(body, media):
    """Choosing and reading never raise."""
    types = ContentTypes.named({})
    chosen = types.choose(document(body, media))
    if chosen is not None:
        assert isinstance(read(chosen.kind, document(body, chosen.media)), ParsedPage | Feed)
