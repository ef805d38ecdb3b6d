"""No request leaves against robots.txt, whoever made it and whatever changed its URL.

The frontier asks the same rules before it hands a URL out, so that nothing waits in here;
this is the last look at the URL that is really sent: another middleware may have changed it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from crawler.frontier import Kind
from crawler.job import Job
from crawler.model import Allow
from crawler.urls import origin

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class RobotsMiddleware:
    """Refuses what the rules of the URL's origin do not allow, or what has no rules yet."""

    def __init__(self, job: Job, crawler: Crawler) -> None:
        self._job = job
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawl."""
        return cls(Job.of(crawler), crawler)

    def process_request(self, request: Request) -> None:
        """Let a request pass or raise IgnoreRequest."""
        visit = self._job.visits.of(request)
        if visit is not None and (
            visit.lease.kind is Kind.ROBOTS or request.url == visit.lease.url
        ):
            return
        url = self._job.canonicalizer.normalize(request.url)
        if url is not None:
            answer = self._job.robots.check(url, origin(url), self._job.now())
            if isinstance(answer, Allow):
                return
        self._crawler.stats.inc_value("robots/refused_late")
        raise IgnoreRequest(f"robots.txt does not allow {request.url[:200]}, or is not known yet")
