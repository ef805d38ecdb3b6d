"""No log line per page: the report counts them, and each would cost CPU."""

from __future__ import annotations

from typing import Any

from scrapy.logformatter import LogFormatter


class QuietLogFormatter(LogFormatter):
    """Scrapy's formatter without the lines for crawled, scraped and dropped."""

    def crawled(self, request: Any, response: Any, spider: Any) -> None:  # type: ignore[override]
        """Say nothing."""

    def scraped(self, item: Any, response: Any, spider: Any) -> None:  # type: ignore[override]
        """Say nothing."""

    def dropped(self, item: Any, exception: Any, response: Any, spider: Any) -> None:  # type: ignore[override]
        """Say nothing: duplicates are counted as outcomes."""
