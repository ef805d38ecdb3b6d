"""Commands of this project beside Scrapy's own, and what those that look at one page share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from crawler.config import Config
from crawler.errors import ConfigError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_MIDDLEWARES = "scrapy.downloadermiddlewares"
_ONE_PAGE: dict[str, Any] = {
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "DOWNLOADER": "scrapy.core.downloader.Downloader",
    "DOWNLOAD_HANDLERS": {
        "http": "crawler.one_page.OnePageHandler",
        "https": "crawler.one_page.OnePageHandler",
    },
    "DOWNLOADER_MIDDLEWARES_BASE": {
        "crawler.one_page.NamingMiddleware": 50,
        f"{_MIDDLEWARES}.robotstxt.RobotsTxtMiddleware": 100,
        f"{_MIDDLEWARES}.downloadtimeout.DownloadTimeoutMiddleware": 350,
        f"{_MIDDLEWARES}.defaultheaders.DefaultHeadersMiddleware": 400,
        f"{_MIDDLEWARES}.useragent.UserAgentMiddleware": 500,
        f"{_MIDDLEWARES}.httpcompression.HttpCompressionMiddleware": 590,
        "crawler.one_page.RedirectMiddleware": 600,
    },
    "ROBOTSTXT_PARSER": "crawler.one_page.ToldRules",
    "SPIDER_MIDDLEWARES_BASE": {},
    "EXTENSIONS_BASE": {},
    # says why a download failed
    "LOG_FORMATTER": "crawler.extensions.log_format.PrintableLogFormatter",
}
_PRIORITY = 35  # above a project's settings (20) and a spider's (30), below -s NAME=value (40)


def prepare_one_page(settings: BaseSettings, *, items: bool = False) -> None:
    """Make ``shell``, ``fetch``, ``view`` and ``parse`` look at pages, beside any crawl.

    A person names each URL and waits for it, so Scrapy's own scheduler serves, which
    hands every answer back; with robots.txt, the delay and the address guard of a crawl. A
    job directory is never touched: its crawl would go on, and its URLs would end in the wrong
    callback.

    Args:
        settings: The command's, with the options of the command line.
        items: Whether items go through the pipelines; they need a spider from the start.

    Raises:
        UsageError: A setting is unusable.
    """
    try:
        config = Config.read(settings)
    except ConfigError as error:
        raise UsageError(str(error), print_help=False) from error
    ours: dict[str, Any] = {
        "ROBOTSTXT_OBEY": config.robots.enabled,
        "ROBOTSTXT_USER_AGENT": config.robots.token,
        "DOWNLOAD_DELAY": config.frontier.delay,
        "DOWNLOAD_DELAY_JITTER": 0,
    }
    if not items:
        ours["ITEM_PIPELINES"] = {}
    settings.setdict({**_ONE_PAGE, **ours}, priority=_PRIORITY)
    settings.set("JOBDIR", None, priority="cmdline")
