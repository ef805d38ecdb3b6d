"""The tables of the catalog, and how a database comes to have them in the version of today.

Times are whole milliseconds since the epoch. Lists are JSON. What is not known is NULL.

The index of a common value would cost every row and help nobody: where most pages are
``stored``, a walk along the time finds a hundred of them at once. So the indexes by status,
outcome and media type hold only the rows with another value than the common one, and a
query that names such a value says so (:data:`RARE`), so that the planner may use them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    func,
    insert,
    inspect,
    literal_column,
    select,
    update,
)

from crawler.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement, Connection

VERSION = 1
"""Of the tables below. Whoever changes them raises it and adds to :data:`MIGRATIONS`."""

MIGRATIONS: dict[int, Callable[[Connection], None]] = {}
"""By version: what makes the tables of the next version out of those of this one."""

METADATA = MetaData()
_NAME = Text().with_variant(Text(collation="C"), "postgresql")  # in the order of the bytes

CATALOG = Table(
    "catalog",
    METADATA,
    Column("version", BigInteger, nullable=False),
    Column("pages", BigInteger, nullable=False),
)
"""One row. Its lock is held by whoever writes, so that writers come one after the other."""

PAGES = Table(
    "pages",
    METADATA,
    Column("url_hash", LargeBinary, primary_key=True),
    Column("url", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("domain", _NAME, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("fetched_at", BigInteger, nullable=False),
    Column("first_seen_at", BigInteger, nullable=False),
    Column("next_visit_at", BigInteger),
    Column("depth", BigInteger, nullable=False),
    Column("referrer", Text),
    Column("redirects", BigInteger, nullable=False),
    Column("redirect_to", Text),
    Column("status_code", BigInteger),
    Column("cause", Text),
    Column("content_type", Text),
    Column("charset", Text),
    Column("title", Text),
    Column("language", Text),
    Column("canonical_url", Text),
    Column("robots", Text, nullable=False),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("body_bytes", BigInteger, nullable=False),
    Column("content_hash", LargeBinary),
    Column("text_hash", LargeBinary),
    Column("simhash", BigInteger),
    Column("duplicate_of", Text),
    Column("duplicate_distance", BigInteger),
    Column("text_offset", BigInteger),
    Column("text_length", BigInteger),
    Column("warc_file", Text),
    Column("warc_offset", BigInteger),
    Column("warc_length", BigInteger),
)
"""One row a URL. The columns are the fields of a :class:`~crawler.store.pages.PageRow`."""

VISITS = Table(
    "visits",
    METADATA,
    Column("url_hash", LargeBinary, primary_key=True),
    Column("visited_at", BigInteger, primary_key=True),
    Column("status_code", BigInteger),
    Column("outcome", Text, nullable=False),
    Column("changed", Boolean, nullable=False),
    Column("content_hash", LargeBinary),
    Column("warc_file", Text),
    Column("warc_offset", BigInteger),
    Column("warc_length", BigInteger),
    sqlite_with_rowid=False,  # rows are short, and read by this key alone
)

DOMAINS = Table(
    "domains",
    METADATA,
    Column("domain", _NAME, primary_key=True),
    Column("pages", BigInteger, nullable=False),
    Column("last_fetched_at", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
"""Kept with every write: to group a million pages by their domain takes a second."""

_page = PAGES.c
RARE: dict[str, tuple[object, ColumnElement[bool]]] = {
    "status_code": (200, _page.status_code != literal_column("200")),
    "outcome": ("stored", _page.outcome != literal_column("'stored'")),
    "content_type": ("text/html", _page.content_type != literal_column("'text/html'")),
}
"""By column: its common value, and the condition that says a row has another one."""

_order = (_page.fetched_at, _page.url_hash)
Index("pages_by_time", *_order)
Index("pages_by_domain", _page.domain, *_order)
_is_due = _page.next_visit_at.is_not(None)
Index("pages_due", _page.next_visit_at, sqlite_where=_is_due, postgresql_where=_is_due)
for _name, (_, _is_rare) in RARE.items():
    for _prefix in ((), (_page.domain,)):
        Index(
            f"pages_by_{'domain_' if _prefix else ''}{_name}",
            *_prefix,
            PAGES.c[_name],
            *_order,
            sqlite_where=_is_rare,
            postgresql_where=_is_rare,
        )


def prepare(connection: Connection, name: str, *, read_only: bool) -> None:
    """Make the tables, or bring them to the version of today, within one transaction.

    Args:
        connection: In a transaction that no other writer can enter, unless read-only.
        name: Of the database, for messages.
        read_only: Make and change nothing.

    Raises:
        StoreError: The tables are missing or old and may not be made; they are newer
            than this program; or they belong to something else.
    """
    version = _version(connection, name)
    if version == VERSION:
        return
    if version > VERSION:
        raise StoreError(
            f"the catalog {name} has version {version}, this program knows versions up to "
            f"{VERSION}: use the newer program that wrote it, or another database"
        )
    if read_only:
        found = f"has version {version} instead of {VERSION}" if version else "has no tables yet"
        raise StoreError(f"the catalog {name} {found}: a crawl that uses it makes them")
    if version == 0:
        _check_encoding(connection, name)
        METADATA.create_all(connection, checkfirst=False)
        connection.execute(insert(CATALOG).values(version=VERSION, pages=0))
        return
    for step in range(version, VERSION):
        MIGRATIONS[step](connection)
    connection.execute(update(CATALOG).values(version=VERSION))


def lock(connection: Connection, name: str) -> None:
    """Wait until no other writer is left, and keep others out until the transaction ends.

    Raises:
        StoreError: A newer program has changed the tables since they were prepared.
    """
    version = connection.execute(select(CATALOG.c.version).with_for_update()).scalar_one()
    if version != VERSION:
        raise StoreError(
            f"the catalog {name} was brought to version {version} by a newer program while this "
            f"one, which knows version {VERSION}, was running: stop this one"
        )


def _check_encoding(connection: Connection, name: str) -> None:
    if connection.dialect.name != "postgresql":
        return
    encoding = connection.exec_driver_sql("SELECT current_setting('server_encoding')").scalar()
    if encoding != "UTF8":
        raise StoreError(
            f"the database {name} has the encoding {encoding}, in which not every page can be "
            "kept: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name that"
        )


def _version(connection: Connection, name: str) -> int:
    """Return the version of the tables; 0 where there are none."""
    there = inspect(connection)
    if there.has_table(CATALOG.name):
        columns = {column["name"] for column in there.get_columns(CATALOG.name)}
        if columns >= set(CATALOG.c.keys()):
            version = connection.execute(select(func.max(CATALOG.c.version))).scalar_one()
            if version is not None and version > 0:
                return int(version)
    elif not any(there.has_table(table) for table in METADATA.tables):
        return 0
    raise StoreError(
        f"{name} has tables of the names {', '.join(METADATA.tables)} that are no catalog's: "
        "they belong to something else; name another database"
    )
