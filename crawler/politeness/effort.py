"""What answers of a host cost us, and how long a host rests that costs more than its share.

A crawl has one core for all hosts. Pages that are made to be costly (a million tags, a bomb, a body
in crumbs) are bounded each, but a host could send one after the other; so costs are kept like a
debt, which time pays off at the host's fair share of the core. Ordinary pages are free: whoever has
many of them may be crawled as fast as the delay allows, however many others there are.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.model import HostKey

_ACTIVE = 60.0
"""Seconds for which a host that has answered counts as one of those that share the core."""
_LONGEST_REST = 60.0
_ORDINARY = 0.02
"""CPU seconds of an answer that are never charged: ten usual pages, or one of half a MB."""
_MOST_HOSTS = 100_000


class Effort:
    """Turns CPU seconds into seconds of rest.

    Invariants: a host alone never rests for longer than it has cost; a host whose answers are
    ordinary, or cost no more than one part in n, where n hosts answer, does not rest; no rest is
    longer than a minute.
    O(1), and about 200 bytes a host that was active in the last minute.

    Args:
        burst: CPU seconds that a host may cost at once beyond its share.
    """

    __slots__ = ("_burst", "_debts")

    def __init__(self, burst: float) -> None:
        self._burst = burst
        self._debts: OrderedDict[HostKey, tuple[float, float]] = OrderedDict()  # debt, as of when

    def rest(self, key: HostKey, cost: float, now: float) -> float:
        """Note what an answer has cost; return how many seconds its host is to rest, 0 for none.

        Args:
            key: The host.
            cost: CPU seconds.
            now: Crawl-clock seconds.
        """
        self._forget(now)
        debt, at = self._debts.pop(key, (0.0, now))
        share = 1 / (len(self._debts) + 1)
        debt = max(0.0, debt - (now - at) * share) + max(0.0, cost - _ORDINARY)
        self._debts[key] = debt, now
        return min(max(0.0, debt - self._burst) / share, _LONGEST_REST)

    def _forget(self, now: float) -> None:
        """Drop hosts that have been silent for a minute; their debts are small by then."""
        while self._debts:
            key, (_, at) = next(iter(self._debts.items()))
            if now - at <= _ACTIVE and len(self._debts) < _MOST_HOSTS:
                return
            del self._debts[key]
