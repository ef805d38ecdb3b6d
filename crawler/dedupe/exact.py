"""Exact duplicates: the hash of a page's text and the pages by hash."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from crawler.dedupe.url_table import MAX_ROWS, UrlTable

if TYPE_CHECKING:
    from collections.abc import Iterable

HASH_BYTES = 16
_DEAD = MAX_ROWS  # in place of a row: the entry was discarded
_FRESH_LIMIT = 32_768  # a dict entry costs about 150 bytes, a sealed one 20
_ASCII_SPACES = bytes.maketrans(b"\t\n\r\x0b\x0c\x1c\x1d\x1e\x1f", b" " * 9)
_OTHER_SPACES = (
    "\x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)


def _collapse(text: str) -> bytes:
    """Return ``" ".join(text.split())`` as UTF-8, at a third of its cost.

    Each pass of the loop halves the runs of spaces, so all passes together are linear.
    """
    if not text.isascii():
        for space in _OTHER_SPACES:
            if space in text:
                text = text.replace(space, " ")
    data = text.encode("utf-8", "surrogatepass").translate(_ASCII_SPACES)
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.strip(b" ")


def content_hash(text: str) -> bytes:
    """Return the identity of a text: 16 bytes, the same in every process and version.

    It is the blake2b hash of ``" ".join(text.split())`` in UTF-8: white space (of all of
    Unicode) is collapsed and cut off at both ends, everything else counts.

    Spec: RFC 7693 (BLAKE2b).
    """
    return hashlib.blake2b(_collapse(text), digest_size=HASH_BYTES).digest()


def body_hash(body: bytes) -> bytes:
    """Return the identity of a body, 16 bytes: for pages that have no text to compare.

    It never equals that of a text, so an empty body is not an empty text.
    """
    return hashlib.blake2b(body, digest_size=HASH_BYTES, person=b"body").digest()


EMPTY_HASH = content_hash("")
"""Hash of a text without any content; it is never a duplicate."""


class _Sealed:
    """Entries in arrays sorted by the first half of their hash: 20 bytes each."""

    __slots__ = ("high", "low", "rows")

    def __init__(self) -> None:
        self.high = np.empty(0, np.uint64)
        self.low = np.empty(0, np.uint64)
        self.rows = np.empty(0, np.uint32)

    def find(self, content: bytes) -> int | None:
        """Return the position of a live entry."""
        high = int.from_bytes(content[:8], "big")
        low = int.from_bytes(content[8:], "big")
        at = int(self.high.searchsorted(np.uint64(high)))
        while at < len(self.high) and int(self.high[at]) == high:
            if int(self.low[at]) == low and int(self.rows[at]) != _DEAD:
                return at
            at += 1
        return None

    def merge(self, fresh: dict[bytes, int]) -> None:
        """Take in a dict of entries, and let go of the dead."""
        halves = np.frombuffer(b"".join(fresh), ">u8").astype(np.uint64).reshape(-1, 2)
        live = self.rows != _DEAD
        high = np.concatenate([self.high[live], halves[:, 0]])
        order = np.argsort(high, kind="stable")
        self.high = high[order]
        self.low = np.concatenate([self.low[live], halves[:, 1]])[order]
        rows = np.fromiter(fresh.values(), np.uint32, len(fresh))
        self.rows = np.concatenate([self.rows[live], rows])[order]


class ExactIndex:
    """The first page with each content.

    Hashes of ``EMPTY_HASH`` are ignored: pages without text have nothing in common.

    Cost:
        28 bytes an entry beside its URL (20 here, 8 in the table), and at most 5 MB for
        entries not yet sealed. A look-up is O(log entries), about 2 microseconds; once
        in 32,768 additions, or in an eighth of the index if that is more, it is re-sorted.

    Invariants:
        One live entry a content. A page is never found a duplicate of itself.
    """

    __slots__ = ("_fresh", "_sealed", "_urls")

    def __init__(self, urls: UrlTable | None = None) -> None:
        self._urls = UrlTable() if urls is None else urls
        self._fresh: dict[bytes, int] = {}
        self._sealed = _Sealed()

    def _row(self, content: bytes) -> int | None:
        row = self._fresh.get(content)
        if row is None and (at := self._sealed.find(content)) is not None:
            row = int(self._sealed.rows[at])
        return row

    def lookup(self, content: bytes, url: str) -> str | None:
        """Return the URL of the first page with this content, or None if that is ``url``."""
        row = self._row(content)
        first = None if row is None else self._urls[row]
        return None if first == url else first

    def add(self, content: bytes, url: str) -> None:
        """Note that a page has this content; of several, the first one stays.

        Raises:
            ValueError: The hash is not ``HASH_BYTES`` long.
        """
        if len(content) != HASH_BYTES:
            raise ValueError(f"content hash of {len(content)} bytes: expected {HASH_BYTES}")
        if content == EMPTY_HASH or self._row(content) is not None:
            return
        self._fresh[content] = self._urls.add(url)
        if len(self._fresh) >= max(_FRESH_LIMIT, len(self._sealed.rows) // 8):
            self._sealed.merge(self._fresh)
            self._fresh.clear()

    def discard(self, content: bytes, url: str) -> None:
        """Forget that ``url`` has this content: it has changed, or is gone."""
        row = self._row(content)
        if row is None or self._urls[row] != url:
            return
        if (
            self._fresh.pop(content, None) is None
            and (at := self._sealed.find(content)) is not None
        ):
            self._sealed.rows[at] = _DEAD

    def load(self, entries: Iterable[tuple[bytes, str]]) -> None:
        """Add (content hash, URL) pairs, oldest first."""
        for content, url in entries:
            self.add(content, url)
