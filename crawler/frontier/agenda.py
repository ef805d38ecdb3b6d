"""The order of hosts: when each may act, and which of those that may goes first."""

from __future__ import annotations

import heapq

from crawler.frontier.hosts import NEVER, Host


class Agenda:
    """Two heaps: resting hosts by the time they become ready, ready ones by rank.

    The rank of a ready host is the priority of its best URL, in levels worth ``aging``
    seconds each, plus the time since which it is ready: a better URL goes first, and a host
    that has waited long enough goes before it, so none starves.

    Invariant: a host has at most one live heap entry, the one with its current stamp; all
    others are stale and dropped when they surface. O(log hosts) a move.
    """

    __slots__ = ("_aging", "_ready", "_resting", "_tick", "on_it", "ready")

    def __init__(self, aging: float) -> None:
        self._aging = aging
        self._resting: list[tuple[float, int, int, Host]] = []
        self._ready: list[tuple[float, int, int, Host]] = []
        self._tick = 0
        self.on_it = 0  # hosts that have something to do
        self.ready = 0  # those of them that are known to be ready

    def place(self, host: Host, now: float) -> None:
        """Put a host where it belongs now; a busy or idle host belongs nowhere."""
        at = NEVER if host.busy else host.ready_at()
        if at == NEVER:
            self.remove(host)
        elif at > now:
            if host.entry != (at, None):
                self._enter(host, (at, None))
                self._push(self._resting, at, host)
        else:
            self._make_ready(host, now)

    def remove(self, host: Host) -> None:
        """Take a host off the agenda."""
        host.stamp += 1
        self._enter(host, None)

    def _enter(self, host: Host, entry: tuple[float, int | None] | None) -> None:
        """Note where a host's live heap entry is, and keep the counts."""
        old = host.entry
        self.on_it += (entry is not None) - (old is not None)
        self.ready += (entry is not None and entry[1] is not None) - (
            old is not None and old[1] is not None
        )
        host.entry = entry

    def pop(self, now: float) -> Host | None:
        """Take the best host that may act; None when none may."""
        while self._resting and self._resting[0][0] <= now:
            at, _, stamp, host = heapq.heappop(self._resting)
            if stamp == host.stamp:
                self._make_ready(host, at)
        while self._ready:
            _, _, stamp, host = heapq.heappop(self._ready)
            if stamp == host.stamp:
                self.remove(host)
                return host
        return None

    def next_at(self, now: float) -> float | None:
        """Return when :meth:`pop` may have a host: ``now``, later, or never (None)."""
        for heap in (self._ready, self._resting):
            while heap and heap[0][2] != heap[0][3].stamp:
                heapq.heappop(heap)
        if self._ready:
            return now
        return self._resting[0][0] if self._resting else None

    def _make_ready(self, host: Host, since: float) -> None:
        """Enter a host as ready, or move it up when its best URL has become better."""
        priority = host.head_priority()
        if host.entry is not None and host.entry[1] is not None:
            since = host.entry[0]
            if host.entry[1] <= priority:
                return
        self._enter(host, (since, priority))
        self._push(self._ready, priority * self._aging + since, host)

    def _push(self, heap: list[tuple[float, int, int, Host]], value: float, host: Host) -> None:
        host.stamp += 1
        self._tick += 1
        heapq.heappush(heap, (value, self._tick, host.stamp, host))
