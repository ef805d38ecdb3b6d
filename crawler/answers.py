"""From Scrapy's answers to documents: what reads an answer, and has it read, here or apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.parsing import Document, finish, split_content_type
from crawler.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy.http import Response

    from crawler.job import Job
    from crawler.parsing import Chosen, Feed, ParsedPage
    from crawler.visits import Visit

_ROBOTS = "/robots.txt"


class Answers:
    """Turns the answers of a crawl into documents, and these into pages and lists.

    Args:
        job: The crawl.
        sitemaps: URLs that the operator named as sitemaps.
    """

    def __init__(self, job: Job, sitemaps: Collection[str] = ()) -> None:
        self._job = job
        self._types = job.config.types
        self._sitemaps = frozenset(sitemaps)
        self._workers: Workers | None = None

    def choose(self, response: Response, visit: Visit | None) -> tuple[Chosen, Document] | None:
        """Return what reads an answer, with the answer as it wants it; None if nothing does."""
        headers, job = response.headers.getlist, self._job
        media, charset = split_content_type(b",".join(headers(b"Content-Type")))
        document = Document(
            body=response.body,
            url=response.url,
            media=media,
            charset=charset,
            resolver=job.canonicalizer,
            options=job.config.parsing,
            robots_headers=[value.decode("latin-1") for value in headers(b"X-Robots-Tag")],
            link_headers=[value.decode("utf-8", "replace") for value in headers(b"Link")],
            token=job.config.robots.token,
            now=job.now(),
            listed=visit is not None and self._is_listed(visit),
        )
        chosen = self._types.choose(document)
        if chosen is None:
            return None
        return chosen, document if chosen.media == media else replace(document, media=chosen.media)

    async def read_apart(self, chosen: Chosen, document: Document) -> ParsedPage | Feed:
        """Have a document read in a process of its own."""
        if self._workers is None:
            self._workers = Workers(self._job.config.workers)
        return finish(await self._workers.parse(chosen.module, document), document)

    def close(self) -> None:
        """End the processes, if there are any."""
        if self._workers is not None:
            self._workers.close()

    def _is_listed(self, visit: Visit) -> bool:
        """Whether a URL was named as a sitemap: by a robots.txt, or by the operator."""
        entry = visit.lease.entry
        if entry is None:
            return False
        named = entry.referrer is not None and entry.referrer.endswith(_ROBOTS)
        return named or entry.url in self._sitemaps
