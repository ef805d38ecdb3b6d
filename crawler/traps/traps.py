"""Which URLs are not worth fetching, by what came of others like them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from crawler.model import Discovery, Reason
from crawler.traps.book import ASIDE, SCOPE_MARK, Book, Rows
from crawler.traps.domains import Standing
from crawler.traps.figures import LATE
from crawler.traps.lessons import Lesson, Lessons, Observation
from crawler.traps.library import Library, aside_key
from crawler.traps.patterns import Shape, shape_of
from crawler.traps.report import (
    Stop,
    domain_figures,
    group_figures,
    pattern_figures,
    read_rules,
    read_stops,
)
from crawler.traps.rules import Rules, Ruling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.traps.options import TrapOptions

_MOST_PROBES = 10_000
_LONGEST_EXAMPLE = 500  # characters


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is known of URLs like one, and what would be done with it.

    Attributes:
        pattern: Of the URL.
        parent: Of the pattern; empty where there is none.
        figures: Of the two, as far as there are any.
        reason: Why the URL would be rejected; None where it would not.
        rule: What the rule is, in words.
        parameters: What is known of the parameters of its script.
        sub_domains: Of its site; empty where its host is none.
    """

    pattern: str
    parent: str
    figures: dict[str, dict[str, Any]]
    reason: Reason | None
    rule: str
    parameters: dict[str, Any]
    sub_domains: dict[str, Any]


class Traps:
    """Judges URLs before they are queued and before they are fetched, and learns from fetches.

    Order of calls: :meth:`begin` with what came of a fetch, :meth:`admit` for each new URL that
    it led to, :meth:`end`, :meth:`release`. All else may come at any time.

    Invariants: a URL that is rejected here may be found again, and is looked at anew; the first
    ``kept`` of each rule are kept as well, and given out when the rule falls.

    Cost: about 10 µs a new URL, 25 to 105 µs a fetch (of most patterns 32 are read); memory
    for 50,000 patterns, about 40 MB, over all origins (the least recently used ones wait in the
    store), and 1 KB for each of the last 2,000 sites with sub-domains.
    """

    def __init__(self, options: TrapOptions, rows: Rows) -> None:
        self._options = options
        self._rows = rows
        self._library = Library(rows, options)
        self._rules = Rules(self._library)
        self._lessons = Lessons(self._library)
        self._lesson: Lesson | None = None
        self._probes: set[str] = set()

    # --- before a fetch --------------------------------------------------------------

    def admit(self, url: str, found: Discovery) -> Reason | int:
        """Judge a new URL.

        Returns:
            Why it is not queued; or the priority it is queued with, 0 (first) to 255.
        """
        book, shape = self._library.book(url), shape_of(url)
        if found.depth == 0 and found.referrer is None:  # a seed is wanted, whatever it is like
            book.standing = Standing.USEFUL
            book.note_standing()
            return found.priority
        ruling = self._rules.ruling(url, book, shape, new=True)
        if ruling is not None and not self._passes(url, ruling):
            self._reject(url, ruling, found)
            return ruling.reason
        if self._lesson is not None:
            self._lesson.note_link(book, shape)
        if book.standing is Standing.NEW:
            self._note_host(url, book)
        late = LATE if ruling is not None else _late(book, shape)
        return max(found.priority, min(found.priority + late, LATE))

    def recheck(self, found: Discovery) -> Reason | None:
        """Judge a queued URL once more, just before it would be fetched.

        Args:
            found: It alone, which is no seed, and how it was found.
        """
        (url,) = found.urls
        ruling = self._rules.ruling(url, self._library.book(url), shape_of(url), new=False)
        if ruling is None or url in self._probes or self._passes(url, ruling):
            return None
        self._reject(url, ruling, found)
        return ruling.reason

    def reconsiders(self, url: str) -> bool:
        """Tell whether a URL that was rejected here would not be now; it is no longer kept."""
        book, shape = self._library.book(url), shape_of(url)
        if self._rules.ruling(url, book, shape, new=True) is not None:
            return False
        for scope in self._rules.scopes(url, book, shape):
            self._rows.delete(aside_key(scope, url))
        return True

    def _passes(self, url: str, ruling: Ruling) -> bool:
        """Whether a URL is fetched although a rule is against it, to see if the rule is right."""
        due = ruling.trickle.probe_is_due()
        if due:
            if len(self._probes) >= _MOST_PROBES:
                self._probes.clear()
            self._probes.add(url)
        return due

    def _note_host(self, url: str, book: Book) -> None:
        """Note that the first URL of a host is queued."""
        domain = self._library.domain(url)
        if domain is None:
            book.standing = Standing.USEFUL
            return
        book.standing = Standing.TRIED
        book.note_standing()
        domain.tried += 1
        self._library.write_domain(url, domain)

    def _reject(self, url: str, ruling: Ruling, found: Discovery) -> None:
        """Count a rejected URL, and keep it for the day on which the rule falls."""
        trickle = ruling.trickle
        if not trickle.rejected:
            trickle.example = url[:_LONGEST_EXAMPLE]
            self._rows.put(SCOPE_MARK + ruling.scope, ruling.reason.value.encode())
        trickle.rejected += 1
        if trickle.kept < self._options.kept:
            trickle.kept += 1
            way = (found.depth, found.referrer, found.priority, found.redirects, found.copies)
            row = orjson.dumps((url, ruling.reason.value, *way))
            self._rows.put(aside_key(ruling.scope, url), row)
        ruling.note()

    # --- after a fetch -----------------------------------------------------------------

    def begin(self, seen: Observation) -> None:
        """Take what came of a fetch; its links are judged next."""
        self._lesson = Lesson(seen, shape_of(seen.url), self._library.book(seen.url))

    def end(self, now: float) -> None:
        """Draw the conclusions from a fetch and from where its links led."""
        lesson, self._lesson = self._lesson, None
        assert lesson is not None
        self._probes.discard(lesson.seen.url)
        self._lessons.learn(lesson, now)
        lesson.book.flush()
        self._library.tidy()

    def release(self) -> Iterator[tuple[Reason, Discovery]]:
        """Give out what was kept under rules that have fallen; each is to be judged anew."""
        while self._lessons.fallen:
            yield from self._give_out(aside_key(self._lessons.fallen.pop()))

    def release_all(self) -> Iterator[tuple[Reason, Discovery]]:
        """Give out all that is kept, whatever the rules say."""
        self._library.flush()
        for scope, _, rule in read_rules(self._rows, self._options):
            rule.trickle.release()
            self._rows.put(scope, rule.encode())
        self._library.forget()  # what it holds has the old counts
        yield from self._give_out(ASIDE)

    def _give_out(self, prefix: bytes) -> Iterator[tuple[Reason, Discovery]]:
        for key, value in self._rows.scan(prefix):
            self._rows.delete(key)
            url, reason, *way = orjson.loads(value)
            yield Reason(reason), Discovery([url], *way)

    # --- for those who want to know -----------------------------------------------------

    def assess(self, url: str) -> Assessment:
        """Say what is known of URLs like this one, and what would be done with it now."""
        book, shape = self._library.book(url), shape_of(url)
        ruling = self._rules.ruling(url, book, shape, new=True)
        group, domain = book.groups.get(shape.script), self._library.domain(url)
        return Assessment(
            pattern=shape.pattern,
            parent=shape.parent,
            figures={
                name: pattern_figures(book.patterns[name])
                for name in (shape.pattern, shape.parent)
                if name in book.patterns
            },
            reason=ruling.reason if ruling is not None else None,
            rule=_words(ruling) if ruling is not None else "",
            parameters=group_figures(group) if group is not None else {},
            sub_domains=domain_figures(domain) if domain is not None else {},
        )

    def kept(self, url: str) -> Discovery | None:
        """Return how a URL was found that was rejected here and is kept; None for any other."""
        book, shape = self._library.book(url), shape_of(url)
        for scope in self._rules.scopes(url, book, shape):
            row = self._rows.get(aside_key(scope, url))
            if row is not None:
                _, _, *way = orjson.loads(row)
                return Discovery([url], *way)
        return None

    def stops(self) -> Iterator[Stop]:
        """Yield every rule that has rejected a URL in this crawl."""
        self._library.flush()
        return read_stops(self._rows, self._options)


def _words(ruling: Ruling) -> str:
    """Name a rule."""
    where, _, rest = ruling.scope.decode().partition("\0")
    if ruling.reason is Reason.TRAP_HOSTS:
        return f"the sub-domains of {where[1:]} bring too little"
    if ruling.reason is Reason.PARAMETER:
        return f"it differs from a fetched URL in irrelevant parameters of {where}{rest[1:]} only"
    return f"pattern {rest[1:]} of {where} brings nothing new"


def _late(book: Book, shape: Shape) -> int:
    """Return by how much a URL goes later than others, since its like bring little."""
    figures = book.patterns.get(shape.pattern) or book.patterns.get(shape.parent)
    return figures.late if figures is not None else 0
