"""What is logged, and how: no line per page, and no line that a page has forged.

The report counts pages; a line for each would cost CPU. What strangers wrote is made printable at
one place, in the record itself, whoever logs it (Scrapy, Twisted, a pipeline) and wherever it goes.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter, LogFormatterResult

from crawler.printable import printable_lines

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

_LAYOUT = logging.Formatter()


class PrintableRecord(logging.LogRecord):
    """A record whose message and traceback are print, one line and what visibly belongs to it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.exc_info and self.exc_info[0] is not None:  # kept here, formatters make no other
            text = _LAYOUT.formatException(self.exc_info)
            self.exc_text = printable_lines(f"\n{text}").removeprefix("\n")

    def getMessage(self) -> str:  # noqa: N802 -- the logging package's
        """Return the message with its arguments, printable."""
        return printable_lines(super().getMessage())


def guard_logs() -> None:
    """Make every record of this process printable, unless somebody makes records of their own."""
    if logging.getLogRecordFactory() is logging.LogRecord:
        logging.setLogRecordFactory(PrintableRecord)


class PrintableLogFormatter(LogFormatter):
    """Scrapy's formatter; that it is made is the sign that a crawl begins to log."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the formatter of a crawl."""
        guard_logs()
        return cls()


class QuietLogFormatter(PrintableLogFormatter):
    """Scrapy's formatter without the lines for crawled, scraped, dropped and failed."""

    def crawled(self, request: Any, response: Any, spider: Any) -> None:  # type: ignore[override]
        """Say nothing."""

    def scraped(self, item: Any, response: Any, spider: Any) -> None:  # type: ignore[override]
        """Say nothing."""

    def dropped(self, item: Any, exception: Any, response: Any, spider: Any) -> None:  # type: ignore[override]
        """Say nothing: duplicates are counted as outcomes."""

    def download_error(
        self, failure: Any, request: Any, spider: Any, errmsg: str | None = None
    ) -> LogFormatterResult:
        """Keep a failed download and its traceback for LOG_LEVEL=DEBUG: it is an outcome."""
        line = super().download_error(failure, request, spider, errmsg)
        return {**line, "level": logging.DEBUG}
