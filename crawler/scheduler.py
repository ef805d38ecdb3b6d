"""The frontier as Scrapy's scheduler: hands out requests, and takes back what became of them.

Scrapy calls ``next_request`` after every event; the alarm makes it call at the moment when the
next host is ready, too. Nothing waits inside Scrapy: a URL whose robots.txt is not known yet,
or whose host rests, stays in the frontier.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.http import Response
from scrapy.utils.asyncio import create_looping_call

from crawler.frontier import Kind, Lease
from crawler.job import Job
from crawler.model import Allow, Deny, Fetch, Gate, Origin, Outcome, Wait
from crawler.requests import RequestCodec
from crawler.seams import Alarm, current_visit, follow_completion
from crawler.urls import origin as origin_of
from crawler.visits import TOKEN, Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)


class FrontierScheduler(BaseScheduler):
    """Scrapy's scheduler interface over :class:`crawler.frontier.Frontier`."""

    def __init__(self, crawler: Crawler, job: Job) -> None:
        self.crawler = crawler
        self.job = job
        self._waiting_for_rules: dict[Origin, list[asyncio.Future[None]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the scheduler of a crawl."""
        return cls(crawler, Job.of(crawler))

    # --- Scrapy's interface ----------------------------------------------------------

    def open(self, spider: Spider) -> None:
        """Start: connect to the engine and continue where the job directory left off."""
        engine = self.crawler.engine
        assert engine is not None  # Scrapy opens its scheduler from the engine
        self._alarm = Alarm(engine)
        self._codec = RequestCodec(spider, self.job)
        follow_completion(engine, self)
        connect = self.crawler.signals.connect
        connect(self._left_downloader, signals.request_left_downloader)
        connect(self._callback_failed, signals.spider_error)
        connect(self._item_failed, signals.item_error)
        connect(self._idle, signals.spider_idle)
        self._ticker = create_looping_call(self._tick)
        self._ticker.start(self.job.commit_interval, now=False)

    def close(self, reason: str) -> None:
        """End: everything Scrapy finished is committed; what it did not is queued again."""
        self._ticker.stop()
        self._alarm.set(None, self.job.now())
        self.job.close()

    def has_pending_requests(self) -> bool:
        """Whether the crawl goes on: something is out, or due within the longest wait."""
        return self.job.frontier.pending and not self._parked()

    def next_request(self) -> Request | None:
        """Return the next request whose host is ready; None sets the alarm."""
        now = self.job.now()
        lease = self.job.frontier.next(now, self._gate)
        if lease is None:
            self._alarm.set(self.job.frontier.wake_at(now), now)
            return None
        return self._request(lease)

    def enqueue_request(self, request: Request) -> bool:
        """Take a request of a spider, or of a middleware that replaces one it was given."""
        parent = self.job.visits.of(request)
        if parent is not None and not parent.scraping:
            self._continue(parent, request)
            return True
        found = self._codec.discovered(request)
        if found is None:
            self.crawler.stats.inc_value("frontier/unusable_request")
            return False
        visit = current_visit.get()
        if visit is not None and not visit.settled:
            visit.found.append(found)
            return True
        return self.job.frontier.add(found, self.job.now()) > 0

    # --- out -------------------------------------------------------------------------

    def _gate(self, url: str, origin: Origin) -> Gate:
        """Answer the frontier's question from the robots rules."""
        answer = self.job.robots.check(url, origin, self.job.now())
        if isinstance(answer, Fetch):
            self.job.robots.started(origin)
        return answer

    def _request(self, lease: Lease) -> Request:
        visit = self.job.visits.begin(lease)
        if lease.kind is Kind.ROBOTS:
            request = Request(lease.url, callback=_nothing, errback=_nothing)
        elif lease.entry is not None and lease.entry.payload:
            request = self._codec.restore(lease.entry.payload)
        else:
            request = Request(lease.url)
            request.meta["depth"] = lease.entry.depth if lease.entry is not None else 0
        request.meta[TOKEN] = visit.lease.number
        request.meta["download_slot"] = lease.host.key
        return request

    # --- back ------------------------------------------------------------------------

    def scraping(self, request: Request) -> Visit | None:
        """Note that the answer is in; requests that carry its token now are spider output."""
        visit = self.job.visits.of(request)
        if visit is not None:
            visit.scraping = True
        return visit

    def finished(self, request: Request, result: Response | Failure) -> None:
        """Settle a visit: everything that follows from its answer is done."""
        visit = self.job.visits.of(request)
        if visit is None or visit.settled:
            return
        if visit.lease.kind is Kind.ROBOTS:
            self._end(visit)
            self.job.rules_answered(visit.lease, result)
            self._rules_known(visit.lease.origin)
        elif visit.retry_at is not None:
            self._take_back(visit)
        else:
            self._settle(visit, visit.outcome or _outcome(visit, result))

    def replaced(self, request: Request) -> None:
        """A middleware answered with another request; if that went nowhere, so did this one."""
        visit = self.job.visits.of(request)
        if visit is not None and not visit.scraping and not visit.settled:
            self._settle(visit, Outcome.DROPPED)

    def _continue(self, visit: Visit, request: Request) -> None:
        """A middleware replaced the request: the same URL again, or a redirect's target."""
        if visit.retry_at is not None:
            self._take_back(visit)
            return
        found = self._codec.successor(request, visit.lease)
        if found is not None:
            visit.found.append(found)
        self._settle(visit, Outcome.REDIRECTED)

    def _settle(self, visit: Visit, outcome: Outcome) -> None:
        self._end(visit)
        self.job.settle(visit, outcome)

    def _take_back(self, visit: Visit) -> None:
        self._end(visit)
        self.job.take_back(visit)

    def _end(self, visit: Visit) -> None:
        visit.settled = True
        self.job.visits.end(visit)
        self.job.frontier.transfer_ended(visit.lease, self.job.now())

    def _left_downloader(self, request: Request) -> None:
        visit = self.job.visits.of(request)
        if visit is not None:
            self.job.frontier.transfer_ended(visit.lease, self.job.now())

    def _callback_failed(self, failure: Failure, response: Response) -> None:
        visit = current_visit.get()
        if visit is not None:
            visit.failed = True

    def _item_failed(self, item: object, failure: Failure) -> None:
        visit = current_visit.get()
        if visit is not None:
            visit.failed = True

    # --- downloads that bypass the scheduler --------------------------------------------

    def has_turn(self, request: Request) -> bool:
        """Whether the request was handed out here and is under way."""
        return self.job.visits.of(request) is not None

    async def take_turn(self, request: Request) -> Callable[[], None]:
        """Wait until the request may go by robots.txt and it is its host's turn.

        Returns:
            What ends the turn; to be called when the transfer is over.

        Raises:
            IgnoreRequest: robots.txt forbids the URL, or cannot be reached, or the URL is
                none.
        """
        url = self.job.canonicalizer.normalize(request.url)
        if url is None:
            raise IgnoreRequest(f"not an http or https URL: {request.url[:200]}")
        await self._allowed(url, origin_of(url))
        granted: asyncio.Future[Lease] = asyncio.get_running_loop().create_future()
        self.job.frontier.ticket(url, granted.set_result, self.job.now())
        self._alarm.poke()
        lease = await granted
        return lambda: self._end_turn(lease)

    def _end_turn(self, lease: Lease) -> None:
        self.job.frontier.transfer_ended(lease, self.job.now())
        self._alarm.poke()

    async def _allowed(self, url: str, origin: Origin) -> None:
        while not isinstance(answer := self._gate(url, origin), Allow):
            if isinstance(answer, Deny):
                raise IgnoreRequest(f"robots.txt forbids {url} by {answer.rule!r}")
            if isinstance(answer, Wait):
                raise IgnoreRequest(f"robots.txt of {origin} cannot be reached")
            known: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting_for_rules.setdefault(origin, []).append(known)
            if isinstance(answer, Fetch):
                self.job.frontier.fetch_rules(origin, answer.url, self.job.now())
                self._alarm.poke()
            await known

    def _rules_known(self, origin: Origin | None) -> None:
        if origin is not None:
            for known in self._waiting_for_rules.pop(origin, ()):
                known.set_result(None)

    # --- the end -----------------------------------------------------------------------

    def _parked(self) -> bool:
        """Whether nothing is out, and nothing is due for longer than the crawl waits."""
        frontier, now = self.job.frontier, self.job.now()
        if frontier.leases:
            return False
        at = frontier.wake_at(now)
        return at is None or at - now > self.job.max_wait

    def _idle(self) -> None:
        """Give the end of the crawl its name."""
        frontier = self.job.frontier
        if frontier.full:
            raise CloseSpider(frontier.full_reason)
        if frontier.counts.unfinished:
            raise CloseSpider("waiting")

    def _tick(self) -> None:
        self.job.commits.tick(self.job.now())


def _nothing(result: object) -> Iterable[object]:
    """Be the callback of requests that are settled by the scheduler itself."""
    return ()


def _outcome(visit: Visit, result: Response | Failure) -> Outcome:
    """Name how a page ended, from what Scrapy and the pipelines made of it."""
    page = visit.page
    if visit.failed:
        return Outcome.FAILED_CALLBACK
    if page is not None and page.duplicate is not None:
        return page.duplicate.kind
    if page is not None and page.stored:
        return Outcome.STORED
    return Outcome.HANDLED if isinstance(result, Response) else Outcome.DROPPED
