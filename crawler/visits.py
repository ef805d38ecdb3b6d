"""What the Scrapy shell remembers of each turn while Scrapy works on it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.clock import cpu_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request
    from scrapy.http import Response

    from crawler.frontier import Lease
    from crawler.model import Discovery, Outcome, Page
    from crawler.store import Line

TOKEN = "_visit"  # noqa: S105
"""Key in ``request.meta`` that holds the number of the lease."""


def without_token(request: Request) -> Request:
    """Return the request as one of its own, when it carries a copy of a visit's token."""
    if TOKEN not in request.meta:
        return request
    return request.replace(meta={k: v for k, v in request.meta.items() if k != TOKEN})


@dataclass(slots=True)
class Answer:
    """What came back, as it was received."""

    request: Request
    response: Response  # its body still packed
    at: float  # crawl time at its end
    body: bytes  # content codings undone, as far as that went


@dataclass(slots=True)
class Visit:
    """A lease on its way through Scrapy, filled in by whoever learns something about it.

    Middlewares set ``outcome`` or ``retry_at``, the spider sets ``page``; the scheduler
    reads all of it when Scrapy is done with the request.
    """

    lease: Lease
    scraping: bool = False  # the answer has reached the callback
    outcome: Outcome | None = None  # what the answer alone decides
    retry_at: float | None = None  # try again, not before; with the counters of the URL:
    tries: int = 0
    throttles: int = 0
    answer: Answer | None = None
    received: int = 0  # bytes of a robots.txt so far
    cause: str | None = None  # what went wrong, in words
    cost: float = 0.0  # CPU seconds that the answer took
    page: Page | None = None
    line: Line | None = None  # of the page, in the export
    found: list[Discovery] = field(default_factory=list)  # beside the page's links
    held: list[Callable[[], None]] = field(default_factory=list)  # done with its outcome
    failed: bool = False  # the callback, an errback or a pipeline raised
    continued: bool = False  # a middleware replaced the request before it was sent
    settled: bool = False  # the frontier has it back


@contextmanager
def working_on(visit: Visit | None) -> Iterator[None]:
    """Add the CPU time of what is done inside to the cost of a visit."""
    start = cpu_seconds()
    try:
        yield
    finally:
        if visit is not None:
            visit.cost += cpu_seconds() - start


class Visits:
    """All visits that are under way, by the number of their lease."""

    __slots__ = ("_by_number",)

    def __init__(self) -> None:
        self._by_number: dict[int, Visit] = {}

    def begin(self, lease: Lease) -> Visit:
        """Enter a lease that was just handed out."""
        visit = self._by_number[lease.number] = Visit(lease)
        return visit

    def of(self, request: Request | None) -> Visit | None:
        """Return the visit of a request that the scheduler handed out, None for any other."""
        number = request.meta.get(TOKEN) if request is not None else None
        return self._by_number.get(number) if number is not None else None

    def end(self, visit: Visit) -> None:
        """Forget a visit; idempotent."""
        self._by_number.pop(visit.lease.number, None)

    def __len__(self) -> int:
        return len(self._by_number)
