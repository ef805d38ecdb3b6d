"""The catalog: what is known of every fetched URL, and of each of its visits, in a database.

Tables, guarantees and how to ask them by hand are in docs/catalog.md. One set of statements
serves SQLite and PostgreSQL. This module is imported where it is used and not with its
package: SQLAlchemy takes a while.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import bindparam, case, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite

from crawler.errors import StoreError
from crawler.store.catalog_changes import Changes, Known
from crawler.store.catalog_rows import (
    cursor_of,
    first_at,
    indexable,
    page_of,
    position,
    visit_of,
)
from crawler.store.catalog_schema import CATALOG, DOMAINS, PAGES, RARE, VISITS, lock, prepare
from crawler.store.database import open_database
from crawler.store.pages import DomainRow, Found

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Executable, Table
    from sqlalchemy.sql.base import ReadOnlyColumnCollection

    from crawler.store.catalog_rows import Values
    from crawler.store.database import Database
    from crawler.store.pages import PageQuery, PageRow, VisitRow

    _NewRow = ReadOnlyColumnCollection[str, Any]

_KEYS_AT_ONCE = 500  # of one look-up; SQLite and PostgreSQL bound a statement's parameters


class Catalog:
    """Reader and writer of a catalog, by the protocols of :mod:`crawler.store.pages`.

    Threads may share one. Any number of processes may read a database while one writes;
    several may write to one, and wait for each other.
    """

    def __init__(self, database: Database, *, read_only: bool = False) -> None:
        self.database = database
        """Where it is kept."""
        self._read_only = read_only
        self._statements = _Statements(database.dialect)

    @classmethod
    def open(cls, url: str, *, read_only: bool = False) -> Self:
        """Open the catalog with an SQLAlchemy URL, or a path for SQLite.

        Args:
            url: ``postgresql://user:password@host/database``, ``sqlite:///path`` or a path.
            read_only: Make no file and no table, and change nothing.

        Raises:
            StoreError: It is out of reach, its driver is not installed, or its tables are of
                a newer version or something else's; when read-only, also if there are none.
        """
        database = open_database(url, read_only=read_only)
        try:
            if read_only:
                database.read(lambda at: prepare(at, database.name, read_only=True))
            else:
                with database.writing() as connection:
                    prepare(connection, database.name, read_only=False)
        except BaseException:
            database.close()
            raise
        return cls(database, read_only=read_only)

    def close(self) -> None:
        """Close all connections; idempotent."""
        self.database.close()

    def write(self, rows: Sequence[PageRow]) -> None:
        """Keep the last visits of URLs and add to their histories, all of them or none.

        When it returns, the rows survive a power cut. Writing a row again changes nothing.

        Raises:
            StoreError: The database is out of reach, busy or full. Nothing was written, and
                the same rows may be written again.
        """
        if self._read_only:
            raise StoreError(f"the catalog {self.database.name} was opened for reading only")
        if not rows:
            return
        with self.database.writing() as connection:
            lock(connection, self.database.name)
            changes = Changes(rows, _known(connection, {row.url_hash for row in rows}))
            for statement, values in self._statements.of(changes):
                if values:
                    connection.execute(statement, values)

    def count(self) -> int:
        """Return the number of pages."""
        return int(self.database.rows(select(CATALOG.c.pages))[0][0])

    def page(self, url_hash: bytes) -> PageRow | None:
        """Return the page with a hash, None if it was never fetched."""
        rows = self.database.rows(select(PAGES).where(PAGES.c.url_hash == url_hash))
        return page_of(rows[0]) if rows else None

    def pages_of(self, url_hashes: Collection[bytes]) -> dict[bytes, PageRow]:
        """Return the pages with some hashes, by hash; those never fetched are left out."""
        found: dict[bytes, PageRow] = {}
        left = sorted(set(url_hashes))
        while left:
            part, left = left[:_KEYS_AT_ONCE], left[_KEYS_AT_ONCE:]
            rows = self.database.rows(select(PAGES).where(PAGES.c.url_hash.in_(part)))
            found.update((page.url_hash, page) for page in map(page_of, rows))
        return found

    def pages(self, query: PageQuery) -> Found:
        """Return the pages of a query in order of ``fetched_at``, then ``url_hash``.

        Raises:
            ValueError: The cursor is none that :class:`~crawler.store.pages.Found` has
                given, or the limit is less than 1.
        """
        limit = _at_least_one(query.limit)
        order = [
            column.desc() if query.newest_first else column.asc()
            for column in (PAGES.c.fetched_at, PAGES.c.url_hash)
        ]
        statement = select(PAGES).where(*_conditions(query), *_stretch(query))
        rows = self.database.rows(statement.order_by(*order).limit(limit + 1))
        more = len(rows) > limit
        return Found(
            [page_of(row) for row in rows[:limit]], cursor_of(rows[limit - 1]) if more else None
        )

    def history(
        self, url_hash: bytes, *, limit: int = 100, before: float | None = None
    ) -> list[VisitRow]:
        """Return the visits of a page, newest first, those before a time."""
        statement = select(VISITS).where(VISITS.c.url_hash == url_hash)
        if before is not None:
            statement = statement.where(VISITS.c.visited_at < first_at(before))
        statement = statement.order_by(VISITS.c.visited_at.desc()).limit(_at_least_one(limit))
        return [visit_of(row) for row in self.database.rows(statement)]

    def domains(self, *, limit: int = 100, after: str = "") -> list[DomainRow]:
        """Return domains in the order of their names, those after a name."""
        statement = (
            select(DOMAINS)
            .where(DOMAINS.c.domain > indexable(after), DOMAINS.c.pages > 0)
            .order_by(DOMAINS.c.domain)
            .limit(_at_least_one(limit))
        )
        return [DomainRow(row[0], row[1], row[2] / 1000) for row in self.database.rows(statement)]


class _Statements:
    """What writes a catalog; made once, so that SQLAlchemy compiles each once."""

    def __init__(self, dialect: str) -> None:
        self._pages = _upsert(dialect, PAGES, lambda new: {c: new[c] for c in PAGES.c.keys()[1:]})
        self._visits = _insert(dialect, VISITS).on_conflict_do_nothing()
        self._domains = _upsert(dialect, DOMAINS, _added_up)
        self._earlier = (
            update(PAGES)
            .where(PAGES.c.url_hash == bindparam("key"))
            .values(first_seen_at=bindparam("at"))
        )
        self._count = update(CATALOG).values(pages=CATALOG.c.pages + bindparam("added"))

    def of(self, changes: Changes) -> Iterator[tuple[Executable, list[Values]]]:
        """Yield statements and the values with which each is to be run, which may be none."""
        yield self._pages, changes.pages
        yield self._visits, changes.visits
        yield self._earlier, [{"key": key, "at": at} for key, at in changes.earlier.items()]
        yield self._domains, changes.domains
        yield self._count, [{"added": changes.added}] if changes.added else []


def _insert(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


def _upsert(
    dialect: str, table: Table, replacing: Callable[[_NewRow], dict[str, ColumnElement[Any]]]
) -> Executable:
    """Return what inserts rows, or replaces some columns where there is one with their key."""
    statement = _insert(dialect, table)
    return statement.on_conflict_do_update(
        index_elements=table.primary_key.columns.keys(), set_=replacing(statement.excluded)
    )


def _added_up(new: _NewRow) -> dict[str, ColumnElement[Any]]:
    known = DOMAINS.c
    later = new.last_fetched_at > known.last_fetched_at
    return {
        "pages": known.pages + new.pages,
        "last_fetched_at": case((later, new.last_fetched_at), else_=known.last_fetched_at),
    }


def _known(connection: Connection, keys: Iterable[bytes]) -> dict[bytes, Known]:
    columns = [PAGES.c.url_hash, *(PAGES.c[name] for name in Known._fields)]
    known: dict[bytes, Known] = {}
    left = sorted(keys)
    while left:
        part, left = left[:_KEYS_AT_ONCE], left[_KEYS_AT_ONCE:]
        rows = connection.execute(select(*columns).where(PAGES.c.url_hash.in_(part)))
        known.update((key, Known(*rest)) for key, *rest in rows)
    return known


def _conditions(query: PageQuery) -> Iterator[ColumnElement[bool]]:
    """Yield what the rows must be; of a rare value also that it is one, for its index."""
    if query.domain is not None:
        yield PAGES.c.domain == indexable(query.domain)
    wanted = {
        "status_code": query.status,
        "outcome": query.outcome,
        "content_type": query.content_type,
    }
    for name, value in wanted.items():
        if value is None:
            continue
        yield PAGES.c[name] == (indexable(value) if isinstance(value, str) else value)
        common, is_rare = RARE[name]
        if value != common:
            yield is_rare


def _stretch(query: PageQuery) -> Iterator[ColumnElement[bool]]:
    """Yield the bounds in time, one for each side: of two, SQLite might walk along the other."""
    start = None if query.since is None else first_at(query.since)
    end = None if query.until is None else first_at(query.until)
    place = tuple_(PAGES.c.fetched_at, PAGES.c.url_hash)
    if query.cursor is not None:
        at, url_hash = position(query.cursor)
        if query.newest_first and (end is None or at < end):
            yield place < tuple_(at, url_hash)
            end = None
        elif not query.newest_first and (start is None or at >= start):
            yield place > tuple_(at, url_hash)
            start = None
    if start is not None:
        yield PAGES.c.fetched_at >= start
    if end is not None:
        yield PAGES.c.fetched_at < end


def _at_least_one(limit: int) -> int:
    if limit < 1:
        raise ValueError(f"limit {limit}: ask for at least 1 row")
    return limit
