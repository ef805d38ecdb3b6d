"""Drops a page whose main text is nearly that of another page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem, NotConfigured

from crawler.job import Job
from crawler.model import Page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class NearDuplicatesPipeline:
    """Gives the verdict on similar texts. Spec: Charikar 2002; Manku, Jain, Das Sarma 2007."""

    def __init__(self, job: Job) -> None:
        self._verdicts = job.verdicts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the pipeline, unless DEDUPE_NEAR_ENABLED is off."""
        job = Job.of(crawler)
        if not job.config.dedupe.near:
            raise NotConfigured
        return cls(job)

    def process_item(self, item: Any) -> Any:
        """Note the page's simhash; drop the page when a similar one of its kind is known."""
        if not isinstance(item, Page):
            return item
        copy = self._verdicts.near(item)
        if copy is not None:
            raise DropItem(f"{copy.distance} bits from {copy.of}")
        return item
