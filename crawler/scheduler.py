"""The frontier as Scrapy's scheduler: hands out requests, and takes back what became of them.

Scrapy calls ``next_request`` after every event; the alarm makes it call at the moment when the
next host is ready, too. Nothing waits inside Scrapy: a URL whose robots.txt is not known yet,
or whose host rests, stays in the frontier.
"""

from __future__ import annotations

import gc
import logging
from collections import deque
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider, IgnoreRequest, StopDownload
from scrapy.http import Response
from scrapy.utils.asyncio import create_looping_call
from twisted.python.failure import Failure

from crawler.consequences import KEEP_INTERRUPTED
from crawler.frontier import Kind, Lease
from crawler.job import DAMAGED, Job
from crawler.model import Deny, Fetch, Gate, Origin, Outcome, Wait
from crawler.requests import RequestCodec
from crawler.seams import Alarm, current_visit, follow_completion
from crawler.turns import Turns
from crawler.visits import TOKEN, Visit, working_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_RULES_ENOUGH = 512_000
"""Bytes of a robots.txt, packed or not, after which the rest of it is not waited for."""


_MOST_BETWEEN_TICKS = 1.0
"""Seconds; commits may be rarer, but who waits for a turn must learn soon that none will come."""


class FrontierScheduler(BaseScheduler):
    """Scrapy's scheduler interface over :class:`crawler.frontier.Frontier`."""

    def __init__(self, crawler: Crawler, job: Job) -> None:
        self.crawler = crawler
        self.job = job
        self._last_page_at = job.now()
        self._same_turn: deque[Request] = deque()  # to go at once; their host waits for them

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
        self._turns = Turns(self.job, self._gate, self._alarm.poke)
        self._codec = RequestCodec(spider, self.job)
        self._keep_interrupted = getattr(spider, "keep_interrupted", False)
        follow_completion(engine, self)
        connect = self.crawler.signals.connect
        connect(self._left_downloader, signals.request_left_downloader)
        connect(self._bytes_received, signals.bytes_received)
        connect(self._callback_failed, signals.spider_error)
        connect(self._item_failed, signals.item_error)
        connect(self._idle, signals.spider_idle)
        self._ticker = create_looping_call(self._tick)
        self._ticker.start(min(self.job.config.commit_interval, _MOST_BETWEEN_TICKS), now=False)
        gc.collect()
        gc.freeze()  # what lives as long as the crawl is not to be walked over again and again

    def close(self, reason: str) -> None:
        """End: everything Scrapy finished is committed; what it did not is queued again."""
        self._ticker.stop()
        self._alarm.set(None, self.job.now())
        self.job.close()

    def has_pending_requests(self) -> bool:
        """Whether the crawl goes on: something is out, or due within the longest wait."""
        return bool(self.job.commits.stalled) or (self.job.frontier.pending and not self._parked())

    def next_request(self) -> Request | None:
        """Return the next request whose host is ready; None sets the alarm."""
        current_visit.set(None)  # what starts here belongs to no callback, whoever woke the engine
        if self._same_turn:
            return self._same_turn.popleft()
        now = self.job.now()
        if self.job.commits.stalled or self.job.engine.damage is not None:
            return None
        lease = self.job.frontier.next(now, self._gate)
        if lease is not None and lease.kind is Kind.PAGE:
            self._last_page_at = now
        if lease is None:
            self._alarm.set(self.job.frontier.wake_at(now), now)
            return None
        request = self._request(lease)
        if request is None:
            self._alarm.poke()
        return request

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
        """Answer the frontier's question from the robots rules, if their host may be reached."""
        answer = self.job.robots.check(url, origin, self.job.now())
        if isinstance(answer, Fetch | Wait):
            reason = self.job.admission.out_of_reach(url)
            if reason is not None:
                return Deny(reason=reason)
        if isinstance(answer, Fetch):
            self.job.robots.started(origin)
        return answer

    def _request(self, lease: Lease) -> Request | None:
        """Return what is to be sent for a lease; None when it is a request that was lost."""
        visit = self.job.visits.begin(lease)
        request: Request | None
        if lease.kind is Kind.ROBOTS:
            request = Request(lease.url, callback=_nothing, errback=_nothing)
            request.meta["download_maxsize"] = 0  # what is too long is cut, not refused
        elif lease.entry is not None and lease.entry.payload:
            request = self._codec.restore(lease.entry.payload)
            if request is None:
                self._settle(visit, Outcome.DROPPED)
                return None
        else:
            request = Request(lease.url)
            request.meta["depth"] = lease.entry.depth if lease.entry is not None else 0
            if self._keep_interrupted:
                request.meta.update(KEEP_INTERRUPTED)
        request.meta[TOKEN] = visit.lease.number
        request.meta["download_slot"] = lease.host.key
        return request

    # --- back ------------------------------------------------------------------------

    def _bytes_received(self, data: bytes, request: Request) -> None:
        """End the transfer of a robots.txt when all that counts is here. Spec: RFC 9309 §2.5."""
        visit = self.job.visits.of(request)
        if visit is not None and visit.lease.kind is Kind.ROBOTS:
            visit.received += len(data)
            if visit.received > _RULES_ENOUGH:
                raise StopDownload(fail=False)

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
            self._settle_rules(visit, result)
        elif visit.retry_at is not None:
            self._take_back(visit)
        else:
            self._settle(visit, visit.outcome or _outcome(visit, result))

    def replaced(self, request: Request) -> None:
        """A middleware answered with another request; if that went nowhere, so did this one."""
        visit = self.job.visits.of(request)
        if visit is None or visit.scraping or visit.settled:
            return
        if visit.continued:
            visit.continued = False
            return
        if visit.lease.kind is Kind.ROBOTS:
            replaced = IgnoreRequest("replaced by a middleware")
            self._settle_rules(visit, Failure(replaced))  # type: ignore[no-untyped-call]
        else:
            self._settle(visit, Outcome.DROPPED)

    def _continue(self, visit: Visit, request: Request) -> None:
        """A middleware replaced the request: the same URL again, or a redirect's target."""
        if visit.retry_at is not None:
            self._take_back(visit)
            return
        if visit.lease.transferring and request.url == visit.lease.url:
            visit.continued = True  # nothing was sent yet: the host's turn goes on
            self._same_turn.append(request)
            return
        if visit.lease.kind is Kind.ROBOTS:
            return  # `replaced` will end it
        found = self._codec.successor(request, visit.lease)
        if found is not None:
            visit.found.append(found)
        self._settle(visit, Outcome.REDIRECTED)

    def _settle_rules(self, visit: Visit, result: Response | Failure) -> None:
        self._end(visit)
        self.job.rules_answered(visit, result)
        if visit.lease.origin is not None:
            self._turns.rules_known(visit.lease.origin)

    def _settle(self, visit: Visit, outcome: Outcome) -> None:
        self._end(visit)
        with working_on(visit):
            self.job.settle(visit, outcome)
        self.job.consequences.charge(visit)
        if visit.lease.entry is not None:
            self._codec.forget(visit.lease.entry.payload)

    def _take_back(self, visit: Visit) -> None:
        self._end(visit)
        self.job.take_back(visit)
        self.job.consequences.charge(visit)

    def _end(self, visit: Visit) -> None:
        visit.settled = True
        self.job.visits.end(visit)
        self.job.frontier.transfer_ended(visit.lease, self.job.now())

    def _left_downloader(self, request: Request) -> None:
        visit = self.job.visits.of(request)
        if visit is not None:
            self.job.frontier.transfer_ended(visit.lease, self.job.now())

    def _callback_failed(self, failure: Failure, response: Response) -> None:
        _failed(failure)

    def _item_failed(self, item: object, failure: Failure) -> None:
        _failed(failure)

    # --- downloads that bypass the scheduler --------------------------------------------

    def has_turn(self, request: Request) -> bool:
        """Whether the request was handed out here and is on its way out.

        A request of a callback may carry a copy of the token (``meta=response.meta``).
        """
        visit = self.job.visits.of(request)
        return visit is not None and not visit.scraping

    async def take_turn(self, request: Request) -> Callable[[], None]:
        """Wait until the request may go by robots.txt and it is its host's turn.

        Returns:
            What ends the turn; to be called when the transfer is over.

        Raises:
            IgnoreRequest: robots.txt forbids the URL, or cannot be reached, or the URL is
                none, or the crawl ends.
        """
        url = self.job.canonicalizer.normalize(request.url)
        if url is None:
            raise IgnoreRequest(f"not an http or https URL: {request.url[:200]}")
        return await self._turns.take(url)

    def _relieve(self) -> None:
        """Let go on who waits for a download although the engine asks for nothing."""
        now = self.job.now()
        while (lease := self.job.frontier.next_errand(now)) is not None:
            request = self._request(lease) if lease.kind is Kind.ROBOTS else None
            if request is not None:
                self._same_turn.append(request)
                self._alarm.force()

    # --- the end -----------------------------------------------------------------------

    def _parked(self) -> bool:
        """Whether nothing is out, and no page went out or will go out for longer than we wait.

        Hosts that only ask for their robots.txt again and again do not keep a crawl going.
        """
        frontier, now = self.job.frontier, self.job.now()
        if frontier.leases:
            return False
        at = frontier.wake_at(now)
        patience = self.job.config.max_wait + self.job.config.frontier.delay
        return at is None or at - self._last_page_at > patience

    def _idle(self) -> None:
        """Give the end of the crawl its name."""
        frontier = self.job.frontier
        if frontier.full:
            raise CloseSpider(frontier.full_reason)
        if frontier.counts.unfinished:
            raise CloseSpider("waiting")

    def _tick(self) -> None:
        damage = self.job.engine.damage
        if damage is not None and not self._alarm.closing:
            logger.error("The crawl ends: %s", damage)
            self._alarm.close(DAMAGED)
        stalled = self.job.commits.stalled
        self.job.commits.tick(self.job.now())
        if stalled and not self.job.commits.stalled:
            self._alarm.poke()
        if self._alarm.closing:
            self._turns.refuse_all()
            return
        self._turns.refuse_long_waits()
        if self._alarm.choked:
            self._relieve()


def _failed(failure: Failure) -> None:
    visit = current_visit.get()
    if visit is not None:
        visit.failed = True
        visit.cause = visit.cause or f"{type(failure.value).__name__}: {failure.value}"[:300]


def _nothing(result: object) -> Iterable[object]:
    """Be the callback of requests that are settled by the scheduler itself."""
    return ()


def _outcome(visit: Visit, result: Response | Failure) -> Outcome:
    """Name how a page ended, from what Scrapy and the pipelines made of it."""
    page = visit.page
    if page is not None and page.stored:
        return Outcome.STORED  # its line is written, whatever went wrong afterwards
    if visit.failed:
        return Outcome.FAILED_CALLBACK
    if page is not None and page.duplicate is not None:
        return page.duplicate.kind
    if isinstance(result, Response):
        return Outcome.HANDLED
    ignored = isinstance(result.value, IgnoreRequest)
    return Outcome.DROPPED if ignored else Outcome.FAILED_CALLBACK  # a middleware raised
