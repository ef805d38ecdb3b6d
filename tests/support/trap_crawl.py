"""A crawl without network, parsing and time: frontier, traps and duplicates as they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.dedupe import Indexes, content_hash, make_fingerprinter
from crawler.frontier import Engine, Frontier, FrontierOptions, Lease, MemoryEngine
from crawler.lookout import Lookout
from crawler.model import Allow, Discovery, Duplicate, Outcome, Page
from crawler.traps import TrapOptions
from crawler.urls import Canonicalizer, UrlOptions, host_of, site_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.trap_zoo import ZooPage

_ALLOW = Allow()
_MOST_COPIES = 2


@dataclass
class TrapCrawl:
    """Crawls what ``page`` answers, from ``seeds``; ``outcomes`` has every fetch in order."""

    page: Callable[[str], ZooPage | None]
    seeds: list[str]
    options: TrapOptions = field(default_factory=TrapOptions)
    engine: Engine = field(default_factory=MemoryEngine)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    now: float = 1000.0

    def __post_init__(self) -> None:
        self.canonicalizer = Canonicalizer(UrlOptions())
        self.indexes = Indexes()
        self.fingerprinter = make_fingerprinter("fast")
        self.restart()
        self.frontier.add(Discovery(self.seeds), self.now)

    def restart(self) -> None:
        """Begin again from the engine's last commit."""
        self.lookout = Lookout(self.engine, self.options)
        self.frontier = Frontier(
            self.engine,
            FrontierOptions(delay=0.0, host_budget=0),
            admit=lambda _: None,
            key=self.canonicalizer.key,
            now=self.now,
            guard=self.lookout,
        )
        self.lookout.watch(self.frontier, self.now)

    def run(self, most: int = 1_000_000, *, commit: bool = True) -> None:
        """Fetch until nothing is left, or so many URLs were fetched in all; then commit, or not."""
        while len(self.outcomes) < most:
            self.now += 0.001
            lease = self.frontier.next(self.now, lambda *_: _ALLOW)
            if lease is None:
                if self.frontier.wake_at(self.now) is None:
                    break
                continue
            self._settle(lease)
            if len(self.outcomes) % 50 == 0:
                self.commit()
        if commit:
            self.commit()
        assert self.frontier.counts.imbalance() == 0

    def commit(self) -> None:
        """Write everything settled so far."""
        self.frontier.commit(self.engine.write)

    def _settle(self, lease: Lease) -> None:
        answer, entry = self.page(lease.url), lease.entry
        assert entry is not None
        page: Page | None = None
        found: list[Discovery] = []
        if answer is None:
            outcome = Outcome.GONE
        elif answer.location is not None:
            outcome = Outcome.REDIRECTED
            hops = entry.redirects + 1
            found = [Discovery([answer.location], entry.depth, entry.url, entry.priority, hops)]
        else:
            page = self._judge(lease.url, answer.text)
            outcome = page.duplicate.kind if page.duplicate is not None else Outcome.STORED
            found = self._links(lease, answer, page)
        self.outcomes[lease.url] = outcome
        self.lookout.settle(lease, outcome, self.now, found=found, page=page)

    def _links(self, lease: Lease, answer: ZooPage, page: Page) -> list[Discovery]:
        entry = lease.entry
        assert entry is not None
        copies = entry.copies + 1 if page.duplicate is not None else 0
        if copies > _MOST_COPIES:
            return []
        resolved = [self.canonicalizer.resolve(lease.url, link) for link in answer.links]
        urls = [url for url in resolved if url is not None]
        depth = entry.depth + 1
        return [Discovery(urls, depth, lease.url, priority=min(1 + depth, 250), copies=copies)]

    def _judge(self, url: str, text: str) -> Page:
        page = Page(url, 200, 0.0, 0, None, "", "", None, None, [], text, None, [], None, None, 0)
        site, content = site_of(host_of(url)), content_hash(text)
        first = self.indexes.exact.lookup(content, url)
        if first is not None:
            page.duplicate = Duplicate(first, Outcome.DUPLICATE_EXACT)
            return page
        signature = self.fingerprinter.fingerprint(text)
        match = self.indexes.near.lookup(signature, url, site)
        if match is not None:
            page.duplicate = Duplicate(match.url, Outcome.DUPLICATE_NEAR, match.distance)
            return page
        self.indexes.exact.add(content, url)
        self.indexes.near.add(signature, url, site)
        return page
