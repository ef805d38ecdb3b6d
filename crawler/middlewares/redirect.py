"""A redirect's target is a URL of its own: normalised, seen once, asked of robots.txt, in turn.

The stock middleware would follow it at once, on the first host's slot. Here it goes back
to the frontier with one hop more on its chain; the URL that redirected is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from crawler.consequences import location_text
from crawler.frontier import Kind
from crawler.job import Job
from crawler.model import Outcome

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_HOPS = "redirect_times"
_WITH_LOCATION = frozenset({301, 302, 303, 307, 308})


class RedirectMiddleware:
    """Turns a 3xx with a usable Location into a request for the frontier.

    Spec: RFC 9110 §15.4; WHATWG URL for the reference, which may be relative.
    """

    def __init__(self, job: Job) -> None:
        self._job = job

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawl."""
        return cls(Job.of(crawler))

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Return the target as a request, or the response when there is none."""
        if response.status not in _WITH_LOCATION or request.meta.get("dont_redirect"):
            return response
        visit = self._job.visits.of(request)
        if visit is not None and visit.lease.kind is Kind.ROBOTS:
            return response
        target = self._target(request.url, location_text(response.headers.get("Location") or b""))
        if target is None or target == request.url:
            if visit is not None:
                visit.outcome = Outcome.REFUSED
            return response
        if visit is not None:
            visit.retry_at = None
            return request.replace(url=target, method="GET", body=b"")
        hops = request.meta.get(_HOPS, 0) + 1  # the frontier does not see this chain
        if hops > self._job.config.frontier.max_redirects:
            raise IgnoreRequest(f"more than {hops - 1} redirects: {request.url[:200]}")
        meta = {**request.meta, _HOPS: hops}
        return request.replace(url=target, method="GET", body=b"", meta=meta)

    def _target(self, url: str, location: str) -> str | None:
        """Return where a redirect leads; with its noise where that is all it adds to the URL."""
        if not location:
            return None
        urls = self._job.canonicalizer
        target = urls.resolve(url, location)
        return urls.resolve_whole(url, location) if target == urls.normalize(url) else target
