"""Which database a catalog is in, and how one talks to it: SQLite or PostgreSQL.

Here is all in which the two differ. Messages name the database as it was given, with its
password masked.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from sqlalchemy import URL, Engine, NullPool, QueuePool, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from crawler.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from sqlalchemy import Connection, Row, Select

DRIVER = "psycopg[binary]==3.3.9"
"""What pip installs for PostgreSQL; the extra ``postgresql`` of pyproject.toml."""

_T = TypeVar("_T")
_BUSY = 2.0  # s that a SQLite connection waits for another writer
_CACHE = 32 << 20  # bytes of a SQLite writer's page cache
_WAL = 64 << 20  # bytes to which SQLite's log is cut after a checkpoint
_CHECKPOINT = 4_000  # pages of the log, 16 MB: a page that changes often is copied back once
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",  # readers and the writer do not wait for each other
    "PRAGMA synchronous=FULL",  # a commit that has returned survives a power cut
    f"PRAGMA cache_size=-{_CACHE >> 10}",
    f"PRAGMA journal_size_limit={_WAL}",
    f"PRAGMA wal_autocheckpoint={_CHECKPOINT}",
)
# a writer that has vanished may not stop the others for ever
_TIMEOUTS = (
    "SELECT set_config('lock_timeout', '10s', true), "
    "set_config('idle_in_transaction_session_timeout', '60s', true)"
)
_CONNECT = {"connect_timeout": 10, "tcp_user_timeout": 15_000}  # s, ms
_FORMS = "a path, sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE"
_REMEDIES = (
    ("unable to open", "make its directory, or name another path"),
    ("not a database", "the file is something else's; name another path"),
    ("malformed", "restore it from a copy, or name another path"),
    ("locked", "another process writes to it; it can be tried again"),
    ("full", "make room on the disk; it can be tried again"),
    ("readonly", "give this user the right to write to the file and its directory"),
    ("authentication", "correct user and password"),
    ("does not exist", "create it, or name another"),
    ("connection", "see that the server runs and is reachable; it can be tried again"),
)


def open_database(url: str, *, read_only: bool) -> Database:
    """Return the database with an SQLAlchemy URL, or a path for SQLite; nothing is contacted yet.

    Raises:
        StoreError: The URL is none, or of another kind, or its driver is not installed.
    """
    if "://" not in url:
        return _sqlite(url, Path(url), read_only=read_only)
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise StoreError(
            f"{re.sub('//[^/]*@', '//***@', url)} is no URL of a database: give {_FORMS}"
        ) from None
    name = _masked(parsed)
    if parsed.drivername in ("postgresql", "postgresql+psycopg"):
        return _postgresql(name, parsed)
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise StoreError(f"{name}: a catalog is not kept in {parsed.drivername}: give {_FORMS}")
    if not parsed.database or parsed.database == ":memory:" or parsed.query or parsed.host:
        raise StoreError(f"{name} names no file, or more than that: give sqlite:///PATH")
    return _sqlite(name, Path(parsed.database), read_only=read_only)


class Database:
    """Connections to one database. Threads may share it."""

    def __init__(self, name: str, engine: Engine) -> None:
        self.name = name
        self.dialect = engine.dialect.name
        self._engine = engine
        self._reading = engine
        if self.dialect == "postgresql":  # spare BEGIN and ROLLBACK around one statement
            self._reading = engine.execution_options(isolation_level="AUTOCOMMIT")

    def read(self, work: Callable[[Connection], _T]) -> _T:
        """Return what some work returns that only reads; each statement sees one moment.

        Raises:
            StoreError: The database is out of reach or damaged.
        """
        with self._errors(), self._reading.connect() as connection:
            return work(connection)

    def rows(self, statement: Select[*tuple[Any, ...]]) -> Sequence[Row[*tuple[Any, ...]]]:
        """Return the rows of one statement; as :meth:`read`."""
        return self.read(lambda connection: connection.execute(statement).all())

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection in a transaction, which ends with the block; all or nothing.

        SQLite lets one transaction write at a time; in PostgreSQL a row has to be locked.

        Raises:
            StoreError: The database is out of reach, busy or full. Nothing was changed.
        """
        with self._errors(), self._engine.begin() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if self.dialect == "sqlite" else _TIMEOUTS)
            yield connection

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
            said = " ".join(str(cause).split())
            remedy = next((f"; {remedy}" for part, remedy in _REMEDIES if part in said), "")
            raise StoreError(f"the catalog {self.name} cannot be used: {said}{remedy}") from error

    def close(self) -> None:
        """Close all connections; idempotent."""
        self._engine.dispose()


class _FileForReading(Database):
    """A SQLite file that another process may write to.

    In WAL mode a reader makes the two files of the log where they are missing, and leaves
    them there as its own. So a file without a log, to which nothing writes, is read as an
    immutable one; had a writer come meanwhile, it is read again. No connection is
    kept, so none is ever in a writer's way.
    """

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(name, _sqlite_engine(path, "mode=ro", keep=False))
        self._at_rest = Database(name, _sqlite_engine(path, "mode=ro&immutable=1", keep=False))
        self._path = path
        self._log = path.with_name(path.name + "-wal")

    def read(self, work: Callable[[Connection], _T]) -> _T:
        stamp = self._stamp()
        if stamp is None:
            return super().read(work)
        try:
            result = self._at_rest.read(work)
        except StoreError:
            if self._stamp() == stamp:
                raise
        else:
            if self._stamp() == stamp:
                return result
        return self.read(work)

    def _stamp(self) -> tuple[int, ...] | None:
        """Return what tells one state of a file at rest from another; None: it has a log."""
        if self._log.exists():
            return None
        with contextlib.suppress(OSError):
            stat = self._path.stat()
            return stat.st_ino, stat.st_size, stat.st_mtime_ns
        return None


def _sqlite(name: str, path: Path, *, read_only: bool) -> Database:
    path = path.resolve()  # as SQLite does, beside whose file the log lies
    if read_only:
        return _FileForReading(name, path)
    return Database(name, _sqlite_engine(path, "mode=rwc", keep=True))


def _sqlite_engine(path: Path, mode: str, *, keep: bool) -> Engine:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?{mode}",
            uri=True,
            timeout=_BUSY,
            isolation_level=None,  # transactions begin where we say so
            check_same_thread=False,  # the pool hands it to one thread at a time
        )
        if keep:
            for pragma in _PRAGMAS:
                connection.execute(pragma)
        return connection

    return create_engine(
        "sqlite://",
        creator=connect,
        poolclass=QueuePool if keep else NullPool,
        hide_parameters=True,  # a page's values would fill the log
    )


def _postgresql(name: str, url: URL) -> Database:
    bounds = {option: value for option, value in _CONNECT.items() if option not in url.query}
    try:
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            connect_args=bounds,
            pool_pre_ping=True,  # a server that was restarted costs no write
            hide_parameters=True,
        )
    except ImportError as error:
        raise StoreError(
            f"the catalog {name} needs a driver that is not installed ({error}): "
            f"pip install '{DRIVER}'"
        ) from None
    return Database(name, engine)


def _masked(url: URL) -> str:
    secret = {option: "***" for option in url.query if "password" in option}
    shown = url.update_query_dict(secret).render_as_string(hide_password=True)
    return shown.replace("%2A%2A%2A", "***")
