"""Where outputs and frontier meet: the group commit.

The order is the promise. (1) Every output is flushed and synced; (2) one frontier batch
records the outcomes, the new links, the host clocks *and the committed length of every
output*; (3) the engine syncs. A crash before (2) leaves longer files, which the next start
cuts; a crash after it leaves nothing to do. So each page is in the outputs exactly once
if and only if its URL is done.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

from crawler.frontier.engine import Table

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.frontier import Engine, Frontier

_LENGTHS = b"outputs"


class Output(Protocol):
    """A file that only grows."""

    path: Path

    def sync(self) -> int:
        """Bring everything written to disk and return the file's length in bytes."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


def committed_lengths(engine: Engine) -> dict[str, int]:
    """Return the length of every output at the last commit, by file name; empty at first."""
    value = engine.get_many(Table.META, [_LENGTHS])[0]
    lengths: dict[str, int] = json.loads(value) if value else {}
    return lengths


class GroupCommit:
    """Commits pages in groups: after so many, or so many seconds, whichever comes first."""

    def __init__(
        self, engine: Engine, frontier: Frontier, *, interval: float, pages: int, now: float
    ) -> None:
        self._engine = engine
        self._frontier = frontier
        self._interval = interval
        self._pages = pages
        self._outputs: list[Output] = []
        self._waiting = 0
        self._last_at = now
        self.soon = False
        """Set to commit with the next page instead of with its group."""

    def add_output(self, output: Output) -> None:
        """Make a file part of every commit from now on."""
        self._outputs.append(output)

    def page_settled(self, now: float) -> None:
        """Note that one more page is done; commits when the group is large or old enough."""
        self._waiting += 1
        if self.soon or self._waiting >= self._pages or now - self._last_at >= self._interval:
            self.commit(now)

    def tick(self, now: float) -> None:
        """Commit a group that is old enough, also when no further page arrives."""
        if self._waiting and now - self._last_at >= self._interval:
            self.commit(now)

    def commit(self, now: float) -> None:
        """Make everything settled so far durable, as one change."""
        lengths = {output.path.name: output.sync() for output in self._outputs}
        batch = self._frontier.take_batch()
        batch.put(Table.META, _LENGTHS, json.dumps(lengths).encode())
        self._engine.write(batch)
        self._engine.sync()
        self._waiting = 0
        self._last_at = now
        self.soon = False

    def close(self, now: float) -> None:
        """Commit what is left and close the outputs and the engine."""
        self.commit(now)
        for output in self._outputs:
            output.close()
        self._engine.close()
