"""The only reader of time.

One crawl clock serves delays, Retry-After dates and saved state alike: seconds since the
epoch as a float that never runs backwards. Policy code is given ``now`` and reads nothing.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the crawl time."""

    def now(self) -> float:
        """Return seconds since the epoch; never less than an earlier answer."""
        ...


class SystemClock:
    """Wall time at construction plus monotonic time elapsed since.

    A step of the system's clock (NTP, an operator) therefore neither shortens a delay
    nor lengthens it; the next start reads the corrected wall time.
    """

    __slots__ = ("_offset",)

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """Return seconds since the epoch, monotonic within the process."""
        return self._offset + time.monotonic()


def cpu_seconds() -> float:
    """Return the CPU time that this thread has used; the difference of two is a cost."""
    return time.thread_time()


def iso_utc(at: float) -> str:
    """Format crawl-clock seconds as ISO 8601 UTC, e.g. 2026-11-30T12:00:00.000Z.

    Rounded to the nearest millisecond, as the catalog keeps times: one visit has one time.
    """
    nearest = datetime.fromtimestamp(round(at * 1000) / 1000, tz=UTC)
    stamp = nearest.isoformat(timespec="milliseconds")
    return stamp.replace("+00:00", "Z")
