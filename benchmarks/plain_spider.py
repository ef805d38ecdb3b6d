"""The yardstick: what one writes with stock Scrapy in ten minutes. Run with its defaults."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.linkextractors import LinkExtractor


class PlainSpider(scrapy.Spider):
    """Follows every link and yields url and title."""

    name = "plain"

    def __init__(self, seeds: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = seeds.split(",")
        self.allowed_domains = list({urlsplit(url).hostname or "" for url in self.start_urls})
        self.links = LinkExtractor()

    def parse(self, response: Any, **_: Any) -> Iterator[Any]:
        """Yield the page and its links."""
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
