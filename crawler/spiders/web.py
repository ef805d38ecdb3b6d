"""The generic spider ``web``: answers become pages; which ones come is the frontier's choice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import scrapy

from crawler.arguments import WebArguments
from crawler.consequences import INTERRUPTED, location_text
from crawler.dedupe import body_hash
from crawler.job import Job
from crawler.model import Outcome, Page
from crawler.parsing import (
    is_html,
    looks_like_feed,
    looks_like_sitemap,
    parse_feed,
    parse_html,
    parse_refresh,
    parse_sitemap,
    split_content_type,
)
from crawler.recording import header_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.parsing import Feed, ParsedPage
    from crawler.urls import Scope
    from crawler.visits import Visit

_OK = range(200, 300)
_LISTING_START = 65_536  # bytes that tell a sitemap or feed from other documents


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
    only_pages = True  # links to files of other kinds need not be followed
    keep_interrupted = True  # a page that is cut short on every try is kept, and marked

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
        job = Job.of(self.crawler)
        for _ in job.add_seeds():
            await asyncio.sleep(0)
            while job.commits.stalled:  # noqa: ASYNC110 -- there is nothing to be woken by
                await asyncio.sleep(job.config.commit_interval)
        requests: Sequence[scrapy.Request] = ()  # Scrapy expects a generator of them
        for request in requests:
            yield request

    def parse(self, response: Response, **_: Any) -> Iterator[Page]:
        """Yield the page of a usable HTML answer; anything else ends in an outcome."""
        job = Job.of(self.crawler)
        visit = job.visits.of(response.request)
        if visit is not None and visit.outcome is not None:
            return  # the status said enough, or nothing came of the body
        if response.status not in _OK:
            if visit is not None:
                visit.outcome = Outcome.REFUSED  # a 3xx that leads nowhere
            return
        target = _refresh_target(response, job)
        media, charset = split_content_type(b",".join(response.headers.getlist(b"Content-Type")))
        if not response.body or not is_html(media, response.body, charset):
            if visit is not None:
                listing = read_listing(response.body, response.url, (media, charset), job)
                visit.outcome = Outcome.SKIPPED_TYPE if listing is None else Outcome.LISTED
                if listing is not None:
                    self._count_unread(listing)
                    job.follow_listing(visit, listing)
                _follow(visit, target, job)
            return
        parsed = self._parsed(response, job, charset)
        page = self._page(response, job, visit, media, parsed)
        if visit is not None:
            visit.page = page
            _follow(visit, target or parsed.refresh, job)
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

    def _count_unread(self, listing: Feed) -> None:
        """Count what a sitemap or feed has and could not be used."""
        if listing.skipped:
            self.crawler.stats.inc_value("parsing/listing_skipped", listing.skipped)
        if listing.truncated:
            self.crawler.stats.inc_value("parsing/truncated")

    def _page(
        self, response: Response, job: Job, visit: Visit | None, media: str, parsed: ParsedPage
    ) -> Page:
        header, entry = response.headers.get, visit.lease.entry if visit is not None else None
        interrupted = INTERRUPTED in response.flags
        return Page(
            url=entry.url if entry is not None else response.url,
            status=response.status,
            fetched_at=visit.answer.at if visit is not None and visit.answer else job.now(),
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
            etag=header_text(header(b"ETag")),
            last_modified=header_text(header(b"Last-Modified")),
            bytes=len(response.body),
            links=parsed.links,
            body_hash=None if parsed.text.strip() else body_hash(response.body).hex(),
            main_text=parsed.main_text,
            truncated=parsed.truncated or interrupted,
            interrupted=interrupted,
        )


def read_listing(body: bytes, url: str, declared: tuple[str, str | None], job: Job) -> Feed | None:
    """Return what a sitemap or feed lists, None when the body is neither."""
    media, charset = declared
    start = body[:_LISTING_START]
    if looks_like_sitemap(media, url, start):
        read: Callable[..., Feed] = parse_sitemap
    elif looks_like_feed(media, url, start):
        read = parse_feed
    else:
        return None
    found = read(
        body, url=url, canonicalizer=job.canonicalizer, header_charset=charset, now=job.now()
    )
    return found if found.kind != "none" else None


def _refresh_target(response: Response, job: Job) -> str | None:
    """Return where a Refresh header leads, if soon and to another page; it precedes a meta.

    Spec: HTML §4.2.5.3 (shared declarative refresh steps), which browsers apply to the header.
    """
    value = response.headers.get(b"Refresh")
    found = parse_refresh(location_text(value)) if value else None
    if found is None or found[0] > job.config.parsing.max_refresh:
        return None
    target = job.canonicalizer.resolve(response.url, found[1])
    return target if target != response.url else None


def _follow(visit: Visit, target: str | None, job: Job) -> None:
    if target is not None:
        job.follow_refresh(visit, target)
