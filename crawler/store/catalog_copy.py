"""Moves a catalog into another database, histories included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, tuple_, update

from crawler.errors import StoreError
from crawler.store.catalog import Catalog
from crawler.store.catalog_schema import CATALOG, DOMAINS, PAGES, VISITS, lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Table

_ROWS_AT_ONCE = 2_000


def copy_catalog(source_url: str, target_url: str) -> int:
    """Copy all rows of a catalog into an empty one, all or none; return the number of pages.

    No crawl may write to either meanwhile. Memory: 2,000 rows.

    Raises:
        StoreError: One of the two cannot be used, or the target has pages already.
    """
    source = Catalog.open(source_url, read_only=True)
    try:
        target = Catalog.open(target_url)
        try:
            return _copy(source, target)
        finally:
            target.close()
    finally:
        source.close()


def _copy(source: Catalog, target: Catalog) -> int:
    pages = source.count()
    with target.database.writing() as connection:
        lock(connection, target.database.name)
        if connection.execute(select(CATALOG.c.pages)).scalar_one():
            raise StoreError(f"the catalog {target.database.name} has pages: name an empty one")
        for table in (PAGES, VISITS, DOMAINS):
            for rows in _parts(source, table):
                connection.execute(insert(table), rows)
        connection.execute(update(CATALOG).values(pages=pages))
    return pages


def _parts(source: Catalog, table: Table) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of a table in the order of its key, so many at a time."""
    key = tuple(table.primary_key.columns)
    statement = every = select(table).order_by(*key).limit(_ROWS_AT_ONCE)
    while rows := source.database.rows(statement):
        part = [row._asdict() for row in rows]
        yield part
        last = (part[-1][column.name] for column in key)
        statement = every.where(tuple_(*key) > tuple_(*last))
