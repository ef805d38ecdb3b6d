"""An engine that keeps its tables in memory: for tests, and for crawls that may be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sortedcontainers import SortedDict

from crawler.frontier.engine import Batch, Table

if TYPE_CHECKING:
    from collections.abc import Sequence


class MemoryEngine:
    """Ordered tables in memory; a batch is applied at once. O(log n) a write."""

    __slots__ = ("_tables",)
    damage: str | None = None

    def __init__(self) -> None:
        self._tables: dict[Table, dict[bytes, bytes]] = {
            table: {} if table is Table.SEEN else SortedDict() for table in Table
        }

    def get_many(self, table: Table, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of each key in order, None where there is none."""
        get = self._tables[table].get
        return [get(key) for key in keys]

    def scan(
        self, table: Table, *, prefix: bytes = b"", after: bytes = b"", limit: int = 0
    ) -> list[tuple[bytes, bytes]]:
        """Return rows in key order: keys that start with ``prefix`` and are > ``after``."""
        rows = self._tables[table]
        ordered = rows if isinstance(rows, SortedDict) else SortedDict(rows)
        start = max(prefix, after)
        found: list[tuple[bytes, bytes]] = []
        for key in ordered.irange(start, inclusive=(start != after, True)):
            if not key.startswith(prefix) or (limit and len(found) == limit):
                break
            found.append((key, rows[key]))
        return found

    def write(self, batch: Batch) -> None:
        """Apply the batch."""
        for table, changes in batch.tables.items():
            rows = self._tables[table]
            for key, value in changes.items():
                if value is None:
                    rows.pop(key, None)
                else:
                    rows[key] = value

    def sync(self) -> None:
        """Do nothing: memory is as durable as it gets."""

    def close(self) -> None:
        """Do nothing: the tables go with the object."""
