"""The body as the server meant it: content codings undone, strictly and within bounds.

The stock middleware turns a truncated gzip body into a silent partial page and raises
where no ``process_exception`` sees it. Here a body that does not decode, or grows beyond
the limit, ends in an outcome; one that ends too early is asked for again, and what came on
the last try is kept and marked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from scrapy.responsetypes import responsetypes

from crawler.consequences import INTERRUPTED, keeps_interrupted
from crawler.job import Job
from crawler.parsing.codings import CodingError, CutShortError, TooLargeError, decode
from crawler.politeness import Trouble

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.visits import Visit

_ACCEPT = b"gzip, deflate, br, zstd"


class DecompressionMiddleware:
    """Asks for compressed answers and undoes what comes. Spec: RFC 9110 §8.4."""

    def __init__(self, job: Job, crawler: Crawler) -> None:
        self._job = job
        self._crawler = crawler
        self._max_bytes = crawler.settings.getint("DOWNLOAD_MAXSIZE")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawl."""
        return cls(Job.of(crawler), crawler)

    def process_request(self, request: Request) -> None:
        """Offer the codings that can be undone."""
        request.headers.setdefault(b"Accept-Encoding", _ACCEPT)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Return the response with its body decoded; IgnoreRequest when it cannot be."""
        codings = response.headers.getlist(b"Content-Encoding")
        if not codings or not response.body:
            return response
        visit = self._job.visits.of(request)
        problem: Exception
        try:
            body = decode(response.body, b",".join(codings), limit=self._max_bytes)
            _note_body(visit, body)
            return _decoded(response, body)
        except CutShortError as error:
            usable = error.so_far and keeps_interrupted(request)
            if usable and visit is not None and visit.outcome is None:
                return self._interrupted(visit, request, response, error.so_far)
            problem = error
        except (CodingError, TooLargeError) as error:
            problem = error
        if visit is not None and visit.outcome is None:  # else the status said enough
            size = isinstance(problem, TooLargeError)
            self._job.consequences.judge(visit, trouble=Trouble.SIZE if size else Trouble.CONTENT)
            visit.cause = str(problem)
        raise IgnoreRequest(f"{request.url[:200]}: {problem}") from problem

    def _interrupted(
        self, visit: Visit, request: Request, response: Response, so_far: bytes
    ) -> Response | Request:
        """Ask again; on the last try keep what came."""
        if INTERRUPTED not in response.flags:  # else the transfer was, and has been judged
            self._crawler.stats.inc_value(f"fetch/{Trouble.NETWORK.value}")
            self._job.consequences.judge(visit, trouble=Trouble.NETWORK)
            if visit.retry_at is not None:
                self._crawler.stats.inc_value("backoff/retries")
                return request.copy()
            visit.outcome = None
        _note_body(visit, so_far)
        return _decoded(response, so_far, INTERRUPTED)


def _note_body(visit: Visit | None, body: bytes) -> None:
    if visit is not None and visit.answer is not None:
        visit.answer.body = body


def _decoded(response: Response, body: bytes, *flags: str) -> Response:
    headers = response.headers.copy()  # the archive wants them as they came
    del headers[b"Content-Encoding"]
    # Scrapy gave the packed body a class without text; other spiders want `.css`
    kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
    flags = (*response.flags, *flags)
    return response.replace(body=body, headers=headers, cls=kind, flags=list(flags))
