"""What is on its way to the catalog: page rows, kept with the frontier until they are there.

The catalog is a store of its own, perhaps on another machine, and cannot share a transaction
with the frontier. So the rows go into the frontier's batch first, with the outcomes they
belong to, and to the catalog right after the commit; the batch after that takes them out. The
catalog is thus never ahead of the frontier, and whatever crashes or is away, each row gets
there: a start delivers what it finds here. Delivering twice changes nothing.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

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


class Outbox:
    """Rows for the catalog, in the order in which their pages ended.

    Args:
        engine: The frontier's.
        frontier: Its batches carry the rows.
        catalog: Where they go.
    """

    def __init__(self, engine: Engine, frontier: Frontier, catalog: PageWriter) -> None:
        self._frontier = frontier
        self._catalog = catalog
        self._rows: list[tuple[bytes, PageRow]] = [
            (key, decode_row(value)) for key, value in all_rows(engine, Table.OUTBOX)
        ]
        self._next = int.from_bytes(self._rows[-1][0], "big") + 1 if self._rows else 0

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
            for key, _ in part:
                self._frontier.remove(Table.OUTBOX, key)
            del self._rows[:_AT_ONCE]

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
