"""The body as the server meant it: content codings undone, strictly and within bounds.

The stock middleware turns a truncated gzip body into a silent partial page and raises
where no ``process_exception`` sees it. Here a body that does not decode, or grows beyond
the limit, ends in an outcome; one that ends too early is asked for again, and what came on
the last try is kept and marked. Of a robots.txt that is too large, what came counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from scrapy.responsetypes import responsetypes

from crawler.consequences import INTERRUPTED, STOPPED, keeps_interrupted
from crawler.frontier import Kind
from crawler.job import Job
from crawler.model import Outcome
from crawler.parsing.codings import (
    CodingError,
    CutShortError,
    TooLargeError,
    decode_page,
    is_packed,
)
from crawler.politeness import Trouble
from crawler.visits import working_on

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
        codings = b",".join(response.headers.getlist(b"Content-Encoding"))
        if not response.body or not (codings or is_packed(response.body)):
            return response
        visit = self._job.visits.of(request)
        try:
            with working_on(visit):
                body = self._undo(response, codings, visit)
        except (CodingError, TooLargeError) as problem:
            return self._spoiled(visit, request, response, problem)
        if not codings and body is response.body:  # an archive is what it is
            return response
        _note_body(visit, body)
        return _decoded(response, body)

    def _undo(self, response: Response, codings: bytes, visit: Visit | None) -> bytes:
        """Undo the codings that are named, and one that is not, where no archive is meant."""
        said = b"text/html" if _is_rules(visit) else response.headers.get(b"Content-Type") or b""
        return decode_page(response.body, codings, said, limit=self._max_bytes)

    def _spoiled(
        self,
        visit: Visit | None,
        request: Request,
        response: Response,
        problem: CodingError | TooLargeError,
    ) -> Response | Request:
        """Make of a body that could not be undone what can be made of it."""
        if _is_rules(visit) and not 200 <= response.status < 300:  # noqa: PLR2004 -- 2xx
            return _decoded(response, b"")  # the status decides
        if _is_rules(visit) and _is_enough(response, problem):
            return _decoded(response, problem.so_far)
        if visit is not None and visit.outcome is None:  # else the status said enough
            if isinstance(problem, CutShortError) and keeps_interrupted(request):
                return self._interrupted(visit, request, response, problem.so_far)
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
        if not so_far:
            visit.outcome = Outcome.FAILED_NETWORK
            raise IgnoreRequest(f"{request.url[:200]}: nothing of the body came")
        _note_body(visit, so_far)
        return _decoded(response, so_far, INTERRUPTED)


def _is_rules(visit: Visit | None) -> bool:
    return visit is not None and visit.lease.kind is Kind.ROBOTS


def _is_enough(response: Response, problem: CodingError | TooLargeError) -> bool:
    """Whether no more was wanted of a body than its beginning (RFC 9309 §2.5)."""
    if isinstance(problem, CutShortError):
        return STOPPED in response.flags
    return isinstance(problem, TooLargeError)


def _note_body(visit: Visit | None, body: bytes) -> None:
    if visit is not None and visit.answer is not None:
        visit.answer.body = body


def _decoded(response: Response, body: bytes, *flags: str) -> Response:
    headers = response.headers.copy()  # the archive wants them as they came
    headers.pop(b"Content-Encoding", None)
    # Scrapy gave the packed body a class without text; other spiders want `.css`
    kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
    flags = (*response.flags, *flags)
    return response.replace(body=body, headers=headers, cls=kind, flags=list(flags))
