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
from crawler.urls import origin as origin_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.frontier import Lease
    from crawler.job import Job

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
        self._waiting: set[asyncio.Future[Any]] = set()
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
        return partial(self._end, await self._answer(granted))

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
            await self._answer(known)

    async def _answer(self, future: asyncio.Future[T]) -> T:
        """Wait for a future that :meth:`refuse_all` can end."""
        self._waiting.add(future)
        try:
            return await future
        except asyncio.CancelledError:
            if not self._over:  # the caller gave up
                raise
            self._refuse_to_caller()
            raise AssertionError("unreachable") from None
        finally:
            self._waiting.discard(future)

    def _refuse_to_caller(self) -> None:
        """Raise, and have the page whose callback waits fetched again by the next run."""
        visit = current_visit.get()
        entry = visit.lease.entry if visit is not None else None
        if visit is not None and entry is not None and not visit.settled:
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
