"""What stages keep in the frontier's store beside its own rows, in the same batches.

A robots.txt with its age, what finds a page's duplicates again, totals of the whole crawl: each is
written with the batch that records the page or answer it came from, so a crash leaves none of
them ahead of, or behind, the frontier.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawler.dedupe import IndexRow
from crawler.errors import StoreError
from crawler.frontier.engine import Table, all_rows

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping

    from crawler.frontier import Engine, Frontier
    from crawler.model import Origin

_TOTALS = b"totals"
_NUMBER_BYTES = 8


class Ledger:
    """Reads the rows of other stages from the engine; writes them with the frontier's batch."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pages = 0

    def pages(self) -> Iterator[IndexRow]:
        """Yield the stored pages as the duplicate indexes want them, oldest first."""
        for key, value in all_rows(self._engine, Table.PAGES):
            self._pages = int.from_bytes(key, "big") + 1
            yield IndexRow(*json.loads(value))

    def add_page(self, frontier: Frontier, row: IndexRow) -> None:
        """Keep what finds the duplicates of a page that was stored."""
        key = self._pages.to_bytes(_NUMBER_BYTES, "big")
        self._pages += 1
        frontier.put(Table.PAGES, key, json.dumps(row).encode())

    def robots(self, origin: Origin) -> Mapping[str, object] | None:
        """Return the state of an origin's robots.txt, None when there is none."""
        value = self._engine.get_many(Table.ROBOTS, [origin.encode()])[0]
        state: Mapping[str, object] | None = json.loads(value) if value else None
        return state

    def keep_robots(self, frontier: Frontier, origin: Origin, state: Mapping[str, object]) -> None:
        """Keep the state of an origin's robots.txt."""
        frontier.put(Table.ROBOTS, origin.encode(), json.dumps(state).encode())

    def agree_on(self, frontier: Frontier, name: str, value: str, remedy: str) -> None:
        """Keep a value that must be the same in every run of a crawl.

        Raises:
            StoreError: An earlier run had another one.
        """
        kept = self._engine.get_many(Table.META, [name.encode()])[0]
        if kept is not None and kept.decode() != value:
            raise StoreError(
                f"this crawl was begun with {name} {kept.decode()}, now it is {value}: {remedy}"
            )
        frontier.put(Table.META, name.encode(), value.encode())

    def totals(self) -> dict[str, int]:
        """Return the counts that :meth:`keep_totals` kept; empty for a new crawl."""
        value = self._engine.get_many(Table.META, [_TOTALS])[0]
        totals: dict[str, int] = json.loads(value) if value else {}
        return totals

    def keep_totals(self, frontier: Frontier, totals: Counter[str]) -> None:
        """Keep counts over all runs of the crawl."""
        frontier.put(Table.META, _TOTALS, json.dumps(totals).encode())
