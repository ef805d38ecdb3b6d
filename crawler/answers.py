"""From Scrapy's answers to documents: what reads an answer, and has it read, here or apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.consequences import INTERRUPTED
from crawler.parsing import finish
from crawler.received import Received, choose
from crawler.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy.http import Response

    from crawler.job import Job
    from crawler.parsing import Chosen, Document, Feed, ParsedPage
    from crawler.visits import Visit


class Answers:
    """Turns the answers of a crawl into documents, and these into pages and lists.

    Args:
        job: The crawl.
        sitemaps: URLs that the operator named as sitemaps.
    """

    def __init__(self, job: Job, sitemaps: Collection[str] = ()) -> None:
        self._job = job
        self._sitemaps = frozenset(sitemaps)
        self._workers: Workers | None = None

    def received(self, response: Response, visit: Visit | None) -> Received:
        """Return an answer with what the frontier knows of its URL."""
        entry = visit.lease.entry if visit is not None else None
        return Received(
            url=entry.url if entry is not None else response.url,
            status=response.status,
            headers=response.headers.getlist,
            body=response.body,
            at=visit.answer.at if visit is not None and visit.answer else self._job.now(),
            depth=entry.depth if entry is not None else 0,
            referrer=entry.referrer if entry is not None else None,
            interrupted=INTERRUPTED in response.flags,
            listed=entry is not None and entry.url in self._sitemaps,
        )

    def choose(self, received: Received) -> tuple[Chosen, Document] | None:
        """Return what reads an answer, with the answer as it wants it; None if nothing does."""
        return choose(received, self._job.config, self._job.canonicalizer)

    async def read_apart(self, chosen: Chosen, document: Document) -> ParsedPage | Feed:
        """Have a document read in a process of its own."""
        if self._workers is None:
            self._workers = Workers(self._job.config.workers)
        return finish(await self._workers.parse(chosen.module, document), document)

    def close(self) -> None:
        """End the processes, if there are any."""
        if self._workers is not None:
            self._workers.close()
