"""Everything that one crawl shares, put together once: the composition root.

Scrapy builds its components one by one from the crawler; whichever comes first makes the job,
the others find it. Nothing here decides anything that a stage could decide: it hands values from
one stage to the next.
"""

from __future__ import annotations

import gc
import random
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

from crawler.admission import Admission
from crawler.charter import Charter
from crawler.clock import SystemClock
from crawler.commit import GroupCommit, verify
from crawler.config import Config
from crawler.consequences import Consequences
from crawler.dedupe import Verdicts
from crawler.directory import STORE, job_directory, prepare_directory, refuse_remains
from crawler.discovery import links_of
from crawler.errors import StoreError
from crawler.frontier import Frontier, MemoryEngine, RocksEngine
from crawler.ledger import Ledger
from crawler.lookout import Lookout
from crawler.model import Discovery, Fingerprint, HostKey, Origin, Outcome, Page
from crawler.politeness import (
    Backoff,
    Robots,
    Trouble,
)
from crawler.recording import Recorder
from crawler.seams import current_visit
from crawler.store import JobLock, JsonLines, page_record
from crawler.stores import PAGES, Stores
from crawler.urls import (
    Canonicalizer,
    Scope,
    fingerprint,
    host_key,
)
from crawler.visits import Visit, Visits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.frontier import Engine
    from crawler.uploading import Uploading

_SEEDS_AT_ONCE = 5000
DAMAGED = "store_damaged"
"""Why a crawl ended whose store cannot be read any more."""
_MOST_SITEMAPS = 1000  # named by one robots.txt
_NAMELESS_AFTER = 3
"""Failed look-ups of a host's name in a row, some seconds apart, until its URLs are rejected."""


class Job:
    """One crawl: its options, clock, stages and outputs, and the hand-overs between them.

    Args:
        config: All options, read and checked.
        spider: Its ``scope``, ``url_filter`` and ``seeds`` bound the crawl, where it has them.
        directory: The job directory; None keeps nothing on disk (scrapy shell, tests).
    """

    _of: ClassVar[WeakKeyDictionary[Crawler, Job]] = WeakKeyDictionary()

    def __init__(self, config: Config, spider: Spider, directory: Path | None) -> None:
        self.config = config
        self.directory = directory
        self.now = SystemClock().now
        self.canonicalizer = Canonicalizer(config.urls)
        self.visits = Visits()
        self._seeds: Sequence[str] = getattr(spider, "seed_urls", ())
        self.robots_answers: Counter[str] = Counter()  # by status, or the kind of failure
        scope: Scope | None = getattr(spider, "scope", None)
        patterns = getattr(spider, "allow", ()), getattr(spider, "deny", ())
        only_pages = bool(getattr(spider, "only_pages", False))
        self._charter = Charter.of(
            self._seeds,
            scope,
            patterns,
            only_pages=only_pages,
            max_depth=config.frontier.max_depth,
        )
        url_filter = config.url_filter(*patterns, only_pages=only_pages)
        self.admission = Admission(self._seeds, scope, url_filter, config.networks)
        self._rng = random.Random()
        self._lock: JobLock | None = None
        try:
            self._open()
        except BaseException:
            self.abandon()
            raise

    @classmethod
    def of(cls, crawler: Crawler, spider: Spider | None = None) -> Job:
        """Return the job of a crawler, made at the first call.

        Args:
            crawler: Scrapy's.
            spider: Its spider, where Scrapy does not know it yet.

        Raises:
            ConfigError: A setting is unusable.
            StoreError: The job directory is.
        """
        job = cls._of.get(crawler)
        if job is None:
            spider = spider or crawler.spider
            assert spider is not None  # Scrapy makes the spider before all components
            default = getattr(spider, "default_directory", None)
            directory = job_directory(crawler.settings, default=default)
            job = cls._of[crawler] = cls(Config.read(crawler.settings), spider, directory)
        return job

    def _open(self) -> None:
        """Open the store and continue where the last commit left off."""
        relax_garbage_collection()
        self.engine = engine = self._engine()
        self._ledger = Ledger(engine)
        self.robots_answers.update(self._ledger.totals())
        self.robots = Robots(
            self.config.robots, self._rng, self.canonicalizer.resolve_whole, self._ledger.robots
        )
        self.verdicts = Verdicts(self.config.dedupe)
        self.verdicts.indexes.load(self._ledger.pages())
        now = self.now()
        self.lookout = Lookout(engine, self.config.traps)
        self.frontier = Frontier(
            engine,
            self.config.frontier,
            admit=self.admission.verdict,
            key=self.canonicalizer.key,
            now=now,
            guard=self.lookout,
        )
        self.lookout.watch(self.frontier, now)
        self._ledger.agree_on(
            self.frontier,
            "URL rules",
            self.canonicalizer.rules,
            "known URLs would not be recognised; go back to the URLS_ settings of the first run, "
            "or start anew with another JOBDIR",
        )
        self._charter.keep(self.frontier)
        self._check_books()
        self.resumed = self.frontier.counts.discovered > 0
        self.commits = GroupCommit(
            engine,
            self.frontier,
            interval=self.config.commit_interval,
            pages=self.config.commit_pages,
            now=now,
            directory=self.directory,
        )
        self.consequences = Consequences(
            self.frontier,
            Backoff(self.config.backoff, self._rng),
            self.commits,
            now=self.now,
            retry_after_cap=self.config.backoff.retry_after_cap,
            cpu_burst=self.config.cpu_burst,
        )
        self.pages = self.open_lines(PAGES)
        self.uploading: Uploading | None = None
        self.recorder = self._open_recorder(engine)

    def _verify(self, engine: Engine) -> None:
        """Compare the store with what is beside it, before anything is changed."""
        assert self.directory is not None
        verify(self.directory, engine)
        Stores(self.directory, self.config.store).verify(engine)

    def _check_books(self) -> None:
        """Refuse a store whose tables are of different ages, as one whose MANIFEST was cut."""
        missing = self.frontier.counts.imbalance()
        if missing:
            raise StoreError(
                f"{self.directory}: the books of the {STORE} do not balance, {missing:+,} URLs are "
                "in no state: it is damaged (scrapy frontier check says more); restore the job "
                "directory from a copy, or start anew with another JOBDIR"
            )

    def _engine(self) -> Engine:
        if self.directory is None:
            return MemoryEngine()
        prepare_directory(self.directory)
        self._lock = JobLock.acquire(self.directory)
        store = self.directory / STORE
        if not store.exists():
            refuse_remains(self.directory)
        return RocksEngine(store, verify=self._verify)

    def open_lines(self, name: str) -> JsonLines | None:
        """Return a JSON lines file of a pipeline's own, as durable as the pages.

        It is cut to its committed length now and part of every commit from here on. None
        when nothing is kept on disk.
        """
        if self.directory is None:
            return None
        committed = self.commits.lengths.get(name, 0)
        lines = JsonLines(self.directory / name, committed=committed, when=_with_outcome)
        self.commits.add_output(lines)
        return lines

    def _open_recorder(self, engine: Engine) -> Recorder | None:
        if self.directory is None:
            return None
        stores = Stores(self.directory, self.config.store, self.config.objects)
        self.uploading = stores.uploads(engine, self.frontier, self.commits, self._rng, self.now)
        outbox = stores.outbox(engine, self.frontier, self.commits)
        archive = stores.archive(self.commits, self._rng, self.config.robots.token)
        return Recorder(
            archive=archive,
            outbox=outbox,
            find=lambda url: stores.find(self._mark(url)),
            read=stores.read,
            other_types=self.config.store.other_types,
        )

    def _mark(self, url: str) -> Fingerprint:
        return fingerprint(host_key(url), self.canonicalizer.key(url))

    def abandon(self) -> None:
        """Let the directory go; what was not committed is as if it had not happened."""
        if self._lock is not None:
            self._lock.release()

    def close(self) -> None:
        """Commit everything, close the outputs and let the directory go."""
        if self.directory is not None and self.engine.damage is None:
            self.lookout.write_report(self.directory)
        if self.uploading is not None:
            self.commits.commit(self.now())
            self.uploading.finish(everything=not self.frontier.pending)
        self.commits.close(self.now())
        self.abandon()

    # --- discovery -------------------------------------------------------------------

    def add_seeds(self) -> Iterator[None]:
        """Put the spider's seeds into the frontier, a part at each step; known ones are ignored.

        Between two parts the event loop must breathe: a long list takes a while.
        """
        for at in range(0, len(self._seeds), _SEEDS_AT_ONCE):
            if at:
                self.commits.commit(self.now())  # what is added is held in memory until then
                yield
            part = self._seeds[at : at + _SEEDS_AT_ONCE]
            self.frontier.add(Discovery(part), self.now())

    # --- what became of a visit ----------------------------------------------------------

    def settle(self, visit: Visit, outcome: Outcome) -> None:
        """Record how a URL ended together with what it led to, in the next commit."""
        now = self.now()
        found, page, entry = visit.found, visit.page, visit.lease.entry
        if page is not None and entry is not None:
            links = links_of(page, entry, most_copies=self.config.max_copies)
            found = [*found, links] if links is not None else found
        for action in visit.held:
            action()
        if self.recorder is not None:
            self.recorder.page(visit, outcome, now)
        self.lookout.settle(visit.lease, outcome, now, found=found, page=page)
        self.commits.page_settled(now)

    def _add_sitemaps(self, origin: Origin, now: float) -> None:
        """Queue the sitemaps that a robots.txt names, ahead of the pages."""
        robots = f"{origin}/robots.txt"
        named = self.robots.sitemaps(origin)[:_MOST_SITEMAPS] if self.config.sitemaps else ()
        resolved = [self.canonicalizer.resolve(robots, text) for text in named]
        urls = [url for url in resolved if url is not None]
        if urls:
            self.frontier.add(Discovery(urls, referrer=robots), now)

    def take_back(self, visit: Visit) -> None:
        """Queue a URL again, not before the time its last answer asks for."""
        assert visit.retry_at is not None
        self.frontier.retry(
            visit.lease,
            visit.retry_at,
            self.now(),
            tries=visit.tries,
            throttles=visit.throttles,
        )
        self.commits.page_settled(self.now())

    def rules_answered(self, visit: Visit, result: Response | Failure) -> None:
        """Hand the answer to a robots.txt request to the state machine of its origin."""
        now, origin = self.now(), visit.lease.origin
        assert origin is not None
        if self.recorder is not None:
            self.recorder.rules(visit)
        answer = self.consequences.robots_answer(result)
        self.robots.record(origin, answer, now)
        self.robots_answers[str(answer.status or answer.error)] += 1
        self._ledger.keep_robots(self.frontier, origin, self.robots.dump(origin))
        self._ledger.keep_totals(self.frontier, self.robots_answers)
        host = self.frontier.host(host_key(origin))
        if answer.error == Trouble.DNS.value and host.failures >= _NAMELESS_AFTER:
            self.admission.note_nameless(origin)
        self.frontier.ask_delay(host, self._asked_delay(host.key), now)
        self._add_sitemaps(origin, now)
        self.frontier.open_origin(origin, now)
        self.commits.page_settled(now)

    def _asked_delay(self, key: HostKey) -> float:
        """Return the longest crawl delay in s that the host asks for, over http or over https."""
        origins = (Origin(f"{scheme}://{key}") for scheme in ("http", "https"))
        return max(self.robots.crawl_delay(origin) or 0.0 for origin in origins)

    def store(self, page: Page) -> None:
        """Write a page's line and make the page the first of its kind.

        The line and the row wait for the page's outcome: a commit in between would keep them
        without it, and after a crash the page would be fetched and written again.
        """
        if self.pages is not None:
            line, visit = self.pages.write(page_record(page)), current_visit.get()
            if visit is not None and visit.page is page:
                visit.line = line
        page.stored = True
        row = self.verdicts.keep(page)
        if row is not None:
            _with_outcome(partial(self._ledger.add_page, self.frontier, row))


def _with_outcome(action: Callable[[], None]) -> None:
    """Do something together with the outcome of the visit that it belongs to, or now."""
    visit = current_visit.get()
    if visit is None or visit.settled:
        action()
    else:
        visit.held.append(action)


def relax_garbage_collection() -> None:
    """Collect cycles a hundred times less often than Python does by default.

    Pages are freed by their reference counts and cycles are rare, but each collection walks
    over every host and queued URL: at 100,000 hosts that doubled the time of a start.
    """
    gc.set_threshold(70_000, 20, 20)
