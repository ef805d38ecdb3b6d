"""The line of a page in pages.jsonl; field by field in docs/output.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.clock import iso_utc

if TYPE_CHECKING:
    from crawler.model import Page


def page_record(page: Page) -> dict[str, Any]:
    """Return the fields of a page in the order of the documentation, ready for JSON."""
    record = {
        "url": page.url,
        "status": page.status,
        "fetched_at": iso_utc(page.fetched_at),
        "depth": page.depth,
        "referrer": page.referrer,
        "content_type": page.content_type,
        "charset": page.charset,
        "title": page.title,
        "lang": page.lang,
        "headings": page.headings,
        "text": page.text,
        "canonical": page.canonical,
        "robots": page.robots,
        "etag": page.etag,
        "last_modified": page.last_modified,
        "bytes": page.bytes,
        "content_hash": page.content_hash,
        "simhash": page.simhash,
        "outlinks": [link.url for link in page.links],
    }
    if page.truncated:
        record["truncated"] = True
    return record
