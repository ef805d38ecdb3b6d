"""Fingerprints searched by Hamming distance, without ever missing one."""

from __future__ import annotations

from array import array
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator

_Values = npt.NDArray[np.uint64]
_Entries = npt.NDArray[np.uint32]
_Positions = npt.NDArray[np.intp]

_BLOCKS = 4
_BLOCK_BITS = 16
_KEYS = 1 << _BLOCK_BITS
_SCAN_LIMIT = 32_768  # where a scan begins to cost what the lists do
_TAIL_LIMIT = 131_072  # entries scanned one by one after the sealed ones, at most
_WORTHWHILE = 8  # with more than an eighth of the entries as candidates, a scan is cheaper


def _block(values: _Values, number: int) -> npt.NDArray[np.uint16]:
    return (values >> np.uint64(number * _BLOCK_BITS)).astype(np.uint16)


@cache
def _flips(radius: int) -> npt.NDArray[np.uint16]:
    """Return all 16-bit values with at most ``radius`` bits set: 1, 17, 137 of them."""
    bits = [1 << bit for bit in range(_BLOCK_BITS)]
    chosen = (sum(some) for count in range(radius + 1) for some in combinations(bits, count))
    return np.fromiter(chosen, np.uint16)


def _radii(distance: int) -> Iterator[int]:
    """Yield how far to look in each block, so that no pair within ``distance`` is missed.

    With q, r = divmod(distance, 4): were the first r + 1 blocks all more than q bits
    apart and the others all more than q - 1, the whole would be distance + 1 apart.
    """
    quotient, rest = divmod(distance, _BLOCKS)
    for number in range(_BLOCKS):
        yield quotient if number <= rest else quotient - 1


class _Sealed:
    """The first entries of a set, listed by the value of each of their four blocks.

    Cost: 16 bytes an entry and 1 MiB.
    """

    __slots__ = ("_first", "_order", "size")

    def __init__(self, values: _Values) -> None:
        self.size = len(values)
        self._order: list[_Entries] = []
        self._first: list[_Entries] = []
        for number in range(_BLOCKS):
            keys = _block(values, number)
            self._order.append(np.argsort(keys, kind="stable").astype(np.uint32))
            counts = np.bincount(keys, minlength=_KEYS)
            self._first.append(np.concatenate([[0], counts.cumsum()]).astype(np.uint32))

    def candidates(self, value: int, distance: int) -> _Entries | None:
        """Return entries among which all within ``distance`` are; None if a scan is cheaper."""
        found = []
        for number, radius in enumerate(_radii(distance)):
            if radius >= 0:
                key = value >> (number * _BLOCK_BITS) & (_KEYS - 1)
                found.append(self._listed(number, key, radius))
                if sum(map(len, found)) > self.size // _WORTHWHILE:
                    return None
        return np.concatenate(found)

    def _listed(self, number: int, key: int, radius: int) -> _Entries:
        """Return the entries whose block differs from ``key`` in at most ``radius`` bits."""
        first, order = self._first[number], self._order[number]
        if radius == 0:
            return order[first[key] : first[key + 1]]
        keys = (_flips(radius) ^ np.uint16(key)).astype(np.intp)
        begins = first[keys].astype(np.intp)
        counts = first[keys + 1] - begins
        if int(counts.sum()) > self.size // _WORTHWHILE:
            return order
        return order[_ranges(begins, counts)]


def _ranges(first: _Positions, counts: _Positions) -> _Positions:
    """Return the concatenation of ``range(first[i], first[i] + counts[i])``."""
    ends = counts.cumsum()
    shift = np.repeat(first - ends + counts, counts)
    return shift + np.arange(len(shift))


def _within(values: _Values, wanted: np.uint64, distance: int) -> npt.NDArray[np.bool_]:
    inside: npt.NDArray[np.bool_] = np.bitwise_count(values ^ wanted) <= distance
    return inside


class SignatureSet:
    """Append-only list of 64-bit values with a word of data each.

    Up to ``scan_limit`` values are compared one by one. Beyond it they are sealed: listed
    by their four 16-bit blocks, so that only values which agree with the question in at
    least one block, but for a bit or two, are compared. The answer is the same.

    Cost:
        16 bytes an entry, sealed 32 and 1 MiB a set. Unsealed, a search takes 4
        microseconds and 0.7 per 1,000 entries; of a million sealed ones 20 (distance 3)
        to 100 (distance 10), and the scan of those not sealed yet. Sealing is O(entries),
        50 milliseconds a million, and happens each time the unsealed outgrow
        ``scan_limit`` and an eighth of the sealed.

    Invariants:
        Every entry within the distance asked for is found. If many values share a block,
        the search is a scan again and never dearer.
    """

    __slots__ = ("_data", "_scan_limit", "_sealed", "_values")

    def __init__(self, scan_limit: int = _SCAN_LIMIT) -> None:
        self._values = array("Q")
        self._data = array("Q")
        self._scan_limit = scan_limit
        self._sealed: _Sealed | None = None

    def __len__(self) -> int:
        return len(self._values)

    def data(self, entry: int) -> int:
        """Return the data of an entry."""
        return self._data[entry]

    def set_data(self, entry: int, data: int) -> None:
        """Replace the data of an entry."""
        self._data[entry] = data

    def add(self, value: int, data: int) -> None:
        """Append an entry; both numbers have 64 bits."""
        self._values.append(value)
        self._data.append(data)
        sealed = self._sealed.size if self._sealed else 0
        limit = max(self._scan_limit, min(sealed // 8, _TAIL_LIMIT))
        if len(self._values) - sealed > limit:
            self._sealed = _Sealed(np.frombuffer(self._values, np.uint64))

    def search(
        self, value: int, distance: int, *, least: int = 0, most: int = 2**64 - 1
    ) -> Iterator[tuple[int, int]]:
        """Yield (distance, entry) of all entries within a distance, closest and oldest first.

        Args:
            value: 64 bits.
            distance: 0 to 10 bits; a negative one finds nothing.
            least: Entries with smaller data do not count.
            most: Nor do entries with larger data.
        """
        if distance < 0 or not self._values:
            return
        entries, apart = self._near(value, distance)
        if len(entries):
            data = np.frombuffer(self._data, np.uint64)[entries]
            counts = (data >= np.uint64(least)) & (data <= np.uint64(most))
            entries, apart = entries[counts], apart[counts]
        order = np.lexsort((entries, apart)) if len(entries) > 1 else range(len(entries))
        for at in order:
            yield int(apart[at]), int(entries[at])

    def _near(self, value: int, distance: int) -> tuple[_Positions, npt.NDArray[np.uint8]]:
        """Return the entries within a distance, and how far each is, in no order."""
        values, wanted, begin = np.frombuffer(self._values, np.uint64), np.uint64(value), 0
        parts: list[_Positions] = []
        if self._sealed and (some := self._sealed.candidates(value, distance)) is not None:
            begin = self._sealed.size
            parts.append(np.unique(some[_within(values[some], wanted, distance)]).astype(np.intp))
        tail = np.flatnonzero(_within(values[begin:], wanted, distance)) + begin
        entries = np.concatenate([*parts, tail]) if parts else tail
        apart: npt.NDArray[np.uint8] = np.bitwise_count(values[entries] ^ wanted)
        return entries, apart
