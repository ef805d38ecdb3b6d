"""What the books of the frontier say after a crash, an eviction, or other limits than before."""

from collections.abc import Iterator

import pytest

from crawler.frontier import Frontier, FrontierOptions, Lease, MemoryEngine
from crawler.model import Allow, Discovery, HostKey, Outcome, Reason

NOW = 1_000_000.0
HOST = HostKey("a.test")


def _open(engine: MemoryEngine, now: float = NOW, **options) -> Frontier:
    return Frontier(
        engine,
        FrontierOptions(**{"delay": 0.0, **options}),
        admit=lambda url: None,
        key=lambda url: url,
        now=now,
    )


def _leases(frontier: Frontier, now: float = NOW) -> Iterator[Lease]:
    """Hand out one turn after another; each transfer ends at once, its outcome stays open."""
    while lease := frontier.next(now, lambda url, origin: Allow()):
        frontier.transfer_ended(lease, now)
        yield lease


def _urls(count: int) -> Discovery:
    return Discovery([f"http://{HOST}/{n}" for n in range(count)])


CAPS = {"max_fetches": "fetches of the crawl", "host_budget": "budget of the host"}


@pytest.mark.parametrize("cap", CAPS, ids=CAPS.values())
def test_what_was_out_at_a_crash_does_not_use_up_a_cap(cap):
    """URLs that are fetched again after a crash count once: the cap is met exactly."""
    engine = MemoryEngine()
    frontier = _open(engine, **{cap: 5})
    frontier.add(_urls(9), NOW)
    out = _leases(frontier)
    frontier.done(next(out), Outcome.STORED, NOW)
    next(out), next(out)
    frontier.commit(engine.write)  # one is done, two are out
    frontier = _open(engine, NOW + 9, **{cap: 5})
    for lease in _leases(frontier, NOW + 9):
        frontier.done(lease, Outcome.STORED, NOW + 9)
    assert frontier.counts.stored == 5
    assert frontier.counts.imbalance() == 0


def test_a_turn_that_was_taken_back_untried_counts_once():
    """A page whose callback was cut off by the end of the crawl is no second fetch."""
    frontier = _open(MemoryEngine(), max_fetches=2, host_budget=2)
    frontier.add(_urls(3), NOW)
    frontier.retry(next(_leases(frontier)), NOW, NOW, tries=0, throttles=0)
    for lease in _leases(frontier):
        frontier.done(lease, Outcome.STORED, NOW)
    assert frontier.counts.stored == frontier.counts.fetches == 2


def test_a_retry_is_no_further_fetch():
    """A URL that is tried again has used its share of the host's budget at its first try."""
    frontier = _open(MemoryEngine(), host_budget=2)
    frontier.add(_urls(3), NOW)
    frontier.retry(next(_leases(frontier)), NOW, NOW, tries=1, throttles=0)
    for lease in _leases(frontier):
        frontier.done(lease, Outcome.STORED, NOW)
    assert frontier.counts.stored == frontier.counts.fetches == 2
    assert frontier.counts.rejected == {Reason.HOST_BUDGET: 1}


def test_a_larger_budget_opens_a_host_again():
    """A crawl that goes on with a larger host budget takes URLs of hosts that had used theirs."""
    engine = MemoryEngine()
    frontier = _open(engine, host_budget=1)
    frontier.add(_urls(2), NOW)
    for lease in _leases(frontier):
        frontier.done(lease, Outcome.STORED, NOW)
    assert frontier.counts.rejected == {Reason.HOST_BUDGET: 1}
    frontier.commit(engine.write)
    frontier = _open(engine, NOW + 9, host_budget=2)
    assert frontier.add(Discovery([f"http://{HOST}/new"]), NOW + 9) == 1


def test_a_host_that_was_only_looked_at_leaves_memory():
    """Links to hosts whose budget is used up do not bring these hosts to memory for good."""
    engine = MemoryEngine()
    frontier = _open(engine, host_budget=1)
    frontier.add(_urls(1), NOW)
    frontier.done(next(_leases(frontier)), Outcome.STORED, NOW)
    frontier.commit(engine.write)
    assert not frontier.hosts
    frontier.add(_urls(9), NOW)
    frontier.commit(engine.write)
    assert frontier.counts.rejected == {Reason.HOST_BUDGET: 8}
    assert not frontier.hosts
