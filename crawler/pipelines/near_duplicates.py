"""Drops a page whose main text is nearly that of another page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem, NotConfigured

from crawler.job import Job
from crawler.model import Duplicate, Outcome, Page
from crawler.urls import host_of, site_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class NearDuplicatesPipeline:
    """Gives the verdict on similar texts. Spec: Charikar 2002; Manku, Jain, Das Sarma 2007."""

    def __init__(self, job: Job) -> None:
        self._index = job.indexes.near
        self._fingerprinter = job.fingerprinter

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
        signature = self._fingerprinter.fingerprint(item.text)
        item.simhash = str(signature)
        if not item.main_text:  # a text with boilerplate is never compared with one without
            signature = replace(signature, algorithm=f"{signature.algorithm}+full")
        item.signature = signature
        match = self._index.lookup(signature, item.url, site_of(host_of(item.url)))
        if match is not None:
            item.duplicate = Duplicate(match.url, Outcome.DUPLICATE_NEAR, match.distance)
            raise DropItem(f"{match.distance} bits from {match.url}")
        return item
