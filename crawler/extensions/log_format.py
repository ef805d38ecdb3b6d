"""No log line per page: the report counts them, and each would cost CPU."""

from __future__ import annotations

import logging
from typing import Any

from scrapy.logformatter import LogFormatter, LogFormatterResult


class QuietLogFormatter(LogFormatter):
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
