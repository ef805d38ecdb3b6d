"""The classic checks of a polite frontier, in virtual time and without any fault."""

from crawler.frontier import Frontier, FrontierOptions, Lease, MemoryEngine
from crawler.model import Allow, Discovery, Outcome
from tests.support.simulation import Simulation
from tests.support.virtual_clock import VirtualClock


def _crawl(urls: list[str], options: FrontierOptions, *, latency: float = 0.0) -> Simulation:
    clock = VirtualClock()
    frontier = Frontier(
        MemoryEngine(), options, admit=lambda _: None, key=lambda url: url, now=clock.now()
    )

    def fetch(lease: Lease, now: float):
        end = now + latency
        return end, lambda: frontier.done(lease, Outcome.STORED, end)

    frontier.add(Discovery(urls), clock.now())
    simulation = Simulation(clock, frontier, lambda url, origin: Allow(), fetch)
    simulation.run()
    assert frontier.counts.imbalance() == 0
    return simulation


def test_three_hosts_of_three_pages_take_two_seconds() -> None:
    """3 hosts of 3 pages each with a delay of 1 s: 9 fetches at times 0, 1 and 2, three at each."""
    urls = [f"http://h{h}.test/{p}" for h in range(3) for p in range(3)]
    run = _crawl(urls, FrontierOptions(delay=1.0))
    times = sorted(d.start - run.clock.start for d in run.dispatches)
    assert times == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert run.clock.elapsed == 2.0


def test_the_delay_begins_at_the_end_of_the_transfer() -> None:
    """With 0.25 s of transfer and 1 s of delay, requests to one host start 1.25 s apart."""
    run = _crawl([f"http://h.test/{p}" for p in range(4)], FrontierOptions(), latency=0.25)
    assert [d.start - run.clock.start for d in run.dispatches] == [0, 1.25, 2.5, 3.75]


def test_the_frontier_wakes_no_more_often_than_something_happens() -> None:
    """No busy wait: at most one wake-up per start and one per end of a transfer."""
    urls = [f"http://h{h}.test/{p}" for h in range(50) for p in range(5)]
    run = _crawl(urls, FrontierOptions(), latency=0.1)
    assert len(run.dispatches) == 250
    assert run.wakes <= 2 * 250
