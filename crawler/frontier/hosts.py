"""Hosts, their queues, and what is out at them."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from crawler.frontier.entry import Entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.model import HostKey, Origin

NEVER = float("inf")


class UrlQueue:
    """The queued URLs of one origin, best first; a short buffer in memory, the rest stored.

    Invariant: a row with a key up to ``cursor`` is in the buffer, leased or gone; ``stored``
    rows beyond it are only in the engine, or in the batch not yet written. (Leased rows may
    lie beyond it, too.) The cursor is also what keeps a look-up from walking over the rows
    deleted before it.
    """

    __slots__ = (
        *("buffer", "cursor", "held", "leased", "not_before", "origin", "prefix", "stored"),
        "top",
    )

    def __init__(self, origin: Origin, prefix: bytes) -> None:
        self.origin = origin
        self.prefix = prefix
        self.buffer: list[tuple[bytes, bytes]] = []  # a heap of rows: key, encoded entry
        self.top: tuple[bytes, Entry] | None = None  # the best row, decoded when last looked at
        self.cursor = prefix
        self.stored = 0
        self.leased: tuple[bytes, ...] = ()  # rows handed out, their outcome not recorded yet
        self.held = False  # waits for an errand (its robots.txt)
        self.not_before = 0.0

    def __len__(self) -> int:
        return len(self.buffer) + self.stored

    def push(self, key: bytes, row: bytes, limit: int) -> int:
        """Take a new row, which is or will be stored, into the buffer if it belongs there.

        Returns:
            By how much the buffer has grown; it never holds more than ``limit`` rows and one.
        """
        if key > self.cursor and (self.stored or len(self.buffer) >= limit):
            self.stored += 1
            return 0
        heapq.heappush(self.buffer, (key, row))
        self.cursor = max(self.cursor, key)
        return 1 if len(self.buffer) <= limit + 1 else 1 - self._spill(limit)

    def _spill(self, limit: int) -> int:
        """Forget all but the ``limit`` best rows, which are stored already; return how many."""
        self.buffer.sort()
        spilled = len(self.buffer) - limit
        self.stored += spilled
        del self.buffer[limit:]
        self.cursor = self.buffer[-1][0]
        return spilled

    def refill(self, rows: list[tuple[bytes, bytes]]) -> None:
        """Move rows, in key order and beyond the cursor, from the store to the buffer."""
        self.buffer = rows
        self.stored -= len(rows)
        self.cursor = rows[-1][0]

    def rank(self) -> bytes:
        """Return what orders the queues of a host: priority and age of the best URL."""
        return self.buffer[0][0][len(self.prefix) :] if self.buffer else b""

    def peek(self) -> tuple[bytes, Entry]:
        """Return the best row of a buffer that is not empty, decoded."""
        key, row = self.buffer[0]
        if self.top is None or self.top[0] != key:
            self.top = (key, Entry.decode(row))
        return self.top

    def pop(self) -> tuple[bytes, Entry]:
        """Take the best row of a buffer that is not empty."""
        best = self.peek()
        heapq.heappop(self.buffer)
        self.top = None
        return best


class Kind(Enum):
    """What a turn at a host is used for."""

    PAGE = "page"
    ROBOTS = "robots"  # an errand for some origin
    TICKET = "ticket"  # a download that another component makes by itself


@dataclass(slots=True)
class Errand:
    """Something that takes a host's turn before its URLs, and is no discovered URL."""

    kind: Kind
    url: str
    origin: Origin | None = None  # ROBOTS: whose rules these will be
    granted: Callable[[Lease], None] | None = None  # TICKET: told that the turn has come


@dataclass(slots=True)
class Host:
    """One pacing unit: its clock, its budget and its queues."""

    key: HostKey
    next_at: float = 0.0  # end of the last transfer + delay
    blocked_until: float = 0.0  # Retry-After, back-off
    asked_delay: float = 0.0  # the site's own wish; the longer of it and ours counts
    used: int = 0  # distinct page URLs handed out
    throttles: int = 0  # 429/503 in a row
    failures: int = 0  # network failures in a row
    ended_at: float = 0.0  # end of the last transfer; 0 = none yet
    busy: bool = False
    queues: tuple[UrlQueue, ...] = ()  # mostly one: of http or of https
    errands: tuple[Errand, ...] = ()
    stamp: int = 0  # of its live agenda entry; entries with another one are stale
    entry: tuple[float, int | None] | None = None  # (time, priority if ready) of that entry

    @property
    def idle(self) -> bool:
        """Whether nothing is queued, leased or asked for: its stored row says all of it."""
        return not (self.busy or self.errands or any(self.queues)) and not any(
            queue.leased or queue.held for queue in self.queues
        )

    @property
    def clock(self) -> float:
        """Earliest time of the next request, whatever is queued."""
        return max(self.next_at, self.blocked_until)

    def open_queues(self) -> list[UrlQueue]:
        """Queues with URLs that do not wait for an errand."""
        return [queue for queue in self.queues if not queue.held and len(queue)]

    def ready_at(self) -> float:
        """Return when the host can act next; infinity when it has nothing to do."""
        if self.errands:
            return self.clock
        opens = min((queue.not_before for queue in self.open_queues()), default=NEVER)
        return max(self.clock, opens)

    def head_priority(self) -> int:
        """Return the priority of the best buffered URL; 0 for errands, and when unknown."""
        if self.errands:
            return 0
        heads = [q.buffer[0][0][len(q.prefix)] for q in self.open_queues() if q.buffer]
        return min(heads, default=0)


@dataclass(slots=True, eq=False)
class Lease:
    """A turn that was handed out: for a URL until its outcome, for others until their end."""

    number: int
    kind: Kind
    url: str
    host: Host
    at: float  # hand-out
    entry: Entry | None = None  # PAGE
    queue: UrlQueue | None = None  # PAGE
    key: bytes = b""  # PAGE: its row in the queue table
    origin: Origin | None = None  # ROBOTS
    transferring: bool = True  # the host is held; False after the end of the transfer
