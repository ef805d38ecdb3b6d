"""Judgement of a crawl from outside: what the server's own log says about politeness.

Hosts are told apart as the log names them, ``host[:port]``. The log errs on the crawler's
side (:mod:`tests.support.connection`), so what is found here did happen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.support.exchange import Hit


def by_host(hits: Iterable[Hit]) -> dict[str, list[Hit]]:
    """Return each host's requests in the order in which they began."""
    hosts: defaultdict[str, list[Hit]] = defaultdict(list)
    for hit in sorted(hits, key=lambda hit: hit.t_start):
        hosts[hit.host].append(hit)
    return dict(hosts)


def pairs(hits: Iterable[Hit]) -> list[tuple[float, Hit, Hit]]:
    """Return (gap in seconds, earlier, later) for each request that is not its host's first.

    The gap runs from the latest end of all earlier requests to the start of the later one,
    so it is negative when the two overlap; the earlier one is the request that ended last.
    """
    found = []
    for ordered in by_host(hits).values():
        last = ordered[0]
        for hit in ordered[1:]:
            found.append((hit.t_start - last.t_end, last, hit))
            last = max(last, hit, key=lambda one: one.t_end)
    return found


def gaps(hits: Iterable[Hit]) -> dict[str, list[float]]:
    """Return each host's gaps in seconds, in time order; an empty list for a single request."""
    hits = list(hits)
    found: dict[str, list[float]] = {host: [] for host in by_host(hits)}
    for gap, _, later in pairs(hits):
        found[later.host].append(gap)
    return found


def overlaps(hits: Iterable[Hit]) -> list[tuple[Hit, Hit]]:
    """Return the pairs of one host of which the later began before the earlier had ended."""
    return [(earlier, later) for gap, earlier, later in pairs(hits) if gap < 0]


def assert_polite(
    hits: Iterable[Hit],
    delay: float | Mapping[str, float],
    *,
    slack: float = 0.0,
) -> None:
    """Fail when a host was asked again earlier than ``delay`` after the last transfer.

    Args:
        hits: The server's log.
        delay: Seconds; or seconds per ``host[:port]``, where a host that is missing may
            be asked at any time that does not overlap.
        slack: Seconds forgiven, for logs with abandoned requests on a busy machine.

    Raises:
        AssertionError: Names the worst pair, and how many there are.
    """
    found = pairs(hits)
    due = {later.host: _delay_of(later.host, delay) for _, _, later in found}
    bad = [pair for pair in found if pair[0] < due[pair[2].host] - slack]
    if not bad:
        return
    gap, earlier, later = min(bad, key=lambda pair: pair[0] - due[pair[2].host])
    raise AssertionError(
        f"{len(bad)} of {len(found)} gaps are too short. The worst, on {later.host}: "
        f"{later.method} {later.path} began {gap:.4f} s after the end of {earlier.method} "
        f"{earlier.path}, and the delay is {due[later.host]:g} s"
    )


def _delay_of(host: str, delay: float | Mapping[str, float]) -> float:
    return delay if isinstance(delay, int | float) else delay.get(host, 0.0)


def smallest_gap(hits: Iterable[Hit]) -> float:
    """Return the smallest gap of any host in seconds; infinite when no host was asked twice."""
    return min((gap for gap, _, _ in pairs(hits)), default=float("inf"))


def fetched(hits: Iterable[Hit], *, host: str | None = None) -> Counter[str]:
    """Count requests by ``host[:port]/path?query``; by path alone for one given host."""
    if host is not None:
        return Counter(hit.path for hit in hits if hit.host == host)
    return Counter(hit.host + hit.path for hit in hits)


def connections_per_host(hits: Iterable[Hit]) -> dict[str, int]:
    """Return how many different connections each host saw."""
    seen: defaultdict[str, set[int]] = defaultdict(set)
    for hit in hits:
        seen[hit.host].add(hit.connection)
    return {host: len(numbers) for host, numbers in seen.items()}


def max_parallel_hosts(hits: Iterable[Hit]) -> int:
    """Return the largest number of hosts that had a request in flight at one instant."""
    steps = [(hit.t_start, 1, hit.host) for hit in hits]
    steps += [(hit.t_end, -1, hit.host) for hit in hits if hit.t_end > hit.t_start]
    open_now: Counter[str] = Counter()
    most = busy = 0
    for _, step, host in sorted(steps):  # at one instant an end comes before a start
        before = open_now[host] > 0
        open_now[host] += step
        busy += (open_now[host] > 0) - before
        most = max(most, busy)
    return most


def max_parallel_per_host(hits: Iterable[Hit]) -> dict[str, int]:
    """Return the largest number of requests each host had in flight at one instant."""
    most: Counter[str] = Counter()
    for host, ordered in by_host(hits).items():
        ends: list[float] = []
        for hit in ordered:
            ends = [end for end in ends if end > hit.t_start]
            ends.append(hit.t_end)
            most[host] = max(most[host], len(ends))
    return dict(most)
