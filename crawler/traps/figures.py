"""What came of the URLs of one pattern, and whether it is worth going on.

A pattern has a *credit*, in eighths of a fetch. A fetch that brings nothing new takes from it,
one that does gives back twice the most that one can take and sixteen times the usual; a
pattern without credit is stopped. So a pattern that brings something new with one fetch in
seventeen goes on for ever, and one that brings nothing is stopped when its patience is used
up. A pattern that has proved itself has more patience.
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import TYPE_CHECKING

import orjson

from crawler.traps.trickle import Trickle

if TYPE_CHECKING:
    from crawler.traps.options import TrapOptions
    from crawler.traps.patterns import Shape

EIGHTHS = 8
YOUNG = 8
"""Fetches up to which a pattern shares its parent's fate."""
_BREAK_EVEN = 17  # fetches of which one must bring something
_REWARD = 16 * EIGHTHS
_PROVEN = 32  # useful pages
_READ_ONE_IN = 8
_MIXED = 4  # patterns in one deserve so many times the patience
_MOST_PATIENCE = 4  # times the patience of a new pattern
_TARGETS = 4
LATE = 254
"""Priority of what goes last: probes, and the rest of a pattern that is about to be stopped."""


class Sign(IntEnum):
    """What a fetch says of its pattern."""

    NEW = auto()  # a page like no other
    LEADS = auto()  # leads to URLs of other patterns that bring something, or may yet
    NEUTRAL = auto()  # says nothing: a server that is out of order, a file that is no page
    HOLLOW = auto()  # a page of its own, with nothing in it that others have not
    LEAF = auto()  # the same, but pages worth fetching lead to it, and it leads to nothing new
    UNREAD = auto()  # stored, and not looked at: its like has proved itself
    DUPLICATE = auto()
    DEAD = auto()  # 4xx, a body that cannot be read
    REDIRECT = auto()  # to a URL that is known, or that is not fetched
    ONWARD = auto()  # a redirect to a new URL that is like its own


_COSTS = {  # in eighths; where there are names only, and where there may be any number of URLs
    Sign.NEUTRAL: (0, 0),
    Sign.UNREAD: (0, 0),
    Sign.HOLLOW: (2, 8),
    Sign.LEAF: (2, 2),  # its like are as many as their sources link, and those are judged
    Sign.DUPLICATE: (1, 2),
    Sign.DEAD: (0, 1),  # leads nowhere: what makes such URLs are other pages, which are judged
    Sign.REDIRECT: (1, 8),
    Sign.ONWARD: (1, 6),
}
_STORED = frozenset({Sign.NEW, Sign.HOLLOW, Sign.LEAF, Sign.UNREAD})
_HOLLOW = frozenset({Sign.HOLLOW, Sign.LEAF})
_REWARDED = frozenset({Sign.NEW, Sign.LEADS})


class Figures:
    """Counts of one pattern; 300 bytes beside its name."""

    __slots__ = (
        *("credit", "dead", "duplicates", "fetched", "full", "hollow", "redirects", "stored"),
        *("_doubted", "targets", "trickle", "useful"),
    )

    def __init__(self, options: TrapOptions, credit: int | None = None) -> None:
        self.full = options.patience * EIGHTHS
        self.credit = self.full if credit is None else min(credit, self.full)
        self.fetched = self.stored = self.duplicates = self.hollow = 0
        self.dead = self.redirects = self.useful = 0
        self.trickle = Trickle(options.probe_every)
        self._doubted = False  # the last page that was read brought nothing
        self.targets: tuple[str, ...] = ()  # what the last duplicates were found to repeat

    @property
    def stopped(self) -> bool:
        """Whether URLs of the pattern are not fetched, but for probes."""
        return self.credit <= 0

    @property
    def left(self) -> int:
        """Fetches that may be wasted until the pattern is stopped, rounded up."""
        return -(-self.credit // EIGHTHS)

    @property
    def promising(self) -> bool:
        """Whether pages of the pattern say something, or too few were fetched to tell."""
        return self.fetched < YOUNG or self.useful * _BREAK_EVEN >= self.fetched

    @property
    def is_trusted(self) -> bool:
        """Whether the next page of the pattern need not be read: every eighth is enough."""
        return self.useful >= _PROVEN and not self._doubted and self.fetched % _READ_ONE_IN != 0

    @property
    def late(self) -> int:
        """What is added to the priority of a URL: nothing, or more with every wasted fetch."""
        spent = self.full - self.credit
        return 0 if 4 * spent <= self.full else min(LATE, LATE * spent // self.full)

    def count(
        self,
        sign: Sign,
        shape: Shape,
        of: str | None = None,
        now: float = 0.0,
        *,
        mixed: bool = False,
    ) -> bool:
        """Enter what came of a fetch; return whether the pattern goes on that was stopped.

        Args:
            sign: What it says.
            shape: Of the URL.
            of: The page that it repeats.
            now: Crawl time.
            mixed: Whether many patterns are counted here, since there is no room for each.
        """
        self.fetched += 1
        was_stopped = self.stopped
        self._tally(sign)
        self._doubted = sign is not Sign.NEW and (self._doubted or sign is not Sign.UNREAD)
        if sign in _REWARDED and not shape.endless:
            self.useful += sign is Sign.NEW
            proof = 0 if shape.combined else 2 * self.useful
            most = min(self.full + proof, _MOST_PATIENCE * self.full)
            self.credit = min(max(self.credit, 0) + _REWARD, most)
            self.trickle.reset()
            self.trickle.since = 0.0
        else:
            cost = self._cost(sign, shape, of)
            self.credit = max(0, self.credit - (-(-cost // _MIXED) if mixed else cost))
        if self.stopped and not was_stopped:
            self.trickle.since = now
        return was_stopped and not self.stopped

    def _tally(self, sign: Sign) -> None:
        self.stored += sign in _STORED
        self.duplicates += sign is Sign.DUPLICATE
        self.hollow += sign in _HOLLOW
        self.dead += sign is Sign.DEAD
        self.redirects += sign is Sign.REDIRECT or sign is Sign.ONWARD

    def _cost(self, sign: Sign, shape: Shape, of: str | None) -> int:
        """Return what a fetch takes from the credit."""
        if shape.endless and sign is not Sign.NEUTRAL:
            return 4 * EIGHTHS
        if sign is Sign.DUPLICATE:
            return self._cost_of_copy(shape, of)
        return _COSTS[sign][shape.variable]

    def _cost_of_copy(self, shape: Shape, of: str | None) -> int:
        """Return what a duplicate takes.

        A mirror of a site, or a book in many languages, is full of duplicates of as many
        pages; a site that shows one page for whatever it is asked has duplicates of one.
        """
        again = of in self.targets
        if of is not None and not again:
            self.targets = (*self.targets, of)[-_TARGETS:]
        if shape.token:
            return 2 * EIGHTHS
        return EIGHTHS if again or shape.parameters else _COSTS[Sign.DUPLICATE][shape.variable]

    def renew(self) -> bool:
        """Give the pattern its first credit again; return whether it was stopped."""
        was_stopped = self.stopped
        self.credit, self.trickle.since = max(self.credit, self.full), 0.0
        return was_stopped

    def encode(self) -> bytes:
        """Return the row of the store."""
        counts = (self.fetched, self.stored, self.duplicates, self.hollow, self.dead)
        ends = (self.redirects, self.useful, self.credit)
        return orjson.dumps((*counts, *ends, *self.trickle.values()))

    def decode(self, row: bytes) -> Figures:
        """Take over the values of a row."""
        values = orjson.loads(row)
        self.fetched, self.stored, self.duplicates, self.hollow, self.dead = values[:5]
        self.redirects, self.useful, self.credit = values[5:8]
        self.trickle.take(values[8:])
        return self
