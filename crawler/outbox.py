"""What is on its way to the catalog: page rows, kept with the frontier until they are there.

The catalog is a store of its own, perhaps on another machine, and cannot share a transaction
with the frontier. So the rows go into the frontier's batch first, with the outcomes they
belong to, and to the catalog right after the commit; the batch after that takes them out. The
catalog is thus never ahead of the frontier, and whatever crashes or is away, each row gets
there: a start delivers what it finds here. Delivering twice changes nothing.

The first page that a crawl brings to its catalog is the sign by which it knows it again: a
catalog without it was lost, or is another crawl's.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, NamedTuple

import orjson

from crawler.frontier.engine import Table, all_rows
from crawler.store import PageRow, to_json

if TYPE_CHECKING:
    from crawler.frontier import Engine, Frontier
    from crawler.store import PageWriter

_NUMBER_BYTES = 8
_AT_ONCE = 500  # rows a delivery
_NAMES = tuple(field.name for field in fields(PageRow))
_HEX = tuple(_NAMES.index(name) for name in ("url_hash", "content_hash", "text_hash"))
_TUPLE = _NAMES.index("robots")
_SIGN = b"catalog"
_BESIDE, _ELSEWHERE = b"f", b"d"
_COMMITS_UNTIL_SIGNED = 3
"""The files of a copied directory are of different moments: the sign must not be the youngest."""


class CatalogSign(NamedTuple):
    """By what a crawl knows its catalog again."""

    url_hash: bytes  # of a page that it must have
    beside: bool  # it is in the job directory


def catalog_sign(engine: Engine) -> CatalogSign | None:
    """Return the sign that a crawl has left in its catalog, None at first."""
    row = engine.get_many(Table.META, [_SIGN])[0]
    return CatalogSign(row[1:], row[:1] == _BESIDE) if row is not None else None


class Outbox:
    """Rows for the catalog, in the order in which their pages ended.

    Args:
        engine: The frontier's.
        frontier: Its batches carry the rows.
        catalog: Where they go.
        beside: Whether that is a file in the job directory.
    """

    def __init__(
        self, engine: Engine, frontier: Frontier, catalog: PageWriter, *, beside: bool = False
    ) -> None:
        self._place = _BESIDE if beside else _ELSEWHERE
        self._frontier = frontier
        self._catalog = catalog
        self._rows: list[tuple[bytes, PageRow]] = [
            (key, decode_row(value)) for key, value in all_rows(engine, Table.OUTBOX)
        ]
        self._next = int.from_bytes(self._rows[-1][0], "big") + 1 if self._rows else 0
        self._signed = catalog_sign(engine) is not None
        self._first: bytes | None = None  # page that was brought there in this run
        self._commits = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: PageRow) -> None:
        """Send a row with the next commit."""
        key = self._next.to_bytes(_NUMBER_BYTES, "big")
        self._next += 1
        self._frontier.put(Table.OUTBOX, key, encode_row(row))
        self._rows.append((key, row))

    def deliver(self) -> None:
        """Write every row to the catalog.

        Raises:
            StoreError: It is out of reach; the rows that did not get there stay.
        """
        while self._rows:
            part = self._rows[:_AT_ONCE]
            self._catalog.write([row for _, row in part])
            self._first = self._first or part[0][1].url_hash
            for key, _ in part:
                self._frontier.remove(Table.OUTBOX, key)
            del self._rows[:_AT_ONCE]
        if not self._signed and self._first is not None:
            self._commits += 1
            if self._commits == _COMMITS_UNTIL_SIGNED:
                self._frontier.put(Table.META, _SIGN, self._place + self._first)
                self._signed = True

    def close(self) -> None:
        """Let the catalog go."""
        self._catalog.close()


def encode_row(row: PageRow) -> bytes:
    """Return a row as JSON: the values of its fields in their order, hashes in hex."""
    values = [getattr(row, name) for name in _NAMES]
    for at in _HEX:
        if values[at] is not None:
            values[at] = values[at].hex()
    return to_json(values)


def decode_row(data: bytes) -> PageRow:
    """Return the row that :func:`encode_row` was given."""
    values = orjson.loads(data)
    for at in _HEX:
        if values[at] is not None:
            values[at] = bytes.fromhex(values[at])
    values[_TUPLE] = tuple(values[_TUPLE])
    return PageRow(*values)
