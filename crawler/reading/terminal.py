"""What comes from the web, made harmless for a terminal; and tables.

A title or a URL can hold escape sequences that move the cursor, change the window's title or
hide what stands there. Whatever is no visible character becomes its escape.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# C0 and C1 controls, line and paragraph separators, what changes the direction of text (Trojan
# Source, CVE-2021-42574), surrogates, and tags that are invisible
_HARMFUL = (
    "\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff"
)
_UNSAFE = re.compile(f"[{_HARMFUL}\\U000e0000-\\U000e007f]")
_UNSAFE_BUT_LAYOUT = re.compile(f"(?![\\n\\t])[{_HARMFUL}\\U000e0000-\\U000e007f]")
_BMP = 0x10000
_ELLIPSIS = "…"


def printable(text: str, *, layout: bool = False) -> str:
    r"""Return a text with each unsafe character as ``\\xHH``, ``\\uHHHH`` or ``\\UHHHHHHHH``.

    Args:
        text: Anything.
        layout: Whether line feeds and tabs stay.
    """
    return (_UNSAFE_BUT_LAYOUT if layout else _UNSAFE).sub(_escaped, text)


def printable_json(text: str) -> str:
    """Return JSON that says the same with its unsafe characters escaped."""
    return _UNSAFE_BUT_LAYOUT.sub(_json_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def _json_escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def table(
    rows: Iterable[Sequence[str]], widths: Sequence[int], most: int | None = None
) -> Iterator[str]:
    """Yield rows as lines of columns, each as soon as it is there.

    Args:
        rows: Texts of cells, from anywhere.
        widths: Of the columns; a longer cell is cut, the last one is as wide as it is.
        most: Characters of a line, the width of a terminal; None for no bound.
    """
    for row in rows:
        cells = [printable(cell) for cell in row]
        fixed = [_cut(cell, n).ljust(n) for cell, n in zip(cells, widths, strict=False)]
        line = "  ".join([*fixed, *cells[len(widths) :]]).rstrip()
        yield line if most is None else _cut(line, most)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(0, most - 1)] + _ELLIPSIS
