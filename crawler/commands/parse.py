"""``scrapy parse``: what the spider makes of one page; ``web`` unless another one fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.commands import parse

from crawler.commands import prepare_one_page
from crawler.model import Page
from crawler.spiders.web import WebSpider
from crawler.store import page_record

if TYPE_CHECKING:
    import argparse


class Command(parse.Command):
    """Scrapy's command, beside any crawl; see :func:`crawler.commands.prepare_one_page`."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options, then leave the frontier out."""
        super().process_options(args, opts)
        assert self.settings is not None  # Scrapy sets it first
        prepare_one_page(self.settings, items=True)

    def set_spidercls(self, url: str, opts: argparse.Namespace) -> None:
        """Choose the spider; what ``web`` needs for a start is the URL itself."""
        assert self.crawler_process is not None  # Scrapy sets it before run
        fitting = self.crawler_process.spider_loader.find_by_request(Request(url))
        opts.spider = opts.spider or ("" if fitting else WebSpider.name)
        super().set_spidercls(url, opts)
        if self.spidercls is not None and issubclass(self.spidercls, WebSpider):
            self.spidercls.default_directory = None
            opts.spargs.setdefault("seeds", url)

    def print_items(self, lvl: int | None = None, colour: bool = True) -> None:
        """Print pages as the lines of the output have them."""
        for level, items in self.items.items():
            self.items[level] = [page_record(i) if isinstance(i, Page) else i for i in items]
        super().print_items(lvl, colour)
