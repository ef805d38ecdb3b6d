"""Tables of what comes from the web, made harmless for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ELLIPSIS = "…"


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
