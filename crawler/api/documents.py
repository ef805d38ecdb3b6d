"""What the endpoints answer: rows as JSON, and the models that describe them.

Rows become dictionaries and bytes without passing through the models, which would cost more
than all else; the tests hold the two together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from crawler.clock import iso_utc
from crawler.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.store.pages import DomainRow, PageRow, VisitRow


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PageEntry(_Document):
    """A fetched URL as its last visit left it."""

    url_hash: str = Field(description="Identity of the URL, 32 hexadecimal digits.")
    url: str = Field(description="In its normal form, as it was sent.")
    host: str = Field(description="Host name, with a port that is not the default.")
    domain: str = Field(description="Registrable domain, or the host where there is none.")
    outcome: Outcome = Field(description="How the URL ended.")
    fetched_at: str = Field(description="Last visit: ISO 8601, UTC, milliseconds.")
    first_seen_at: str | None = Field(description="First visit.")
    next_visit_at: str | None = Field(description="When it is due again; null for never.")
    depth: int = Field(description="Links from a seed.")
    referrer: str | None = Field(description="URL that led here first; null for a seed.")
    redirects: int = Field(description="Hops of the redirect chain that ended here.")
    redirect_to: str | None = Field(description="Where it redirects, for outcome `redirected`.")
    status_code: int | None = Field(description="HTTP status; null without an answer.")
    cause: str | None = Field(description="What went wrong, in words.")
    content_type: str | None = Field(description="Media type, lower case.")
    charset: str | None = Field(description="Encoding that was used.")
    title: str | None = Field(description="Of the page.")
    language: str | None = Field(description="Primary subtag.")
    canonical_url: str | None = Field(description="The page's own claim.")
    robots: list[str] = Field(description="Directives of the page.")
    etag: str | None = Field(description="ETag header.")
    last_modified: str | None = Field(description="Last-Modified header.")
    bytes: int = Field(description="Length of the body, content codings undone.")
    content_hash: str | None = Field(description="SHA-256 of that body, 64 hexadecimal digits.")
    text_hash: str | None = Field(description="Identity of the text, 32 hexadecimal digits.")
    simhash: str | None = Field(description="Fingerprint of the text, 16 hexadecimal digits.")
    duplicate_of: str | None = Field(description="URL of the page that this one repeats.")
    duplicate_distance: int | None = Field(description="Bits between their fingerprints.")
    text_offset: int | None = Field(description="Where its line of pages.jsonl begins, bytes.")
    text_length: int | None = Field(description="Length of that line, bytes.")
    warc_file: str | None = Field(description="Segment of the archive; null: not archived.")
    warc_offset: int | None = Field(description="Of the record's gzip member, bytes.")
    warc_length: int | None = Field(description="Of the record's gzip member, bytes.")


class Hop(_Document):
    """A URL of a redirect chain."""

    url: str = Field(description="The URL that redirected.")
    url_hash: str | None = Field(description="Its identity.")
    status_code: int | None = Field(description="Its status; null when it is not in the catalog.")


class PageDocument(PageEntry):
    """A page with what leads to it and what its line in pages.jsonl has."""

    redirect_chain: list[Hop] = Field(description="URLs that redirected here, the first one first.")
    headings: list[str] | None = Field(description="h1 to h3 in order; null: there is no line.")
    outlinks: list[str] | None = Field(description="The page's links; null: there is no line.")
    truncated: bool | None = Field(description="Some of it is missing; null: there is no line.")


class PageList(_Document):
    """One answer to a query."""

    pages: list[PageEntry]
    cursor: str | None = Field(description="For the next answer; null: there is nothing more.")


class Visit(_Document):
    """One visit of a URL."""

    visited_at: str = Field(description="ISO 8601, UTC, milliseconds.")
    status_code: int | None = Field(description="HTTP status; null without an answer.")
    outcome: Outcome = Field(description="How it ended.")
    changed: bool = Field(description="Other content than before; true for the first visit.")
    content_hash: str | None = Field(description="SHA-256 of the body, 64 hexadecimal digits.")
    warc_file: str | None = Field(description="Segment of the archive.")
    warc_offset: int | None = Field(description="Of the record's gzip member, bytes.")
    warc_length: int | None = Field(description="Of the record's gzip member, bytes.")


class History(_Document):
    """Visits of a URL, newest first."""

    url_hash: str
    visits: list[Visit]
    before: str | None = Field(description="For the next answer; null: there is nothing more.")


class Domain(_Document):
    """A registrable domain."""

    domain: str
    pages: int = Field(description="How many of its URLs were fetched.")
    last_fetched_at: str = Field(description="ISO 8601, UTC, milliseconds.")


class DomainList(_Document):
    """Domains in the order of their names."""

    domains: list[Domain]
    after: str | None = Field(description="For the next answer; null: there is nothing more.")


class Health(_Document):
    """The catalog can be read."""

    status: Literal["ok"]


def page_entry(row: PageRow) -> dict[str, Any]:
    """Return the fields of a row in the order of :class:`PageEntry`, ready for JSON."""
    return {
        "url_hash": row.url_hash.hex(),
        "url": row.url,
        "host": row.host,
        "domain": row.domain,
        "outcome": row.outcome,
        "fetched_at": iso_utc(row.fetched_at),
        "first_seen_at": _time(row.first_seen_at),
        "next_visit_at": _time(row.next_visit_at),
        "depth": row.depth,
        "referrer": row.referrer,
        "redirects": row.redirects,
        "redirect_to": row.redirect_to,
        "status_code": row.status_code,
        "cause": row.cause,
        "content_type": row.content_type,
        "charset": row.charset,
        "title": row.title,
        "language": row.language,
        "canonical_url": row.canonical_url,
        "robots": row.robots,
        "etag": row.etag,
        "last_modified": row.last_modified,
        "bytes": row.body_bytes,
        "content_hash": _hex(row.content_hash),
        "text_hash": _hex(row.text_hash),
        "simhash": None if row.simhash is None else f"{row.simhash:016x}",
        "duplicate_of": row.duplicate_of,
        "duplicate_distance": row.duplicate_distance,
        "text_offset": row.text_offset,
        "text_length": row.text_length,
        "warc_file": row.warc_file,
        "warc_offset": row.warc_offset,
        "warc_length": row.warc_length,
    }


def page_list(rows: Sequence[PageRow], cursor: str | None) -> dict[str, Any]:
    """Return the fields of a :class:`PageList`."""
    return {"pages": [page_entry(row) for row in rows], "cursor": cursor}


def history(url_hash: str, rows: Sequence[VisitRow], limit: int) -> dict[str, Any]:
    """Return the fields of a :class:`History`; ``rows`` has one more where there are more."""
    visits = [
        {
            "visited_at": iso_utc(row.visited_at),
            "status_code": row.status_code,
            "outcome": row.outcome,
            "changed": row.changed,
            "content_hash": _hex(row.content_hash),
            "warc_file": row.warc_file,
            "warc_offset": row.warc_offset,
            "warc_length": row.warc_length,
        }
        for row in rows[:limit]
    ]
    before = visits[-1]["visited_at"] if len(rows) > limit else None
    return {"url_hash": url_hash, "visits": visits, "before": before}


def domain_list(rows: Sequence[DomainRow], limit: int) -> dict[str, Any]:
    """Return the fields of a :class:`DomainList`; ``rows`` has one more where there are more."""
    domains = [
        {
            "domain": row.domain,
            "pages": row.pages,
            "last_fetched_at": iso_utc(row.last_fetched_at),
        }
        for row in rows[:limit]
    ]
    return {
        "domains": domains,
        "after": rows[limit - 1].domain if len(rows) > limit else None,
    }


def _time(at: float | None) -> str | None:
    return None if at is None else iso_utc(at)


def _hex(digest: bytes | None) -> str | None:
    return None if digest is None else digest.hex()
