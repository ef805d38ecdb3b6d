"""What must hold in every crawl, over webs drawn from a seed, in virtual time."""

import tempfile
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.frontier import Engine, FrontierOptions, MemoryEngine, RocksEngine
from crawler.model import Outcome, Reason
from tests.support.generated_web import GeneratedWeb, WebShape
from tests.support.simulated_crawl import SimulatedCrawl

SHAPE = WebShape(sites=6, pages=15, robots_broken=0.4, throttling=0.4, failing=0.1)


def _assert_polite(crawl: SimulatedCrawl) -> None:
    by_host = defaultdict(list)
    for dispatch in crawl.simulation.dispatches:
        by_host[dispatch.host].append(dispatch)
    for host, dispatches in by_host.items():
        for before, after in pairwise(dispatches):
            gap = after.start - before.end
            assert gap >= crawl.options.delay - 1e-9, f"{host}: {before} then {after}"
        for blocked, since, until in crawl.blocks:
            if blocked == host:
                inside = [d for d in dispatches if since <= d.start < until - 1e-9]
                assert not inside, f"{host} was asked while it was blocked until {until}: {inside}"


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), delay=st.sampled_from([0.0, 0.5, 3.0]))
def test_every_crawl_is_polite_complete_and_balanced(seed: int, delay: float) -> None:
    """No gap below the delay, none while blocked; every reachable URL ends once; books balance."""
    web = GeneratedWeb(seed, SHAPE)
    crawl = SimulatedCrawl(web, FrontierOptions(delay=delay))
    crawl.run()
    _assert_polite(crawl)
    counts = crawl.frontier.counts
    assert counts.imbalance() == 0
    assert counts.unfinished == 0
    assert set(crawl.outcomes) == web.reachable()
    assert counts.done.total() == len(crawl.outcomes)
    assert not any("/private/" in url for url in web.asked)


def _rocks() -> RocksEngine:
    return RocksEngine(Path(tempfile.mkdtemp(prefix="simulated-")) / "frontier")


@pytest.mark.parametrize(("make_engine", "examples"), [(MemoryEngine, 25), (_rocks, 5)])
def test_a_restart_loses_and_repeats_nothing_that_was_committed(make_engine, examples) -> None:
    """Crashes at any moment change neither the set of URLs that end, nor the books."""
    stops = st.lists(st.integers(1, 60), min_size=1, max_size=4)

    @settings(max_examples=examples, deadline=None)
    @given(seed=st.integers(0, 10**6), stops=stops)
    def check(seed: int, stops: list[int]) -> None:
        _crash_and_compare(seed, stops, make_engine())

    check()


def _crash_and_compare(seed: int, stops: list[int], engine: Engine) -> None:
    web = GeneratedWeb(seed, SHAPE)
    crawl = SimulatedCrawl(web, FrontierOptions(delay=1.0, buffer=20), engine=engine)
    for dispatches in stops:
        crawl.run(max_dispatches=dispatches)
        _assert_polite(crawl)
        crawl.restart()
        assert crawl.frontier.counts.imbalance() == 0
    crawl.run()
    assert set(crawl.outcomes) == web.reachable()
    assert crawl.frontier.counts.done.total() == len(web.reachable())
    assert crawl.frontier.counts.imbalance() == 0
    engine.close()


@pytest.mark.parametrize("budget", [1, 5, 14])
def test_the_budget_of_a_host_is_never_exceeded(budget: int) -> None:
    """Retries aside, no host is asked for more pages than its budget; the rest is rejected."""
    web = GeneratedWeb(3, WebShape(sites=4, pages=30))
    crawl = SimulatedCrawl(web, FrontierOptions(delay=0.0, host_budget=budget))
    crawl.run()
    pages = defaultdict(set)
    for dispatch in crawl.simulation.dispatches:
        if not dispatch.url.endswith("/robots.txt"):
            pages[dispatch.host].add(dispatch.url)
    assert max(map(len, pages.values())) == budget
    assert crawl.frontier.counts.rejected[Reason.HOST_BUDGET] > 0
    assert crawl.frontier.counts.unfinished == 0
    assert crawl.frontier.counts.imbalance() == 0


@pytest.mark.parametrize("cap", [1, 7, 40])
def test_a_cap_on_pages_is_reached_exactly(cap: int) -> None:
    """However many requests are in flight, no page more than the cap is stored."""
    crawl = SimulatedCrawl(GeneratedWeb(1, SHAPE), FrontierOptions(delay=0.1, max_pages=cap))
    crawl.run()
    assert crawl.frontier.counts.done[Outcome.STORED] == cap
    assert crawl.frontier.full
    assert not crawl.frontier.pending
    assert crawl.frontier.counts.imbalance() == 0


def test_a_cap_on_fetches_is_reached_exactly() -> None:
    """The cap counts distinct URLs handed out, whatever became of them."""
    crawl = SimulatedCrawl(GeneratedWeb(1, SHAPE), FrontierOptions(delay=0.1, max_fetches=25))
    crawl.run()
    asked = {d.url for d in crawl.simulation.dispatches if not d.url.endswith("/robots.txt")}
    assert len(asked) == 25
    assert crawl.frontier.counts.fetches == 25


def test_depth_is_bounded_and_a_shorter_way_found_later_counts() -> None:
    """A URL beyond the depth limit is rejected, and admitted when a nearer page links it."""
    shallow = SimulatedCrawl(GeneratedWeb(2, SHAPE), FrontierOptions(delay=0.0, max_depth=1))
    shallow.run()
    assert shallow.frontier.counts.rejected[Reason.DEPTH] > 0
    assert shallow.frontier.counts.imbalance() == 0
    deep = SimulatedCrawl(GeneratedWeb(2, SHAPE), FrontierOptions(delay=0.0))
    deep.run()
    assert set(shallow.outcomes) < set(deep.outcomes)


def test_no_host_starves_while_others_offer_better_urls() -> None:
    """With one request at a time, a host of deep URLs still gets its turns."""
    web = GeneratedWeb(5, WebShape(sites=8, pages=40, external=0.0, redirects=0.0))
    crawl = SimulatedCrawl(web, FrontierOptions(delay=1.0))
    crawl.simulation.concurrency = 1
    crawl.run(until=60.0)
    turns = defaultdict(int)
    for dispatch in crawl.simulation.dispatches:
        turns[dispatch.host] += 1
    assert len(turns) == 8
    assert max(turns.values()) <= 3 * min(turns.values())
