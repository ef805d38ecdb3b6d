"""Which URLs are known, and in what state each was last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.engine import Batch, Engine, Table
from crawler.model import Fingerprint, Outcome, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

State = Outcome | Reason | None
"""What became of a known URL; None while it is on its way."""

_ON_ITS_WAY = b"\x00"
_CODES: dict[bytes, State] = {_ON_ITS_WAY: None}
_CODES.update((bytes([0x20 + i]), outcome) for i, outcome in enumerate(Outcome))
_CODES.update((bytes([0x60 + i]), reason) for i, reason in enumerate(Reason))
_BYTES: dict[State, bytes] = {state: code for code, state in _CODES.items()}


class SeenSet:
    """Exact: the store decides, and what the current batch has written counts already.

    The value of a known URL is one byte: on its way, its outcome, or its rejection. Codes
    follow the order of the two enums, which therefore only ever grow at their end.
    """

    __slots__ = ("_batch", "_engine")

    def __init__(self, engine: Engine, batch: Callable[[], Batch]) -> None:
        self._engine = engine
        self._batch = batch

    def known(self, marks: Sequence[Fingerprint]) -> dict[Fingerprint, State]:
        """Return the state of each known URL among ``marks``."""
        written = self._batch().tables[Table.SEEN]
        stored = self._engine.get_many(Table.SEEN, marks)
        found: dict[Fingerprint, State] = {}
        for mark, value in zip(marks, stored, strict=True):
            code = written.get(mark, value)
            if code is not None:
                found[mark] = _CODES[code]
        return found

    def set(self, mark: Fingerprint, state: State) -> None:
        """Record the state of a URL with the current batch."""
        self._batch().put(Table.SEEN, mark, _BYTES[state])
