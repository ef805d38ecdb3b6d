"""What is known of one origin: its patterns, its scripts with their parameters, its standing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from crawler.traps.domains import Domain, Standing
from crawler.traps.figures import Figures
from crawler.traps.parameters import Group
from crawler.traps.wording import Wording

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.model import Origin
    from crawler.traps.options import TrapOptions
    from crawler.traps.patterns import Shape

MOST_PATTERNS = 256
MOST_GROUPS = 32
MOST_WORDINGS = 64
OTHERS = "(others)"
"""Paths whose wordings are not told apart."""

PATTERN, GROUP, _STANDING, _WORDING = b"p", b"g", b"h", b"w"
DOMAIN, SCOPE_MARK, ASIDE, CORE = b"*", b"!", b"~", b"="
"""How keys begin that are of no one origin; no origin begins so."""


class Rows(Protocol):
    """Where rows are kept: what was written is read again, also before it is durable."""

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a row, None where there is none."""
        ...

    def scan(self, prefix: bytes) -> list[tuple[bytes, bytes]]:
        """Return the rows whose keys begin so."""
        ...

    def put(self, key: bytes, value: bytes) -> None:
        """Set a row."""
        ...

    def delete(self, key: bytes) -> None:
        """Remove a row, which need not exist."""
        ...


class Book:
    """One origin in memory, written back row by row.

    At most 256 patterns of about 700 bytes, 32 scripts of about 20 KB, and the wordings of 64
    paths, half a KB each, 8 KB where there are parameters.
    """

    __slots__ = (
        *("_changed", "_rows", "_wordings", "groups", "origin", "patterns"),
        "standing",
    )

    def __init__(self, origin: Origin, rows: Rows, options: TrapOptions) -> None:
        self.origin = origin
        self.patterns: dict[str, Figures] = {}
        self.groups: dict[str, Group] = {}
        self.standing = Standing.NEW
        self._rows = rows
        self._wordings: dict[str, Wording] = {}
        self._changed: set[tuple[bytes, str]] = set()
        standing = rows.get(self.key(_STANDING, ""))
        if standing is not None:  # the row that every known origin has
            self._load(options)
            self.standing = Standing(int(standing))

    def __len__(self) -> int:
        return 1 + len(self.patterns) + 20 * len(self.groups) + len(self._wordings)

    def figures(
        self, pattern: str, options: TrapOptions, credit: int | None = None
    ) -> Figures | None:
        """Return the figures of a pattern; made when there are none, with so much credit.

        None where the origin has too many patterns: they are judged by their parents alone.
        """
        found = self.patterns.get(pattern)
        if found is None and len(self.patterns) < MOST_PATTERNS:
            found = self.patterns[pattern] = Figures(options, credit)
        return found

    def group(self, path: str, options: TrapOptions) -> Group | None:
        """Return what is known of a script's parameters; None where there are too many."""
        found = self.groups.get(path)
        if found is None and len(self.groups) < MOST_GROUPS:
            found = self.groups[path] = Group(options.probe_every)
        return found

    def is_hollow(self, shape: Shape, text: str) -> bool:
        """Tell whether next to nothing in a text is new among the last pages of such paths."""
        path = f"{shape.path}?" if shape.parameters else shape.path
        if path not in self._wordings and len(self._wordings) >= MOST_WORDINGS:
            path = OTHERS
        found = self._wordings.get(path)
        if found is None:
            found = Wording.of_script() if path[-1:] == "?" else Wording()
            self._wordings[path] = found
        self._changed.add((_WORDING, path))
        return found.is_hollow(text, combined=shape.combined)

    def familiar(self) -> frozenset[str]:
        """Return the names of parameters that are irrelevant to some script."""
        return frozenset().union(*(group.learned for group in self.groups.values()))

    def note_pattern(self, pattern: str) -> None:
        """Have the figures of a pattern written."""
        self._changed.add((PATTERN, pattern))

    def note_group(self, path: str) -> None:
        """Have what is known of parameters written."""
        self._changed.add((GROUP, path))

    def note_standing(self) -> None:
        """Have the standing of the origin written."""
        self._changed.add((_STANDING, ""))

    def flush(self) -> None:
        """Write what has changed."""
        if not self._changed:
            return
        self._changed.add((_STANDING, ""))
        for kind, name in self._changed:
            self._rows.put(self.key(kind, name), self._value(kind, name))
        self._changed.clear()

    def _value(self, kind: bytes, name: str) -> bytes:
        if kind == _STANDING:
            return b"%d" % self.standing
        rows: dict[bytes, Mapping[str, Figures | Group | Wording]] = {
            PATTERN: self.patterns,
            GROUP: self.groups,
            _WORDING: self._wordings,
        }
        return rows[kind][name].encode()

    def key(self, kind: bytes, name: str) -> bytes:
        """Return the key of a row."""
        return self.origin.encode() + b"\0" + kind + name.encode()

    def _load(self, options: TrapOptions) -> None:
        start = self.key(b"", "")
        for key, value in self._rows.scan(start):
            kind, name = key[len(start) : len(start) + 1], key[len(start) + 1 :].decode()
            if kind == PATTERN:
                self.patterns[name] = Figures(options).decode(value)
            elif kind == GROUP:
                self.groups[name] = Group(options.probe_every).decode(value)
            elif kind == _WORDING:
                self._wordings[name] = Wording.decode(value)


def read_domain(site: str, rows: Rows, options: TrapOptions) -> Domain:
    """Return what is known of a site's sub-domains."""
    row = rows.get(DOMAIN + site.encode())
    return Domain(options) if row is None else Domain(options).decode(row)
