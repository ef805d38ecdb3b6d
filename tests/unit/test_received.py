"""From an answer as it was received to the page that it is."""

from __future__ import annotations

import pytest

from crawler.config import Config
from crawler.parsing import ParsedPage, read
from crawler.received import Received, choose, header_text, page_of
from crawler.urls import Canonicalizer, UrlOptions
from tests.support.shell import project_settings

CONFIG = Config.read(project_settings())
RESOLVER = Canonicalizer(UrlOptions())


def received(body, headers=(("Content-Type", b"text/html"),), **more):
    def values(name):
        return [value for found, value in headers if found.lower() == name.lower()]

    return Received(
        **{"url": "http://a.test/", "status": 200, "headers": values, "body": body, "at": 1.5}
        | more
    )


def test_headers_reach_the_parser():
    """Charset, directives and links of the headers are those of the document."""
    answer = received(
        "<title>\xe9</title><p>Text".encode("latin-1"),
        [
            ("Content-Type", b"text/plain"),
            ("Content-Type", b"text/html; charset=latin1"),
            ("X-Robots-Tag", b"noindex"),
            ("X-Robots-Tag", b"nofollow"),
            ("Link", b'</b>; rel="canonical"'),
            ("ETag", b'"1"'),
        ],
    )
    chosen, document = choose(answer, CONFIG, RESOLVER)
    page = page_of(answer, chosen.media, read(chosen.kind, document))
    assert (page.title, page.charset) == ("\xe9", "windows-1252")
    assert page.robots == ["noindex", "nofollow"]
    assert (page.canonical, page.etag) == ("http://a.test/b", '"1"')


@pytest.mark.parametrize(
    ("referrer", "listed", "expected"),
    [
        (None, False, False),
        ("http://a.test/", False, False),
        ("http://a.test/robots.txt", False, True),
        (None, True, True),
    ],
)
def test_a_sitemap_that_was_named_is_known_as_one(referrer, listed, expected):
    """By the robots.txt that led to it, or by the operator."""
    answer = received(b"http://a.test/1\n", referrer=referrer, listed=listed)
    _, document = choose(answer, CONFIG, RESOLVER)
    assert document.listed is expected


def test_what_nothing_reads_is_no_document():
    """An image, or nothing at all, has no reader."""
    assert choose(received(b""), CONFIG, RESOLVER) is None
    image = received(b"\x89PNG\r\n\x1a\n", [("Content-Type", b"image/png")])
    assert choose(image, CONFIG, RESOLVER) is None


def test_what_is_not_what_it_says_is_no_page():
    """An error without a text is no page; with one it is."""
    answer = received(b"x")
    assert page_of(answer, "text/html", ParsedPage(error="broken")) is None
    assert page_of(answer, "text/html", ParsedPage(error="broken", text="some")) is not None


def test_a_page_that_was_cut_is_marked():
    """It is not whole, and nobody's original."""
    page = page_of(received(b"x", interrupted=True), "text/html", ParsedPage(text="some"))
    assert (page.truncated, page.interrupted) == (True, True)


def test_a_header_is_bounded_and_the_last_one_counts():
    """Whatever its bytes, a value is a text of 500 characters at most."""
    assert header_text([b"one", b"\xe9two"]) == "\xe9two"
    assert header_text([b"x" * 1000]) == "x" * 500
    assert header_text([]) is None
    assert header_text([b""]) is None
