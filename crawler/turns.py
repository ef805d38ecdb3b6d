"""Turns at a host for downloads that bypass the scheduler.

``engine.download_async`` in a callback or a pipeline, and with it every media pipeline, hands
requests straight to the downloader. Here they wait for what all others wait for: the rules of
robots.txt, and their host's turn. They go ahead of the host's queued URLs, because a page in
flight depends on them.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.exceptions import IgnoreRequest

from crawler.model import Allow, Deny, Fetch, Gate, Origin, Reason, Wait
from crawler.seams import current_visit
from crawler.urls import host_key
from crawler.urls import origin as origin_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.frontier import Lease
    from crawler.job import Job
    from crawler.model import HostKey

T = TypeVar("T")


class Turns:
    """Grants turns one by one, and refuses those still waited for when the crawl ends.

    Args:
        job: The crawl.
        gate: Answers for a URL what robots.txt says.
        wake: Makes the engine look for work.
    """

    def __init__(
        self, job: Job, gate: Callable[[str, Origin], Gate], wake: Callable[[], None]
    ) -> None:
        self._job = job
        self._gate = gate
        self._wake = wake
        self._for_rules: dict[Origin, list[asyncio.Future[None]]] = {}
        self._waiting: dict[asyncio.Future[Any], HostKey] = {}
        self._over = False

    async def take(self, url: str) -> Callable[[], None]:
        """Wait until the URL may go by robots.txt and it is its host's turn.

        Returns:
            What ends the turn; to be called when the transfer is over.

        Raises:
            IgnoreRequest: robots.txt forbids the URL or cannot be reached, or the crawl ends.
        """
        if self._over:
            self._refuse_to_caller()
        await self._allowed(url, origin_of(url))
        granted: asyncio.Future[Lease] = asyncio.get_running_loop().create_future()
        self._job.frontier.ticket(url, partial(self._grant, granted), self._job.now())
        self._wake()
        try:
            return partial(self._end, await self._answer(granted, host_key(url)))
        except BaseException:  # the caller gave up in the very moment of its turn
            if granted.done() and not granted.cancelled() and granted.exception() is None:
                self._end(granted.result())
            raise

    def rules_known(self, origin: Origin) -> None:
        """Let those go on who wait for the rules of an origin."""
        for known in self._for_rules.pop(origin, ()):
            if not known.done():
                known.set_result(None)

    def refuse_all(self) -> None:
        """End every wait, now and from now on: the crawl ends, no further turn will come."""
        self._over = True
        for one in self._waiting:
            one.cancel()

    def refuse_long_waits(self) -> None:
        """End waits for a host that rests for longer than the crawl would wait for a page."""
        now = self._job.now()
        for one, key in self._waiting.items():
            host = self._job.frontier.hosts.get(key)
            if host is None or one.done():
                continue
            patience = self._job.config.max_wait + self._job.frontier.host_delay(host)
            if host.clock - now > patience:
                one.set_exception(IgnoreRequest(f"{key} rests for {host.clock - now:.0f} s"))

    async def _allowed(self, url: str, origin: Origin) -> None:
        while not isinstance(answer := self._gate(url, origin), Allow):
            if isinstance(answer, Deny):
                by = "robots.txt" if answer.reason is Reason.ROBOTS else "its address"
                raise IgnoreRequest(f"{by} forbids {url} by {answer.rule!r}")
            if isinstance(answer, Wait):
                raise IgnoreRequest(f"robots.txt of {origin} cannot be reached")
            known: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._for_rules.setdefault(origin, []).append(known)
            if isinstance(answer, Fetch):
                self._job.frontier.fetch_rules(origin, answer.url, self._job.now())
                self._wake()
            await self._answer(known, host_key(origin))

    async def _answer(self, future: asyncio.Future[T], key: HostKey) -> T:
        """Wait for something at a host; :meth:`refuse_all` can end it."""
        self._waiting[future] = key
        try:
            return await future
        except asyncio.CancelledError:
            if not self._over:  # the caller gave up
                raise
            self._refuse_to_caller()
            raise AssertionError("unreachable") from None
        finally:
            del self._waiting[future]

    def _refuse_to_caller(self) -> None:
        """Raise, and have the page whose callback waits fetched again by the next run."""
        visit = current_visit.get()
        entry = visit.lease.entry if visit is not None else None
        stored = visit is not None and visit.page is not None and visit.page.stored
        if visit is not None and entry is not None and not (visit.settled or stored):
            visit.retry_at = self._job.now()
            visit.tries, visit.throttles = entry.tries, entry.throttles
        raise IgnoreRequest("the crawl ends")

    def _grant(self, granted: asyncio.Future[Lease], lease: Lease) -> None:
        if granted.done():  # nobody waits any more
            self._end(lease)
        else:
            granted.set_result(lease)

    def _end(self, lease: Lease) -> None:
        self._job.frontier.transfer_ended(lease, self._job.now())
        self._wake()
