"""Which URL goes next, and when: the one place through which a host is reached.

See the package docstring for the states and the levels.
"""

from __future__ import annotations

import heapq
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from crawler.errors import StoreError
from crawler.frontier import snapshot
from crawler.frontier.agenda import Agenda
from crawler.frontier.approximate import ApproximateSeenSet
from crawler.frontier.counts import Counts
from crawler.frontier.engine import Batch, Engine, Table, all_rows
from crawler.frontier.entry import Entry
from crawler.frontier.hosts import Errand, Host, Kind, Lease, UrlQueue
from crawler.frontier.intake import Admission, Intake, Key
from crawler.frontier.queues import Queues
from crawler.frontier.rests import Rest, find_rests
from crawler.frontier.seen import ExactSeenSet, SeenSet
from crawler.model import (
    Allow,
    Deny,
    Discovery,
    Fetch,
    Gate,
    HostKey,
    Origin,
    Outcome,
    Pending,
    Reason,
    Wait,
)
from crawler.model import Fingerprint as Mark
from crawler.urls import host_key
from crawler.urls import origin as origin_of

if TYPE_CHECKING:
    from crawler.frontier.guard import Guard
    from crawler.frontier.options import FrontierOptions

_MOMENT = struct.Struct(">d")
_WORK_PER_CALL = 1000
"""URLs one ``next`` may ask the gate about before it lets the event loop breathe."""

GateKeeper = Callable[[str, Origin], Gate]


class Frontier:
    """Queues, leases and host clocks of one crawl over a storage engine.

    Invariants: one turn in transfer per host; no turn before the host's clock; every
    discovered URL in exactly one state (:class:`Counts`); a known URL is never queued again,
    unless it was rejected for the way it was found and is found in a better one. Not
    thread-safe: one event loop owns it.

    Cost: ``add`` O(log queue) a URL, ``next`` O(log hosts); memory per host with
    work and per buffered URL (both bounded, see docs/architecture.md), not per known URL.

    Args:
        engine: Where everything is kept.
        options: Bounds and pace.
        admit: Asked once per new URL, from the URL alone: why it is never to be fetched.
        key: URL → comparison key; URLs with one key are one URL.
        now: Crawl time. On a store that was used before, every host rests for its delay
            from here on: the last requests before a crash may not have been recorded.
        guard: Asked about each new URL that was admitted, and again before it goes; None
            objects to nothing.
    """

    def __init__(
        self,
        engine: Engine,
        options: FrontierOptions,
        *,
        admit: Admission,
        key: Key,
        now: float,
        guard: Guard | None = None,
    ) -> None:
        self.options = options
        self._guard = guard
        kept = snapshot.read_counts(engine)
        self.counts, sequence = kept or (Counts(), 0)
        self.hosts: dict[HostKey, Host] = {}
        self.leases: dict[int, Lease] = {}
        self.smallest_pause: tuple[float, HostKey, float] | None = None
        """Shortest time in s from the end of a transfer to the next hand-out at the same
        host, that host, and its delay; None before any host was asked twice."""
        self._engine = engine
        self._agenda = Agenda(options.aging)
        self._batch = Batch()
        self._seen: SeenSet = (
            ApproximateSeenSet(engine, lambda: self._batch, options)
            if options.seen == "approximate"
            else ExactSeenSet(engine, lambda: self._batch)
        )
        self._note_kind_of_seen_set()
        self._touched: dict[HostKey, Host] = {}
        self._errand_hosts: dict[HostKey, Host] = {}
        self._waiting: list[tuple[float, Mark, Entry]] = []
        self._queues = Queues(engine, lambda: self._batch, options.buffer, sequence)
        self._intake = Intake(
            options,
            self._seen,
            self.counts,
            admit=admit,
            key=key,
            guard=guard,
            host=self.host,
            enqueue=self._enqueue,
        )
        self._restarted_at = now if kept is not None else 0.0  # 0: the store is new
        self._turns = 0
        if kept is not None:
            self._restore(now)

    # --- discovery -------------------------------------------------------------------

    def add(self, found: Discovery, now: float) -> int:
        """Queue the URLs that are new and admitted; known ones are ignored.

        Args:
            found: URLs in the order in which they were found.
            now: Crawl time.

        Returns:
            How many were queued.
        """
        hosts = self._intake.take_all(found)
        for host in {host.key: host for host in hosts}.values():
            self._agenda.place(host, now)
        return len(hosts)

    def readmit(self, reason: Reason, found: Discovery, now: float) -> None:
        """Take a URL that was rejected as if it were new: the reason may hold no longer.

        Args:
            reason: Why it was rejected. It must not have been found in a better way since.
            found: It alone, and how it was found.
            now: Crawl time.
        """
        host = self._intake.retake(found, reason)
        if host is not None:
            self._agenda.place(host, now)

    def _enqueue(self, entry: Entry, host: Host) -> None:
        self._queues.put(entry, self._queues.of(origin_of(entry.url), host))
        self.counts.queued += 1
        self._touched[host.key] = host

    # --- hand-out --------------------------------------------------------------------

    def next(self, now: float, gate: GateKeeper) -> Lease | None:
        """Hand out the best turn that is due, or None.

        Args:
            now: Crawl time.
            gate: Asked about each URL just before it would go: may it, and what must be
                fetched first.
        """
        self._requeue_due(now)
        work = _WORK_PER_CALL
        while work > 0:
            host = self._agenda.pop(now) if self._room() else self._pop_errand_host(now)
            if host is None:
                return None
            lease, spent = self._turn(host, now, gate, work)
            work -= spent
            if lease is None:
                self._agenda.place(host, now)
            elif lease.kind is not Kind.TICKET:
                return lease
        return None

    def next_errand(self, now: float) -> Lease | None:
        """Hand out an errand that is due, or None; a ticket is granted at that."""
        host = self._pop_errand_host(now)
        return None if host is None else self._lease_errand(host, now)

    def wake_at(self, now: float) -> float | None:
        """Return when ``next`` may have something: not before ``now``; None if nothing is due."""
        if not self._room():
            times = [host.clock for host in self._errand_hosts.values() if not host.busy]
        else:
            times = [entry[0] for entry in self._waiting[:1]]
            at = self._agenda.next_at(now)
            if at is not None:
                times.append(at)
        return max(now, min(times)) if times else None

    @property
    def pending(self) -> bool:
        """Whether anything is out, or may still go out under the crawl's caps."""
        if self.leases:
            return True
        return not self.full and bool(self.counts.unfinished or self._errand_hosts)

    @property
    def full(self) -> bool:
        """Whether a cap on the whole crawl is reached."""
        pages, fetches = self.options.max_pages, self.options.max_fetches
        return bool(
            (pages and self.counts.stored >= pages) or (fetches and self.counts.fetches >= fetches)
        )

    @property
    def full_reason(self) -> str:
        """Name the cap that is reached."""
        pages = self.options.max_pages
        return "max_pages" if pages and self.counts.stored >= pages else "max_fetches"

    def _room(self) -> bool:
        """Whether one more page in flight cannot exceed a cap, whatever becomes of the others."""
        pages = self.options.max_pages
        return not self.full and not (pages and self.counts.stored + self.counts.leased >= pages)

    def _pop_errand_host(self, now: float) -> Host | None:
        """While pages must wait for room, errands go on: a page in flight may depend on one."""
        for host in self._errand_hosts.values():
            if not host.busy and host.clock <= now:
                self._agenda.remove(host)
                return host
        return None

    def _turn(
        self, host: Host, now: float, gate: GateKeeper, work: int
    ) -> tuple[Lease | None, int]:
        """Use a host's turn for an errand or for its best URL; say too what it took."""
        if host.errands:
            return self._lease_errand(host, now), 1
        spent = 0
        for queue in self._ranked(host):
            while spent < work and not queue.held and queue.not_before <= now:
                entry = self._queues.head(queue)
                if entry is None:
                    break
                spent += 1
                lease = self._try_head(host, queue, entry, now, gate)
                if lease is None and host.errands:
                    lease = self._lease_errand(host, now)
                if lease is not None:
                    return lease, spent
        return None, max(1, spent)

    def _ranked(self, host: Host) -> list[UrlQueue]:
        """Return a host's queues, the one with the best URL first; most hosts have just one."""
        queues = host.open_queues()
        if len(queues) > 1:
            for queue in queues:
                self._queues.head(queue)
            queues.sort(key=UrlQueue.rank)
        return queues

    def _try_head(
        self, host: Host, queue: UrlQueue, entry: Entry, now: float, gate: GateKeeper
    ) -> Lease | None:
        """Ask about the best URL of a queue, and do with it as the answer says."""
        if entry.first_try and self._intake.is_used_up(host):
            self._drop_head(host, queue, Reason.HOST_BUDGET)
            return None
        objection = self._object(entry)
        if objection is not None:
            self._drop_head(host, queue, objection)
            return None
        answer = gate(entry.url, queue.origin)
        match answer:
            case Deny(reason=reason):
                self._drop_head(host, queue, reason)
            case Fetch(url):
                queue.held = True
                self._send_errand(Errand(Kind.ROBOTS, url, queue.origin), now)
            case Wait(until):
                queue.not_before = until
            case Pending():
                queue.held = True
            case Allow():
                return self._lease_page(host, queue, now)
            case _:
                raise AssertionError(f"no answer of a gate: {answer!r}")
        return None

    def _object(self, entry: Entry) -> Reason | None:
        """Return what the guard has against a queued URL that was never asked for."""
        if self._guard is None or not entry.first_try or entry.payload:
            return None
        return self._guard.recheck(entry)

    def _drop_head(self, host: Host, queue: UrlQueue, reason: Reason) -> None:
        key, entry = self._queues.take(queue)
        self._queues.forget(key)
        self._seen.set(entry.fingerprint, reason)
        self.counts.queued -= 1
        self.counts.rejected[reason] += 1
        self._touched[host.key] = host

    def _lease_page(self, host: Host, queue: UrlQueue, now: float) -> Lease:
        key, entry = self._queues.take(queue)
        queue.leased = (*queue.leased, key)
        self.counts.queued -= 1
        self.counts.leased += 1
        if entry.first_try:
            host.used += 1
            self.counts.fetches += 1
        lease = self._lease(host, Kind.PAGE, entry.url, now)
        lease.entry, lease.queue, lease.key = entry, queue, key
        return lease

    def _lease_errand(self, host: Host, now: float) -> Lease:
        errand, *rest = host.errands
        host.errands = tuple(rest)
        if not rest:
            del self._errand_hosts[host.key]
        lease = self._lease(host, errand.kind, errand.url, now)
        lease.origin = errand.origin
        if errand.granted is not None:
            errand.granted(lease)
        return lease

    def _lease(self, host: Host, kind: Kind, url: str, now: float) -> Lease:
        self._turns += 1
        lease = Lease(number=self._turns, kind=kind, url=url, host=host, at=now)
        host.busy = True
        self._agenda.remove(host)
        if host.ended_at:
            pause = (now - host.ended_at, host.key, self.host_delay(host))
            if self.smallest_pause is None or pause < self.smallest_pause:
                self.smallest_pause = pause
        self.leases[lease.number] = lease
        return lease

    # --- errands ---------------------------------------------------------------------

    def ticket(self, url: str, granted: Callable[[Lease], None], now: float) -> None:
        """Ask for a turn at the URL's host ahead of its queued URLs; ``granted`` is told."""
        self._send_errand(Errand(Kind.TICKET, url, granted=granted), now)

    def fetch_rules(self, origin: Origin, url: str, now: float) -> None:
        """Fetch ``url`` for the rules of ``origin``: its robots.txt, or a redirect's target."""
        self._send_errand(Errand(Kind.ROBOTS, url, origin), now)

    def open_origin(self, origin: Origin, now: float) -> None:
        """Let the URLs of an origin ask the gate again: its errand has come back."""
        host = self.host(host_key(origin))
        queue = self._queues.of(origin, host)
        queue.held = False
        queue.not_before = 0.0
        self._agenda.place(host, now)

    def _send_errand(self, errand: Errand, now: float) -> None:
        host = self.host(host_key(errand.url))
        host.errands = (*host.errands, errand)
        self._errand_hosts[host.key] = host
        self._agenda.place(host, now)

    # --- end of a turn ---------------------------------------------------------------

    def transfer_ended(self, lease: Lease, now: float) -> None:
        """Start the host's delay: the last byte of the answer, or the failure, is in.

        Idempotent. A turn that never reached the network ends the same way: its host rests
        all the same, which errs on the polite side.
        """
        if not lease.transferring:
            return
        lease.transferring = False
        host = lease.host
        host.busy = False
        self.counts.hosts += not host.ended_at
        host.ended_at = now
        host.next_at = now + self.host_delay(host)
        self._touched[host.key] = host
        if lease.kind is not Kind.PAGE:
            self.leases.pop(lease.number, None)
        self._agenda.place(host, now)

    def done(
        self, lease: Lease, outcome: Outcome, now: float, *, found: Sequence[Discovery] = ()
    ) -> None:
        """Record how a leased URL ended, and queue what it led to, as one change."""
        entry = self._settle(lease, now)
        self._seen.set(entry.fingerprint, outcome)
        self.counts.done[outcome] += 1
        for discovery in found:
            self.add(discovery, now)

    def retry(
        self, lease: Lease, not_before: float, now: float, *, tries: int, throttles: int
    ) -> None:
        """Take a leased URL back; it is handed out again no earlier than ``not_before``.

        Args:
            lease: Of the URL.
            not_before: Crawl time.
            now: Crawl time.
            tries: Broken tries of the URL so far, this one included.
            throttles: Throttled tries of the URL so far, this one included.
        """
        entry = self._settle(lease, now)
        entry.tries, entry.throttles = tries, throttles
        if entry.first_try:  # the try does not count: the next one is the first again
            lease.host.used -= 1
            self.counts.fetches -= 1
        if not_before <= now:
            self._enqueue(entry, lease.host)
            self._agenda.place(lease.host, now)
            return
        self.counts.waiting += 1
        self._batch.put(Table.WAITING, entry.fingerprint, _MOMENT.pack(not_before) + entry.encode())
        self._wait(entry, not_before)

    def _settle(self, lease: Lease, now: float) -> Entry:
        """Take the lease of a page off the books."""
        self.transfer_ended(lease, now)
        entry, queue = lease.entry, lease.queue
        if entry is None or queue is None or self.leases.pop(lease.number, None) is None:
            raise AssertionError(f"no lease of a page, or settled before: {lease.url}")
        queue.leased = tuple(key for key in queue.leased if key != lease.key)
        self.counts.leased -= 1
        self._queues.forget(lease.key)
        self._touched[lease.host.key] = lease.host
        return entry

    def _wait(self, entry: Entry, until: float) -> None:
        heapq.heappush(self._waiting, (until, entry.fingerprint, entry))

    def _requeue_due(self, now: float) -> None:
        while self._waiting and self._waiting[0][0] <= now:
            _, _, entry = heapq.heappop(self._waiting)
            self._batch.delete(Table.WAITING, entry.fingerprint)
            self.counts.waiting -= 1
            host = self.host(host_key(entry.url))
            self._enqueue(entry, host)
            self._agenda.place(host, now)

    # --- host clocks -----------------------------------------------------------------

    def host(self, key: HostKey) -> Host:
        """Return a host: from memory, from the store, or new."""
        host = self.hosts.get(key)
        if host is None:
            host = snapshot.read_host(self._engine, key) or Host(key)
            self._rest_after_restart(host)
            self.hosts[key] = self._touched[key] = host  # the next commit lets it go if idle
        return host

    def _rest_after_restart(self, host: Host) -> None:
        """Keep the delay to a request that was out when an earlier run ended unrecorded."""
        if self._restarted_at:
            host.next_at = max(host.next_at, self._restarted_at + self.host_delay(host))

    def host_delay(self, host: Host) -> float:
        """Return the seconds that count for a host: ours, or the site's own if longer."""
        return max(self.options.delay, host.asked_delay)

    def block(self, host: Host, until: float, now: float) -> None:
        """Send nothing to a host before ``until``; a block is never shortened."""
        if until > host.blocked_until:
            host.blocked_until = until
            self._touched[host.key] = host
            self._agenda.place(host, now)

    def ask_delay(self, host: Host, seconds: float, now: float) -> None:
        """Note the site's own crawl delay; it counts from the last transfer on."""
        host.asked_delay = seconds
        if host.ended_at:
            host.next_at = max(host.next_at, host.ended_at + self.host_delay(host))
        self._touched[host.key] = host
        self._agenda.place(host, now)

    def host_states(self) -> tuple[int, int]:
        """Return how many hosts with URLs queued are ready, and how many rest."""
        return self._agenda.ready, self._agenda.on_it - self._agenda.ready

    def rests(self, now: float) -> list[Rest]:
        """Return the hosts with URLs that rest, why and until when; those due first go first."""
        waiting = ((until, entry) for until, _, entry in self._waiting)
        return find_rests(self.hosts, waiting, now)

    # --- commit ----------------------------------------------------------------------

    def put(self, table: Table, key: bytes, value: bytes) -> None:
        """Add a row of another part to the next batch, so that both stand or fall together."""
        self._batch.put(table, key, value)

    def remove(self, table: Table, key: bytes) -> None:
        """Remove a row of another part with the next batch."""
        self._batch.delete(table, key)

    def row(self, table: Table, key: bytes) -> bytes | None:
        """Return a row of another part, as it will be after the next batch."""
        changed = self._batch.tables[table]
        return changed[key] if key in changed else self._engine.get_many(table, [key])[0]

    def rows(self, table: Table, prefix: bytes) -> list[tuple[bytes, bytes]]:
        """Return rows of another part whose keys begin so, as they will be after the batch."""
        found: dict[bytes, bytes | None] = dict(self._engine.scan(table, prefix=prefix))
        changed = self._batch.tables[table]
        found.update((key, row) for key, row in changed.items() if key.startswith(prefix))
        return [(key, row) for key, row in found.items() if row is not None]

    def seen_stats(self) -> dict[str, float]:
        """Return what an operator should know of the seen set; nothing for the exact one."""
        return self._seen.stats()

    def commit(self, write: Callable[[Batch], None], *, closing: bool = False) -> None:
        """Have all changes since the last commit written as one.

        Whatever ``write`` raises is passed on, and nothing is lost: the changes are part of
        the next commit. Hosts that have nothing left to do go from memory afterwards; their
        rows say all of it.
        """
        self._seen.save(closing=closing)
        first_tries = Counter(
            lease.host.key
            for lease in self.leases.values()
            if lease.entry is not None and lease.entry.first_try
        )
        snapshot.describe(
            self._batch,
            self.counts,
            self._queues.sequence,
            self._touched.values(),
            first_tries,
        )
        write(self._batch)
        for host in self._touched.values():
            if host.idle:
                self._agenda.remove(host)
                self.hosts.pop(host.key, None)
        self._batch = Batch()
        self._touched = {}
        self._queues.written()

    def _note_kind_of_seen_set(self) -> None:
        """Refuse to look for exact rows where only a filter was kept; the other way works."""
        name = b"seen"
        kept = self._engine.get_many(Table.META, [name])[0]
        if kept == b"approximate" and self.options.seen != "approximate":
            raise StoreError(
                "this crawl was begun with FRONTIER_SEEN=approximate and has no exact seen set: "
                "go on with that setting, or start anew with another JOBDIR"
            )
        self._batch.put(Table.META, name, self.options.seen.encode())

    def _restore(self, now: float) -> None:
        """Continue where the engine's last commit left off; leased URLs are queued again."""
        for host in snapshot.read_hosts(self._engine):
            if not host.idle:
                self._rest_after_restart(host)
                self.hosts[host.key] = host
                self.counts.queued += sum(map(len, host.queues))
                self._agenda.place(host, now)
        for _, row in all_rows(self._engine, Table.WAITING):
            self._wait(Entry.decode(row[_MOMENT.size :]), _MOMENT.unpack_from(row)[0])
            self.counts.waiting += 1
