"""The encoding that a page declares in itself: in a meta element, or as XML does.

A scan of the first bytes, before there is any text: comments and the values of attributes hold
no declaration, and one that names no encoding is passed over.

Spec: HTML §13.2.3.2 (prescan a byte stream, get an attribute, get an XML encoding), §2.6.7
(extracting a character encoding from a meta element).
"""

from __future__ import annotations

import re

from crawler.parsing.labels import Encoding, find_encoding

# Possessive throughout: nothing is tried in two ways.
_VALUE = rb"""[\s]*+=[\s]*+(?:"([^"]*+)"?+|'([^']*+)'?+|([^\s>]*+))"""
_NAME = rb"[^\s/>][^\s/>=]*+"
_ATTRIBUTE = re.compile(rb"[\s/]*+(%s)(?:%s)?+" % (_NAME, _VALUE))
_ANY_ATTRIBUTE = rb"[\s/]*+%s(?:%s)?+" % (_NAME, re.sub(rb"\((?=\[)", rb"(?:", _VALUE))
_MARKUP = re.compile(
    rb"<(?:!--(?:-?>|.*?-->|.*)|(meta)(?=[\s/])((?:%s)*+)|/?[a-z][^\s>]*+(?:%s)*+|[!/?][^>]*+)"
    % (_ANY_ATTRIBUTE, _ANY_ATTRIBUTE),
    re.DOTALL | re.IGNORECASE,
)
_IN_CONTENT = re.compile(
    rb"""charset\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s;"'][^\s;]*+))""", re.IGNORECASE
)
_IN_XML = re.compile(
    rb"""<\?xml(?=\s)[^>]*?\sencoding\s*+=\s*+(?:"([^">]*+)"|'([^'>]*+)')""", re.DOTALL
)
_WIDE_STARTS = (  # what begins a page, a byte and a zero in turn
    (re.compile(rb"(?:[\s]\0)*+<\0[a-zA-Z!?]\0").match, Encoding("utf-16le", "utf-16-le")),
    (re.compile(rb"(?:\0[\s])*+\0<\0[a-zA-Z!?]").match, Encoding("utf-16be", "utf-16-be")),
)


def wide_encoding(head: bytes) -> Encoding | None:
    """Return which UTF-16 a page without a mark is in, by how its first tag begins.

    Deviation: HTML §13.2.3.2 looks for ``<?x`` alone; no other encoding has any tag so.
    """
    return next((encoding for match, encoding in _WIDE_STARTS if match(head)), None)


def declared_encoding(head: bytes) -> Encoding | None:
    """Return the encoding that the start of a page declares; None where it declares none.

    One that was read byte by byte cannot be UTF-16, and means UTF-8.
    """
    if b"charset" in head.lower():
        for markup in _MARKUP.finditer(head):
            encoding = _of_meta(markup[2]) if markup[1] else None
            if encoding is not None:
                return encoding
    found = _IN_XML.match(head)
    return _named(found[1] or found[2]) if found else None


def _of_meta(attributes: bytes) -> Encoding | None:
    """Read a meta element: its charset, or its content where http-equiv says what that is.

    Deviation (HTML §13.2.3.2): hyphens that are missing are meant.
    """
    values: dict[bytes, bytes] = {}
    for found in _ATTRIBUTE.finditer(attributes):
        values.setdefault(found[1].lower(), found[2] or found[3] or found[4] or b"")
    if b"charset" in values:
        return _named(values[b"charset"])
    pragma = values.get(b"http-equiv") or values.get(b"httpequiv") or b""
    if pragma.lower().replace(b"-", b"") != b"contenttype":
        return None
    content = _IN_CONTENT.search(values.get(b"content", b""))
    return _named(content[1] or content[2] or content[3] or b"") if content else None


def _named(label: bytes) -> Encoding | None:
    encoding = find_encoding(label.decode("latin-1"))
    if encoding is None:
        return None
    if encoding.name.startswith("utf-16"):
        return Encoding("utf-8", "utf-8")
    if encoding.name == "x-user-defined":
        return Encoding("windows-1252", "cp1252")
    return encoding
