"""The generic spider ``web``: answers become pages; which ones come is the frontier's choice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import scrapy

from crawler.answers import Answers
from crawler.arguments import WebArguments
from crawler.config import Config, add_pipelines
from crawler.consequences import location_text
from crawler.directory import DEFAULT
from crawler.discovery import hop_of, listed_by
from crawler.job import Job
from crawler.model import Outcome
from crawler.parsing import Feed, parse_refresh, read
from crawler.received import USABLE, page_of
from crawler.visits import working_on
from crawler.workers import KILLED

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.model import Page
    from crawler.parsing import Chosen, Document, ParsedPage
    from crawler.received import Received
    from crawler.urls import Scope
    from crawler.visits import Visit


class WebSpider(scrapy.Spider):
    """Crawls from seeds: ``scrapy crawl web -a seeds=https://example.com/``.

    The arguments are described in :mod:`crawler.arguments`.
    """

    name = "web"
    default_directory: str | None = DEFAULT  # None: nothing is kept
    seed_urls: Sequence[str] = ()
    sitemaps: Sequence[str] = ()
    scope: Scope | None = None
    allow: Sequence[str] = ()
    deny: Sequence[str] = ()
    only_pages = True  # links to files of other kinds need not be followed
    _answers: Answers | None = None
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
        spider.seed_urls, spider.sitemaps = arguments.starts, arguments.sitemaps
        spider.scope = arguments.scope
        spider.allow, spider.deny = arguments.allow, arguments.deny
        add_pipelines(crawler.settings, Config.read(crawler.settings).types)
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

    def parse(self, response: Response, **_: Any) -> Iterable[Page] | AsyncIterator[Page]:
        """Return the page of a usable answer; anything else ends in an outcome."""
        job = Job.of(self.crawler)
        visit = job.visits.of(response.request)
        if visit is not None and visit.outcome is not None:
            return ()  # the status said enough, or nothing came of the body
        if response.status not in USABLE:
            _end(visit, Outcome.REFUSED)  # a 3xx that leads nowhere
            return ()
        answers = self._answers_of(job)
        received = answers.received(response, visit)
        chosen = answers.choose(received)
        if chosen is None:
            _end(visit, Outcome.SKIPPED_TYPE)
            self._follow(response, visit, None)
            return ()
        if chosen[0].kind.isolated:
            return self._parse_apart(response, visit, received, chosen)
        with working_on(visit):
            found = read(chosen[0].kind, chosen[1])
            return self._results(response, visit, received, chosen[0].media, found)

    def closed(self, reason: str) -> None:
        """End what was started to parse answers."""
        if self._answers is not None:
            self._answers.close()

    async def _parse_apart(
        self,
        response: Response,
        visit: Visit | None,
        received: Received,
        chosen: tuple[Chosen, Document],
    ) -> AsyncIterator[Page]:
        found = await self._answers_of(Job.of(self.crawler)).read_apart(*chosen)
        for page in self._results(response, visit, received, chosen[0].media, found):
            yield page

    def _results(
        self,
        response: Response,
        visit: Visit | None,
        received: Received,
        media: str,
        found: ParsedPage | Feed,
    ) -> Sequence[Page]:
        """Return the page that was read, and note with the visit all else that follows."""
        self._count(response, found)
        if isinstance(found, Feed):
            is_list = found.kind != "none"
            _end(visit, Outcome.LISTED if is_list else Outcome.SKIPPED_TYPE)
            entry = visit.lease.entry if visit is not None else None
            if is_list and visit is not None and entry is not None:
                visit.found += listed_by(entry, found)
            self._follow(response, visit, None)
            return ()
        page = page_of(received, media, found)
        if page is None:
            _end(visit, Outcome.FAILED_CONTENT)  # it is not what it is said to be
            return ()
        if visit is not None:
            visit.page = page
        self._follow(response, visit, found.refresh)
        return (page,)

    def _answers_of(self, job: Job) -> Answers:
        if self._answers is None:
            self._answers = Answers(job, self.sitemaps)
        return self._answers

    def _count(self, response: Response, found: ParsedPage | Feed) -> None:
        """Count what could not be read, or not to its end."""
        stats, is_list = self.crawler.stats, isinstance(found, Feed)
        if found.truncated:
            stats.inc_value("parsing/truncated")
        if isinstance(found, Feed) and found.skipped:
            stats.inc_value("parsing/listing_skipped", found.skipped)
        if found.error is None:
            return
        stats.inc_value("parsing/listing_damaged" if is_list else "parsing/failed")
        if found.error.startswith(KILLED):
            stats.inc_value("parsing/killed")
        self.logger.warning("%s could not be parsed: %s", response.url, found.error)

    def _follow(self, response: Response, visit: Visit | None, refresh: str | None) -> None:
        """Note where an answer sends its readers: by its header, or else by its page."""
        job = Job.of(self.crawler)
        target = _refresh_target(response, job) or refresh
        if visit is not None and visit.lease.entry is not None and target is not None:
            visit.found.append(hop_of(visit.lease.entry, target))


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


def _end(visit: Visit | None, outcome: Outcome) -> None:
    if visit is not None:
        visit.outcome = outcome
