"""Which parameters of a script change nothing on its pages, as its pages have shown.

Evidence that a parameter is irrelevant is a duplicate whose URL differs from the page that it
repeats in that parameter: in its value, or by leaving it out. Evidence that it matters are two
pages of different content whose URLs differ in nothing else. Session ids in paths are
parameters, too; their names are their places (``/2``).

When the evidence is enough, URLs are compared by their *core*, without irrelevant
parameters; what is sent stays as it was found. The core of each page that was fetched is
kept with its URL. A page whose core is known, and whose content is not that of the page which it
should repeat, is the contradiction that makes the parameter matter again.
"""

from __future__ import annotations

from collections import deque

import orjson

from crawler.traps.patterns import is_token
from crawler.traps.trickle import Trickle

_MOST_NAMES = 24
_MOST_DIFFERENCES = 6  # duplicates that differ in more parameters show nothing
_ORIGINALS = 3  # of which duplicates were found: one page alone may be an error message
_RECENT = 128
_COMPARED = 8
_SETTLED = 8  # pairs of pages that differ in nothing else
_OUTWEIGHS = 16  # duplicates for each contradiction
_MOST_BURNED = 6
_LONGEST_INTERVAL = 256

Slots = dict[str, str]


def slots_of(url: str) -> tuple[str, Slots]:
    """Return a URL without what may be irrelevant in it, and that by its name."""
    path, _, query = url.partition("?")
    slots: Slots = {}
    for piece in query.split("&") if query else ():
        name, _, value = piece.partition("=")
        slots[name] = f"{slots[name]}&{value}" if name in slots else value
    segments = path.split("/")
    for place, segment in enumerate(segments):
        if is_token(segment):
            slots[f"/{place - 2}"] = segment
            segments[place] = "~"
    return "/".join(segments), slots


def difference(one: Slots, other: Slots) -> set[str]:
    """Return the names of what differs, or is in one of two URLs alone."""
    return {name for name, _ in one.items() ^ other.items()}


class Evidence:
    """What is known of one parameter."""

    __slots__ = ("burned", "differ", "learned", "originals", "same")

    def __init__(self) -> None:
        self.same = self.differ = self.burned = 0
        self.learned = False
        self.originals: list[str] = []

    def is_enough(self, needed: int) -> bool:
        """Whether the parameter may be taken for irrelevant now."""
        return (
            self.same >= needed << min(self.burned, _MOST_BURNED)
            and self.same >= _OUTWEIGHS * self.differ
            and len(self.originals) >= min(needed, _ORIGINALS)
        )

    def contradict(self) -> None:
        """Take the parameter for relevant; next time it takes twice the evidence."""
        self.learned = False
        self.same = 0
        self.burned += 1
        self.originals.clear()


class Group:
    """The parameters of one script; 200 bytes each, and the last 128 URLs with content."""

    __slots__ = ("_compared", "learned", "names", "recent", "trickle")

    def __init__(self, probe_every: int) -> None:
        self.names: dict[str, Evidence] = {}
        self.learned: frozenset[str] = frozenset()
        """Names of the parameters that are taken for irrelevant."""
        self.recent: deque[str] = deque(maxlen=_RECENT)
        self._compared: deque[tuple[str, Slots]] = deque(maxlen=_COMPARED)
        self.trickle = Trickle(probe_every, _LONGEST_INTERVAL)

    def core(self, url: str) -> str | None:
        """Return a URL without its irrelevant parameters; None where none are known."""
        if not self.learned:
            return None
        path, slots = slots_of(url)
        left = [f"{name}={slots[name]}" for name in sorted(slots.keys() - self.learned)]
        return f"{path}?{'&'.join(left)}"

    def repeats(self, url: str, original: str, needed: int, familiar: frozenset[str]) -> bool:
        """Note that a page has the content of another; return whether something is learned.

        Args:
            url: The page.
            original: The one that it repeats.
            needed: Duplicates until a parameter is taken for irrelevant.
            familiar: Names for which two will do: they are irrelevant to other scripts.
        """
        path, slots = slots_of(url)
        other_path, other = slots_of(original)
        names = difference(slots, other)
        if path != other_path or not 0 < len(names) <= _MOST_DIFFERENCES:
            return False
        learned = False
        for name in names:
            known = self._of(name)
            if known is None:
                continue
            known.same += 1
            if len(known.originals) < _ORIGINALS and original not in known.originals:
                known.originals.append(original)
            if not known.learned and known.is_enough(2 if name in familiar else needed):
                known.learned = learned = True
        if learned:
            self._note_learned()
        return learned

    def is_new(self, url: str) -> None:
        """Note a page with content of its own; the last such pages show what matters."""
        path, slots = slots_of(url)
        if not all(map(self._is_settled, slots)):
            for other_path, other in self._compared:
                names = difference(slots, other) - self.learned
                known = self._of(names.pop()) if path == other_path and len(names) == 1 else None
                if known is not None:
                    known.differ += 1
            self._compared.append((path, slots))
        self.recent.append(url)

    def _is_settled(self, name: str) -> bool:
        """Whether a parameter has been seen to matter often enough."""
        known = self.names.get(name)
        return known is not None and known.differ >= _SETTLED

    def contradicted(self, url: str, original: str) -> None:
        """Take for relevant what two URLs with one core and different content differ in."""
        names = difference(slots_of(url)[1], slots_of(original)[1]) & self.learned
        for name in names or self.learned:
            self.names[name].contradict()
        self.trickle.reset()
        self._note_learned()

    def explains(self, url: str, original: str) -> bool:
        """Whether two URLs differ in nothing but irrelevant parameters."""
        core = self.core(url)
        return core is not None and core == self.core(original)

    def encode(self) -> bytes:
        """Return the row of the store."""
        names = {
            name: (known.same, known.differ, known.burned, known.learned, known.originals)
            for name, known in self.names.items()
        }
        return orjson.dumps((names, *self.trickle.values()))

    def decode(self, row: bytes) -> Group:
        """Take over the values of a row; the last URLs are not kept."""
        names, *values = orjson.loads(row)
        self.trickle.take(values)
        for name, counts in names.items():
            known = self.names[name] = Evidence()
            known.same, known.differ, known.burned, known.learned, known.originals = counts
        self._note_learned()
        return self

    def _note_learned(self) -> None:
        self.learned = frozenset(name for name, known in self.names.items() if known.learned)

    def _of(self, name: str) -> Evidence | None:
        if name not in self.names and len(self.names) < _MOST_NAMES:
            self.names[name] = Evidence()
        return self.names.get(name)
