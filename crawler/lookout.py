"""Between the frontier and the traps: what it asks, what came of fetches, and where it is kept."""

from __future__ import annotations

import heapq
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from crawler.clock import iso_utc
from crawler.frontier.engine import Table
from crawler.model import Discovery, Reason
from crawler.traps import REVOCABLE, Observation, Stop, TrapOptions, Traps

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.frontier import Engine, Entry, Frontier, Lease
    from crawler.model import Outcome, Page

logger = logging.getLogger(__name__)

REPORT = "traps.json"
_MOST_REPORTED = 10_000


class FrontierRows:
    """Rows of the traps among those of the frontier, in its batches."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.frontier: Frontier | None = None  # known once it is made; it is given the guard

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a row, None where there is none."""
        if self.frontier is None:
            return self._engine.get_many(Table.TRAPS, [key])[0]
        return self.frontier.row(Table.TRAPS, key)

    def scan(self, prefix: bytes) -> list[tuple[bytes, bytes]]:
        """Return the rows whose keys begin so."""
        if self.frontier is None:
            return self._engine.scan(Table.TRAPS, prefix=prefix)
        return self.frontier.rows(Table.TRAPS, prefix)

    def put(self, key: bytes, value: bytes) -> None:
        """Set a row with the next batch."""
        assert self.frontier is not None
        self.frontier.put(Table.TRAPS, key, value)

    def delete(self, key: bytes) -> None:
        """Remove a row with the next batch."""
        assert self.frontier is not None
        self.frontier.remove(Table.TRAPS, key)


class Lookout:
    """The frontier's guard; and what tells the traps how fetches ended.

    Usage: made before the frontier, which takes it as its guard; then :meth:`watch`.
    """

    def __init__(self, engine: Engine, options: TrapOptions) -> None:
        self._rows = FrontierRows(engine)
        self.traps = Traps(options, self._rows)
        self._enabled = options.enabled
        self.reported: list[Stop] = []
        """The last report that was written."""

    def watch(self, frontier: Frontier, now: float) -> None:
        """Begin: rows go with this frontier's batches. Switched off, let go on what was stopped."""
        self._rows.frontier = frontier
        if not self._enabled:
            for reason, discovery in self.traps.release_all():
                frontier.readmit(reason, discovery, now)

    def report(self) -> list[Stop]:
        """Return the rules that have rejected URLs, those with most of them first.

        Switched off, none of them holds.
        """
        stops = self.traps.stops()
        if not self._enabled:
            stops = (replace(stop, holds=False, since=0.0) for stop in stops)
        return heapq.nlargest(_MOST_REPORTED, stops, key=lambda stop: stop.rejected)

    def write_report(self, directory: Path) -> None:
        """Write :data:`REPORT` into the job directory, and keep it for the summary."""
        self.reported = self.report()
        rows = [_row(stop) for stop in self.reported]
        try:
            (directory / REPORT).write_bytes(orjson.dumps(rows, option=orjson.OPT_INDENT_2))
        except OSError as error:
            logger.warning("%s could not be written: %s", directory / REPORT, error)

    # --- the frontier's questions --------------------------------------------------------

    def admit(self, url: str, found: Discovery) -> Reason | int:
        """Return why a new URL is rejected, or the priority with which it is queued."""
        return self.traps.admit(url, found) if self._enabled else found.priority

    def recheck(self, entry: Entry) -> Reason | None:
        """Return why a queued URL is rejected now."""
        if not self._enabled or (entry.depth == 0 and entry.referrer is None):
            return None
        return self.traps.recheck(
            Discovery(
                [entry.url],
                entry.depth,
                entry.referrer,
                entry.priority,
                entry.redirects,
                entry.copies,
            )
        )

    def reconsiders(self, url: str, reason: Reason) -> bool:
        """Whether a URL that was rejected for this reason would not be now."""
        return reason in REVOCABLE and (not self._enabled or self.traps.reconsiders(url))

    # --- what came of fetches ------------------------------------------------------------

    def settle(
        self,
        lease: Lease,
        outcome: Outcome,
        now: float,
        *,
        found: Sequence[Discovery],
        page: Page | None = None,
    ) -> None:
        """Record how a leased URL ended with what it led to, and learn from both.

        Args:
            lease: Of the URL.
            outcome: How it ended.
            now: Crawl time.
            found: What it led to.
            page: What was made of its answer.
        """
        frontier = self._rows.frontier
        assert frontier is not None
        if not self._enabled:
            frontier.done(lease, outcome, now, found=found)
            return
        self.traps.begin(
            Observation(
                lease.url,
                outcome,
                page.text if page is not None else "",
                page.duplicate.of if page is not None and page.duplicate is not None else None,
                lease.entry.referrer if lease.entry is not None else None,
            )
        )
        frontier.done(lease, outcome, now, found=found)
        self.traps.end(now)
        for reason, discovery in self.traps.release():
            frontier.readmit(reason, discovery, now)


def _row(stop: Stop) -> dict[str, Any]:
    """Return a rule as it is in the report."""
    return {
        "where": stop.where,
        "pattern": stop.pattern,
        "reason": stop.reason.value,
        "holds": stop.holds,
        "since": iso_utc(stop.since) if stop.since else None,
        "rejected": stop.rejected,
        "kept": stop.kept,
        "example": stop.example,
        "figures": stop.figures,
    }
