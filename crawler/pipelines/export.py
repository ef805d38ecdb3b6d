"""Writes each unique page as one line and makes it the first of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.job import Job
from crawler.model import Page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class ExportPipeline:
    """Stores what the duplicate stages let through; durable with the next group commit."""

    def __init__(self, job: Job) -> None:
        self._job = job

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the pipeline of a crawl."""
        return cls(Job.of(crawler))

    def process_item(self, item: Any) -> Any:
        """Write the page's line."""
        if isinstance(item, Page):
            self._job.store(item)
        return item
