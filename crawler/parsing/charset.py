"""From bytes to text, the way browsers choose an encoding, with two mends for the real web.

The order is BOM, HTTP header, declaration in the page, and a look at the bytes. w3lib finds
the declaration and knows Python's codecs; this module adds the label table's oddities, so
that only encodings of the web are ever used, and answers with their standard names.

Two heuristics go beyond the standard: a Latin-1 label on bytes that are valid UTF-8 is a
server's default and not a statement (switchable), and bytes without a label that are not
UTF-8 are guessed from a sample of them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from resiliparse.parse.encoding import detect_encoding
from w3lib.encoding import html_body_declared_encoding, resolve_encoding, to_unicode

PRESCAN_BYTES = 4096
"""How far a declaration is looked for; the standard stops at 1024, real pages do not."""

SAMPLE_BYTES = 8192
"""How many bytes the guess may read."""


class Decoded(NamedTuple):
    """A decoded body: its text, the encoding's standard name and Python's codec for it."""

    text: str
    name: str
    codec: str


class _Encoding(NamedTuple):
    name: str  # as in the Encoding standard, lower case
    codec: str  # Python's


# Python codec (as w3lib resolves a label) -> the standard's name. What is not here is no
# encoding of the web, whatever Python makes of its name: utf-7, utf-32, hex, rot13, idna.
_NAMES = {
    "utf-8": "utf-8",
    "utf-16": "utf-16le",
    "utf-16-le": "utf-16le",
    "utf-16-be": "utf-16be",
    "cp866": "ibm866",
    "iso8859-2": "iso-8859-2",
    "iso8859-3": "iso-8859-3",
    "iso8859-4": "iso-8859-4",
    "iso8859-5": "iso-8859-5",
    "iso8859-6": "iso-8859-6",
    "iso8859-7": "iso-8859-7",
    "iso8859-8": "iso-8859-8",
    "iso8859-10": "iso-8859-10",
    "iso8859-13": "iso-8859-13",
    "iso8859-14": "iso-8859-14",
    "iso8859-15": "iso-8859-15",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "mac-roman": "macintosh",
    "mac-cyrillic": "x-mac-cyrillic",
    "cp874": "windows-874",
    "cp1250": "windows-1250",
    "cp1251": "windows-1251",
    "cp1252": "windows-1252",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "cp1257": "windows-1257",
    "cp1258": "windows-1258",
    "gb18030": "gb18030",
    "big5hkscs": "big5",
    "euc_jp": "euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "iso2022_kr": "replacement",
    "hz": "replacement",
}
_CODECS = {"utf-16": "utf-16-le"}

# Labels that Python lacks, or takes for something else than the standard does.
_LABELS = {
    "unicode-1-1-utf-8": ("utf-8", "utf-8"),
    "unicode11utf8": ("utf-8", "utf-8"),
    "unicode20utf8": ("utf-8", "utf-8"),
    "x-unicode20utf8": ("utf-8", "utf-8"),
    "unicode": ("utf-16le", "utf-16-le"),
    "ucs-2": ("utf-16le", "utf-16-le"),
    "csunicode": ("utf-16le", "utf-16-le"),
    "iso-10646-ucs-2": ("utf-16le", "utf-16-le"),
    "unicodefeff": ("utf-16le", "utf-16-le"),
    "unicodefffe": ("utf-16be", "utf-16-be"),
    "gb2312": ("gbk", "gb18030"),
    "gb_2312": ("gbk", "gb18030"),
    "gb_2312-80": ("gbk", "gb18030"),
    "gbk": ("gbk", "gb18030"),
    "x-gbk": ("gbk", "gb18030"),
    "chinese": ("gbk", "gb18030"),
    "csgb2312": ("gbk", "gb18030"),
    "csiso58gb231280": ("gbk", "gb18030"),
    "iso-ir-58": ("gbk", "gb18030"),
    "windows-949": ("euc-kr", "cp949"),
    "x-x-big5": ("big5", "big5hkscs"),
    "cn-big5": ("big5", "big5hkscs"),
    "x-euc-jp": ("euc-jp", "euc_jp"),
    "iso-8859-8-i": ("iso-8859-8-i", "iso8859-8"),
    "iso-8859-8-e": ("iso-8859-8", "iso8859-8"),
    "iso-8859-6-i": ("iso-8859-6", "iso8859-6"),
    "iso-8859-6-e": ("iso-8859-6", "iso8859-6"),
    "logical": ("iso-8859-8-i", "iso8859-8"),
    "csiso88598i": ("iso-8859-8-i", "iso8859-8"),
    "visual": ("iso-8859-8", "iso8859-8"),
    "sun_eu_greek": ("iso-8859-7", "iso8859-7"),
    "koi": ("koi8-r", "koi8-r"),
    "koi8": ("koi8-r", "koi8-r"),
    "koi8-ru": ("koi8-u", "koi8-u"),
    "dos-874": ("windows-874", "cp874"),
    "mac": ("macintosh", "mac-roman"),
    "x-mac-roman": ("macintosh", "mac-roman"),
    "x-mac-cyrillic": ("x-mac-cyrillic", "mac-cyrillic"),
    "x-mac-ukrainian": ("x-mac-cyrillic", "mac-cyrillic"),
    **{f"x-cp{n}": (f"windows-{n}", f"cp{n}") for n in range(1250, 1259)},
    "x-user-defined": ("windows-1252", "cp1252"),  # as a declaration in a page
    "iso-2022-cn": ("replacement", "replacement"),
    "iso-2022-cn-ext": ("replacement", "replacement"),
    "iso-2022-kr": ("replacement", "replacement"),
    "csiso2022kr": ("replacement", "replacement"),
    "hz-gb-2312": ("replacement", "replacement"),
    "replacement": ("replacement", "replacement"),
}

_UTF_8 = _Encoding("utf-8", "utf-8")
_WINDOWS_1252 = _Encoding("windows-1252", "cp1252")
_BOMS = (
    (b"\xef\xbb\xbf", _UTF_8),
    (b"\xff\xfe", _Encoding("utf-16le", "utf-16-le")),
    (b"\xfe\xff", _Encoding("utf-16be", "utf-16-be")),
)
_LATIN_1_FAMILY = frozenset({"windows-1252", "iso-8859-15"})

_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_ODD_DECLARATION = re.compile(
    rb"<meta\s[^>]*?charset\s*=\s*[\"']?\s*(%s)(?![\w-])"
    % b"|".join(re.escape(label.encode()) for label in sorted(_LABELS, key=len, reverse=True)),
    re.IGNORECASE,
)

# What the detector calls an encoding -> a label of the standard, where the two differ.
# Vietnamese in windows-1258 is not met; Latin text with curly quotes is taken for it.
_GUESSES = {"uhc": "euc-kr", "windows-1258": "windows-1252", "cp1258": "windows-1252"}

_TORN_TAIL = 3  # bytes: the most that a cut body can leave of a UTF-8 character
_GOOD_PER_BAD = 8  # so many characters beyond ASCII must decode for each that does not


def decode(body: bytes, header_charset: str | None) -> tuple[str, str]:
    """Return the text of an HTML body and the standard's lower-case name of its encoding.

    Errors in the bytes become U+FFFD; nothing raises. ``header_charset`` is the label of the
    Content-Type header, as it came.

    Spec: HTML §13.2.3.2 (encoding sniffing), Encoding §4.2 (labels), §6 (BOM).
    """
    text, name, _ = decode_body(body, header_charset)
    return text, name


def decode_body(body: bytes, header_charset: str | None, *, mend_latin_1: bool = True) -> Decoded:
    """Decode like :func:`decode` and name Python's codec too.

    Args:
        body: as received, decompressed.
        header_charset: label of the Content-Type header; an unknown one is as none.
        mend_latin_1: read valid UTF-8 as UTF-8 although it is labelled Latin-1.
    """
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return _decoded(body[len(bom) :], encoding)
    declared = find_encoding(header_charset) if header_charset else None
    if declared is None:
        declared = _declared_in(body[:PRESCAN_BYTES])
    if declared is None:
        return _decode_unlabelled(body)
    if mend_latin_1 and declared.name in _LATIN_1_FAMILY and not body.isascii():
        text, _ = _read_utf_8(body)
        if text is not None:
            return Decoded(text, *_UTF_8)
    return _decoded(body, declared)


@lru_cache(maxsize=256)
def find_encoding(label: str) -> _Encoding | None:
    """Return the encoding that a label names; None for labels the web does not know.

    Spec: Encoding §4.2. Lenient with quotes, and with a stray parameter behind.
    """
    label = label[:64].partition(";")[0].strip(" \t\r\n\f\"'").lower()
    if label in _LABELS:
        return _Encoding(*_LABELS[label])
    if not label.isascii() or "\0" in label:
        return None
    return _of_codec(resolve_encoding(label))


def _of_codec(codec: str | None) -> _Encoding | None:
    name = _NAMES.get(codec or "")
    if codec is None or name is None:
        return None
    return _Encoding(name, _CODECS.get(codec, codec))


def _declared_in(head: bytes) -> _Encoding | None:
    """Read the declaration in a page. Spec: HTML §13.2.3.2 (prescan), XML 1.0 §4.3.3."""
    encoding = _of_codec(html_body_declared_encoding(head))
    if encoding is None or encoding.codec == "gb18030":
        match = _ODD_DECLARATION.search(_COMMENT.sub(b"", head))
        encoding = find_encoding(match[1].decode("ascii")) if match else encoding
    if encoding is not None and encoding.codec.startswith("utf-16"):
        return _UTF_8  # the declaration was read as ASCII, so UTF-16 it cannot be
    return encoding


def _decode_unlabelled(body: bytes) -> Decoded:
    text, first_bad = _read_utf_8(body)
    if text is None:
        text = body.decode("utf-8", "replace")
        if not _is_mostly_utf_8(text):
            return _decoded(body, _guess(body[first_bad:][:SAMPLE_BYTES]))
    return Decoded(text, *_UTF_8)


def _read_utf_8(body: bytes) -> tuple[str | None, int]:
    """Return the text if the body is UTF-8, but for a character cut in two at its end.

    Returns:
        The text, or None and the offset of the first byte that is wrong.
    """
    try:
        return body.decode("utf-8"), len(body)
    except UnicodeDecodeError as error:
        start = error.start
        torn = start >= len(body) - _TORN_TAIL and error.reason == "unexpected end of data"
    if torn and not body[:start].isascii():  # a single such byte may as well be Latin-1
        return body.decode("utf-8", "replace"), start
    return None, start


def _is_mostly_utf_8(text: str) -> bool:
    """Tell a UTF-8 page with a few broken bytes from a page in another encoding."""
    bad = text.count("\ufffd")
    beyond_ascii = len(text.encode("utf-8", "replace")) - len(text)  # at least 1 a character
    return beyond_ascii - 2 * bad > 2 * _GOOD_PER_BAD * bad


def _guess(sample: bytes) -> _Encoding:
    """Guess from bytes that are not UTF-8; windows-1252 when in doubt."""
    label = detect_encoding(sample, max_len=SAMPLE_BYTES, html5_compatible=False)
    encoding = find_encoding(_GUESSES.get(label.lower(), label)) if label else None
    if encoding is None or encoding == _UTF_8:
        return _WINDOWS_1252
    return encoding


def _decoded(body: bytes, encoding: _Encoding) -> Decoded:
    if encoding.name == "replacement":  # one U+FFFD for the whole body: Encoding §14.1
        return Decoded("\ufffd" if body else "", "replacement", "utf-8")
    return Decoded(to_unicode(body, encoding.codec), *encoding)
