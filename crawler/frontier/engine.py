"""The storage that the frontier asks of an engine: ordered tables and atomic batches.

Every engine passes one contract suite (tests/unit/frontier/test_engine.py). Keys and values
are bytes; keys of a table are ordered as bytes.

=========  ==============================================  ==================================
table      key                                             value
=========  ==============================================  ==================================
queue      origin hash 8 B + priority 1 B + sequence 8 B   entry
waiting    fingerprint 16 B                                due time 8 B + entry
seen       fingerprint 16 B                                state 1 B
filter     layer 1 B + chunk 4 B                           bits of the approximate seen set
host       host key                                        clocks, budget, queue sizes
robots     origin                                          its robots.txt and its age
pages      number 8 B                                      what finds a page's duplicates again
outbox     number 8 B                                      page row on its way to the catalog
traps      origin + pattern, and others                    what came of URLs that are alike
meta       name                                            counts, file lengths, format
=========  ==============================================  ==================================
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


FORMAT = b"3"
"""Of tables, keys and values; a store of another format is refused."""


class Table(Enum):
    """The tables of an engine."""

    QUEUE = "queue"
    WAITING = "waiting"
    SEEN = "seen"
    FILTER = "filter"
    HOST = "host"
    ROBOTS = "robots"
    PAGES = "pages"
    OUTBOX = "outbox"
    TRAPS = "traps"
    META = "meta"


_ROWS_AT_ONCE = 10_000


class Batch:
    """Writes that become visible and durable together; a later write of a key wins."""

    __slots__ = ("tables",)

    def __init__(self) -> None:
        self.tables: dict[Table, dict[bytes, bytes | None]] = {table: {} for table in Table}

    def put(self, table: Table, key: bytes, value: bytes) -> None:
        """Set ``key`` to ``value``."""
        self.tables[table][key] = value

    def delete(self, table: Table, key: bytes) -> None:
        """Remove ``key``, which need not exist."""
        self.tables[table][key] = None

    def __len__(self) -> int:
        return sum(map(len, self.tables.values()))


class Engine(Protocol):
    """An ordered key-value store."""

    damage: str | None
    """What cannot be read any more; None while all can. From then on nothing is written."""

    def get_many(self, table: Table, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of each key in order, None where there is none."""
        ...

    def scan(
        self, table: Table, *, prefix: bytes = b"", after: bytes = b"", limit: int = 0
    ) -> list[tuple[bytes, bytes]]:
        """Return rows in key order: keys that start with ``prefix`` and are > ``after``.

        Args:
            table: Which table.
            prefix: Common start of the wanted keys; empty for all.
            after: Exclusive lower bound; empty for none.
            limit: Most rows to return; 0 = all.
        """
        ...

    def write(self, batch: Batch) -> None:
        """Apply the batch, all of it or nothing; durable at the next :meth:`sync`."""
        ...

    def sync(self) -> None:
        """Make every batch written so far survive a power cut."""
        ...

    def close(self) -> None:
        """Release the store; idempotent."""
        ...


def all_rows(engine: Engine, table: Table) -> Iterator[tuple[bytes, bytes]]:
    """Yield the rows of a table in key order, however many there are, in bounded memory."""
    after = b""
    while rows := engine.scan(table, after=after, limit=_ROWS_AT_ONCE):
        yield from rows
        after = rows[-1][0]
