"""A job directory as readers see it: rows, and the lines of pages.jsonl behind them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawler.store import ArchiveReader
    from crawler.store.pages import PageReader, PageRow

_LONGEST_LINE = 64 << 20  # bytes
_LONGEST_CHAIN = 20  # hops; the crawl allows no more

Line = dict[str, Any]


class Absent(NamedTuple):
    """What was asked for is not there, and why, in words for the client."""

    why: str


@dataclass(frozen=True, slots=True)
class Library:
    """What a crawl has kept, and what is needed to read it. All of it is safe in threads.

    Attributes:
        catalog: The rows.
        pages: Path of pages.jsonl; it may not exist yet.
        archive: The original bytes; there may be none yet.
        url_hash: Identity of a URL in any spelling; None when it is no http(s) URL.
        decode: Undoes the codings that the value of a Content-Encoding names; StoreError when
            the body cannot be unpacked, or only to more than the most there may be.
    """

    catalog: PageReader
    pages: Path
    archive: ArchiveReader
    url_hash: Callable[[str], bytes | None]
    decode: Callable[[bytes, bytes], bytes]

    def by_url(self, url: str | None) -> PageRow | None:
        """Return the page with a URL, None if it was never fetched."""
        mark = self.url_hash(url) if url else None
        return self.catalog.page(mark) if mark else None

    def line(self, row: PageRow) -> Line | Absent:
        """Return the line of a page, or of the page with the very same text that it repeats."""
        if row.text_offset is not None:
            return self._own_line(row)
        original = self.by_url(row.duplicate_of)
        if original is None or original.text_offset is None:
            return Absent(f"the page has no text: it ended as {row.outcome}")
        if row.text_hash is None or row.text_hash != original.text_hash:
            return Absent(f"its text was not kept: it is nearly that of {row.duplicate_of}")
        return self._own_line(original)

    def redirect_chain(self, row: PageRow) -> list[dict[str, Any]]:
        """Return the URLs that redirected here, the first one first; see ``documents.Hop``."""
        chain: list[dict[str, Any]] = []
        known = {row.url_hash}
        at: PageRow | None = row
        while at is not None and at.redirects > 0 and at.referrer and len(chain) < _LONGEST_CHAIN:
            mark = self.url_hash(at.referrer)
            if mark in known:
                break
            hop = self.catalog.page(mark) if mark else None
            chain.append(
                {
                    "url": at.referrer,
                    "url_hash": mark.hex() if mark else None,
                    "status_code": hop.status_code if hop else None,
                }
            )
            known.add(mark or b"")
            at = hop
        return chain[::-1]

    def _own_line(self, row: PageRow) -> Line | Absent:
        gone = Absent("its line is not in pages.jsonl: the file was changed, moved or cut")
        offset, length = row.text_offset or 0, row.text_length or 0
        if offset < 0 or not 0 < length <= _LONGEST_LINE:
            return gone
        try:
            line = orjson.loads(_read(self.pages, offset, length))
        except (OSError, ValueError):
            return gone
        return line if isinstance(line, dict) and line.get("url") == row.url else gone


def _read(path: Path, offset: int, length: int) -> bytes:
    with path.open("rb") as file:
        return os.pread(file.fileno(), length, offset)
