"""The rows of all URL queues: written with the batch, read back into short buffers."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from crawler.frontier.engine import Batch, Engine, Table
from crawler.frontier.hosts import Host, UrlQueue
from crawler.urls import host_hash

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.frontier.entry import Entry
    from crawler.model import Origin

_ROW_KEY = struct.Struct(">BQ")
_FULL_SHARE, _SMALL_SHARE = 64, 2
_SMALL_FILL = 4  # a scan costs as much as reading ten rows


class Queues:
    """Puts URLs into queues and takes the best ones out, in bounded memory.

    Invariant: each queued or leased URL has one row, in the engine or in the batch not yet
    written; what a buffer holds is a copy. At most ``capacity`` URLs are held in buffers, and a
    few more for every queue beyond that.

    Cost: O(log buffer) a URL, and one scan for each buffer that is filled again.
    """

    def __init__(
        self, engine: Engine, batch: Callable[[], Batch], capacity: int, sequence: int
    ) -> None:
        self.sequence = sequence
        """Number of the last row; rows of one priority are ordered by it, oldest first."""
        self._engine = engine
        self._batch = batch
        self._capacity = capacity
        self._held = 0
        self._unwritten: dict[bytes, list[tuple[bytes, bytes]]] = {}  # rows by queue

    @staticmethod
    def of(origin: Origin, host: Host) -> UrlQueue:
        """Return the queue of an origin at its host; made when there is none."""
        for queue in host.queues:
            if queue.origin == origin:
                return queue
        queue = UrlQueue(origin, host_hash(origin))
        host.queues = (*host.queues, queue)
        return queue

    def put(self, entry: Entry, queue: UrlQueue) -> None:
        """Add a URL behind those of its priority."""
        self.sequence += 1
        key = queue.prefix + _ROW_KEY.pack(entry.priority, self.sequence)
        row = entry.encode()
        self._batch().put(Table.QUEUE, key, row)
        self._unwritten.setdefault(queue.prefix, []).append((key, row))
        self._held += queue.push(key, row, self._share())

    def head(self, queue: UrlQueue) -> Entry | None:
        """Return the best URL of a queue without taking it; None when it is empty."""
        if not queue.buffer and queue.stored:
            self._fill(queue)
        return queue.peek()[1] if queue.buffer else None

    def take(self, queue: UrlQueue) -> tuple[bytes, Entry]:
        """Take the best URL, which :meth:`head` has shown, and its row's key; the row stays."""
        self._held -= 1
        return queue.pop()

    def forget(self, key: bytes) -> None:
        """Remove the row of a URL that was taken."""
        self._batch().delete(Table.QUEUE, key)

    def written(self) -> None:
        """Note that the batch is in the engine."""
        self._unwritten = {}

    def _share(self) -> int:
        """Return how many URLs one queue may hold in memory: many, unless all hold too many."""
        return _FULL_SHARE if self._has_room() else _SMALL_SHARE

    def _has_room(self) -> bool:
        return self._held < self._capacity

    def _fill(self, queue: UrlQueue) -> None:
        """Read a queue's next rows, from the engine and from what is not yet written to it."""
        limit = _FULL_SHARE if self._has_room() else _SMALL_FILL
        changed = self._batch().tables[Table.QUEUE]
        rows: list[tuple[bytes, bytes]] = []
        after, more = queue.cursor, True
        while more and len(rows) < limit:
            found = self._engine.scan(Table.QUEUE, prefix=queue.prefix, after=after, limit=limit)
            rows += [r for r in found if r[0] not in queue.leased and r[0] not in changed]
            more = len(found) == limit
            after = found[-1][0] if found else after
        rows += [
            (key, row)
            for key, row in self._unwritten.get(queue.prefix, ())
            if key > queue.cursor and changed[key] is not None and key not in queue.leased
        ]
        rows.sort()
        queue.refill(rows[:limit])
        self._held += len(queue.buffer)
