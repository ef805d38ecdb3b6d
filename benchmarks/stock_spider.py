"""Stock Scrapy as one would write it for the cases: a CrawlSpider with its link extractor."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import CachingThreadedResolver
from scrapy.spiders import CrawlSpider, Rule
from twisted.internet import defer


class FixedNames(CachingThreadedResolver):
    """Scrapy's resolver, with the names of the local web instead of DNS."""

    hosts: dict[str, str]

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> Any:
        """Take the names from the setting CASES_HOSTS."""
        resolver = super().from_crawler(crawler, reactor)
        resolver.hosts = json.loads(crawler.settings["CASES_HOSTS"])
        return resolver

    def getHostByName(self, name: str, timeout: Any = ()) -> Any:  # noqa: N802 -- Twisted's
        """Answer from the fixed names; ask DNS for nothing that ends in .test."""
        if name in self.hosts:
            return defer.succeed(self.hosts[name])
        if name.endswith(".test"):
            return defer.fail(OSError(f"no such name: {name}"))
        return super().getHostByName(name, timeout)


class StockSpider(CrawlSpider):
    """Follows every link and yields what Scrapy's own parts tell of a page."""

    name = "stock"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def __init__(self, seeds: str = "", scope: str = "any", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with open(seeds) as lines:  # noqa: PTH123 -- as a user's spider would
            self.start_urls = lines.read().split()
        if scope == "host":
            self.allowed_domains = list({urlsplit(url).hostname or "" for url in self.start_urls})

    def parse_start_url(self, response: Any, **_: Any) -> Any:
        """Seeds are pages, too."""
        return self.parse_page(response)

    def parse_page(self, response: Any, **_: Any) -> Iterator[Any]:
        """Yield the page."""
        yield {
            "url": response.url,
            "title": response.css("title::text").get(),
            "text": " ".join("".join(response.css("body ::text").getall()).split()),
            "charset": response.encoding,
            "outlinks": [link.url for link in LinkExtractor().extract_links(response)],
        }
