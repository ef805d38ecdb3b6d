"""What a bad answer, or none, means: for the URL a retry or its end, for the host a rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from crawler.consequences import INTERRUPTED, trouble_of
from crawler.frontier import Kind
from crawler.job import Job
from crawler.model import Outcome
from crawler.politeness import Trouble
from crawler.urls import host_of
from crawler.visits import Answer

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.visits import Visit


_LONGEST_CAUSE = 300  # characters


class BackoffMiddleware:
    """Judges every answer and failure; a URL to be tried again goes back to the frontier."""

    def __init__(self, job: Job, crawler: Crawler) -> None:
        self._job = job
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawl."""
        return cls(Job.of(crawler), crawler)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Pass a usable answer on; send the URL back to the frontier after another."""
        visit = self._job.visits.of(request)
        asked = None if response.status < 300 else response.headers.get("Retry-After")  # noqa: PLR2004
        if visit is None:
            url = self._job.canonicalizer.normalize(request.url)
            if url is not None:
                self._job.consequences.judge_download(url, response.status, asked)
            return response
        visit.answer = Answer(request, response, self._job.now(), response.body)
        trouble = Trouble.NETWORK if INTERRUPTED in response.flags else None
        self._job.consequences.judge(
            visit, status=response.status, trouble=trouble, retry_after=asked
        )
        if trouble is not None:
            self._crawler.stats.inc_value(f"fetch/{trouble.value}")
        again = self._again(visit, request)
        if again is None and visit.outcome is Outcome.FAILED_NETWORK and response.body:
            visit.outcome = None  # the last try: what came of the page is kept, and marked
        return again or response

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Do the same for a request that got no answer."""
        visit = self._job.visits.of(request)
        if visit is None or isinstance(exception, IgnoreRequest):
            return None
        if visit.lease.transferring:  # nothing was sent: another middleware raised
            return None
        trouble = trouble_of(exception)
        if trouble is Trouble.DNS and self._job.admission.was_refused(host_of(visit.lease.url)):
            trouble = Trouble.ADDRESS
        self._crawler.stats.inc_value(f"fetch/{trouble.value}")
        visit.cause = f"{trouble.value}: {exception}"[:_LONGEST_CAUSE]
        self._job.consequences.judge(visit, trouble=trouble)
        return self._again(visit, request)

    def _again(self, visit: Visit, request: Request) -> Request | None:
        """Return the request as one to be queued again; robots.txt has its own machine."""
        if visit.retry_at is None or visit.lease.kind is Kind.ROBOTS:
            visit.retry_at = None
            return None
        self._crawler.stats.inc_value("backoff/retries")
        return request.copy()
