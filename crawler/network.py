"""How bytes get here: name resolution with an address guard, and the HTTP handler.

The guard stands between resolution and connection, where every connection of a crawl passes,
so a name that resolves to a private address, at first or only later, is as useless to an
attacker as the address itself. Spec: RFC 6890 (special-purpose addresses).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver, IHostResolution
from zope.interface import implementer

from crawler.job import Job
from crawler.urls import is_ip_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.interfaces import IAddress

logger = logging.getLogger(__name__)

_TTL = 300.0
_FAILURE_TTL = 30.0
_MOST_NAMES = 20_000
_IDLE_BEYOND_DELAY = 5
"""Seconds a connection stays open beyond the delay: long enough for the next request."""


@implementer(IHostResolution)
class _Resolution:
    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Let the look-up run out: its answer will be cached."""


@implementer(IHostnameResolver)
class GuardedResolver:
    """Resolves names to the addresses that the crawl may reach, and to no others.

    Answers are cached for 5 minutes, failures for 30 s. A name none of whose addresses may be
    reached resolves to nothing and is noted with the job.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._cache: dict[str, tuple[float, list[str]]] = {}
        self._running: set[asyncio.Task[None]] = set()

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
        known = self._known(hostName)
        if known is not None:
            self._answer(resolutionReceiver, hostName, portNumber, known)
        else:
            task = asyncio.ensure_future(self._look_up(resolutionReceiver, hostName, portNumber))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return resolution

    def _known(self, host: str) -> list[str] | None:
        if is_ip_literal(host):
            return [host]
        fixed = self._job.config.hosts.get(host)
        if fixed is not None:
            return [fixed]
        until, addresses = self._cache.get(host, (0.0, []))
        return addresses if self._job.now() < until else None

    async def _look_up(self, receiver: Any, host: str, port: int) -> None:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(
                host, None, type=socket.SOCK_STREAM
            )
            addresses = list(dict.fromkeys(str(row[4][0]) for row in found))
        except (OSError, UnicodeError):
            addresses = []
        if len(self._cache) >= _MOST_NAMES:
            self._cache.clear()
        until = self._job.now() + (_TTL if addresses else _FAILURE_TTL)
        self._cache[host] = (until, addresses)
        self._answer(receiver, host, port, addresses)

    def _answer(self, receiver: Any, host: str, port: int, addresses: list[str]) -> None:
        allowed = [address for address in addresses if self._job.admission.may_reach(host, address)]
        if addresses and not allowed:
            self._job.admission.note_refused(host)
            logger.warning("%s resolves to %s, which may not be reached", host, addresses[0])
        for address in allowed:
            kind = IPv6Address if ":" in address else IPv4Address
            receiver.addressResolved(kind("TCP", address.strip("[]"), port))
        receiver.resolutionComplete()


class PoliteHttpHandler(HTTP11DownloadHandler):
    """Scrapy's HTTP/1.1 handler with one connection a host, no hidden resends, and the guard."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        job = Job.of(crawler)
        self._resolver = GuardedResolver(job)
        self._pool.maxPersistentPerHost = 1
        self._pool.cachedConnectionTimeout = int(job.config.frontier.delay) + _IDLE_BEYOND_DELAY
        # Twisted would send a request again at once when a kept connection turns out closed:
        # a second request without a delay. The frontier tries again in its own time.
        self._pool.retryAutomatically = False

    async def download_request(self, request: Request) -> Response:
        """Download with this crawl's resolver in place."""
        from twisted.internet import reactor

        if reactor.nameResolver is not self._resolver:
            reactor.installNameResolver(self._resolver)
        return await super().download_request(request)
