"""Labels of encodings: what the web calls them, what the standard calls them, what Python does.

w3lib resolves most labels to Python's codecs. Here is what it leaves: the standard's names,
the labels that Python lacks or takes for something else, and the refusal of whatever is a
codec of Python but no encoding of the web.

Spec: Encoding §4.2 (names and labels).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from w3lib.encoding import resolve_encoding


class Encoding(NamedTuple):
    """An encoding of the web."""

    name: str  # as in the Encoding standard, lower case
    codec: str  # Python's; "x-user-defined" and "replacement" are none


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
    "iso2022_jp_ext": "iso-2022-jp",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "iso2022_kr": "replacement",
    "hz": "replacement",
}
_CODECS = {
    "utf-16": "utf-16-le",
    "iso2022_jp": "iso2022_jp_ext",  # has the narrow katakana, too
}

# Labels that Python lacks, or takes for something else than the standard does.
LABELS = {
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
    "x-user-defined": ("x-user-defined", "x-user-defined"),
    "iso-2022-cn": ("replacement", "replacement"),
    "iso-2022-cn-ext": ("replacement", "replacement"),
    "iso-2022-kr": ("replacement", "replacement"),
    "csiso2022kr": ("replacement", "replacement"),
    "hz-gb-2312": ("replacement", "replacement"),
    "replacement": ("replacement", "replacement"),
}


@lru_cache(maxsize=256)
def find_encoding(label: str) -> Encoding | None:
    """Return the encoding that a label names; None for labels the web does not know.

    Spec: Encoding §4.2. Lenient with quotes, and with a stray parameter behind.
    """
    label = label[:64].partition(";")[0].strip(" \t\r\n\f\"'").lower()
    if label in LABELS:
        return Encoding(*LABELS[label])
    if not label.isascii() or "\0" in label:
        return None
    return encoding_of_codec(resolve_encoding(label))


def encoding_of_codec(codec: str | None) -> Encoding | None:
    """Return the encoding that a codec of Python stands for; None if it is none of the web."""
    name = _NAMES.get(codec or "")
    if codec is None or name is None:
        return None
    return Encoding(name, _CODECS.get(codec, codec))
