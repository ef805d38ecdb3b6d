"""Tables of what comes from the web, made harmless for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ELLIPSIS = "…"
_GAP = "  "


def table(
    rows: Iterable[Sequence[str]],
    widths: Sequence[int],
    most: int | None = None,
    *,
    ranks: Sequence[int] = (),
) -> Iterator[str]:
    """Yield rows as lines of columns, each as soon as it is there.

    Args:
        rows: Texts of cells, from anywhere.
        widths: Of the columns; a longer cell is cut, the last one is as wide as it is.
        most: Characters of a line, the width of a terminal; None for no bound.
        ranks: Columns by importance. Those that leave the last one less than half of ``most``
            are left out. Empty: none is.
    """
    shown = range(len(widths)) if most is None or not ranks else _fitting(widths, ranks, most // 2)
    for row in rows:
        cells = [printable(cell) for cell in row]
        fixed = [_cut(cells[n], widths[n]).ljust(widths[n]) for n in shown]
        line = _GAP.join([*fixed, *cells[len(widths) :]]).rstrip()
        yield line if most is None else _cut(line, most)


def _fitting(widths: Sequence[int], ranks: Sequence[int], room: int) -> list[int]:
    """Return which columns have room together, the most important ones first."""
    kept = []
    for n in ranks:
        needed = widths[n] + len(_GAP)
        if needed <= room:
            kept.append(n)
            room -= needed
    return sorted(kept)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(0, most - 1)] + _ELLIPSIS
