"""The generic spider ``web``: answers become pages; which ones come is the frontier's choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy

from crawler.arguments import WebArguments
from crawler.dedupe import body_hash
from crawler.job import Job
from crawler.model import Outcome, Page
from crawler.parsing import is_html, parse_html, split_content_type

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.parsing import ParsedPage
    from crawler.urls import Scope
    from crawler.visits import Visit

_OK = range(200, 300)


class WebSpider(scrapy.Spider):
    """Crawls from seeds: ``scrapy crawl web -a seeds=https://example.com/``.

    The arguments are described in :mod:`crawler.arguments`.
    """

    name = "web"
    default_directory: str | None = "crawls/web"  # None: nothing is kept
    seed_urls: Sequence[str] = ()
    scope: Scope | None = None
    allow: Sequence[str] = ()
    deny: Sequence[str] = ()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Read the arguments; those that bound the crawl become settings.

        Raises:
            ConfigError: An argument is unknown, missing or unusable.
            StoreError: The job directory is.
        """
        arguments = WebArguments.read(kwargs, crawler.settings)
        arguments.apply(crawler.settings)
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.seed_urls = arguments.seeds
        spider.scope = arguments.scope
        spider.allow, spider.deny = arguments.allow, arguments.deny
        Job.of(crawler, spider)  # a job directory that cannot be used is refused right here
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Put the seeds into the frontier; as requests they would be held in memory."""
        Job.of(self.crawler).add_seeds()
        requests: Sequence[scrapy.Request] = ()  # Scrapy expects a generator of them
        for request in requests:
            yield request

    def parse(self, response: Response, **_: Any) -> Iterator[Page]:
        """Yield the page of a usable HTML answer; anything else ends in an outcome."""
        job = Job.of(self.crawler)
        visit = job.visits.of(response.request)
        if response.status not in _OK:
            if visit is not None and visit.outcome is None:
                visit.outcome = Outcome.REFUSED  # a 3xx that leads nowhere
            return
        media, charset = split_content_type(response.headers.get(b"Content-Type"))
        if not response.body or not is_html(media, response.body):
            if visit is not None:
                visit.outcome = Outcome.SKIPPED_TYPE
            return
        parsed = self._parsed(response, job, charset)
        page = self._page(response, job, visit, media, parsed)
        if visit is not None:
            visit.page = page
            if parsed.refresh is not None:
                job.follow_refresh(visit, parsed.refresh)
        yield page

    def _parsed(self, response: Response, job: Job, charset: str | None) -> ParsedPage:
        parsed = parse_html(
            response.body,
            url=response.url,
            header_charset=charset,
            robots_headers=[
                value.decode("latin-1") for value in response.headers.getlist(b"X-Robots-Tag")
            ],
            token=job.config.robots.token,
            canonicalizer=job.canonicalizer,
            options=job.config.parsing,
        )
        if parsed.error is not None:
            self.crawler.stats.inc_value("parsing/failed")
            self.logger.warning("%s could not be parsed: %s", response.url, parsed.error)
        if parsed.truncated:
            self.crawler.stats.inc_value("parsing/truncated")
        return parsed

    def _page(
        self, response: Response, job: Job, visit: Visit | None, media: str, parsed: ParsedPage
    ) -> Page:
        header, entry = response.headers.get, visit.lease.entry if visit is not None else None
        return Page(
            url=entry.url if entry is not None else response.url,
            status=response.status,
            fetched_at=job.now(),
            depth=entry.depth if entry is not None else 0,
            referrer=entry.referrer if entry is not None else None,
            content_type=media or "text/html",
            charset=parsed.charset,
            title=parsed.title,
            lang=parsed.lang,
            headings=parsed.headings,
            text=parsed.text,
            canonical=parsed.canonical,
            robots=list(parsed.robots.raw),
            etag=_text(header(b"ETag")),
            last_modified=_text(header(b"Last-Modified")),
            bytes=len(response.body),
            links=parsed.links,
            body_hash=None if parsed.text.strip() else body_hash(response.body).hex(),
            main_text=parsed.main_text,
        )


def _text(value: bytes | None) -> str | None:
    return value.decode("latin-1")[:500] if value else None
