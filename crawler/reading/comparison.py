"""How lines that were made again differ from those that a crawl has written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.store import PageRow


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
    """

    same: int = 0
    changed: int = 0
    new: int = 0
    gone: int = 0
    unreadable: int = 0
    moved: int = 0
    unarchived: int = 0
    _last: int = -1

    def note(self, row: PageRow, before: bytes | None, after: bytes | None) -> None:
        """Count a page, in the order of the archive.

        Args:
            row: Of the catalog.
            before: The line that the crawl has written.
            after: The line of today.
        """
        if before is None:
            self.new += after is not None
            return
        if after is None:
            self.gone += 1
        elif after != before:
            self.changed += 1
        else:
            self.same += 1
        if row.text_offset is not None:
            self.moved += row.text_offset < self._last
            self._last = max(self._last, row.text_offset)

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
