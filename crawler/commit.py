"""Where outputs and frontier meet: the group commit.

The order is the promise. (1) Every output is flushed and synced; (2) one frontier batch
records the outcomes, the new links, the host clocks *and the committed length of every
output*; (3) the engine syncs. A crash before (2) leaves longer files, which the next start
cuts; a crash after it leaves nothing to do. So each page is in the outputs exactly once
if and only if its URL is done. (4) Sinks, which are stores of their own, are told of the
commit; they are behind by one commit at most, and never ahead.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from typing import TYPE_CHECKING, Protocol

from crawler.errors import StoreError
from crawler.frontier.engine import Table
from crawler.store import check_committed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crawler.frontier import Batch, Engine, Frontier

logger = logging.getLogger(__name__)

WITNESS = "committed"
"""File beside the store that names the last commit, so that an older store is recognised."""

_LENGTHS = b"outputs"
_LAST = b"commit"
_MOST_BEHIND = 60.0  # s; the files of a copied directory are of different moments


class Output(Protocol):
    """Files that only grow."""

    def sync(self) -> Mapping[str, int]:
        """Bring everything written to disk; return names and lengths of the files that grew."""
        ...

    def close(self) -> None:
        """Close the files."""
        ...


class Sink(Protocol):
    """A store of its own that learns of every commit after it was made."""

    def deliver(self) -> None:
        """Bring there what the last commits recorded for it; what fails is tried again.

        Raises:
            StoreError: It is out of reach.
        """
        ...

    def close(self) -> None:
        """Let the store go."""
        ...


def committed_lengths(engine: Engine) -> dict[str, int]:
    """Return the length of every output at the last commit, by file name; empty at first."""
    value = engine.get_many(Table.META, [_LENGTHS])[0]
    lengths: dict[str, int] = json.loads(value) if value else {}
    return lengths


def last_commit(engine: Engine) -> tuple[int, float]:
    """Return the number of the last commit and its crawl time; zeroes before the first."""
    value = engine.get_many(Table.META, [_LAST])[0]
    number, at = json.loads(value) if value else (0, 0.0)
    return int(number), float(at)


def verify(directory: Path, engine: Engine) -> None:
    """Compare a store with the files beside it, before either is changed.

    Raises:
        StoreError: An output is shorter than committed; or the store is older than its last
            commit, as when its MANIFEST was cut or an old copy was put in its place.
    """
    for name, committed in committed_lengths(engine).items():
        check_committed(directory / name, committed)
    number, at = last_commit(engine)
    seen, seen_at = _witnessed(directory / WITNESS)
    if seen > number and seen_at - at > _MOST_BEHIND:
        raise StoreError(
            f"the store in {directory} is damaged or an old copy: its last commit is number "
            f"{number:,}, but number {seen:,} was made; restore the whole job directory from a "
            "copy, or start anew with another JOBDIR"
        )


def _witnessed(path: Path) -> tuple[int, float]:
    """Read what the witness says; zeroes when a power cut or something else took it."""
    try:
        number, at = json.loads(path.read_bytes())
        return int(number), float(at)
    except (OSError, ValueError, TypeError):
        return 0, 0.0


class GroupCommit:
    """Commits pages in groups: after so many, or so many seconds, whichever comes first.

    A disk that is full, or a store that fails, loses nothing: what is not committed stays in
    memory and is tried again. Meanwhile ``stalled`` says why, and the crawl hands out nothing
    new, so that what is held stays bounded by the requests that were in flight.
    """

    def __init__(
        self,
        engine: Engine,
        frontier: Frontier,
        *,
        interval: float,
        pages: int,
        now: float,
        directory: Path | None = None,
    ) -> None:
        self._engine = engine
        self._frontier = frontier
        self._interval = interval
        self._pages = pages
        self._number, _ = last_commit(engine)
        self._witness = directory / WITNESS if directory is not None else None
        self._outputs: list[tuple[str, Output]] = []
        self._sinks: list[Sink] = []
        self.lengths = committed_lengths(engine)
        """Of every output at the last commit, also of those that this run does not open."""
        self.stored = frontier.counts.stored
        """Pages stored by the last commit."""
        self._waiting = 0
        self._last_at = now
        self.soon = False
        """Set to commit with the next page instead of with its group."""
        self.stalled: str | None = None
        """Why nothing can be committed at present; None when all is well."""

    def add_output(self, output: Output, folder: str = "") -> None:
        """Make files part of every commit from now on.

        Args:
            output: Grows by what is written to it.
            folder: Where its files are in the job directory, with a slash at the end.
        """
        self._outputs.append((folder, output))

    def add_sink(self, sink: Sink) -> None:
        """Have a store be told after every commit from now on."""
        self._sinks.append(sink)

    def page_settled(self, now: float) -> None:
        """Note that one more page is done; commits when the group is large or old enough."""
        self._waiting += 1
        due = self._waiting >= self._pages or now - self._last_at >= self._interval
        if self.soon or (due and not self.stalled):
            self.commit(now)

    def tick(self, now: float) -> None:
        """Commit a group that is old enough, also when no further page arrives."""
        if self._waiting and now - self._last_at >= self._interval:
            self.commit(now)

    def commit(self, now: float, *, closing: bool = False) -> bool:
        """Make everything settled so far durable, as one change; return whether it is."""
        self._last_at = now
        self.soon = False
        number = self._number
        try:
            self._make_durable(now, closing=closing)
            self._bear_witness(now)
            for sink in self._sinks:
                sink.deliver()
        except (OSError, StoreError) as error:
            self._stall(error)
        else:
            if self.stalled is not None:
                logger.warning("The crawl goes on: what was held is stored.")
            self.stalled = None
            self._waiting = 0
        return self._number > number

    def _make_durable(self, now: float, *, closing: bool) -> None:
        for folder, output in self._outputs:
            self.lengths |= {folder + name: n for name, n in output.sync().items()}
        self._frontier.put(Table.META, _LENGTHS, json.dumps(self.lengths).encode())
        self._frontier.put(Table.META, _LAST, json.dumps([self._number + 1, now]).encode())
        self._frontier.commit(self._write, closing=closing)
        self._number += 1
        self.stored = self._frontier.counts.stored

    def _stall(self, error: Exception) -> None:
        if self.stalled is None and self._engine.damage is None:
            logger.warning("The crawl pauses, nothing is lost: %s. It is tried again.", error)
        self.stalled = str(error)

    def _bear_witness(self, now: float) -> None:
        """Name the commit outside the store. Not synced: it may be older, never newer."""
        if self._witness is None:
            return
        with contextlib.suppress(OSError):  # a full disk; the next commit writes it
            file = os.open(self._witness, os.O_WRONLY | os.O_CREAT, 0o644)
            try:
                os.pwrite(file, json.dumps([self._number, now]).encode().ljust(64), 0)
            finally:
                os.close(file)

    def _write(self, batch: Batch) -> None:
        """Write and sync as one: a batch whose sync failed is kept, and written again."""
        self._engine.write(batch)
        self._engine.sync()

    def close(self, now: float) -> None:
        """Commit what is left and close the outputs and the engine."""
        if not self.commit(now, closing=True):
            logger.error("The last pages could not be stored; the next start fetches them again.")
        for _, output in self._outputs:
            output.close()
        for sink in self._sinks:
            sink.close()
        self._engine.close()
