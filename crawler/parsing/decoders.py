"""Bytes to text as browsers do it, where Python's codecs know less.

Python's tables stop at what a national standard has; the web's go on: the circled digits of
Japanese pages, the control characters of the Windows code pages.
"""

from __future__ import annotations

import codecs

from w3lib.encoding import to_unicode

_ROWS = {"euc_jp": 0x00, "iso2022_jp_ext": 0x80}  # what makes a byte one of EUC


def decode_with(body: bytes, codec: str) -> str:
    """Decode; what nothing can be made of becomes U+FFFD.

    Args:
        body: bytes.
        codec: as in :class:`crawler.parsing.labels.Encoding`.

    Spec: Encoding §9 (single-byte), §12 (Japanese), §14.5 (x-user-defined).
    """
    if codec == "x-user-defined":
        return body.decode("latin-1").translate(_USER_DEFINED)
    if codec.startswith("cp125") or codec == "cp874" or codec in _ROWS:
        return body.decode(codec, "web")
    return to_unicode(body, codec)  # it knows what gb18030 lacks


_USER_DEFINED = {byte: 0xF780 + byte - 0x80 for byte in range(0x80, 0x100)}


def _mend(error: UnicodeError) -> tuple[str, int]:
    """Decode what a codec of Python does not know, or replace it."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    start, octet = error.start, error.object[error.start]
    if error.encoding == "charmap" and 0x80 <= octet < 0xA0:  # noqa: PLR2004 -- C1
        return chr(octet), start + 1
    if error.encoding in _ROWS:
        lifted = bytes(one | _ROWS[error.encoding] for one in error.object[start : start + 2])
        if text := _beyond_jis(lifted):
            return text, start + 2
    return "\ufffd", error.end


def _beyond_jis(pair: bytes) -> str:
    """Return the character of two EUC bytes that Windows added to JIS X 0208; "" for none.

    Code page 932 has those rows, two of them to a lead byte.
    """
    if len(pair) < 2 or min(pair) < 0xA1 or max(pair) > 0xFE:  # noqa: PLR2004 -- EUC
        return ""
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    lead = (row >> 1) + (0x81 if row < 62 else 0xC1)  # noqa: PLR2004 -- katakana lie between
    trail = cell + 0x9F if row & 1 else cell + 0x40 + (cell >= 63)  # noqa: PLR2004 -- no 0x7F
    text = bytes((lead, trail)).decode("cp932", "replace")
    return "" if len(text) > 1 or text == "\ufffd" else text


codecs.register_error("web", _mend)
