"""The five places that lean on internals of Scrapy and Twisted, and the only file that may.

Each has a contract test in tests/integration/test_seams.py, the last two in
tests/e2e/test_faults.py and tests/cases, that fails loudly when a release changes what it leans on:

* :class:`Alarm` wakes the engine at a time. Scrapy asks its scheduler only after an event
  or at a 5 s heartbeat, and has no public way to say "not before 12:00:01".
* :func:`follow_completion` tells when a request is completely finished: its callback exhausted,
  its items through the pipelines, its requests handed to the scheduler. No set of signals does
  (an ignored request, a redirect and a failure without errback send none).
* :class:`GatedDownloader` makes downloads that bypass the scheduler (``engine.download_async``:
  media pipelines, inline requests) wait for their turn at the host like everything else.
* :class:`BoundedAnswers` ends an answer whose head is endless, or whose body comes in crumbs.
  Twisted bounds a line of the head and nothing else, Scrapy the size of the body.
* :func:`let_status_decide` has an answer arrive whose status says enough, whatever becomes of
  its body. Scrapy loses the answer with the body.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, cast

from scrapy import Request
from scrapy.core.downloader import Downloader
from scrapy.core.downloader.handlers import http11
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Response
from scrapy.utils.asyncio import CallLaterResult, call_later
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.web.http import _ChunkedTransferDecoder, _MalformedChunkedDataError

from crawler.visits import without_token

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.core.engine import ExecutionEngine
    from twisted.internet.interfaces import IAddress
    from twisted.python.failure import Failure
    from twisted.web.iweb import IResponse

    from crawler.visits import Visit

current_visit: ContextVar[Visit | None] = ContextVar("current_visit", default=None)
"""The visit whose callback, errback or pipelines are running: tasks inherit it."""


class Alarm:
    """One timer that makes the engine ask its scheduler again.

    ``CallLaterOnce.schedule(delay)`` cannot serve: while a call is pending it ignores an
    earlier one. So this keeps a timer of its own and pokes without delay when it fires.
    """

    def __init__(self, engine: ExecutionEngine) -> None:
        self._engine = engine
        self._timer: CallLaterResult | None = None
        self._at = 0.0

    def set(self, at: float | None, now: float) -> None:
        """Poke at ``at`` (crawl-clock seconds), instead of whenever it was set to before."""
        if self._timer is not None:
            if at == self._at:
                return
            self._timer.cancel()
            self._timer = None
        if at is not None:
            self._at = at
            self._timer = call_later(max(0.0, at - now), self._fire)

    def poke(self) -> None:
        """Make the engine ask its scheduler in the next turn of the event loop."""
        slot = self._engine._slot
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

    def close(self, reason: str) -> None:
        """End the crawl; what is in flight is finished first."""
        deferred_from_coro(self._engine.close_spider_async(reason=reason))

    @property
    def closing(self) -> bool:
        """Whether the engine asks for nothing more, because the crawl ends."""
        slot = self._engine._slot
        return slot is not None and slot.closing is not None

    @property
    def choked(self) -> bool:
        """Whether the engine asks for nothing now, because callbacks hold too many bytes.

        A callback that waits for a download would then wait for ever.
        """
        slot = self._engine.scraper.slot
        return not self.closing and slot is not None and slot.needs_backout()

    def force(self) -> None:
        """Make the engine take one request although it is choked."""
        self._engine._start_scheduled_request()

    def _fire(self) -> None:
        self._timer = None
        self.poke()


class Follower(Protocol):
    """Is told about the way of every request behind the downloader."""

    def scraping(self, request: Request) -> Visit | None:
        """The response or failure of the request goes to its callback or errback now."""
        ...

    def finished(self, request: Request, result: Response | Failure) -> None:
        """Everything that followed from the request is done."""
        ...


def follow_completion(engine: ExecutionEngine, follower: Follower) -> None:
    """Tell ``follower`` when a request reaches the spider and when all of it is done.

    Wraps ``engine.scraper.enqueue_scrape``, which the engine calls once for every response
    or failure and whose Deferred fires when callback, items and requests are through.
    """
    enqueue_scrape = engine.scraper.enqueue_scrape

    def followed(result: Response | Failure, request: Request) -> Deferred[None]:
        token = current_visit.set(follower.scraping(request))
        try:
            done = enqueue_scrape(result, request)
        finally:
            current_visit.reset(token)

        def finish(outcome: Any) -> Any:
            follower.finished(request, result)
            return outcome

        return done.addBoth(finish)

    engine.scraper.enqueue_scrape = followed  # type: ignore[method-assign]


class Gatekeeper(Protocol):
    """What the scheduler offers to downloads that did not come through it."""

    def has_turn(self, request: Request) -> bool:
        """Whether the request was handed out by the scheduler and holds its host's turn."""
        ...

    async def take_turn(self, request: Request) -> Callable[[], None]:
        """Wait for the host's turn; returns what ends it. Raises IgnoreRequest if forbidden."""
        ...

    def replaced(self, request: Request) -> None:
        """A middleware answered the request with another one."""
        ...


class GatedDownloader(Downloader):
    """The stock downloader behind the frontier's gate; set as ``DOWNLOADER``."""

    def fetch(self, request: Request, spider: object = None) -> Deferred[Response | Request]:
        """Download a request that holds its host's turn, or first wait for one."""
        gate = cast("Gatekeeper | None", self.crawler.engine.scheduler)
        if gate is None or not hasattr(gate, "take_turn"):
            return super().fetch(request)
        if not gate.has_turn(request):
            return deferred_from_coro(self._fetch_in_turn(request, gate))
        download = super().fetch(request)

        def look(result: Any) -> Any:
            if isinstance(result, Request):
                call_later(0, gate.replaced, request)
            return result

        return download.addCallback(look)

    async def _fetch_in_turn(self, request: Request, gate: Gatekeeper) -> Response | Request:
        end_turn = await gate.take_turn(request)
        try:
            return await maybe_deferred_to_future(super().fetch(without_token(request)))
        finally:
            end_turn()


MOST_HEAD_BYTES = 256 * 1024
"""Status line and headers of an answer, and of all interim answers before it."""
MOST_HEAD_LINES = 1_000
LONGEST_HEAD_LINE = 64 * 1024


class HeadTooLargeError(Exception):
    """The head of an answer exceeds a bound."""


MOST_SMALL_CHUNKS = 10_000
"""Pieces of a chunked body from which on they must have SMALL_CHUNK bytes on average."""
SMALL_CHUNK = 64
_PADDED_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}([ \t]{1,64})[;\r]").match


class _JoinedChunks(_ChunkedTransferDecoder):
    """Twisted's decoder, that hands on what came at once as one piece, and bounds the pieces.

    Each piece costs a hundred times more further on than here, and 2 us here: a body that comes
    a byte at a time would take a core for a minute.
    """

    def __init__(
        self, deliver: Callable[[bytes], object], finish: Callable[[bytes], object]
    ) -> None:
        self._parts: list[bytes] = []
        self._pieces = self._size = 0
        self._deliver = deliver
        self._finish_with = finish
        super().__init__(self._parts.append, self._end)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 -- Twisted's interface
        super().dataReceived(data)
        self._flush()
        if self._pieces > MOST_SMALL_CHUNKS and self._size < self._pieces * SMALL_CHUNK:
            raise _MalformedChunkedDataError(f"{self._pieces} chunks of {self._size} bytes")

    def _dataReceived_CHUNK_LENGTH(self) -> bool:  # noqa: N802 -- Twisted's
        """Drop the blanks behind a size: before an extension they are legal (RFC 9112 §7.1.1).

        Old servers pad every size with them.
        """
        if padded := _PADDED_SIZE(self._buffer):
            del self._buffer[padded.start(1) : padded.end(1)]
            self._start = 0
        return super()._dataReceived_CHUNK_LENGTH()

    def _flush(self) -> None:
        if self._parts:
            joined = b"".join(self._parts)
            self._pieces += len(self._parts)
            self._size += len(joined)
            self._parts.clear()
            self._deliver(joined)

    def _end(self, rest: bytes) -> None:
        self._flush()
        self._finish_with(rest)


class _BoundedParser(http11._LenientHTTPClientParser):
    MAX_LENGTH = LONGEST_HEAD_LINE
    _transferDecoders: Any = {b"chunked": _JoinedChunks}  # noqa: N815, RUF012 -- Twisted's
    _head_bytes = 0
    _head_lines = 0

    def lineReceived(self, line: bytes) -> None:  # noqa: N802 -- Twisted's interface
        self._head_bytes += len(line)
        self._head_lines += 1
        if self._head_bytes > MOST_HEAD_BYTES or self._head_lines > MOST_HEAD_LINES:
            raise HeadTooLargeError(
                f"a head of more than {MOST_HEAD_BYTES} bytes or {MOST_HEAD_LINES} lines"
            )
        super().lineReceived(line)

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: N802
        raise HeadTooLargeError(f"a line of more than {LONGEST_HEAD_LINE} bytes in the head")


class _BoundedProtocol(http11._LenientHTTP11ClientProtocol):
    def request(self, request: Any) -> Deferred[IResponse]:
        answer = super().request(request)
        self._parser.__class__ = _BoundedParser  # as Scrapy itself puts its own in place
        return answer


class BoundedAnswers(http11._LenientHTTP11ClientFactory):
    """Scrapy's factory of connections, with bounds on the head of an answer and on its chunks.

    A head that exceeds one is given up at once: the download fails with :class:`HeadTooLargeError`
    among its reasons, see :func:`head_too_large`. A body of too many small chunks breaks off.
    """

    def buildProtocol(self, addr: IAddress | None) -> _BoundedProtocol:  # noqa: N802
        """Return the protocol of a new connection."""
        return _BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]


def head_too_large(error: BaseException) -> HeadTooLargeError | None:
    """Return what a failed download says of a head that was too large; None if it does not."""
    reasons = getattr(error.__cause__, "reasons", ())
    found = (reason.value for reason in reasons)
    return next((one for one in found if isinstance(one, HeadTooLargeError)), None)


def let_status_decide() -> None:
    """Have Scrapy's handler end no download for a body that is not wanted.

    Outside 2xx the status and its headers are what counts (a redirect, a Retry-After). A body
    that is too large, too slow or broken then becomes an empty one, marked as interrupted.
    """
    http11._ScrapyAgent = _StatusFirst  # type: ignore[misc]  # the handler makes one a request


class _StatusFirst(http11._ScrapyAgent):
    def _cb_bodyready(self, txresponse: Any, request: Request) -> Any:
        if 200 <= txresponse.code < 300:  # noqa: PLR2004 -- 2xx
            return super()._cb_bodyready(txresponse, request)
        bare = {"txresponse": txresponse, "flags": ["dataloss"]}  # Scrapy's own flag
        try:
            result = super()._cb_bodyready(txresponse, request)
        except DownloadCancelledError:  # it says that it is too large
            return bare
        return result.addErrback(lambda _: bare) if isinstance(result, Deferred) else result

    def _cb_timeout(self, result: Any, request: Request, url: str, timeout: float) -> Any:
        timer: Any = self._timeout_cl
        if isinstance(result, Response) and not timer.active():
            return result
        return super()._cb_timeout(result, request, url, timeout)
