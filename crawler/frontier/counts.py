"""The books of the frontier: where every discovered URL is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from crawler.model import Outcome, Reason


@dataclass(slots=True)
class Counts:
    """URLs by state.

    Invariant: ``discovered == queued + leased + waiting + sum(done) + sum(rejected)``.
    """

    discovered: int = 0
    queued: int = 0
    leased: int = 0
    waiting: int = 0
    fetches: int = 0  # distinct URLs handed out at least once
    hosts: int = 0  # asked at least once
    done: Counter[Outcome] = field(default_factory=Counter)
    rejected: Counter[Reason] = field(default_factory=Counter)

    @property
    def stored(self) -> int:
        """Pages stored so far."""
        return self.done[Outcome.STORED]

    @property
    def unfinished(self) -> int:
        """URLs that still have a way to go."""
        return self.queued + self.leased + self.waiting

    def imbalance(self) -> int:
        """Return discovered minus the sum of all states: 0, or URLs were lost or invented."""
        settled = self.done.total() + self.rejected.total()
        return self.discovered - self.unfinished - settled
