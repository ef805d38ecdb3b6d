"""One record for each fetched URL: the fields of its line, and what the catalog knows beside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from crawler.clock import iso_utc

if TYPE_CHECKING:
    from crawler.store import PageRow

Record = dict[str, Any]


class Column(NamedTuple):
    """A field of the records: its name, and what its values are."""

    name: str
    kind: str  # "text", "integer", "boolean", "time" (ISO 8601, UTC) or "list" (of texts)


COLUMNS = tuple(
    Column(name, kind)
    for kind, names in (
        ("text", "url"),
        ("integer", "status"),
        ("time", "fetched_at"),
        ("integer", "depth"),
        ("text", "referrer content_type charset title lang"),
        ("list", "headings"),
        ("text", "text canonical"),
        ("list", "robots"),
        ("text", "etag last_modified"),
        ("integer", "bytes"),
        ("text", "content_hash simhash"),
        ("list", "outlinks"),
        ("boolean", "truncated"),
        ("text", "outcome host domain url_hash"),
        ("time", "first_seen_at next_visit_at"),
        ("integer", "redirects"),
        ("text", "redirect_to cause body_sha256 duplicate_of"),
        ("integer", "duplicate_distance text_offset text_length"),
        ("text", "warc_file"),
        ("integer", "warc_offset warc_length"),
    )
    for name in names.split()
)
"""All fields in their order; docs/pages.md describes each."""


def joined(row: PageRow, line: bytes | None) -> Record:
    """Return the record of a page; None stands for what is not known.

    Args:
        row: Of the catalog.
        line: Of pages.jsonl, where the page has one. What both have is as the line has it.
    """
    record: Record = dict.fromkeys(column.name for column in COLUMNS)
    record.update(of_row(row))
    if line is not None:
        record["truncated"] = False
        fields = orjson.loads(line)
        record.update({name: fields[name] for name in record.keys() & fields.keys()})
    return record


def of_row(row: PageRow) -> Record:
    """Return what the catalog alone knows of a page: the fields that need no line."""
    return {
        "url": row.url,
        "status": row.status_code,
        "fetched_at": iso_utc(row.fetched_at),
        "depth": row.depth,
        "referrer": row.referrer,
        "content_type": row.content_type,
        "charset": row.charset,
        "title": row.title,
        "lang": row.language,
        "canonical": row.canonical_url,
        "robots": list(row.robots),
        "etag": row.etag,
        "last_modified": row.last_modified,
        "bytes": row.body_bytes,
        "content_hash": _hex(row.text_hash),
        "outcome": row.outcome,
        "host": row.host,
        "domain": row.domain,
        "url_hash": row.url_hash.hex(),
        "first_seen_at": _iso(row.first_seen_at),
        "next_visit_at": _iso(row.next_visit_at),
        "redirects": row.redirects,
        "redirect_to": row.redirect_to,
        "cause": row.cause,
        "body_sha256": _hex(row.content_hash),
        "duplicate_of": row.duplicate_of,
        "duplicate_distance": row.duplicate_distance,
        "text_offset": row.text_offset,
        "text_length": row.text_length,
        "warc_file": row.warc_file,
        "warc_offset": row.warc_offset,
        "warc_length": row.warc_length,
    }


def _iso(at: float | None) -> str | None:
    return None if at is None else iso_utc(at)


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()
