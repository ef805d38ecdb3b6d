"""Of which type a body is: the declared one, unless a look at the bytes refutes it."""

from __future__ import annotations

import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parsing import real_type, split_content_type

PAGE = b"<!doctype html><title>T</title><p>text"

# Content-Type headers joined by commas -> type, charset
CONTENT_TYPES = [
    (b"text/html", ("text/html", None)),
    (b"TEXT/HTML; Charset=UTF-8", ("text/html", "UTF-8")),
    (b"text/html;charset='utf-8';charset=x", ("text/html", "utf-8")),
    (b"text/plain,text/html; charset=utf-8", ("text/html", "utf-8")),
    (b"text/html; charset=koi8-r, text/html", ("text/html", "koi8-r")),
    (b"text/html; charset=koi8-r, text/plain", ("text/plain", None)),
    (b"text/html; charset=koi8-r, image/png, text/html", ("text/html", None)),
    (b"text/html,", ("text/html", None)),
    (b"text/html, charset=utf-8", ("text/html", None)),
    (b"text/html, */*", ("text/html", None)),
    (b'text/plain; title="a, b/c", text/html', ("text/html", None)),
    (b"html,", ("", None)),
    (b"html; charset=utf-8", ("", "utf-8")),
    (b"text/html/x", ("", None)),
    (b"text/html utf-8", ("", None)),
    (b"text/", ("", None)),
    (b"text/html, text/ht ml", ("text/html", None)),
    (b'text/ht\nml", *p; charset=x', ("", None)),
    (b"text/\x1b[2Jx, text/html", ("text/html", None)),
    (b"", ("", None)),
    (None, ("", None)),
]


@pytest.mark.parametrize(
    ("value", "expected"), CONTENT_TYPES, ids=[str(r[0]) for r in CONTENT_TYPES]
)
def test_of_several_content_types_the_last_valid_one_counts(value, expected):
    """Proxies add a second header; the charset stays only with its own type (Fetch §2.2.2)."""
    assert split_content_type(value) == expected


MISLABELLED = {
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF",
    "gif": b"GIF89a\x01\0\x01\0",
    "webp": b"RIFF\x24\0\0\0WEBPVP8 ",
    "icon": b"\0\0\1\0\1\0",
    "pdf": b"%PDF-1.7\n%text that looks like text",
    "zip": b"PK\x03\x04\x14\0\x06\0",
    "gzip": zlib.compress(PAGE, wbits=31),
    "video": b"\0\0\0\x18ftypmp42",
    "sound": b"ID3\x03\0\0\0",
    "font": b"wOF2\0\1\0\0",
    "no signature": bytes(range(256)),
    "zlib": zlib.compress(random.Random(7).randbytes(2000)),
}


@pytest.mark.parametrize("body", MISLABELLED.values(), ids=MISLABELLED)
@pytest.mark.parametrize("media", ["text/html", "application/xhtml+xml"])
def test_bytes_that_are_no_text_are_no_page(media, body):
    """A picture or an archive under the type of a page has no text and no links to give."""
    assert real_type(media, body) == "application/octet-stream"


TEXT = {
    "page": (PAGE, None),
    "nothing but text": (b"RIFF is a word, and so are ID3 and GIF", None),
    "a stray control byte": (PAGE + b"\0 and \x08" + b"text " * 100, None),
    "utf-16 with its mark": ("\ufeff" + PAGE.decode()).encode("utf-16-le"),
    "utf-16 by its label": (PAGE.decode().encode("utf-16-le"), "UTF-16"),
    "utf-16 in another script": (
        "<p>\u0442\u0435\u043a\u0441\u0442".encode("utf-16-be"),
        "utf-16be",
    ),
    "japanese with escapes": ("\u65e5\u672c\u8a9e".encode("iso2022_jp") * 20, "iso-2022-jp"),
    "windows-1252": ("\u201cq\u201d \u20ac".encode("cp1252") * 9, None),
    "utf-8": ("\u8a9e".encode() * 90, None),
}


@pytest.mark.parametrize("body", TEXT.values(), ids=TEXT)
def test_text_in_any_encoding_is_a_page(body):
    """What is declared a page, or text, and may be it in the encoding it names is taken for it."""
    data, charset = body if isinstance(body, tuple) else (body, None)
    for media in ("text/html", "text/plain", "text/markdown"):
        assert real_type(media, data, charset) == media


@pytest.mark.parametrize("media", ["text/plain", "application/json", "image/png", "text/xml"])
def test_another_declared_type_is_no_page(media):
    """A type that says something is believed: a page shown as text is text (MIME Sniffing §7)."""
    assert real_type(media, PAGE) == media


@pytest.mark.parametrize("media", ["text/xml", "application/xml", ""])
@pytest.mark.parametrize(
    ("body", "is_page"),
    [
        (b"<?xml version='1.0'?><html>", True),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!DOCTYPE html><!-- > --><h:html xmlns:h=''>", True),
        (b"<?xml version='1.0'?><rss><html>", False),
        (b"<?xml version='1.0'?><htmlish>", False),
    ],
)
def test_xml_whose_root_is_html_is_a_page(media, body, is_page):
    """Browsers show it as one (HTML §7.5.3)."""
    assert (real_type(media, body) == "application/xhtml+xml") == is_page


@pytest.mark.parametrize(
    "media",
    ["", "application/octet-stream", "binary/octet-stream", "*/*", "unknown/unknown"],
)
def test_house_rule_where_the_type_says_nothing_a_page_is_a_page(media):
    """A body that begins like a page is one, under application/octet-stream, too."""
    assert real_type(media, PAGE) == "text/html"


@pytest.mark.parametrize("media", ["", "*/*", "unknown/unknown", "application/unknown"])
def test_undeclared_text_is_plain_text(media):
    """A body of no type and without binary bytes is text (MIME Sniffing §7.1, last steps)."""
    assert real_type(media, b"plain words") == "text/plain"
    assert real_type(media, bytes(range(256))) == "application/octet-stream"


def test_octet_stream_is_no_text():
    """What is declared to be bytes is not upgraded to text (MIME Sniffing §7)."""
    assert real_type("application/octet-stream", b"plain words") == "application/octet-stream"


@given(st.binary(max_size=1200), st.binary(max_size=600))
def test_any_header_and_any_body_end_in_an_answer(value, body):
    """Nothing raises, and a type is empty or has one slash."""
    media, charset = split_content_type(value)
    assert media == "" or media.count("/") == 1
    assert real_type(media, body, charset).count("/") == 1
