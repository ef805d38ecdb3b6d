"""Parts of the Scrapy shell without an engine: a crawler, its job, and visits by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from crawler.model import Allow, Discovery, Gate, Origin
from crawler.visits import TOKEN

if TYPE_CHECKING:
    from crawler.job import Job
    from crawler.visits import Visit


def project_settings(**changes: Any) -> Settings:
    """Return this project's settings with some changed as on the command line."""
    settings = Settings()
    settings.setmodule("crawler.settings", priority="project")
    settings.setdict(changes, priority="cmdline")
    return settings


def make_crawler(**changes: Any) -> Crawler:
    """Return a crawler of a plain spider that was never started; its job is in memory."""
    allowed = {"SAFETY_ALLOWED_NETWORKS": ["127.0.0.0/8"]}
    crawler = Crawler(Spider, project_settings(**{**allowed, **changes}))
    crawler.stats = MemoryStatsCollector(crawler)
    crawler.spider = Spider.from_crawler(crawler, name="plain")
    return crawler


def begin(job: Job, url: str) -> tuple[Visit, Request]:
    """Lease a new URL as the scheduler does; return its visit and its request."""
    job.frontier.add(Discovery([url]), job.now())
    return _hand_out(job, url)


def begin_rules(job: Job, origin: str) -> tuple[Visit, Request]:
    """Do the same for the robots.txt of an origin."""
    url = f"{origin}/robots.txt"
    job.frontier.fetch_rules(Origin(origin), url, job.now())
    return _hand_out(job, url)


def _hand_out(job: Job, url: str) -> tuple[Visit, Request]:
    lease = job.frontier.next(job.now(), _allow)
    assert lease is not None, "the host rests: use another one"
    assert lease.url == url
    return job.visits.begin(lease), Request(url, meta={TOKEN: lease.number})


def _allow(_url: str, _origin: Origin) -> Gate:
    return Allow()
