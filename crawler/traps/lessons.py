"""What a fetch says of its pattern, of the parameters of its script and of its host."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.model import Outcome
from crawler.traps.book import GROUP, PATTERN
from crawler.traps.domains import Standing
from crawler.traps.figures import EIGHTHS, YOUNG, Figures, Sign
from crawler.traps.library import core_key, domain_scope
from crawler.traps.patterns import shape_of

if TYPE_CHECKING:
    from crawler.traps.book import Book
    from crawler.traps.library import Library
    from crawler.traps.parameters import Group
    from crawler.traps.patterns import Shape
    from crawler.traps.trickle import Trickle

_MOST_HOLLOW = 5_000
_LEAST_CREDIT = 4 * EIGHTHS
_SIGNS = {
    Outcome.STORED: Sign.NEW,
    Outcome.LISTED: Sign.NEW,
    Outcome.DUPLICATE_EXACT: Sign.DUPLICATE,
    Outcome.DUPLICATE_NEAR: Sign.DUPLICATE,
    Outcome.REDIRECTED: Sign.REDIRECT,
    Outcome.GONE: Sign.DEAD,
    Outcome.REFUSED: Sign.DEAD,
    Outcome.FAILED_SIZE: Sign.DEAD,
    Outcome.FAILED_CONTENT: Sign.DEAD,
}
_STORED = frozenset({Sign.NEW, Sign.LEADS, Sign.HOLLOW, Sign.LEAF, Sign.UNREAD})
_TELLING = frozenset({Sign.NEW, Sign.LEADS, Sign.HOLLOW, Sign.LEAF, Sign.DUPLICATE})


@dataclass(frozen=True, slots=True)
class Observation:
    """What came of a fetch, as far as it matters here."""

    url: str
    outcome: Outcome
    text: str = ""  # of a stored page
    original: str | None = None  # the page that it repeats
    referrer: str | None = None  # the page that led to it; None for a seed


@dataclass(slots=True)
class Lesson:
    """A fetch whose links are being looked at."""

    seen: Observation
    shape: Shape
    book: Book
    inside: int = 0  # URLs queued that are like its own,
    outside: int = 0  # and others that bring something, or may

    def note_link(self, book: Book, shape: Shape) -> None:
        """Note that a URL was queued to which it led."""
        if book is self.book and self._is_like(shape):
            self.inside += 1
        elif not self.outside and _is_promising(book, shape):
            self.outside += 1

    def _is_like(self, shape: Shape) -> bool:
        """Whether a URL of the same origin is of the same kind, as far as that is known."""
        if shape.pattern == self.shape.pattern:
            return True
        figures = self.book.patterns.get(shape.pattern)
        proven = figures is not None and figures.useful > 0
        return not proven and shape.parent == self.shape.parent != ""


def _is_promising(book: Book, shape: Shape) -> bool:
    """Whether a pattern brings something or may: two that lead to each other are not enough."""
    if shape.endless:
        return False
    parent = book.patterns.get(shape.parent) if shape.parent else None
    own = book.patterns.get(shape.pattern, parent)
    return own is None or own.promising


class Lessons:
    """Learns from fetches; ``fallen`` has the rules that hold no longer since the last call."""

    def __init__(self, library: Library) -> None:
        self.fallen: list[bytes] = []
        self._hollow: OrderedDict[str, None] = OrderedDict()  # the last pages that said nothing
        self._library = library
        self._rows = library.rows
        self._options = library.options

    def learn(self, lesson: Lesson, now: float) -> None:
        """Draw the conclusions from a fetch and from where its links led."""
        sign = self._sign(lesson)
        self._learn_parameters(lesson, sign, now)
        if sign is Sign.DUPLICATE and _is_explained(lesson):
            sign = Sign.NEUTRAL
        self._count(lesson, sign, now)
        self._judge_host(lesson, sign, now)

    def _sign(self, lesson: Lesson) -> Sign:
        seen, shape = lesson.seen, lesson.shape
        sign = _SIGNS.get(seen.outcome, Sign.NEUTRAL)
        if seen.outcome is Outcome.STORED:
            figures = lesson.book.patterns.get(shape.pattern)
            if figures is not None and figures.is_trusted and not shape.combined:
                return Sign.UNREAD
            if lesson.book.is_hollow(shape, seen.text):
                return self._sign_of_hollow(lesson)
        if sign is Sign.DUPLICATE:
            self._note_hollow(seen.url)
        if sign is Sign.REDIRECT and (lesson.outside or lesson.inside):
            return Sign.LEADS if lesson.outside else Sign.ONWARD
        return sign

    def _sign_of_hollow(self, lesson: Lesson) -> Sign:
        """Tell what feeds itself from what only others lead to."""
        self._note_hollow(lesson.seen.url)
        if lesson.outside:
            return Sign.LEADS
        return Sign.HOLLOW if lesson.inside or self._is_hollow(lesson.seen.referrer) else Sign.LEAF

    def _note_hollow(self, url: str) -> None:
        self._hollow[url] = None
        if len(self._hollow) > _MOST_HOLLOW:
            self._hollow.popitem(last=False)

    def _is_hollow(self, url: str | None) -> bool:
        """Whether a page that led somewhere says nothing, or its like do not."""
        return url is not None and (
            url in self._hollow or not _is_promising(self._library.book(url), shape_of(url))
        )

    def _fall(self, scope: bytes, trickle: Trickle) -> None:
        trickle.release()
        self.fallen.append(scope)

    # --- patterns ----------------------------------------------------------------------

    def _count(self, lesson: Lesson, sign: Sign, now: float) -> None:
        """Enter a fetch under its pattern; while that is young or there is none, its parent."""
        book, shape = lesson.book, lesson.shape
        parent = book.patterns.get(shape.parent) if shape.parent else None
        credit = max(_LEAST_CREDIT, parent.credit) if parent is not None else None
        figures = book.figures(shape.pattern, self._options, credit)
        if figures is not None:
            self._enter(lesson, shape.pattern, figures, sign, now)
        if shape.parent and (figures is None or figures.fetched <= YOUNG):
            parent = book.figures(shape.parent, self._options)
            if parent is not None:
                self._enter(lesson, shape.parent, parent, sign, now, mixed=figures is None)

    def _enter(
        self,
        lesson: Lesson,
        name: str,
        figures: Figures,
        sign: Sign,
        now: float,
        *,
        mixed: bool = False,
    ) -> None:
        if figures.count(sign, lesson.shape, lesson.seen.original, now, mixed=mixed):
            self._fall(lesson.book.key(PATTERN, name), figures.trickle)
        lesson.book.note_pattern(name)

    # --- parameters --------------------------------------------------------------------

    def _learn_parameters(self, lesson: Lesson, sign: Sign, now: float) -> None:
        """Let the pages of a script show which of its parameters matter."""
        seen, shape, book = lesson.seen, lesson.shape, lesson.book
        if not (shape.parameters or shape.token or shape.script in book.groups):
            return
        group = book.group(shape.script, self._options)
        if group is None:
            return
        before = group.learned
        if sign in _STORED:
            self._note_content(lesson, group)
        elif sign is Sign.DUPLICATE and seen.original is not None:
            needed, familiar = self._options.evidence, book.familiar()
            if group.repeats(seen.url, seen.original, needed, familiar):
                group.trickle.since = now
                self._forgive(book, shape)
        else:
            return
        urls = [seen.url] if group.learned == before else [*group.recent, seen.url]
        self._keep_cores(urls, group)
        book.note_group(shape.script)

    def _note_content(self, lesson: Lesson, group: Group) -> None:
        """Note a page like no other; unlearn what it disproves if it should have been like one."""
        url = lesson.seen.url
        core = group.core(url)
        first = self._rows.get(core_key(url, core)) if core is not None else None
        if first is not None and first.decode() != url:
            group.contradicted(url, first.decode())
            self._fall(lesson.book.key(GROUP, lesson.shape.script), group.trickle)
        group.is_new(url)

    def _keep_cores(self, urls: list[str], group: Group) -> None:
        """Keep the first URL of each core that has content."""
        for url in urls:
            core = group.core(url)
            if core is not None and self._rows.get(core_key(url, core)) is None:
                self._rows.put(core_key(url, core), url.encode())

    def _forgive(self, book: Book, shape: Shape) -> None:
        """Give a pattern back what the duplicates took that are explained now."""
        for name in (shape.pattern, shape.parent):
            figures = book.patterns.get(name)
            if figures is not None:
                if figures.renew():
                    self._fall(book.key(PATTERN, name), figures.trickle)
                book.note_pattern(name)

    # --- hosts -------------------------------------------------------------------------

    def _judge_host(self, lesson: Lesson, sign: Sign, now: float) -> None:
        """Note whether a sub-domain has brought something."""
        book, url = lesson.book, lesson.seen.url
        if book.standing is Standing.USEFUL or sign not in _TELLING:
            return
        domain = self._library.domain(url)
        if domain is None:
            book.standing = Standing.USEFUL
            return
        useful = sign is Sign.NEW and not domain.wording.is_hollow(lesson.seen.text)
        before = book.standing
        book.standing, goes_on = domain.judge(before, useful=useful, now=now)
        if goes_on:
            self._fall(domain_scope(url), domain.trickle)
        if book.standing is not before:
            book.note_standing()
            self._library.write_domain(url, domain)


def _is_explained(lesson: Lesson) -> bool:
    """Whether a duplicate differs from its original in irrelevant parameters only."""
    group, seen = lesson.book.groups.get(lesson.shape.script), lesson.seen
    return (
        group is not None and seen.original is not None and group.explains(seen.url, seen.original)
    )
