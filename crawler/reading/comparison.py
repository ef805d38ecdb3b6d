"""How lines that were made again differ from those that a crawl has written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from crawler.store import PageRow

_MOST_EXAMPLES = 10


@dataclass(slots=True)
class Tally:
    """Counts of URLs; of those that were not asked for, none counts.

    Attributes:
        same: The line is the one that was written, byte by byte.
        changed: It is another one.
        new: There was none.
        gone: There was one, and is none now.
        unreadable: The archive does not give back what was received.
        moved: Lines that come before one they were behind; they count as the same, too.
        unarchived: Lines of whose pages the archive has nothing.
        examples: The first differences, in words: what, the URL, and the fields.
    """

    same: int = 0
    changed: int = 0
    new: int = 0
    gone: int = 0
    unreadable: int = 0
    moved: int = 0
    unarchived: int = 0
    examples: list[str] = field(default_factory=list)
    _last: int = -1

    def note(self, row: PageRow, before: bytes | None, after: bytes | None) -> None:
        """Count a page, in the order of the archive.

        Args:
            row: Of the catalog.
            before: The line that the crawl has written.
            after: The line of today.
        """
        if before is None:
            if after is not None:
                self.new += 1
                self._show(f"new: {row.url}")
            return
        if after is None:
            self.gone += 1
            self._show(f"gone: {row.url}")
        elif after != before:
            self.changed += 1
            if len(self.examples) < _MOST_EXAMPLES:
                self._show(f"changed: {row.url}: {_fields(before, after)}")
        else:
            self.same += 1
        self._note_place(row)

    def _note_place(self, row: PageRow) -> None:
        if row.text_offset is None:
            return
        if row.text_offset < self._last:
            self.moved += 1
            self._show(f"in another order: {row.url}")
        self._last = max(self._last, row.text_offset)

    def _show(self, example: str) -> None:
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append(example)

    @property
    def lines(self) -> int:
        """Lines of the crawl that were compared."""
        return self.same + self.changed + self.gone

    @property
    def differences(self) -> int:
        """What keeps old and new from being equal, byte by byte."""
        return self.changed + self.new + self.gone + self.unreadable + self.moved + self.unarchived

    def __str__(self) -> str:
        """Return the counts in words; those that are faults only when there are some."""
        parts = [f"{self.same:,} same, {self.changed:,} changed, {self.new:,} new"]
        parts.append(f"{self.gone:,} gone")
        for count, what in (
            (self.unreadable, "unreadable in the archive"),
            (self.moved, "in another order"),
            (self.unarchived, "not in the archive"),
        ):
            if count:
                parts.append(f"{count:,} {what}")
        return ", ".join(parts)


def _fields(before: bytes, after: bytes) -> str:
    """Return the names of the fields in which two lines differ."""
    try:
        old, new = orjson.loads(before), orjson.loads(after)
    except orjson.JSONDecodeError:
        return "it was no JSON"
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return ", ".join(names) or "the same fields, written otherwise"
