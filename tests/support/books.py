"""What a job directory says, read from a copy: the crawl finds the original as it was left."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.commit import committed_lengths
from crawler.directory import STORE
from crawler.frontier import RocksEngine
from crawler.frontier.engine import Table
from crawler.frontier.seen import CODES
from crawler.frontier.snapshot import read_hosts
from crawler.inspection import inspect
from crawler.stores import PAGES
from crawler.urls import Canonicalizer, UrlOptions, fingerprint, host_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.frontier.seen import State


@dataclass(frozen=True, slots=True)
class Books:
    """The committed state of a crawl.

    Attributes:
        states: Of each known URL among those asked for: how it ended, why it was rejected, or
            None while it is on its way.
        lines: The URL of each committed line, in order.
        blocked: Until when hosts rest, by host key; seconds since the epoch.
        faults: What does not fit together; empty when all does.
    """

    states: dict[str, State]
    lines: list[str]
    blocked: dict[str, float]
    faults: list[str]

    @property
    def done(self) -> set[str]:
        """The URLs that are never fetched again."""
        return {url for url, state in self.states.items() if state is not None}


def read_books(jobdir: Path, urls: Iterable[str]) -> Books:
    """Read and verify a job directory that nobody is writing to.

    Raises:
        StoreError: It cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="books-") as folder:
        copy = Path(folder) / "job"
        if jobdir.exists():
            shutil.copytree(jobdir, copy)
        if not (copy / STORE).exists():
            return Books({}, [], {}, [])  # killed before there was a crawl
        faults = inspect(copy, rows=True, now=0.0).faults
        engine = RocksEngine(copy / STORE)
        try:
            return _read(copy, engine, list(urls), faults)
        finally:
            engine.close()


def _read(folder: Path, engine: RocksEngine, urls: list[str], faults: list[str]) -> Books:
    key = Canonicalizer(UrlOptions()).key
    marks = [fingerprint(host_key(url), key(url)) for url in urls]
    codes = zip(urls, engine.get_many(Table.SEEN, marks), strict=True)
    committed = committed_lengths(engine).get(PAGES, 0)
    data = (folder / PAGES).read_bytes()[:committed] if committed else b""
    return Books(
        states={url: CODES[code] for url, code in codes if code is not None},
        lines=[json.loads(line)["url"] for line in data.splitlines()],
        blocked={host.key: host.blocked_until for host in read_hosts(engine)},
        faults=faults,
    )
