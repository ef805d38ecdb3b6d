"""Why a URL is not worth fetching, by what is known of others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crawler.model import Reason
from crawler.traps.book import GROUP, PATTERN
from crawler.traps.domains import Standing
from crawler.traps.figures import YOUNG
from crawler.traps.library import core_key, domain_scope
from crawler.traps.patterns import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.traps.book import Book
    from crawler.traps.library import Library
    from crawler.traps.patterns import Shape
    from crawler.traps.trickle import Trickle

_REASONS = {
    Rule.PATTERN: Reason.TRAP_PATTERN,
    Rule.REPEAT: Reason.TRAP_REPEAT,
    Rule.GROWTH: Reason.TRAP_GROWTH,
}
REVOCABLE = frozenset({*_REASONS.values(), Reason.TRAP_HOSTS, Reason.PARAMETER})
"""Reasons that may cease to hold."""


class Ruling(NamedTuple):
    """Why a URL is not to be fetched, and where it is counted."""

    reason: Reason
    scope: bytes  # key of the rule's row; rejected URLs are kept under it
    trickle: Trickle
    note: Callable[[], None]  # has the counts written


class Rules:
    """Asks, in this order: may its sub-domain be tried, is it another spelling, is it alike?"""

    def __init__(self, library: Library) -> None:
        self._library = library

    def ruling(self, url: str, book: Book, shape: Shape, *, new: bool) -> Ruling | None:
        """Return what is against a URL, or None.

        Args:
            url: Normalised.
            book: Of its origin.
            shape: Of the URL.
            new: Whether it is not queued yet.
        """
        return (
            (None if book.standing is Standing.USEFUL else self._of_host(url, book, new=new))
            or (self._of_parameters(url, book, shape) if book.groups else None)
            or self._of_pattern(book, shape)
        )

    def scopes(self, url: str, book: Book, shape: Shape) -> list[bytes]:
        """Return under which rules a URL may be kept."""
        patterns = [book.key(PATTERN, name) for name in (shape.pattern, shape.parent) if name]
        return [*patterns, book.key(GROUP, shape.script), domain_scope(url)]

    def _of_host(self, url: str, book: Book, *, new: bool) -> Ruling | None:
        """Stop sub-domains of which too many brought nothing."""
        domain = self._library.domain(url)
        if domain is None:
            return None
        if not (domain.full if new and book.standing is Standing.NEW else domain.stopped):
            return None
        note = partial(self._library.write_domain, url, domain)
        return Ruling(Reason.TRAP_HOSTS, domain_scope(url), domain.trickle, note)

    def _of_parameters(self, url: str, book: Book, shape: Shape) -> Ruling | None:
        """Leave out a URL that differs from one that was fetched in nothing that matters."""
        group = book.groups.get(shape.script)
        core = group.core(url) if group is not None else None
        if group is None or core is None:
            return None
        first = self._library.rows.get(core_key(url, core))
        if first is None or first.decode() == url:
            return None
        note = partial(book.note_group, shape.script)
        return Ruling(Reason.PARAMETER, book.key(GROUP, shape.script), group.trickle, note)

    def _of_pattern(self, book: Book, shape: Shape) -> Ruling | None:
        """Stop a pattern that has no credit; or, while it is young, whose parent has none."""
        name = shape.pattern
        figures = book.patterns.get(name)
        if figures is None or not (figures.useful or figures.fetched >= YOUNG or figures.stopped):
            name = shape.parent
            figures = book.patterns.get(name)
        if figures is None or not figures.stopped:
            return None
        note = partial(book.note_pattern, name)
        return Ruling(_REASONS[shape.rule], book.key(PATTERN, name), figures.trickle, note)
