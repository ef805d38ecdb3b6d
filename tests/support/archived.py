"""A job directory as a crawl leaves it, made by the parts that make it there, for readers.

Site and pages are invented; times are counted from :data:`START`.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field, replace
from hashlib import blake2b, sha256
from random import Random
from typing import TYPE_CHECKING, Any, Self

from crawler.model import Link, Outcome, Page
from crawler.store import Exchange, JsonLines, Revisited, WarcWriter, page_record
from crawler.store.catalog import Catalog
from crawler.store.pages import PageRow
from crawler.urls import Canonicalizer, fingerprint, host_key, site_of

if TYPE_CHECKING:
    from pathlib import Path

START = 1_796_119_200.0  # 2026-12-01T10:00:00Z
SEED = "https://example.com/"
_CANONICALIZER = Canonicalizer()


def hash_of(url: str) -> bytes:
    """Return the identity of a normalised URL."""
    return fingerprint(host_key(url), _CANONICALIZER.key(url))


def html(title: str, words: str) -> bytes:
    """Return a small page."""
    return (
        f"<!DOCTYPE html><title>{title}</title><h1>{title}</h1><p>{words}</p>"
        '<script>document.title = "run"</script>'
    ).encode()


@dataclass(slots=True)
class Archived:
    """Writes visits to all three stores; a context manager.

    Attributes:
        directory: The job directory, which exists.
        rows: What was written to the catalog, by URL.
    """

    directory: Path
    rows: dict[str, PageRow] = field(default_factory=dict)
    _visits: int = 0
    _pages: JsonLines = field(init=False)
    _warc: WarcWriter = field(init=False)
    _catalog: Catalog = field(init=False)

    def __post_init__(self) -> None:
        archive = self.directory / "warc"
        archive.mkdir(parents=True, exist_ok=True)
        self._pages = JsonLines(self.directory / "pages.jsonl", committed=0)
        self._warc = WarcWriter(archive, "web", committed={}, limit=1 << 30, random=Random(7))
        self._catalog = Catalog.open(str(self.directory / "catalog.sqlite"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pages.close()
        self._warc.close()
        self._catalog.close()

    def page(
        self,
        url: str,
        body: bytes,
        *,
        text: str = "",
        headers: tuple[tuple[bytes, bytes], ...] = (),
        packed: bool = False,
        coded: bool = False,
        revisit_of: Revisited | None = None,
        archived: bool = True,
        outcome: Outcome = Outcome.STORED,
        **fields: Any,
    ) -> PageRow:
        """Write one visit: record, line (if stored), row; they are durable on return.

        Args:
            url: Normalised.
            body: Content codings undone.
            text: Main text.
            headers: Of the answer, beside Content-Type.
            packed: Whether the body comes, and is archived, as gzip.
            coded: Whether ``body`` itself still has the codings that ``headers`` names.
            revisit_of: The earlier record that has the body.
            archived: Whether there is a record.
            outcome: How the visit ended.
            **fields: Further fields of the row.
        """
        self._visits += 1
        fetched_at = fields.pop("fetched_at", START + self._visits)
        row = PageRow(
            url_hash=hash_of(url),
            url=url,
            host=host_key(url),
            domain=site_of(url),
            outcome=outcome.value,
            fetched_at=fetched_at,
            status_code=fields.pop("status_code", 200),
            content_type=fields.pop("content_type", "text/html"),
            body_bytes=len(body),
            content_hash=sha256(body).digest(),
            text_hash=blake2b(text.encode(), digest_size=16).digest(),
            **fields,
        )
        if archived:
            if packed:
                headers = (*headers, (b"Content-Encoding", b"gzip"))
                body = gzip.compress(body, mtime=0)
            row = self._archive(row, body, headers, revisit_of, coded=packed or coded)
        if outcome is Outcome.STORED:
            row = self._line(row, text)
        self._warc.sync()
        self._pages.sync()
        self.write(row)
        return row

    def write(self, *rows: PageRow) -> None:
        """Write rows as they are to the catalog."""
        self._catalog.write(rows)
        self.rows.update((row.url, row) for row in rows)

    def _archive(
        self,
        row: PageRow,
        body: bytes,
        headers: tuple[tuple[bytes, bytes], ...],
        revisit_of: Revisited | None,
        *,
        coded: bool,
    ) -> PageRow:
        names = {name.lower() for name, _ in headers}
        if b"content-type" not in names:
            headers = ((b"Content-Type", b"text/html; charset=utf-8"), *headers)
        place = self._warc.response(
            Exchange(
                url=row.url,
                started_at=row.fetched_at,
                status=row.status_code or 200,
                headers=headers,
                body=body,
                content_encoded=coded,
            ),
            revisit_of=revisit_of,
        )
        return replace(
            row, warc_file=place.file, warc_offset=place.offset, warc_length=place.length
        )

    def _line(self, row: PageRow, text: str) -> PageRow:
        offset = self._pages.length
        self._pages.write(
            page_record(
                Page(
                    url=row.url,
                    status=row.status_code or 200,
                    fetched_at=row.fetched_at,
                    depth=row.depth,
                    referrer=row.referrer,
                    content_type=row.content_type or "",
                    charset="utf-8",
                    title=row.title,
                    lang=row.language,
                    headings=[row.title or ""],
                    text=text,
                    canonical=None,
                    robots=[],
                    etag=None,
                    last_modified=None,
                    bytes=row.body_bytes,
                    links=[Link("https://example.com/b")],
                )
            )
        )
        return replace(row, text_offset=offset, text_length=self._pages.length - offset)


def example_site(archived: Archived) -> None:
    """Write the visits of a small crawl: two sites, a redirect chain, copies, failures."""
    front = html("Example", "Welcome to the example, which has some words.")
    archived.page(SEED, front, text="Welcome to the example, which has some words.",
                  title="Example", language="en", simhash=0xFEDC_BA98_7654_3210)  # fmt: skip
    archived.page(f"{SEED}b", html("B", "packed"), text="packed", title="B", packed=True,
                  referrer=SEED, depth=1, etag='"1"', robots=("noindex",))  # fmt: skip
    archived.page(f"{SEED}copy", front, text="Welcome to the example, which has some words.",
                  archived=False, outcome=Outcome.DUPLICATE_EXACT, duplicate_of=SEED,
                  duplicate_distance=0, referrer=SEED, depth=1)  # fmt: skip
    archived.page(f"{SEED}nearly", html("Example", "Welcome to the example, nearly."),
                  text="Welcome to the example, nearly.", outcome=Outcome.DUPLICATE_NEAR,
                  duplicate_of=SEED, duplicate_distance=2, referrer=SEED, depth=1)  # fmt: skip
    moved: dict[str, Any] = {"outcome": Outcome.REDIRECTED, "status_code": 301, "depth": 1}
    archived.page(f"{SEED}old", b"moved", redirect_to=f"{SEED}older", referrer=SEED,
                  **moved)  # fmt: skip
    archived.page(f"{SEED}older", b"moved again", redirect_to=f"{SEED}new", redirects=1,
                  referrer=f"{SEED}old", **moved)  # fmt: skip
    archived.page(f"{SEED}new", html("New", "here now"), text="here now", title="New",
                  redirects=2, referrer=f"{SEED}older", depth=1)  # fmt: skip
    archived.page("https://example.org/gone", html("Gone", "no more"), status_code=404,
                  outcome=Outcome.GONE)  # fmt: skip
    archived.page("https://example.org/dead", b"", archived=False, status_code=None,
                  content_type=None, outcome=Outcome.FAILED_NETWORK, cause="refused")  # fmt: skip
