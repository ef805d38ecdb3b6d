"""Which URLs are known, and in what state each was last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from crawler.frontier.engine import Batch, Engine, Table
from crawler.model import Fingerprint, Outcome, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

State = Outcome | Reason | None
"""What became of a known URL; None while it is on its way."""

_ON_ITS_WAY = b"\x00"
CODES: dict[bytes, State] = {_ON_ITS_WAY: None}
CODES.update((bytes([0x20 + i]), outcome) for i, outcome in enumerate(Outcome))
CODES.update((bytes([0x60 + i]), reason) for i, reason in enumerate(Reason))
_BYTES: dict[State, bytes] = {state: code for code, state in CODES.items()}


class SeenSet(Protocol):
    """Which URLs are known."""

    def known(self, marks: Sequence[Fingerprint]) -> dict[Fingerprint, State]:
        """Return the known URLs among ``marks`` with their states, None where unknown."""
        ...

    def set(self, mark: Fingerprint, state: State) -> None:
        """Record the state of a URL with the current batch."""
        ...

    def save(self, *, closing: bool = False) -> None:
        """Add to the current batch what the set keeps beside its rows."""
        ...

    def stats(self) -> dict[str, float]:
        """Return what an operator should know of it, under the names of the stats."""
        ...


class ExactSeenSet:
    """Exact: the store decides, and what the current batch has written counts already.

    The value of a known URL is one byte: on its way, its outcome, or its rejection. Codes
    follow the order of the two enums, which therefore only ever grow at their end.

    Most links of a page point to where other recent pages pointed, so the codes of the last
    URLs asked for are kept in front of the store: two generations of at most
    ``generation`` each, about 100 bytes a URL.
    """

    __slots__ = ("_batch", "_engine", "_generation", "_old", "_young")

    def __init__(
        self, engine: Engine, batch: Callable[[], Batch], *, generation: int = 100_000
    ) -> None:
        self._engine = engine
        self._batch = batch
        self._generation = generation
        self._young: dict[Fingerprint, bytes] = {}
        self._old: dict[Fingerprint, bytes] = {}

    def known(self, marks: Sequence[Fingerprint]) -> dict[Fingerprint, State]:
        """Return the state of each known URL among ``marks``."""
        written = self._batch().tables[Table.SEEN]
        found: dict[Fingerprint, State] = {}
        asked: list[Fingerprint] = []
        for mark in marks:
            code = self._young.get(mark) or written.get(mark) or self._old.get(mark)
            if code is None:
                asked.append(mark)
            else:
                found[mark] = CODES[code]
        for mark, code in zip(asked, self._engine.get_many(Table.SEEN, asked), strict=True):
            if code is not None:
                found[mark] = CODES[code]
                self._remember(mark, code)
        return found

    def set(self, mark: Fingerprint, state: State) -> None:
        """Record the state of a URL with the current batch."""
        code = _BYTES[state]
        self._batch().put(Table.SEEN, mark, code)
        self._remember(mark, code)

    def save(self, *, closing: bool = False) -> None:
        """Do nothing: every state went with its batch."""

    def stats(self) -> dict[str, float]:
        """Return nothing: there is no error to tell of."""
        return {}

    def _remember(self, mark: Fingerprint, code: bytes) -> None:
        """Keep a code in front of the store; a full generation makes the older one go."""
        self._young[mark] = code
        if len(self._young) >= self._generation:
            self._old, self._young = self._young, {}
