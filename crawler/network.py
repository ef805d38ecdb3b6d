"""How bytes get here: name resolution with an address guard, and the HTTP handler.

The guard stands between resolution and connection, where every connection of a crawl passes,
so a name that resolves to a private address, at first or only later, is as useless to an
attacker as the address itself. Spec: RFC 6890 (special-purpose addresses).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from weakref import WeakValueDictionary

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver, IHostResolution
from zope.interface import implementer

from crawler.job import Job
from crawler.seams import BoundedAnswers, head_too_large, let_status_decide
from crawler.urls import is_ip_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.interfaces import IAddress

    from crawler.admission import Admission
    from crawler.config import Config

logger = logging.getLogger(__name__)

_TTL = 300.0
_FAILURE_TTL = 1.0  # shorter than the wait between two tries: each of them looks anew
_MOST_NAMES = 20_000
_LOOK_UPS = 64  # at a time; a few dead names, 10 s each and more, must not hold up the others
_NO_SUCH_NAME = (socket.EAI_NONAME, socket.EAI_NODATA)
_IDLE_BEYOND_DELAY = 5
"""Seconds a connection stays open beyond the delay: long enough for the next request."""


class Guarded(Protocol):
    """What the resolver asks: a job, or whatever else fetches something."""

    config: Config
    admission: Admission

    def now(self) -> float:
        """Seconds since the epoch, never backwards."""
        ...


class Names:
    """Addresses of host names: many look-ups at a time, one for each name, and a memory.

    Answers are kept for 5 minutes, failures for a second.

    Args:
        job: Knows the time and the addresses that need no look-up; told which names do not exist.
    """

    def __init__(self, job: Guarded) -> None:
        self._job = job
        self._cache: dict[str, tuple[float, list[str]]] = {}
        self._running: dict[str, asyncio.Task[list[str]]] = {}
        # The loop's own threads are few: a hundred slow names would wait for each other.
        self._threads = ThreadPoolExecutor(_LOOK_UPS, thread_name_prefix="names")

    def known(self, host: str) -> list[str] | None:
        """Return what is known without asking; None if nothing is, [] for no address."""
        if is_ip_literal(host):
            return [host]
        fixed = self._job.config.hosts.get(host)
        if fixed is not None:
            return [fixed]
        until, addresses = self._cache.get(host, (0.0, []))
        return addresses if self._job.now() < until else None

    async def addresses(self, host: str) -> list[str]:
        """Return all addresses of a host, looked up if need be; empty when it has none."""
        known = self.known(host)
        if known is not None:
            return known
        task = self._running.get(host)
        if task is None:
            task = self._running[host] = asyncio.ensure_future(self._look_up(host))
            task.add_done_callback(lambda _: self._running.pop(host, None))
        return await asyncio.shield(task)  # others may wait for the same answer

    def close(self) -> None:
        """Ask nothing any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _look_up(self, host: str) -> list[str]:
        ask = partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
        exists = True
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
            addresses = list(dict.fromkeys(str(row[4][0]) for row in found))
        except (OSError, UnicodeError) as error:
            addresses = []
            exists = isinstance(error, OSError) and error.errno not in _NO_SUCH_NAME
        self._job.admission.note_look_up(host, exists=exists)
        if len(self._cache) >= _MOST_NAMES:
            self._cache.clear()
        self._cache[host] = (self._job.now() + (_TTL if addresses else _FAILURE_TTL), addresses)
        return addresses


@implementer(IHostResolution)
class _Resolution:
    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Let the look-up run out: its answer will be remembered."""


@implementer(IHostnameResolver)
class GuardedResolver:
    """Resolves names to the addresses that the crawl may reach, and to no others.

    A name none of whose addresses may be reached resolves to nothing and is noted with the job.
    """

    _of: ClassVar[WeakValueDictionary[int, GuardedResolver]] = WeakValueDictionary()

    def __init__(self, job: Guarded) -> None:
        self._job = job
        self.names = Names(job)
        self._running: set[asyncio.Task[None]] = set()

    @classmethod
    def of(cls, job: Guarded) -> GuardedResolver:
        """Return the resolver that all handlers of a job share."""
        resolver = cls._of.get(id(job))  # it keeps the job, so the number stays taken
        if resolver is None:
            resolver = cls._of[id(job)] = cls(job)
        return resolver

    def resolveHostName(  # noqa: N802 -- Twisted's interface
        self,
        resolutionReceiver: Any,  # noqa: N803 -- zope interfaces cannot be typed
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Sequence[type[IAddress]] | None = None,  # noqa: N803
        transportSemantics: str = "TCP",  # noqa: N803
    ) -> Any:
        """Tell the receiver every address of a host that may be reached."""
        resolution = _Resolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        known = self.names.known(hostName)
        if known is not None:
            self._answer(resolutionReceiver, hostName, portNumber, known)
        else:
            task = asyncio.ensure_future(self._look_up(resolutionReceiver, hostName, portNumber))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return resolution

    async def _look_up(self, receiver: Any, host: str, port: int) -> None:
        self._answer(receiver, host, port, await self.names.addresses(host))

    def _answer(self, receiver: Any, host: str, port: int, addresses: list[str]) -> None:
        allowed = self._job.admission.reachable(host, addresses)
        if addresses and not allowed:
            self._job.admission.note_refused(host)
            logger.warning("%s resolves to %s, which may not be reached", host, addresses[0])
        for address in allowed:
            kind = IPv6Address if ":" in address else IPv4Address
            receiver.addressResolved(kind("TCP", address.strip("[]"), port))
        receiver.resolutionComplete()


class GuardedHttpHandler(HTTP11DownloadHandler):
    """Scrapy's HTTP/1.1 handler behind the address guard, and with bounds on heads."""

    def __init__(self, crawler: Crawler, job: Guarded) -> None:
        super().__init__(crawler)
        self._resolver = GuardedResolver.of(job)
        self._pool._factory = BoundedAnswers  # noqa: SLF001 -- as Scrapy sets its own
        let_status_decide()

    async def download_request(self, request: Request) -> Response:
        """Look the name up, however long it takes, and then download within the time-out."""
        from twisted.internet import reactor

        if reactor.nameResolver is not self._resolver:
            reactor.installNameResolver(self._resolver)
        host = urlparse_cached(request).hostname
        if host and "proxy" not in request.meta:
            await self._resolver.names.addresses(host)
        try:
            return await super().download_request(request)
        except DownloadFailedError as error:
            too_large = head_too_large(error)
            if too_large is None:
                raise
            raise DownloadCancelledError(f"{request.url[:200]}: {too_large}") from error

    async def close(self) -> None:
        """Close idle connections; look up no further names."""
        self._resolver.names.close()
        await super().close()


class PoliteHttpHandler(GuardedHttpHandler):
    """The handler of crawls: one connection a host, no hidden resends."""

    def __init__(self, crawler: Crawler) -> None:
        job = Job.of(crawler)
        super().__init__(crawler, job)
        self._pool.maxPersistentPerHost = 1
        self._pool.cachedConnectionTimeout = int(job.config.frontier.delay) + _IDLE_BEYOND_DELAY
        # Twisted would send a request again at once when a kept connection turns out closed:
        # a second request without a delay. The frontier tries again in its own time.
        self._pool.retryAutomatically = False
