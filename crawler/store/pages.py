"""What is known of every URL that was fetched: the rows of the catalog, and how one asks for them.

The values here are all that readers and writers share; :mod:`crawler.store.catalog` keeps them
in a database.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


@dataclass(frozen=True, slots=True)
class PageRow:
    """A fetched URL as its last visit left it; also what one visit writes.

    Attributes:
        url_hash: 16 bytes, the frontier's fingerprint: 8 of the host, 8 of the comparison key.
        url: Normalised, as it was sent.
        host: Pacing key: the host name, with a port that is not the default.
        domain: Registrable domain, or the host where there is none.
        outcome: A value of :class:`crawler.model.Outcome`.
        fetched_at: Crawl-clock seconds, kept to the millisecond.
        first_seen_at: Of the first visit; the catalog sets it, a writer leaves it None.
        next_visit_at: When the URL is due again; None for never.
        depth: Link distance from a seed.
        referrer: URL that led here first; for a redirect's target the URL that redirected.
        redirects: Hops of the redirect chain that ended here.
        redirect_to: Where this URL redirects, for outcome ``redirected``.
        status_code: HTTP status; None when there was no answer.
        cause: What went wrong, in words, where something did.
        content_type: Media type without parameters, lower case.
        charset: Encoding that was used.
        title: Of the page.
        language: Primary subtag.
        canonical_url: The page's own claim, normalised.
        robots: Directives, as in the output.
        etag: Header.
        last_modified: Header.
        body_bytes: Length of the body, content codings undone.
        content_hash: SHA-256 of that body, 32 bytes.
        text_hash: 16 bytes: the ``content_hash`` of the output.
        simhash: 64 bits, not negative.
        duplicate_of: URL of the page that this one repeats.
        duplicate_distance: Bits between the two fingerprints; 0 for equal texts.
        text_offset: Where the page's line begins in pages.jsonl; None when it has no line.
        text_length: Bytes of that line.
        warc_file: Segment of the archive; None when nothing was archived.
        warc_offset: Of the record's gzip member.
        warc_length: Of it.
    """

    url_hash: bytes
    url: str
    host: str
    domain: str
    outcome: str
    fetched_at: float
    first_seen_at: float | None = None
    next_visit_at: float | None = None
    depth: int = 0
    referrer: str | None = None
    redirects: int = 0
    redirect_to: str | None = None
    status_code: int | None = None
    cause: str | None = None
    content_type: str | None = None
    charset: str | None = None
    title: str | None = None
    language: str | None = None
    canonical_url: str | None = None
    robots: tuple[str, ...] = ()
    etag: str | None = None
    last_modified: str | None = None
    body_bytes: int = 0
    content_hash: bytes | None = None
    text_hash: bytes | None = None
    simhash: int | None = None
    duplicate_of: str | None = None
    duplicate_distance: int | None = None
    text_offset: int | None = None
    text_length: int | None = None
    warc_file: str | None = None
    warc_offset: int | None = None
    warc_length: int | None = None


class VisitRow(NamedTuple):
    """One visit of a URL; the history from which change rates are estimated."""

    url_hash: bytes
    visited_at: float
    status_code: int | None
    outcome: str
    changed: bool  # other content than at the visit before; True for the first
    content_hash: bytes | None
    warc_file: str | None
    warc_offset: int | None
    warc_length: int | None


class DomainRow(NamedTuple):
    """A registrable domain, how many of its URLs were fetched, and when last."""

    domain: str
    pages: int
    last_fetched_at: float


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which pages one asks for; None = any.

    Attributes:
        domain: Registrable domain, lower case.
        since: ``fetched_at`` at or after.
        until: ``fetched_at`` before.
        status: HTTP status.
        content_type: Media type.
        outcome: A value of :class:`crawler.model.Outcome`.
        limit: Rows of one answer, at least 1.
        cursor: Where the answer before ended (:attr:`Found.cursor`); None for the first.
        newest_first: Order by ``fetched_at`` downwards instead of upwards.
    """

    domain: str | None = None
    since: float | None = None
    until: float | None = None
    status: int | None = None
    content_type: str | None = None
    outcome: str | None = None
    limit: int = 100
    cursor: str | None = None
    newest_first: bool = False


class Found(NamedTuple):
    """One answer to a query, and where the next one begins."""

    rows: Sequence[PageRow]
    cursor: str | None  # None: there is nothing more


class PageReader(Protocol):
    """What readers ask of a catalog. Every answer costs the same however deep its cursor is."""

    def page(self, url_hash: bytes) -> PageRow | None:
        """Return the page with a hash, None if it was never fetched."""
        ...

    def pages_of(self, url_hashes: Collection[bytes]) -> dict[bytes, PageRow]:
        """Return the pages with some hashes, by hash; those never fetched are left out."""
        ...

    def pages(self, query: PageQuery) -> Found:
        """Return the pages of a query in order of ``fetched_at``, then ``url_hash``.

        Raises:
            ValueError: The cursor is none that :class:`Found` has given.
        """
        ...

    def history(
        self, url_hash: bytes, *, limit: int = 100, before: float | None = None
    ) -> list[VisitRow]:
        """Return the visits of a page, newest first, those before a time."""
        ...

    def domains(self, *, limit: int = 100, after: str = "") -> list[DomainRow]:
        """Return domains in the order of their names, those after a name."""
        ...


class PageWriter(Protocol):
    """What a crawl asks of a catalog."""

    def write(self, rows: Sequence[PageRow]) -> None:
        """Keep the last visits of URLs and add to their histories, all of them or none.

        Writing a row again changes nothing. A later visit of a URL replaces what was known
        of it, except ``first_seen_at``.

        Raises:
            StoreError: The database is out of reach or full; the same rows may be written again.
        """
        ...

    def close(self) -> None:
        """Let the database go; idempotent."""
        ...


def all_pages(reader: PageReader, query: PageQuery) -> Iterator[PageRow]:
    """Yield every page of a query, from its cursor on, in its order.

    ``limit`` bounds the pages that are held at a time. A page that is visited again
    meanwhile moves to its new time, so it may come twice, or not at all when the newest
    come first; all others come once.
    """
    while True:
        found = reader.pages(query)
        yield from found.rows
        if found.cursor is None:
            return
        query = replace(query, cursor=found.cursor)
