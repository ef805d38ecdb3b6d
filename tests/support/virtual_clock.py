"""Time under the test's control: days of crawling pass in milliseconds."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class VirtualClock:
    """A clock that stands still until it is told to move, and then runs what falls due."""

    def __init__(self, start: float = 1_000_000.0) -> None:
        self._now = start
        self.start = start
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0

    def now(self) -> float:
        """Return crawl-clock seconds."""
        return self._now

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._now - self.start

    def call_at(self, at: float, action: Callable[[], None]) -> None:
        """Run ``action`` when the clock reaches ``at``; ties in the order of asking."""
        self._count += 1
        heapq.heappush(self._due, (at, self._count, action))

    def next_at(self) -> float | None:
        """Return the time of the earliest action, None when there is none."""
        return self._due[0][0] if self._due else None

    def forget(self) -> None:
        """Drop every action that was asked for, as a crash does."""
        self._due.clear()

    def advance_to(self, at: float) -> None:
        """Move to ``at`` and run everything due by then; the clock never runs backwards."""
        if at < self._now:
            raise ValueError(f"the clock cannot go back from {self._now} to {at}")
        self._now = at
        while self._due and self._due[0][0] <= at:
            heapq.heappop(self._due)[2]()
