"""Progress while the crawl runs, a summary at its end, and the counts as Scrapy stats."""

from __future__ import annotations

import logging
import re
import sys
from collections import deque
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.log import get_scrapy_root_handler

from crawler.borrowed import unused
from crawler.extensions.endings import TROUBLES
from crawler.extensions.summary import progress_line, summary
from crawler.job import Job
from crawler.printable import printable
from crawler.urls import address_allowed, host_of, is_ip_literal

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_LIVE_INTERVAL = 0.5  # seconds, on a terminal
_CONTACT = re.compile(r"\+?https?://|[\w.+-]+@[\w-]+\.")
_CLEAR_LINE = "\r\033[K"
_LOCAL_NAMES = (".test", ".localhost", ".local", ".internal", ".example", ".invalid")


class Report:
    """Tells the operator how the crawl goes: live on a terminal, else one log line a minute."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._live = sys.stderr.isatty()
        self._interval = (
            _LIVE_INTERVAL if self._live else crawler.settings.getfloat("LOGSTATS_INTERVAL", 60.0)
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the report of a crawl and listen to its begin and end."""
        report = cls(crawler)
        crawler.signals.connect(report.opened, signals.spider_opened)
        crawler.signals.connect(report.closed, signals.spider_closed)
        return report

    def opened(self, spider: Spider) -> None:
        """Begin to report."""
        self._job = Job.of(self._crawler)
        self._started_at = self._job.now()
        self._samples = deque([(self._started_at, self._job.frontier.counts.stored)], maxlen=11)
        for sentence in unused(self._crawler.settings):
            logger.warning("%s", sentence)
        self._warn_without_contact(spider)
        if self._job.resumed:
            counts = self._job.frontier.counts
            logger.info(
                "Going on with the crawl in %s: %d pages stored, %d URLs queued. For a new crawl, "
                "choose another directory with -s JOBDIR=PATH",
                self._job.directory,
                counts.stored,
                counts.queued + counts.waiting,
            )
        self._ticker = create_looping_call(self._tick)
        if self._interval > 0:
            self._ticker.start(self._interval, now=False)
        if self._live:
            for handler in logging.root.handlers:
                handler.addFilter(_clear_before_log)

    def closed(self, spider: Spider, reason: str) -> None:
        """Publish the final counts and print the summary."""
        if self._ticker.running:
            self._ticker.stop()
        self._publish()
        if self._live:
            sys.stderr.write(_CLEAR_LINE)
        elapsed = self._job.now() - self._started_at
        text = summary(
            self._job,
            reason=reason,
            elapsed=elapsed,
            seed=next(iter(getattr(spider, "seed_urls", ())), ""),
            troubles={name: self._crawler.stats.get_value(f"fetch/{name}", 0) for name in TROUBLES},
        )
        self._say(text)

    def _say(self, text: str) -> None:
        """Print the summary, or log it where nobody sees what is printed (scrapyd)."""
        handler = get_scrapy_root_handler()
        logged = isinstance(handler, logging.FileHandler) and handler.level <= logging.INFO
        if logged:
            logger.info("Summary:\n%s", text)
        if self._live or not logged:
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    def _tick(self) -> None:
        now, stored = self._job.now(), self._job.frontier.counts.stored
        then, before = self._samples[0]  # a rate over the last ten ticks
        self._samples.append((now, stored))
        rate = (stored - before) / max(now - then, 1e-6)
        self._publish()
        line = printable(progress_line(self._job, rate=rate, elapsed=now - self._started_at))
        if self._live:
            sys.stderr.write(_CLEAR_LINE + line)
            sys.stderr.flush()
        else:
            logger.info("%s", line)

    def _publish(self) -> None:
        """Copy the counts to the stats, under the names of their enums."""
        counts, stats = self._job.frontier.counts, self._crawler.stats
        for name in ("discovered", "queued", "leased", "waiting", "fetches", "hosts"):
            stats.set_value(f"frontier/{name}", getattr(counts, name))
        for name, value in self._job.frontier.seen_stats().items():
            stats.set_value(f"frontier/{name}", value)
        for outcome, count in counts.done.items():
            stats.set_value(f"outcome/{outcome.value}", count)
        for why, count in counts.rejected.items():
            stats.set_value(f"rejected/{why.value}", count)
        for status, count in self._job.robots_answers.items():
            stats.set_value(f"robots/{status}", count)

    def _warn_without_contact(self, spider: Spider) -> None:
        """Remind of RFC 9309's and every operator's wish: say who you are."""
        agent = str(self._crawler.settings.get("USER_AGENT"))
        public = [url for url in getattr(spider, "seed_urls", ()) if _is_public(host_of(url))]
        if public and not _CONTACT.search(agent):
            logger.warning(
                "USER_AGENT %r names no contact, and %s is a public host. Say who crawls, so that "
                "its operator can reach you: -s USER_AGENT='yourbot/1.0 (+https://you.example/bot)'",
                agent,
                host_of(public[0]),
            )


def _is_public(host: str) -> bool:
    if is_ip_literal(host):
        return address_allowed(host)
    return "." in host and not host.endswith(_LOCAL_NAMES)


def _clear_before_log(_: logging.LogRecord) -> bool:
    sys.stderr.write(_CLEAR_LINE)
    return True
