"""Text of strangers in logs and on terminals: one line stays one line, and moves no cursor.

URLs, titles, headers and errors hold what servers put there: line ends that forge a line of the
log, escape sequences that move a cursor or change a window's title, marks that turn text around or
hide it. Whatever is no visible character becomes its escape.

Spec: ECMA-48 (control functions), Unicode Standard Annex 9 (bidirectional text).
"""

from __future__ import annotations

import re

# C0 and C1 controls, line and paragraph separators, what changes the direction of text (Trojan
# Source, CVE-2021-42574) or takes no room, surrogates, and tags that are invisible
_HARMFUL = (
    "\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff"
    "\\ud800-\\udfff\\U000e0000-\\U000e007f"
)
_UNSAFE = re.compile(f"[{_HARMFUL}]")
_UNSAFE_BUT_LAYOUT = re.compile(f"(?![\\n\\t])[{_HARMFUL}]")
_GOES_ON = re.compile(r"\n(?=[^\s{])")


def printable(text: str, *, layout: bool = False) -> str:
    r"""Return a text with each unsafe character as ``\xHH``, ``\uHHHH`` or ``\UHHHHHHHH``.

    Args:
        text: Anything.
        layout: Whether line feeds and tabs stay.
    """
    return (_UNSAFE_BUT_LAYOUT if layout else _UNSAFE).sub(_escaped, text)


def printable_lines(text: str) -> str:
    r"""Do the same for a record of a log, where line feeds and tabs stay.

    No line but the first begins like a line of a log: it gets blanks in front unless it has some,
    or is a part of what Scrapy dumps.
    """
    return _GOES_ON.sub("\n  ", printable(text, layout=True))


def printable_json(text: str) -> str:
    """Return JSON that says the same with its unsafe characters escaped."""
    return _UNSAFE_BUT_LAYOUT.sub(_json_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def _json_escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
