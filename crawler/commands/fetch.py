"""``scrapy fetch``: one page, without a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands import fetch

from crawler.commands import prepare_one_page

if TYPE_CHECKING:
    import argparse


class Command(fetch.Command):
    """Scrapy's command, beside any crawl; see :func:`crawler.commands.prepare_one_page`."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options, then leave the frontier out."""
        super().process_options(args, opts)
        assert self.settings is not None  # Scrapy sets it first
        prepare_one_page(self.settings)
