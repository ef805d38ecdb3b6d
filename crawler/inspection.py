"""Reads a job directory from outside: its books, its hosts, and what is wrong with it."""

from __future__ import annotations

import heapq
import json
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crawler.commit import committed_lengths
from crawler.directory import store_of
from crawler.errors import StoreError
from crawler.frontier import RocksEngine
from crawler.frontier.counts import Counts
from crawler.frontier.engine import Engine, Table, all_rows
from crawler.frontier.entry import Entry
from crawler.frontier.seen import CODES
from crawler.frontier.snapshot import read_counts, read_hosts
from crawler.outbox import catalog_sign
from crawler.store import JobLock, check_committed
from crawler.stores import CATALOG, PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.model import Outcome, Reason

_MOST_HOSTS = 100
_MOST_FAULTS = 50
_PREFIX = 8  # bytes of a queue's rows, see crawler.frontier.engine


@dataclass(slots=True)
class Inspection:
    """What a job directory holds; ``faults`` is empty when all of it fits together."""

    directory: Path
    counts: Counts
    hosts: int = 0
    disk_bytes: int = 0
    rows: int = 0
    oldest: str | None = None
    busiest: list[tuple[str, int]] = field(default_factory=list)
    blocked: list[tuple[str, float]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; times are seconds since the epoch."""
        counts = self.counts
        return {
            "directory": str(self.directory),
            "disk_bytes": self.disk_bytes,
            "hosts": self.hosts,
            "discovered": counts.discovered,
            "queued": counts.queued,
            "waiting": counts.waiting,
            "fetches": counts.fetches,
            "done": {outcome.value: n for outcome, n in counts.done.items()},
            "rejected": {reason.value: n for reason, n in counts.rejected.items()},
            "oldest": self.oldest,
            "busiest": dict(self.busiest),
            "blocked_until": dict(self.blocked),
            "checked_rows": self.rows,
            "faults": self.faults,
        }

    def fault(self, text: str) -> None:
        """Note something that does not fit, up to a bound."""
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(text)


def inspect(directory: Path, *, rows: bool, now: float) -> Inspection:
    """Read the state of a crawl that is not running.

    Args:
        directory: The job directory.
        rows: Also read every row and compare it with the books. O(known URLs).
        now: Crawl time, to tell which hosts still rest.

    Raises:
        StoreError: There is no crawl, a process is using it, or its store cannot be opened.
    """
    store = store_of(directory)
    lock = JobLock.acquire(directory)
    try:
        engine = RocksEngine(store, read_only=True)
        try:
            return _read(directory, engine, rows=rows, now=now)
        finally:
            engine.close()
    finally:
        lock.release()


def _read(directory: Path, engine: Engine, *, rows: bool, now: float) -> Inspection:
    books = read_counts(engine)
    found = Inspection(directory, books[0] if books is not None else Counts())
    found.disk_bytes = sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
    queued = _read_hosts(found, engine, now)
    found.counts.queued = sum(queued.values())
    found.counts.waiting = sum(1 for _ in _rows(found, engine, Table.WAITING))
    if found.counts.imbalance():
        found.fault(
            f"{found.counts.discovered:,} URLs were discovered, {found.counts.imbalance():+,} of "
            "them are in no state"
        )
    _check_outputs(found, engine)
    if rows:
        _check_rows(found, engine, queued)
        _check_catalog(found, engine)
    return found


def _read_hosts(found: Inspection, engine: Engine, now: float) -> Counter[bytes]:
    """Read the hosts; return the number of queued URLs by queue."""
    queued: Counter[bytes] = Counter()
    sizes: Counter[str] = Counter()
    for host in read_hosts(engine):
        found.hosts += 1
        for queue in host.queues:
            queued[queue.prefix] = len(queue)
            sizes[host.key] += len(queue)
        if host.blocked_until > now:
            found.blocked.append((host.key, host.blocked_until))
    found.busiest = sizes.most_common(_MOST_HOSTS)
    found.blocked = heapq.nsmallest(_MOST_HOSTS, found.blocked, key=lambda pair: pair[1])
    return queued


def _check_outputs(found: Inspection, engine: Engine) -> None:
    """Compare the length of every output with what was committed."""
    for name, committed in committed_lengths(engine).items():
        try:
            check_committed(found.directory / name, committed)
        except StoreError as error:
            found.fault(str(error))


def _check_rows(found: Inspection, engine: Engine, queued: Counter[bytes]) -> None:
    """Read every row and compare the sums with the books."""
    rows: Counter[bytes] = Counter()
    first: tuple[bytes, str] | None = None
    for key, row in _rows(found, engine, Table.QUEUE):
        rows[key[:_PREFIX]] += 1
        try:
            entry = Entry.decode(row)
        except StoreError as error:
            found.fault(str(error))
            continue
        age = key[_PREFIX + 1 :]
        if first is None or age < first[0]:
            first = age, entry.url
    found.oldest = first[1] if first is not None else None
    if rows != queued:
        found.fault(f"{rows.total():,} URLs are queued, the hosts' rows say {queued.total():,}")
    _check_states(found, engine)
    _check_lines(found, engine)


def _check_states(found: Inspection, engine: Engine) -> None:
    """Compare the state of every known URL with the books, where states are kept."""
    if engine.get_many(Table.META, [b"seen"])[0] != b"exact":
        return
    states = Counter(CODES.get(code, "unreadable") for _, code in _rows(found, engine, Table.SEEN))
    counts = found.counts
    expected: Counter[Any] = Counter({None: counts.queued + counts.waiting})
    expected.update(counts.done)
    expected.update(counts.rejected)
    for state in sorted({*states, *expected}, key=str):
        if states[state] != expected[state]:
            found.fault(
                f"{states[state]:,} known URLs are in state {_name(state)}, "
                f"the books say {expected[state]:,}"
            )


def _check_lines(found: Inspection, engine: Engine) -> None:
    """Check that the committed part of the export is whole lines, one a stored page."""
    committed = committed_lengths(engine).get(PAGES, 0)
    path = found.directory / PAGES
    if not committed or not path.exists():
        return
    lines = 0
    with path.open("rb") as file:
        while file.tell() < committed and (line := file.readline()):
            lines += 1
            if not _is_record(line):
                found.fault(f"{path}, line {lines}: not one JSON object")
    if lines != found.counts.stored:
        found.fault(f"{path} has {lines:,} lines, {found.counts.stored:,} pages are stored")


def _check_catalog(found: Inspection, engine: Engine) -> None:
    """Check that a catalog in the directory is this crawl's."""
    sign, path = catalog_sign(engine), found.directory / CATALOG
    if sign is None or not sign.beside:
        return
    if not path.exists():
        found.fault(f"{path} is missing: restore it from a copy")
        return
    from crawler.store.catalog import Catalog  # SQLAlchemy takes a while to import

    try:
        with closing(Catalog.open(str(path), read_only=True)) as catalog:
            if catalog.page(sign.url_hash) is None:
                found.fault(f"{path} has not the pages of this crawl: restore it from a copy")
    except StoreError as error:
        found.fault(str(error))


def _rows(found: Inspection, engine: Engine, table: Table) -> Iterator[tuple[bytes, bytes]]:
    """Yield all rows of a table and count them."""
    for row in all_rows(engine, table):
        found.rows += 1
        yield row


def _is_record(line: bytes) -> bool:
    try:
        return line.endswith(b"\n") and isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _name(state: Outcome | Reason | str | None) -> str:
    if state is None:
        return "queued or waiting"
    return state if isinstance(state, str) else state.value
