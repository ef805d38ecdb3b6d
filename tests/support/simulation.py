"""The real frontier and politeness, crawling a generated web in virtual time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.frontier import Frontier, Lease
    from crawler.model import HostKey
    from tests.support.virtual_clock import VirtualClock


@dataclass(frozen=True)
class Dispatch:
    """One request as the web saw it."""

    host: HostKey
    url: str
    start: float
    end: float


@dataclass
class Simulation:
    """Drives a frontier as the scheduler does: hand out, transfer, report, wake up again.

    ``fetch`` gets a lease and the start time and returns the end of the transfer and what
    to do then. Nothing else moves time.
    """

    clock: VirtualClock
    frontier: Frontier
    gate: Callable[[str, str], object]
    fetch: Callable[[Lease, float], tuple[float, Callable[[], None]]]
    concurrency: int = 100
    dispatches: list[Dispatch] = field(default_factory=list)
    in_flight: int = 0
    wakes: int = 0

    def run(self, until: float = float("inf"), *, max_dispatches: int = 1_000_000) -> None:
        """Crawl until nothing is left, or a limit of time or requests is reached."""
        while len(self.dispatches) < max_dispatches:
            self._hand_out()
            at = self._next_event()
            if at is None or at - self.clock.start > until:
                return
            self.wakes += 1
            self.clock.advance_to(at)

    def _next_event(self) -> float | None:
        times = [self.clock.next_at()]
        if self.in_flight < self.concurrency:
            times.append(self.frontier.wake_at(self.clock.now()))
        return min((t for t in times if t is not None), default=None)

    def _hand_out(self) -> None:
        while self.in_flight < self.concurrency:
            now = self.clock.now()
            lease = self.frontier.next(now, self.gate)  # type: ignore[arg-type]
            if lease is None:
                return
            end, report = self.fetch(lease, now)
            self.in_flight += 1
            self.dispatches.append(Dispatch(lease.host.key, lease.url, now, end))
            self.clock.call_at(end, lambda report=report: self._finish(report))  # type: ignore[misc]

    def _finish(self, report: Callable[[], None]) -> None:
        self.in_flight -= 1
        report()
