"""The seen set in bounded memory: a layered Bloom filter decides alone.

For crawls whose known URLs would outgrow the disk or the look-ups of the exact set. The price is
that about ``error`` of the new URLs are taken for known and never fetched; how many that may
be by now is in the stats. The states of URLs are not kept.

Durability: new fingerprints go to the ``seen`` table with their batch, as a journal. Now and
then the filter's changed layers are written with a batch that also empties the journal, so a
filter older than the store is brought up to date from the journal at the start.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from crawler.errors import StoreError
from crawler.frontier.engine import Batch, Engine, Table, all_rows
from crawler.frontier.layers import LayeredFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.frontier.options import FrontierOptions
    from crawler.frontier.seen import State
    from crawler.model import Fingerprint

_CHUNK = 1 << 20
_JOURNAL = 200_000  # fingerprints, before the filter is written


class ApproximateSeenSet:
    """Answers from a Bloom filter; the same interface as the exact set.

    Invariants: a URL that was set is always known; every fingerprint of a written batch is in
    the stored filter or in the journal.
    """

    def __init__(
        self, engine: Engine, batch: Callable[[], Batch], options: FrontierOptions
    ) -> None:
        self._engine = engine
        self._batch = batch
        self._filter = LayeredFilter(options.seen_capacity, options.seen_error)
        self._journal: list[bytes] = []
        self._saved_layers = 0  # full layers that are stored as they are
        self.expected_loss = 0.0
        """New URLs that were probably taken for known so far, in this run."""
        self._load()

    def known(self, marks: Sequence[Fingerprint]) -> dict[Fingerprint, State]:
        """Return those of ``marks`` that are known; their states are not."""
        return {mark: None for mark in marks if mark.hex() in self._filter}

    def set(self, mark: Fingerprint, state: State) -> None:  # noqa: ARG002 -- the interface's
        """Make a URL known; what becomes of it is not kept."""
        key = mark.hex()
        if key in self._filter:
            return
        rate = self._filter.false_positive_rate()
        self.expected_loss += rate / (1.0 - rate)
        self._filter.add(key)
        self._journal.append(mark)
        self._batch().put(Table.SEEN, mark, b"")

    def save(self, *, closing: bool = False) -> None:
        """Write the filter with the current batch, when the journal has become long."""
        if not self._journal or (len(self._journal) < _JOURNAL and not closing):
            return
        batch = self._batch()
        for depth in range(self._saved_layers, len(self._filter.layers)):
            _put_layer(batch, depth, self._filter.dump(depth))
        self._saved_layers = len(self._filter.layers) - 1
        for mark in self._journal:
            batch.delete(Table.SEEN, mark)
        self._journal = []

    def stats(self) -> dict[str, float]:
        """Return capacity, promised and present error, fill and expected loss."""
        return {
            "seen/capacity": float(sum(layer.capacity for layer in self._filter.layers)),
            "seen/keys": float(len(self._filter)),
            "seen/layers": float(len(self._filter.layers)),
            "seen/fill": self._filter.fill(),
            "seen/bytes": float(self._filter.size_bytes()),
            "seen/error_promised": self._filter.error,
            "seen/error_now": self._filter.false_positive_rate(),
            "seen/expected_loss": self.expected_loss,
        }

    def _load(self) -> None:
        chunks: dict[int, list[bytes]] = {}
        for key, chunk in self._engine.scan(Table.FILTER):
            chunks.setdefault(key[0], []).append(chunk)
        for depth in sorted(chunks):
            self._filter.load(_layer(b"".join(chunks[depth]), depth))
        self._saved_layers = max(0, len(self._filter.layers) - 1)
        for mark, _ in all_rows(self._engine, Table.SEEN):
            if mark.hex() not in self._filter:
                self._filter.add(mark.hex())
            self._journal.append(mark)


def _put_layer(batch: Batch, depth: int, data: bytes) -> None:
    """Write a layer in chunks, its checksum in front."""
    data = zlib.crc32(data).to_bytes(4, "big") + data
    for number, at in enumerate(range(0, len(data), _CHUNK)):
        key = bytes([depth]) + number.to_bytes(4, "big")
        batch.put(Table.FILTER, key, data[at : at + _CHUNK])


def _layer(data: bytes, depth: int) -> bytes:
    checksum, layer = data[:4], data[4:]
    if zlib.crc32(layer).to_bytes(4, "big") != checksum:
        raise StoreError(
            f"layer {depth} of the approximate seen set is damaged: restore the job directory "
            "from a copy, or start anew with another JOBDIR"
        )
    return layer
