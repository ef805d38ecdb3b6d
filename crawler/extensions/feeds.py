"""Scrapy's feeds (``-o``, ``-O``) with the fields of pages.jsonl instead of the item's own.

A convenience view: feeds are no part of the commit, see docs/output.md.
"""

from __future__ import annotations

from typing import Any

from scrapy.exporters import CsvItemExporter, JsonItemExporter, JsonLinesItemExporter

from crawler.model import Page
from crawler.store import page_record


def _fields(item: Any) -> Any:
    return page_record(item) if isinstance(item, Page) else item


class JsonLinesPages(JsonLinesItemExporter):
    """One JSON object a line."""

    def export_item(self, item: Any) -> None:
        """Write one item."""
        super().export_item(_fields(item))


class JsonPages(JsonItemExporter):
    """One JSON array."""

    def export_item(self, item: Any) -> None:
        """Write one item."""
        super().export_item(_fields(item))


class CsvPages(CsvItemExporter):
    """Comma-separated values; lists are joined by commas."""

    def export_item(self, item: Any) -> None:
        """Write one item."""
        super().export_item(_fields(item))
