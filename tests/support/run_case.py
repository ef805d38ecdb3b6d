"""Runs crawls of small spiders in a process of their own and reports what became of them.

A reactor runs once per process, so a test module hands all its crawls to one process::

    reports = run([Crawl("tests.integration.endings:EndingsSpider", {"base": url})])

Each runs with this project's settings (and no JOBDIR), one after the other.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import subprocess
import sys
import warnings
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from crawler.frontier import Lease
    from crawler.job import Job

TIMEOUT_S = 60.0
CRAWL_TIMEOUT_S = 20.0  # a crawl that takes longer hangs; it is reported as such
_ROOT = Path(__file__).resolve().parents[2]

SETTINGS: dict[str, Any] = {
    "POLITENESS_DELAY": 0.0,
    "BACKOFF_BASE": 0.01,
    "BACKOFF_RETRY_BASE": 0.01,
    "BACKOFF_CAP": 0.02,
    "SAFETY_ALLOWED_NETWORKS": ["127.0.0.0/8"],
    "LOGSTATS_INTERVAL": 0,
}
"""Laid over crawler.settings: as fast as it goes, and on loopback."""


@dataclass
class Crawl:
    """One crawl: ``"module:class"`` of its spider, the spider's arguments, more settings."""

    spider: str
    arguments: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass
class Report:
    """What became of a crawl.

    Attributes:
        reason: Scrapy's finish reason; ``hangs`` when it had to be abandoned.
        leases: Per path, how many leases were handed out.
        endings: Per path, how each lease was settled: an outcome, or ``again``.
        unsettled: Visits the shell still held at the end.
        leased: Leases the books still held at the end.
        imbalance: Of the books; 0 when every URL is in exactly one state.
        items: Per path, the items that passed all pipelines.
        notes: What the spider wrote down.
        errors: Log records at ERROR and above.
        seconds: Between the opening and the end of the crawl.
    """

    reason: str = ""
    leases: dict[str, int] = field(default_factory=dict)
    endings: dict[str, list[str]] = field(default_factory=dict)
    unsettled: int = 0
    leased: int = 0
    imbalance: int = 0
    unfinished: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    items: dict[str, int] = field(default_factory=dict)
    notes: list[Any] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


def run(crawls: Sequence[Crawl]) -> list[Report]:
    """Run crawls one after the other in a subprocess.

    Raises:
        RuntimeError: The process broke down; with the end of what it wrote.
    """
    asked = json.dumps([asdict(crawl) for crawl in crawls])
    child = subprocess.run(
        [sys.executable, "-m", "tests.support.run_case"],
        cwd=_ROOT,
        input=asked,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if child.returncode != 0:
        raise RuntimeError(f"exit code {child.returncode}\n{child.stderr[-4000:]}")
    return [Report(**fields) for fields in json.loads(child.stdout)]


def path_of(url: str) -> str:
    """Return path and query of a URL."""
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


class Ledger:
    """Watches the frontier of one crawl: each lease out, and each settlement."""

    def __init__(self) -> None:
        self.leases: defaultdict[str, int] = defaultdict(int)
        self.endings: defaultdict[str, list[str]] = defaultdict(list)
        self.items: defaultdict[str, int] = defaultdict(int)
        self.job: Job | None = None
        self.started_at = 0.0

    def watch(self, job: Job) -> None:
        """Stand between the frontier and its callers."""
        self.job = job
        self.started_at = job.now()
        frontier = job.frontier
        take, done, retry = frontier._lease_page, frontier.done, frontier.retry

        def lease_page(*args: Any) -> Lease:
            lease = take(*args)
            self.leases[path_of(lease.url)] += 1
            return lease

        def settled(lease: Lease, outcome: Any, *args: Any, **kwargs: Any) -> None:
            self.endings[path_of(lease.url)].append(outcome.value)
            done(lease, outcome, *args, **kwargs)

        def taken_back(lease: Lease, *args: Any, **kwargs: Any) -> None:
            self.endings[path_of(lease.url)].append("again")
            retry(lease, *args, **kwargs)

        frontier._lease_page = lease_page  # type: ignore[assignment, method-assign]
        frontier.done = settled  # type: ignore[method-assign]
        frontier.retry = taken_back  # type: ignore[method-assign]

    def report(self, reason: str, notes: list[Any], stats: dict[str, Any]) -> Report:
        """Return what is known now."""
        assert self.job is not None, "the crawl was never opened"
        counts = self.job.frontier.counts
        return Report(
            reason=reason,
            leases=dict(self.leases),
            endings=dict(self.endings),
            unsettled=len(self.job.visits),
            leased=counts.leased,
            imbalance=counts.imbalance(),
            unfinished=counts.unfinished,
            rejected={why.value: count for why, count in counts.rejected.items()},
            items=dict(self.items),
            notes=notes,
            stats=stats,
            seconds=self.job.now() - self.started_at,
        )


class _Errors(logging.Handler):
    """Keeps log records at ERROR and above as text."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        cause = record.exc_info[1] if record.exc_info else None
        self.lines.append(record.getMessage() + (f" <- {cause!r}" if cause else ""))


async def _crawl(crawl: Crawl) -> Report:
    from scrapy import signals
    from scrapy.crawler import AsyncCrawlerRunner
    from scrapy.settings import Settings

    from crawler.job import Job

    module, _, name = crawl.spider.partition(":")
    spider_class: type[Spider] = getattr(importlib.import_module(module), name)
    settings = Settings()
    settings.setmodule("crawler.settings", priority="project")
    settings.setdict({**SETTINGS, **crawl.settings}, priority="cmdline")
    crawler: Crawler = AsyncCrawlerRunner(settings).create_crawler(spider_class)
    ledger, errors, reasons = Ledger(), _Errors(), ["hangs"]
    logging.root.addHandler(errors)

    def opened(spider: Spider) -> None:
        ledger.watch(Job.of(crawler))

    def scraped(item: object, response: Any) -> None:
        ledger.items[path_of(item["url"] if isinstance(item, dict) else response.url)] += 1

    def closed(spider: Spider, reason: str) -> None:
        reasons[0] = reason

    crawler.signals.connect(opened, signals.spider_opened)
    crawler.signals.connect(scraped, signals.item_scraped)
    crawler.signals.connect(closed, signals.spider_closed)
    task = asyncio.ensure_future(crawler.crawl_async(**crawl.arguments))
    await asyncio.wait([task], timeout=CRAWL_TIMEOUT_S)
    logging.root.removeHandler(errors)
    if task.done():
        task.result()
    stats = {k: v for k, v in crawler.stats.get_stats().items() if isinstance(v, int | float | str)}
    report = ledger.report(reasons[0], list(getattr(crawler.spider, "notes", [])), stats)
    report.errors = errors.lines
    return report


def main() -> None:
    """Run the crawls described on standard input; write their reports to standard output."""
    from scrapy.exceptions import ScrapyDeprecationWarning
    from scrapy.utils.defer import deferred_from_coro
    from scrapy.utils.reactor import install_reactor
    from twisted.python.log import PythonLoggingObserver

    from crawler import settings

    warnings.simplefilter("error", ScrapyDeprecationWarning)
    crawls = [Crawl(**fields) for fields in json.load(sys.stdin)]
    install_reactor(settings.TWISTED_REACTOR, settings.ASYNCIO_EVENT_LOOP)
    PythonLoggingObserver("twisted").start()  # type: ignore[no-untyped-call]
    from twisted.internet import reactor

    failures: list[Any] = []

    async def all_of_them() -> None:
        reports = [asdict(await _crawl(crawl)) for crawl in crawls]
        sys.stdout.write(json.dumps(reports))
        sys.stdout.flush()

    def _stop(_: object) -> None:
        reactor.stop()  # type: ignore[misc]

    def begin() -> None:
        end = deferred_from_coro(all_of_them())
        end.addErrback(failures.append)
        end.addBoth(_stop)

    reactor.callWhenRunning(begin)
    reactor.run()  # type: ignore[misc]
    if failures:
        failures[0].printTraceback(sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
