"""From bytes to text, the way browsers choose an encoding, with two mends for the real web.

The order is BOM, HTTP header, declaration in the page (:mod:`crawler.parsing.declared`), and a
look at the bytes. :mod:`crawler.parsing.labels` knows the names, and
:mod:`crawler.parsing.decoders` what becomes of the bytes.

Two heuristics go beyond the standard: a Latin-1 label on bytes that are valid UTF-8 is a
server's default and not a statement (switchable), and bytes without a label that are not
UTF-8 are guessed from a sample of them.
"""

from __future__ import annotations

from typing import NamedTuple

from resiliparse.parse.encoding import detect_encoding

from crawler.parsing.declared import declared_encoding, wide_encoding
from crawler.parsing.decoders import decode_with
from crawler.parsing.labels import Encoding, find_encoding

PRESCAN_BYTES = 4096
"""How far a declaration is looked for; the standard stops at 1024, real pages do not."""

SAMPLE_BYTES = 8192
"""How many bytes the guess may read."""


class Decoded(NamedTuple):
    """A decoded body: its text, the encoding's standard name and Python's codec for it."""

    text: str
    name: str
    codec: str


_UTF_8 = Encoding("utf-8", "utf-8")
_WINDOWS_1252 = Encoding("windows-1252", "cp1252")
_BOMS = (
    (b"\xef\xbb\xbf", _UTF_8),
    (b"\xff\xfe", Encoding("utf-16le", "utf-16-le")),
    (b"\xfe\xff", Encoding("utf-16be", "utf-16-be")),
)
_LATIN_1_FAMILY = frozenset({"windows-1252", "iso-8859-15"})

_DETECTOR_NAMES = {"uhc": "euc-kr"}  # what the detector calls an encoding -> a label

# Few letters beyond ASCII fit many encodings. Of the Latin ones that the detector may name,
# these are believed if the sample has so many different bytes, and the others never.
_LATIN_GUESSES = frozenset(("iso-8859-2", "windows-1250", "windows-1254", "windows-1257"))
_LATIN_EVIDENCE = 4
_NEVER_GUESSED = frozenset(
    ("windows-1258", "macintosh", *(f"iso-8859-{part}" for part in (3, 4, 10, 13, 14, 15, 16)))
)

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


def decode_body(
    body: bytes, header_charset: str | None, *, mend_latin_1: bool = True, prescan: bool = True
) -> Decoded:
    """Decode like :func:`decode` and name Python's codec too.

    Args:
        body: as received, decompressed.
        header_charset: label of the Content-Type header; an unknown one is as none.
        mend_latin_1: read valid UTF-8 as UTF-8 although it is labelled Latin-1.
        prescan: look for a declaration in the body, as only markup has one.
    """
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return _decoded(body[len(bom) :], encoding)
    declared = find_encoding(header_charset) if header_charset else None
    if declared is None and prescan:
        head = body[:PRESCAN_BYTES]
        declared = wide_encoding(head) or declared_encoding(head)
    if declared is None:
        return _decode_unlabelled(body)
    if mend_latin_1 and declared.name in _LATIN_1_FAMILY and not body.isascii():
        text, _ = _read_utf_8(body)
        if text is not None:
            return Decoded(text, *_UTF_8)
    return _decoded(body, declared)


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


def _guess(sample: bytes) -> Encoding:
    """Guess from bytes that are not UTF-8; windows-1252 when in doubt."""
    label = detect_encoding(sample, max_len=SAMPLE_BYTES, html5_compatible=False) or ""
    encoding = find_encoding(_DETECTOR_NAMES.get(label.lower(), label))
    if encoding is None or encoding == _UTF_8 or encoding.name in _NEVER_GUESSED:
        return _WINDOWS_1252
    if encoding.name in _LATIN_GUESSES:
        different = sum(byte >= 0x80 for byte in set(sample))  # noqa: PLR2004 -- ASCII ends there
        return encoding if different >= _LATIN_EVIDENCE else _WINDOWS_1252
    return encoding


def _decoded(body: bytes, encoding: Encoding) -> Decoded:
    if encoding.name == "replacement":  # one U+FFFD for the whole body: Encoding §14.1
        return Decoded("\ufffd" if body else "", "replacement", "utf-8")
    text = decode_with(body, encoding.codec)
    has_codec = encoding.name != "x-user-defined"  # of Python, for what a page refers to
    return Decoded(text, encoding.name, encoding.codec if has_codec else "utf-8")
