"""The declaration that a page has of its encoding: where it is one, and where it only looks so."""

from __future__ import annotations

import time

import pytest

from crawler.parsing.declared import declared_encoding, wide_encoding

DECLARED = [
    (b"<meta charset=koi8-r>", "koi8-r"),
    (b"<META\nCHARSET\n=\n'KOI8-R'/>", "koi8-r"),
    (b"<meta/charset=koi8-r>", "koi8-r"),
    (b"<meta name=x charset=koi8-r>", "koi8-r"),
    (b"<meta content='text/html; charset=koi8-r' http-equiv=content-type>", "koi8-r"),
    (b"<meta http-equiv=Content-Type content=\"text/html;charset='koi8-r'\">", "koi8-r"),
    (b"<meta http-equiv=content-type content='charset koi8-r charset=koi8-r'>", "koi8-r"),
    (b"<meta charset=bogus><meta charset=koi8-r>", "koi8-r"),
    (b"<meta charset><meta charset=''><meta charset=koi8-r>", "koi8-r"),
    (b"<!--><meta charset=koi8-r>", "koi8-r"),
    (b"<!-- <meta charset=big5> --><meta charset=koi8-r>", "koi8-r"),
    (b"<?xml version='1.0' encoding='koi8-r'?><p>", "koi8-r"),
    (b"<?xml version='1.0' encoding='koi8-r'?><meta charset=big5>", "big5"),
    (b"<meta charset=utf-16>", "utf-8"),
    (b"<meta charset=x-user-defined>", "windows-1252"),
    (b"<script>x='<meta charset=koi8-r>'</script>", "koi8-r"),  # the scan knows no scripts
    (b"<div title='<meta charset=koi8-r>'>", None),
    (b"<!-- <meta charset=koi8-r>", None),
    (b"<metal charset=koi8-r>", None),
    (b"</meta charset=koi8-r>", None),
    (b"<? <meta charset=koi8-r>", None),
    (b"<meta name=description content='text/html; charset=koi8-r'>", None),
    (b"<meta http-equiv=refresh content='0;charset=koi8-r'>", None),
    (b"<meta charset=utf-7>", None),
    (b"words charset=koi8-r", None),
    (b" <?xml version='1.0' encoding='koi8-r'?>", None),
]


@pytest.mark.parametrize(("head", "name"), DECLARED, ids=[row[0][:50].decode() for row in DECLARED])
def test_a_declaration_is_found_where_it_is_one(head, name):
    """Comments, other tags and values of attributes declare nothing (HTML §13.2.3.2)."""
    found = declared_encoding(head)
    assert (found.name if found else None) == name


@pytest.mark.parametrize(("codec", "name"), [("utf-16-le", "utf-16le"), ("utf-16-be", "utf-16be")])
@pytest.mark.parametrize("page", ["<?xml?>", "<!doctype html>", "\r\n <p>\u0416", "<html>"])
def test_a_page_in_utf_16_is_known_by_its_first_tag(page, codec, name):
    """No other encoding has a zero beside each character of a tag."""
    assert wide_encoding(page.encode(codec)).name == name
    assert wide_encoding(page.encode()) is None


@pytest.mark.parametrize(
    "unit",
    [
        b"<a ",
        b"<meta ",
        b"<meta charset=",
        b"<!--",
        b"<a b='",
        b"<",
        b"<?xml encoding ",
        b"charset ",
    ],
)
def test_the_scan_is_linear(unit):
    """The few kilobytes that are scanned cost no more than a millisecond or two."""
    head = (b"charset <?xml " + unit * 4096)[:4096]
    began = time.perf_counter()
    declared_encoding(head)
    assert time.perf_counter() - began < 0.1
