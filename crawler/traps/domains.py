"""Sub-domains of one site: how many are tried before they have brought anything."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import orjson

from crawler.traps.trickle import Trickle
from crawler.traps.wording import Wording

if TYPE_CHECKING:
    from crawler.traps.options import TrapOptions

_FOR_EACH_USEFUL = 4


class Standing(IntEnum):
    """What is known of a host as one of its site's."""

    NEW = 0
    TRIED = 1  # a URL of it was queued
    USEFUL = 2  # its first page was like no other of its site
    HOLLOW = 3  # it was not


class Domain:
    """The hosts of one registrable domain; about a KB.

    New hosts are tried as long as those that brought nothing, or not yet, are no more than
    ``sub_domains`` and four for each that did. So the number may grow without bound where
    sub-domains are what a site is made of, and ends soon where a name server answers for any.
    """

    __slots__ = ("allowed", "hollow", "trickle", "tried", "useful", "wording")

    def __init__(self, options: TrapOptions) -> None:
        self.allowed = options.sub_domains
        self.tried = self.useful = self.hollow = 0
        self.trickle = Trickle(options.probe_every)
        self.wording = Wording()

    @property
    def stopped(self) -> bool:
        """Whether what is queued of hosts without anything new is dropped."""
        return self.hollow >= self._budget

    @property
    def full(self) -> bool:
        """Whether no further host is tried for now."""
        return self.tried - self.useful >= self._budget

    @property
    def _budget(self) -> int:
        return self.allowed + _FOR_EACH_USEFUL * self.useful

    def judge(self, before: Standing, *, useful: bool, now: float) -> tuple[Standing, bool]:
        """Enter what a page of a host was; return the host's standing, and whether to go on.

        Args:
            before: Standing of the host.
            useful: Whether the page was like no other.
            now: Crawl time.
        """
        was_full = self.full
        if useful and before is not Standing.USEFUL:
            self.tried += before is Standing.NEW
            self.hollow -= before is Standing.HOLLOW
            self.useful += 1
            self.trickle.reset()
            self.trickle.since = 0.0 if not self.full else self.trickle.since
            return Standing.USEFUL, was_full and not self.full
        if not useful and before in {Standing.NEW, Standing.TRIED}:
            self.tried += before is Standing.NEW
            self.hollow += 1
            if self.stopped:
                self.trickle.since = self.trickle.since or now
            return Standing.HOLLOW, False
        return before, False

    def encode(self) -> bytes:
        """Return the row of the store."""
        counts = (self.tried, self.useful, self.hollow, *self.trickle.values())
        return self.wording.encode() + orjson.dumps(counts)

    def decode(self, row: bytes) -> Domain:
        """Take over the values of a row."""
        size = len(self.wording.encode())
        self.wording = Wording.decode(row[:size])
        self.tried, self.useful, self.hollow, *values = orjson.loads(row[size:])
        self.trickle.take(values)
        return self
