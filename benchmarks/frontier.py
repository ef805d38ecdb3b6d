"""CPU per added URL and per hand-out with its outcome, and how both grow with the crawl.

The frontier alone, on the embedded engine: no network, no parsing. A page brings 50 links,
10 of them new; of the 40 known ones half are recent and half are drawn from all. New URLs
fall on hosts by a power law, as on the web. Checked at the end: the books balance, and the
store opens again with the same numbers.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from crawler.frontier import Frontier, FrontierOptions, RocksEngine
from crawler.job import relax_garbage_collection
from crawler.model import Allow, Discovery, Outcome

LINKS, NEW = 50, 10
PAGES_PER_COMMIT = 200
ALLOW = Allow()


@dataclass
class Load:
    """A crawl's links, drawn from a seed; memory does not grow with the URLs it has made."""

    hosts: int
    rng: random.Random = field(default_factory=lambda: random.Random(7))
    made: int = 0

    def url(self, number: int) -> str:
        """Return the URL with a number: about 65 characters, on a host by a power law."""
        draw = (number * 2_654_435_761 & 0xFFFF_FFFF) / 2**32  # multiplicative hash: cheap, even
        host = int(self.hosts**draw) - 1  # density 1/rank
        return (
            f"http://host{host:06d}.example.org/section{number % 97:02d}/article-{number:09d}.html"
        )

    def links(self) -> list[str]:
        """Return one page's links."""
        known = max(1, self.made)
        recent = [
            self.rng.randrange(max(0, known - 20_000), known) for _ in range((LINKS - NEW) // 2)
        ]
        old = [self.rng.randrange(known) for _ in range(LINKS - NEW - len(recent))]
        fresh = range(self.made, self.made + NEW)
        self.made += NEW
        return [self.url(n) for n in (*recent, *old, *fresh)]


def main() -> int:
    """Grow a frontier and print a row of figures at each size."""
    options = _arguments()
    relax_garbage_collection()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frontier"
        bench = Bench(path, hosts=options.hosts)
        print(
            "known URLs   hosts  us/link  us/new URL  us/hand-out+outcome"
            "  us/page  disk B/URL  RSS MB"
        )
        for size in (100_000, 250_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000):
            if size > options.urls:
                break
            print(bench.grow_to(size), flush=True)
        bench.check_restart()
    return 0


class Bench:
    """One frontier that grows, and what it costs."""

    def __init__(self, path: Path, hosts: int) -> None:
        self.path = path
        self.load = Load(hosts)
        self.engine = RocksEngine(path)
        self.now = 0.0
        self.frontier = self._frontier()
        self.frontier.add(Discovery([self.load.url(0)]), self.now)
        self.load.made = 1

    def _frontier(self) -> Frontier:
        options = FrontierOptions(delay=0.0, host_budget=0)
        return Frontier(self.engine, options, admit=lambda _: None, key=lambda u: u, now=self.now)

    def grow_to(self, size: int) -> str:
        """Crawl until so many URLs are known; return the row of this stretch.

        The figures are medians over groups of pages; storage and commits are included, the
        making of the links is not.
        """
        adds, turns = [], []
        while self.frontier.counts.discovered < size:
            add, turn = self._group()
            adds.append(add / (PAGES_PER_COMMIT * LINKS))
            turns.append(turn / PAGES_PER_COMMIT)
        add_us, turn_us = 1e6 * statistics.median(adds), 1e6 * statistics.median(turns)
        disk = sum(f.stat().st_size for f in self.path.iterdir()) / self.frontier.counts.discovered
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return (
            f"{self.frontier.counts.discovered:>10,} {len(self.frontier.hosts):>7,} {add_us:>8.1f} "
            f"{add_us * LINKS / NEW:>11.1f} {turn_us:>20.1f} {add_us * LINKS + turn_us:>8.0f} "
            f"{disk:>11.1f} {rss:>7.0f}"
        )

    def _group(self) -> tuple[float, float]:
        """Crawl one commit's pages; return CPU seconds for links and for turns."""
        adds = turns = 0.0
        for _ in range(PAGES_PER_COMMIT):
            links = self.load.links()
            self.now += 0.01
            start = time.process_time()
            lease = self.frontier.next(self.now, lambda *_: ALLOW)
            assert lease is not None, "the frontier ran dry"
            self.frontier.transfer_ended(lease, self.now)
            self.frontier.done(lease, Outcome.STORED, self.now)
            middle = time.process_time()
            self.frontier.add(Discovery(links, depth=1, referrer=lease.url), self.now)
            adds += time.process_time() - middle
            turns += middle - start
        start = time.process_time()
        self.frontier.commit(self.engine.write)
        self.engine.sync()
        return adds + time.process_time() - start, turns

    def check_restart(self) -> None:
        """Open the store again: the same numbers, and the first URL soon."""
        before = self.frontier.counts
        self.frontier.commit(self.engine.write)
        self.engine.sync()
        self.engine.close()
        start = time.monotonic()
        self.engine = RocksEngine(self.path)
        self.frontier = self._frontier()
        lease = self.frontier.next(self.now + 1, lambda *_: ALLOW)
        seconds = time.monotonic() - start
        after = self.frontier.counts
        same = (before.discovered, before.done, before.queued) == (
            after.discovered,
            after.done,
            after.queued + 1,
        )
        if before.imbalance() or after.imbalance() or lease is None or not same:
            raise SystemExit(f"no figure: the books differ, {before} and {after}")
        print(f"restart to first hand-out: {seconds:.2f} s with {before.queued:,} URLs queued")
        self.engine.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench frontier", description=__doc__)
    parser.add_argument("--urls", type=int, default=1_000_000, help="known URLs at the end")
    parser.add_argument("--hosts", type=int, default=100_000)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
