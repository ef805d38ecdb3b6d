"""What a commit says of hosts and counts beside the rows, and how a start reads it back."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from crawler.frontier.counts import Counts
from crawler.frontier.engine import Batch, Engine, Table
from crawler.frontier.hosts import Host, UrlQueue
from crawler.model import HostKey, Origin, Outcome, Reason
from crawler.urls import host_hash

if TYPE_CHECKING:
    from collections.abc import Iterable

_COUNTS = b"frontier"
_CLOCKS = ("next_at", "blocked_until", "asked_delay", "used", "throttles", "failures", "ended_at")


def describe(batch: Batch, counts: Counts, sequence: int, hosts: Iterable[Host]) -> None:
    """Add the rows of changed hosts and of the counts to a batch.

    Leased URLs are written as queued: their rows are still in the queue table, and only
    the commit that records their outcome takes them away.
    """
    for host in hosts:
        batch.put(Table.HOST, host.key.encode(), json.dumps(_host_row(host)).encode())
    row = {
        "discovered": counts.discovered,
        "fetches": counts.fetches,
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
    row = json.loads(value)
    counts = Counts(
        discovered=row["discovered"],
        fetches=row["fetches"],
        done=Counter({Outcome(name): n for name, n in row["done"].items()}),
        rejected=Counter({Reason(name): n for name, n in row["rejected"].items()}),
    )
    return counts, row["sequence"]


def read_hosts(engine: Engine) -> Iterable[Host]:
    """Yield every host with its clocks and the number of rows in each of its queues."""
    for key, value in engine.scan(Table.HOST):
        yield _host(HostKey(key.decode()), json.loads(value))


def _host_row(host: Host) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(host, name) for name in _CLOCKS}
    row["exhausted"] = host.exhausted
    row["queues"] = {q.origin: len(q) + len(q.leased) for q in host.queues.values()}
    return row


def _host(key: HostKey, row: dict[str, Any]) -> Host:
    host = Host(key, **{name: row[name] for name in _CLOCKS}, exhausted=row["exhausted"])
    for name, rows in row["queues"].items():
        origin = Origin(name)
        queue = host.queues[origin] = UrlQueue(origin, host_hash(origin))
        queue.stored = rows
    return host
