"""Of which type a body is: by what is declared, its start, and whether it is text at all.

Spec: MIME Sniffing §3 (binary data bytes), §6 (signatures), §7.1 (what an HTML page begins with);
Fetch §2.2.2 (several Content-Type values).
"""

from __future__ import annotations

import re

from crawler.parsing.declared import wide_encoding

HTML, TEXT, BINARY = "text/html", "text/plain", "application/octet-stream"
XHTML = "application/xhtml+xml"
HTML_TYPES = (HTML, XHTML, "application/vnd.wap.xhtml+xml")
_DEFAULTS = frozenset({BINARY, "binary/octet-stream"})  # of servers and of object stores
_SAYS_NOTHING = _DEFAULTS | {"", "unknown/unknown", "application/unknown", "*/*"}
_XML_TYPES = frozenset({"application/xml", "text/xml"})
_LONGEST_HEADER = 1000
_SNIFFED = 512
_HTML_STARTS = tuple(
    b"<" + name
    for name in (
        b"!doctype html", b"html", b"head", b"script", b"iframe", b"h1", b"div", b"font",
        b"table", b"a", b"style", b"title", b"b", b"body", b"br", b"p", b"!--",
    )
)  # fmt: skip
_LONGEST_START = 16
_SIGNATURES = (
    b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*", b"\0\0\1\0",
    b"%PDF-", b"%!PS-Adobe-", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PK\x03\x04",
    b"\x1f\x8b\x08", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07",
    b"OggS\0", b"fLaC", b"ID3\2", b"ID3\3", b"ID3\4", b"MThd\0", b"\x1aE\xdf\xa3",
    b"wOFF", b"wOF2", b"OTTO\0", b"\0\1\0\0", b"\x7fELF", b"\xca\xfe\xba\xbe",
    b"SQLite format 3\0",
)  # fmt: skip
_BOXES = frozenset({b"ftyp", b"WAVE", b"AVI ", b"WEBP"})  # behind four or eight other bytes
_BINARY = bytes({*range(0x20)} - {0x09, 0x0A, 0x0C, 0x0D, 0x1B})
_MOST_BINARY = 16  # so many bytes of text for each that no text contains
_WIDE = ("utf-16", "utf-32", "utf16", "utf32", "ucs", "unicode", "iso-10646")
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
_TYPE = re.compile(r"[\w!#$%&'*+.^`|~-]+/[\w!#$%&'*+.^`|~-]+", re.ASCII).fullmatch
_VALUES = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^,])+', re.DOTALL)
_PARAMETERS = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^;])+', re.DOTALL)
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)
_XHTML = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<\?[^>]*>|<!--.*?-->|<!doctype\s[^>\[]*>)*+<(?:\w+:)?html[\s>]",
    re.DOTALL | re.IGNORECASE,
).match


def split_content_type(value: bytes | None) -> tuple[str, str | None]:
    """Return (media type in lower case, charset parameter or None) of Content-Type headers.

    Args:
        value: of the header; of several, joined by commas, the last one that is a type counts.

    Spec: RFC 9110 §8.3.1; Fetch §2.2.2 (extract a MIME type); MIME Sniffing §4.4 (what is
    none). Garbage gives an empty type; nothing raises.
    """
    text = (value or b"")[:_LONGEST_HEADER].decode("latin-1")
    if "," not in text:
        return _read_type(text)
    media, charset = "", None
    for piece in _VALUES.findall(text):
        one, its_charset = _read_type(piece)
        if one and one != "*/*":
            charset = its_charset or (charset if one == media else None)
            media = one
    return media, charset


def _read_type(text: str) -> tuple[str, str | None]:
    media, _, rest = text.partition(";")
    charset = None
    for parameter in _PARAMETERS.findall(rest):
        name, _, content = parameter.partition("=")
        if name.strip().lower() == "charset" and charset is None:
            content = _QUOTED_PAIR.sub(r"\1", content)
            charset = content.strip().strip("\"'").strip() or None
    media = media.strip().lower()
    return (media if _TYPE(media) else ""), charset


def real_type(media: str, body: bytes, charset: str | None = None) -> str:
    """Return the media type that a body is of: the declared one, unless the bytes refute it.

    A type that says something is believed: HTML declared as text/plain is text. Bytes that are
    no text are none whatever they are declared to be. Where nothing is declared, the bytes
    decide: what begins like a page is one, and other text is text/plain.

    Args:
        media: type of Content-Type, lower case.
        body: decompressed.
        charset: parameter of Content-Type; the wide encodings may have any byte.

    Spec: MIME Sniffing §7 (a type that is no text is left as it is), §7.1 (unknown type), §7.2
    (text or binary); HTML §7.5.3 (XML whose root is html is a page). Deviation (§7):
    application/octet-stream and its like, the default of many servers, are HTML where they
    begin like a page, and nothing else.
    """
    head = body[:_SNIFFED]
    if media in _SAYS_NOTHING | _XML_TYPES and _XHTML(head):
        return XHTML
    if media in _SAYS_NOTHING:
        if begins_like_html(head):
            return HTML
        if media in _DEFAULTS or not head or _is_binary(head, charset):
            return BINARY
        return TEXT
    if _is_textual(media) and _is_binary(head, charset):
        return BINARY
    return media


def begins_like_html(body: bytes) -> bool:
    """Whether a body begins as only HTML does. Spec: MIME Sniffing §7.1."""
    start = body[:_SNIFFED].lstrip(b"\xef\xbb\xbf \t\r\n\x0c")[:_LONGEST_START]
    return start.lower().startswith(_HTML_STARTS)


def _is_textual(media: str) -> bool:
    return media in HTML_TYPES or media.startswith("text/")


def _is_binary(head: bytes, charset: str | None) -> bool:
    """Tell an image, an archive or other bytes that are no text from a page."""
    if wide_encoding(head) is not None:
        return False
    if head.startswith(_SIGNATURES) or head[4:8] in _BOXES or head[8:12] in _BOXES:
        return True
    binary = len(head) - len(head.translate(None, _BINARY))
    if binary * _MOST_BINARY <= len(head):
        return False
    return not (head.startswith(_WIDE_BOMS) or (charset or "").lower().startswith(_WIDE))
