"""``scrapy view``: one page in a browser, without a crawl."""

from scrapy.commands import view

from crawler.commands import fetch


class Command(fetch.Command, view.Command):
    """Scrapy's command, beside any crawl."""
