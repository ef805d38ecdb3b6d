"""The last good robots.txt of each origin: text kept packed, parsed rules kept for the busy ones.

Both are bounded by weight, whatever the number of origins. What is evicted is asked back from the
store through `recall`, or fetched again.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from crawler.politeness.rules import RobotsRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.model import Origin

T = TypeVar("T")

TEXT_BUDGET = 32 * 2**20
RULE_BUDGET = 50_000
_OBJECT_WEIGHT = 4  # what a parsed file weighs beside its rules, in rules


class Shelf(Generic[T]):
    """A mapping with a total weight; the longest unused entries give way.

    Invariants: the weights of all entries sum up to at most `budget`, or there is one entry. O(1).
    """

    __slots__ = ("_budget", "_entries", "_weight")

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._entries: OrderedDict[Origin, tuple[T, int]] = OrderedDict()
        self._weight = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Origin) -> T | None:
        """Return the entry and mark it used, or None."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: Origin, value: T, weight: int) -> None:
        """Add or replace an entry; older ones make room."""
        self.drop(key)
        self._entries[key] = value, weight
        self._weight += weight
        while self._weight > self._budget and len(self._entries) > 1:
            _, (_, freed) = self._entries.popitem(last=False)
            self._weight -= freed

    def drop(self, key: Origin) -> None:
        """Remove an entry, if there is one."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._weight -= entry[1]


class Copies:
    """Copies of robots.txt by origin.

    Memory: at most `text_budget` bytes of packed text (32 MiB) and up to `rule_budget`
    parsed rules (50,000) of about 0.7 KB each (35 MB), however many origins there are.
    """

    __slots__ = ("_max_bytes", "_packed", "_parsed", "_recall", "_token")

    def __init__(
        self,
        token: str,
        max_bytes: int,
        recall: Callable[[Origin], bytes | None],
        *,
        text_budget: int = TEXT_BUDGET,
        rule_budget: int = RULE_BUDGET,
    ) -> None:
        self._token = token
        self._max_bytes = max_bytes
        self._recall = recall
        self._packed: Shelf[bytes] = Shelf(text_budget)
        self._parsed: Shelf[RobotsRules] = Shelf(rule_budget)

    def put(self, origin: Origin, body: bytes) -> RobotsRules:
        """Keep a copy and return its rules; bytes beyond the limit are not kept."""
        # one byte more tells the reader that the file goes on
        body = body[: self._max_bytes + 1]
        self._pack(origin, zlib.compress(body, 1))
        return self._parse(origin, body)

    def put_packed(self, origin: Origin, packed: bytes) -> bool:
        """Keep a copy that `packed` gave earlier; False if it cannot be one."""
        if unpack(packed, self._max_bytes + 1) is None:
            return False
        self._pack(origin, packed)
        self._parsed.drop(origin)
        return True

    def packed(self, origin: Origin) -> bytes | None:
        """Return the packed copy, or None if there is none."""
        kept = self._packed.get(origin)
        return self._recall(origin) if kept is None else kept

    def rules(self, origin: Origin) -> RobotsRules | None:
        """Return the parsed copy, or None if there is none any more."""
        rules = self._parsed.get(origin)
        if rules is not None:
            return rules
        packed = self.packed(origin)
        body = None if packed is None else unpack(packed, self._max_bytes + 1)
        return None if body is None else self._parse(origin, body)

    def drop(self, origin: Origin) -> None:
        """Forget a copy."""
        self._packed.drop(origin)
        self._parsed.drop(origin)

    def _pack(self, origin: Origin, packed: bytes) -> None:
        self._packed.put(origin, packed, len(packed))

    def _parse(self, origin: Origin, body: bytes) -> RobotsRules:
        rules = RobotsRules.parse(body, self._token, max_bytes=self._max_bytes)
        self._parsed.put(origin, rules, _OBJECT_WEIGHT + len(rules) + len(rules.sitemaps))
        return rules


def unpack(packed: bytes, limit: int) -> bytes | None:
    """Return at most `limit` bytes of a packed copy, or None if it is damaged."""
    try:
        return zlib.decompressobj().decompress(packed, limit)
    except zlib.error:
        return None
