"""A whole crawl of a generated web in virtual time: real frontier, robots and back-off.

It plays the part of the Scrapy shell with nothing of Scrapy: what the scheduler and the
middlewares hand from stage to stage is handed over here in the same order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from crawler.frontier import Engine, Frontier, FrontierOptions, Kind, Lease, MemoryEngine
from crawler.model import Discovery, Fetch, Gate, Origin, Outcome
from crawler.politeness import (
    Attempt,
    Backoff,
    BackoffOptions,
    Robots,
    RobotsAnswer,
    RobotsOptions,
)
from tests.support.simulation import Simulation
from tests.support.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.generated_web import Answer, GeneratedWeb


@dataclass
class SimulatedCrawl:
    """Crawls ``web`` from its seeds; the books are open for the test to judge."""

    web: GeneratedWeb
    options: FrontierOptions
    clock: VirtualClock = field(default_factory=VirtualClock)
    engine: Engine = field(default_factory=MemoryEngine)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    blocks: list[tuple[str, float, float]] = field(default_factory=list)  # host, from, until
    commit_every: int = 10
    _settled: int = 0

    def __post_init__(self) -> None:
        self.restart()
        self.frontier.add(Discovery(self.web.seeds()), self.clock.now())
        self.commit()

    def restart(self) -> None:
        """Begin again from the engine's last commit, as after a crash."""
        rng = random.Random(self.web.seed)
        self.robots = Robots(RobotsOptions("examplebot"), rng, urljoin)
        self.backoff = Backoff(BackoffOptions(), rng)
        self.clock.forget()
        self.frontier = Frontier(
            self.engine,
            self.options,
            admit=lambda _: None,
            key=lambda url: url,
            now=self.clock.now(),
        )
        self.simulation = Simulation(self.clock, self.frontier, self._gate, self._fetch)

    def commit(self) -> None:
        """Write everything settled so far."""
        self.frontier.commit(self.engine.write)

    def run(self, **limits: float) -> None:
        """Crawl until nothing is left or a limit is reached."""
        self.simulation.run(**limits)  # type: ignore[arg-type]

    def _gate(self, url: str, origin: str) -> Gate:
        answer = self.robots.check(url, Origin(origin), self.clock.now())
        if isinstance(answer, Fetch):
            self.robots.started(Origin(origin))
        return answer

    def _fetch(self, lease: Lease, now: float) -> tuple[float, Callable[[], None]]:
        answer = self.web.get(lease.url)
        report = self._rules if lease.kind is Kind.ROBOTS else self._page
        return now + answer.latency, lambda: report(lease, answer)

    def _rules(self, lease: Lease, answer: Answer) -> None:
        now = self.clock.now()
        assert lease.origin is not None
        self.frontier.transfer_ended(lease, now)
        self.robots.record(
            lease.origin,
            RobotsAnswer(answer.status, answer.body, answer.location, answer.retry_after),
            now,
        )
        self.frontier.open_origin(lease.origin, now)

    def _page(self, lease: Lease, answer: Answer) -> None:
        now, host, entry = self.clock.now(), lease.host, lease.entry
        assert entry is not None
        self.frontier.transfer_ended(lease, now)
        verdict = self.backoff.judge(
            Attempt(
                status=answer.status,
                retry_after=answer.retry_after,
                delay=self.frontier.host_delay(host),
                tries=entry.tries,
                throttled=entry.throttles,
                host_throttles=host.throttles,
                host_failures=host.failures,
            ),
            now,
        )
        host.throttles, host.failures = verdict.host_throttles, verdict.host_failures
        if verdict.blocked_until is not None:
            self.blocks.append((host.key, now, verdict.blocked_until))
            self.frontier.block(host, verdict.blocked_until, now)
        if verdict.retry_at is not None:
            self.frontier.retry(
                lease, verdict.retry_at, now, tries=verdict.tries, throttles=verdict.throttled
            )
        else:
            self._done(lease, answer, verdict.outcome)
        self._settled += 1
        if verdict.blocked_until is not None or self._settled % self.commit_every == 0:
            self.commit()

    def _done(self, lease: Lease, answer: Answer, outcome: Outcome | None) -> None:
        entry = lease.entry
        assert entry is not None
        if answer.location is not None:
            outcome = Outcome.REDIRECTED
            found = Discovery(
                [answer.location], entry.depth, entry.url, entry.priority, entry.redirects + 1
            )
        else:
            depth = entry.depth + 1
            found = Discovery(answer.links, depth, entry.url, priority=min(depth, 250))
        outcome = outcome or Outcome.STORED
        self.outcomes[lease.url] = outcome
        self.frontier.done(lease, outcome, self.clock.now(), found=[found])
