"""What a job directory keeps, opened for reading: rows, lines, and bytes."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from crawler.directory import check_crawl, kept_catalog
from crawler.errors import QueryError, StoreError
from crawler.reading.archived import Archived
from crawler.store import PageQuery
from crawler.stores import ARCHIVE, PAGES
from crawler.urls import Canonicalizer, fingerprint, host_key, host_of, site_of

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO, Self

    from crawler.config import Config
    from crawler.model import Fingerprint
    from crawler.store import PageReader, PageRow, VisitRow
    from crawler.store.catalog import Catalog

_HASH = re.compile(r"[0-9a-f]{32}")
_MOST_SUGGESTED = 3
_COMPARED = 1000  # newest pages of a domain that a mistyped URL is compared with
_MOST_VISITS = 1000


class Kept:
    """A job directory, or a catalog elsewhere; a context manager.

    Each store is looked for when it is needed first, so that what needs the catalog alone is
    answered without an archive.

    Args:
        directory: The job directory.
        config: As the crawl has it.
    """

    def __init__(self, directory: Path, config: Config) -> None:
        self.directory = directory
        self.config = config
        self.canonicalizer = Canonicalizer(config.urls)
        self._catalog: Catalog | None = None
        self._lines: BinaryIO | None = None
        self._archive: Archived | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._lines is not None:
            self._lines.close()
        if self._catalog is not None:
            self._catalog.close()

    @property
    def catalog(self) -> PageReader:
        """The rows.

        Raises:
            StoreError: There are none, or their database cannot be used.
        """
        if self._catalog is None:
            from crawler.store.catalog import Catalog  # SQLAlchemy takes a while to import

            place = kept_catalog(self.directory, self.config.store.catalog_url)
            self._catalog = Catalog.open(place, read_only=True)
        return self._catalog

    @property
    def lines(self) -> Path:
        """The file of lines."""
        return self.directory / PAGES

    @property
    def archive(self) -> Archived:
        """The bytes.

        Raises:
            StoreError: There are none.
        """
        if self._archive is None:
            check_crawl(self.directory)
            self._archive = Archived(self.directory / ARCHIVE, self.config, self._visits_before)
        return self._archive

    def mark(self, url: str) -> Fingerprint:
        """Return the identity of a normalised URL, as the crawl has it."""
        return fingerprint(host_key(url), self.canonicalizer.key(url))

    def page(self, name: str) -> PageRow:
        """Return the page with a URL, spelled in any way, or with a hash in hex.

        Raises:
            QueryError: It is neither, or was not fetched; names similar URLs.
            StoreError: The catalog cannot be used.
        """
        if _HASH.fullmatch(name):
            row = self.catalog.page(bytes.fromhex(name))
            if row is None:
                raise QueryError(
                    f"{name}: no page has this url_hash; scrapy pages list --json shows them"
                )
            return row
        url = self.canonicalizer.normalize(name)
        if url is None:
            raise QueryError(
                f"{name}: expected a URL with http:// or https://, or a url_hash of 32 digits"
            )
        row = self.catalog.page(self.mark(url))
        if row is None:
            raise QueryError(f"{url}: was not fetched by this crawl{self._similar(url)}")
        return row

    def visits(self, row: PageRow) -> list[VisitRow]:
        """Return the visits of a page, newest first."""
        return self.catalog.history(row.url_hash, limit=_MOST_VISITS)

    def line(self, row: PageRow) -> bytes | None:
        """Return a page's line, with its line end; None for a page without one.

        Raises:
            StoreError: It is not where the row says.
        """
        if row.text_offset is None or row.text_length is None:
            return None
        try:
            if self._lines is None:
                self._lines = self.lines.open("rb")
            self._lines.seek(row.text_offset)
            line = self._lines.read(row.text_length)
        except OSError as error:
            raise StoreError(
                f"{self.lines}: cannot be read: {error.strerror or error}; restore it, or name "
                "the crawl's directory with -s JOBDIR=PATH"
            ) from error
        if not (line.startswith(b'{"url":"%s",' % row.url.encode()) and line.endswith(b"}\n")):
            raise StoreError(
                f"{self.lines} at {row.text_offset}: is not the line of {row.url}: file and "
                "catalog are of different crawls, or one of them was changed"
            )
        return line

    def _visits_before(self, url: str, at: float) -> list[VisitRow]:
        return self.catalog.history(self.mark(url), limit=_MOST_VISITS, before=at)

    def _similar(self, url: str) -> str:
        """Return what may help: pages of the same domain with nearly this URL, and who knows."""
        query = PageQuery(domain=site_of(host_of(url)), limit=_COMPARED, newest_first=True)
        known = [row.url for row in self.catalog.pages(query).rows]
        near = difflib.get_close_matches(url, known, n=_MOST_SUGGESTED, cutoff=0.8)
        others = f"; similar: {' '.join(near)}" if near else ""
        if not known:
            others = f", nor was {query.domain} at all"
        return f"{others}; scrapy explain URL says why"
