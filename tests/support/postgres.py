"""A real PostgreSQL server with a directory of its own, which may be stopped and started."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Self

import psycopg

START_S = 30.0
PASSWORD = "s3cret-word"
REMEDY = "PostgreSQL is not installed: run scripts/services, or apt-get install postgresql"
_OPTIONS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class PostgresUnavailableError(Exception):
    """There is no PostgreSQL here; the message says how to get it."""


def binaries() -> Path:
    """Return the folder with the newest server's programs.

    Raises:
        PostgresUnavailableError: There is none.
    """
    named = shutil.which("initdb")
    if named:
        return Path(named).resolve().parent
    folders = sorted(
        (path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")),
        key=lambda folder: int(folder.parent.name),
    )
    if not folders:
        raise PostgresUnavailableError(REMEDY)
    return folders[-1]


class PostgresServer:
    """A server on a free port of 127.0.0.1, from ``with`` to its end.

    Names are sorted as in English, so that whoever relies on the order of bytes must say
    so. PostgreSQL refuses to run as root; for root it runs as a user without rights.
    """

    def __init__(self) -> None:
        self._binaries = binaries()
        self._folder = Path(tempfile.mkdtemp(prefix="crawler-postgres-"))
        self._user = _unprivileged() if os.getuid() == 0 else None
        if self._user is not None:
            os.chown(self._folder, self._user.pw_uid, self._user.pw_gid)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self._names = (f"t{number}" for number in count())
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._make()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self._folder, ignore_errors=True)

    def url(self, *, password: str = PASSWORD, schema: str = "public") -> str:
        """Return the URL of the database, seen through a schema."""
        return (
            f"postgresql://crawler:{password}@127.0.0.1:{self.port}/postgres"
            f"?options=-csearch_path%3D{schema}"
        )

    def new_schema(self) -> str:
        """Return the URL of an empty schema that nobody else uses."""
        schema = next(self._names)
        self.run(f"CREATE SCHEMA {schema}")
        return self.url(schema=schema)

    def run(self, statement: str) -> None:
        """Run one statement."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement.encode())

    def start(self) -> None:
        """Start the server; it keeps its port and what was in it.

        Raises:
            AssertionError: It does not answer.
        """
        options = [part for option in _OPTIONS for part in ("-c", option)]
        self._process = self._popen(
            "postgres", "-D", "data", "-h", "127.0.0.1", "-p", str(self.port), "-k", ".", *options
        )
        until = time.monotonic() + START_S
        while True:
            try:
                return self.run("SELECT 1")
            except psycopg.OperationalError as error:
                said = f"{error}\n{self._log().read_text()}"
                assert self._process.poll() is None, f"PostgreSQL ended by itself: {said}"
                assert time.monotonic() < until, f"PostgreSQL does not answer: {said}"
                time.sleep(0.05)

    def stop(self, sent: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: connections are cut, transactions that run are rolled back."""
        if self._process is not None:
            self._process.send_signal(sent)
            self._process.wait(START_S)
            self._process = None

    def _make(self) -> None:
        (self._folder / "password").write_text(PASSWORD)
        (self._folder / "password").chmod(0o644)
        process = self._popen(
            "initdb", "-D", "data", "-U", "crawler", "-A", "scram-sha-256", "--no-sync",
            "--pwfile=password", "-E", "UTF8", "--locale=C.UTF-8",
            "--locale-provider=icu", "--icu-locale=en-US",
        )  # fmt: skip
        assert process.wait(START_S) == 0, self._log().read_text()

    def _popen(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        with self._log().open("ab") as log:
            return subprocess.Popen(
                [str(self._binaries / program), *arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=self._user and self._user.pw_uid,
                group=self._user and self._user.pw_gid,
                extra_groups=[] if self._user else None,
                start_new_session=True,
            )

    def _log(self) -> Path:
        return self._folder / "log"


def _unprivileged() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise PostgresUnavailableError("PostgreSQL does not run as root, and there is no other user")
