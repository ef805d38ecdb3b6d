"""Drops a page whose main text another page had first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem, NotConfigured

from crawler.job import Job
from crawler.model import Page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class ExactDuplicatesPipeline:
    """Gives the verdict on equal texts; white space does not count.

    Pages without any text are equal when their bodies are, byte by byte.
    """

    def __init__(self, job: Job) -> None:
        self._verdicts = job.verdicts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the pipeline, unless DEDUPE_EXACT_ENABLED is off."""
        job = Job.of(crawler)
        if not job.config.dedupe.exact:
            raise NotConfigured
        return cls(job)

    def process_item(self, item: Any) -> Any:
        """Note the page's content hash; drop the page when the content is known."""
        if not isinstance(item, Page):
            return item
        copy = self._verdicts.exact(item)
        if copy is not None:
            raise DropItem(f"same content as {copy.of}")
        return item
