"""Both indexes of one crawl, and the rows they are rebuilt from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.dedupe.exact import HASH_BYTES, ExactIndex
from crawler.dedupe.near_index import NearIndex
from crawler.dedupe.simhash import parse_signature
from crawler.dedupe.url_table import UrlTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.dedupe.options import DedupeOptions


class IndexRow(NamedTuple):
    """What must be kept of a stored page, in the forms of the output."""

    url: str
    content_hash: str | None  # 32 hex digits
    simhash: str | None  # "<algorithm>:<16 hex digits>"
    tokens: int
    site: str


class Indexes:
    """The exact and the near index over one table of URLs."""

    __slots__ = ("exact", "near", "urls")

    def __init__(self, options: DedupeOptions | None = None) -> None:
        self.urls = UrlTable()
        self.exact = ExactIndex(self.urls)
        self.near = NearIndex(options, self.urls)

    def load(self, rows: Iterable[IndexRow]) -> int:
        """Index stored pages, oldest first; about 10 seconds a million.

        A row without a readable hash or signature is indexed by the other alone.

        Returns:
            How many rows there were.
        """
        count = 0
        for url, content, simhash, tokens, site in rows:
            count += 1
            digest = _digest(content)
            if digest is not None:
                self.exact.add(digest, url)
            signature = parse_signature(simhash, tokens) if simhash else None
            if signature is not None:
                self.near.load([(signature, url, site)])
        return count


def _digest(digits: str | None) -> bytes | None:
    try:
        digest = bytes.fromhex(digits or "")
    except ValueError:
        return None
    return digest if len(digest) == HASH_BYTES else None
