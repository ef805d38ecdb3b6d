"""What a commit says of hosts and counts beside the rows, and how a start reads it back."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import orjson

from crawler.errors import StoreError
from crawler.frontier.counts import Counts
from crawler.frontier.engine import Batch, Engine, Table, all_rows
from crawler.frontier.hosts import Host, UrlQueue
from crawler.model import HostKey, Origin, Outcome, Reason
from crawler.urls import host_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_COUNTS = b"frontier"
_CLOCKS = (
    *("next_at", "blocked_until", "asked_delay", "ended_at"),
    *("used", "throttles", "failures"),
)


def describe(
    batch: Batch,
    counts: Counts,
    sequence: int,
    hosts: Iterable[Host],
    first_tries: Counter[HostKey],
) -> None:
    """Add the rows of changed hosts and of the counts to a batch.

    Leased URLs are written as queued: their rows are still in the queue table, and only
    the commit that records their outcome takes them away. So those that are out for the first
    time, ``first_tries`` by host, are not written as fetched: after a crash they are fetched,
    and counted, again.
    """
    for host in hosts:
        batch.put(Table.HOST, host.key.encode(), _host_row(host, first_tries[host.key]))
    row = {
        "discovered": counts.discovered,
        "fetches": counts.fetches - first_tries.total(),
        "hosts": counts.hosts,
        "done": {outcome.value: n for outcome, n in counts.done.items()},
        "rejected": {reason.value: n for reason, n in counts.rejected.items()},
        "sequence": sequence,
    }
    batch.put(Table.META, _COUNTS, json.dumps(row).encode())


def read_counts(engine: Engine) -> tuple[Counts, int] | None:
    """Return the settled counts and the last sequence number; None for a new store."""
    value = engine.get_many(Table.META, [_COUNTS])[0]
    if value is None:
        return None
    try:
        row = json.loads(value)
        counts = Counts(
            discovered=row["discovered"],
            fetches=row["fetches"],
            hosts=row["hosts"],
            done=Counter({Outcome(name): n for name, n in row["done"].items()}),
            rejected=Counter({Reason(name): n for name, n in row["rejected"].items()}),
        )
        return counts, row["sequence"]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged("the row of counts", error) from error


def read_hosts(engine: Engine) -> Iterator[Host]:
    """Yield every host with its clocks and the number of rows in each of its queues."""
    for key, value in all_rows(engine, Table.HOST):
        yield _host(HostKey(key.decode()), value)


def read_host(engine: Engine, key: HostKey) -> Host | None:
    """Return one host, None when the store has it not."""
    value = engine.get_many(Table.HOST, [key.encode()])[0]
    return _host(key, value) if value is not None else None


def _host_row(host: Host, first_tries: int) -> bytes:
    clocks = [getattr(host, name) for name in _CLOCKS]
    clocks[_CLOCKS.index("used")] -= first_tries
    queues = {q.origin: len(q) + len(q.leased) for q in host.queues}
    return orjson.dumps([clocks, queues])


def _host(key: HostKey, row: bytes) -> Host:
    try:
        clocks, queues = orjson.loads(row)
        known = clocks[: len(_CLOCKS)]  # rows of earlier versions have one value more
        host = Host(key, **dict(zip(_CLOCKS, known, strict=True)))
        for name, rows in queues.items():
            if rows:
                origin = Origin(name)
                queue = UrlQueue(origin, host_hash(origin))
                queue.stored = int(rows)
                host.queues = (*host.queues, queue)
    except (TypeError, ValueError, AttributeError) as error:
        raise _damaged(f"the row of host {key}", error) from error
    return host


def _damaged(what: str, error: Exception) -> StoreError:
    return StoreError(
        f"the frontier's store is damaged: {what} cannot be read ({error}); restore the job "
        "directory from a copy, or start anew with another JOBDIR"
    )
