"""The body as the server meant it: content codings undone, strictly and within bounds.

The stock middleware turns a truncated gzip body into a silent partial page and raises
where no ``process_exception`` sees it. Here a body that does not decode, or grows beyond
the limit, ends in an outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from scrapy.responsetypes import responsetypes

from crawler.job import Job
from crawler.middlewares.codings import CodingError, TooLargeError, decode
from crawler.politeness import Trouble

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_ACCEPT = b"gzip, deflate, br, zstd"


class DecompressionMiddleware:
    """Asks for compressed answers and undoes what comes. Spec: RFC 9110 §8.4."""

    def __init__(self, job: Job, max_bytes: int) -> None:
        self._job = job
        self._max_bytes = max_bytes

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawl."""
        return cls(Job.of(crawler), crawler.settings.getint("DOWNLOAD_MAXSIZE"))

    def process_request(self, request: Request) -> None:
        """Offer the codings that can be undone."""
        request.headers.setdefault(b"Accept-Encoding", _ACCEPT)

    def process_response(self, request: Request, response: Response) -> Response:
        """Return the response with its body decoded; IgnoreRequest when it cannot be."""
        codings = response.headers.getlist(b"Content-Encoding")
        if not codings or not response.body:
            return response
        try:
            body = decode(response.body, b",".join(codings), limit=self._max_bytes)
        except (CodingError, TooLargeError) as error:
            visit = self._job.visits.of(request)
            if visit is not None and visit.outcome is None:  # else the status said enough
                size = isinstance(error, TooLargeError)
                self._job.consequences.judge(
                    visit, trouble=Trouble.SIZE if size else Trouble.CONTENT
                )
            raise IgnoreRequest(f"{request.url[:200]}: {error}") from error
        del response.headers[b"Content-Encoding"]
        # Scrapy gave the packed body a class without text; other spiders want `.css`
        kind = responsetypes.from_args(headers=response.headers, url=response.url, body=body)
        return response.replace(body=body, cls=kind)
