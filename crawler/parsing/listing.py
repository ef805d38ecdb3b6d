"""What sitemaps and feeds have in common: lists of pages with dates, gathered within bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from crawler.parsing.dates import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.parsing.page import Resolver

LONGEST_HREF = 8_192
"""Characters of an address; the sitemap protocol allows 2,048."""
_TRIES_PER_ENTRY = 4  # unusable and repeated entries are read, too, but not for ever
_LONGEST_ERROR = 200  # characters
_CLOCK_SKEW = 86_400.0  # seconds: a date further ahead is no date of a change
DAMAGED = "\ufffd"  # stands for what could not be decoded or resolved


@dataclass(frozen=True, slots=True)
class Listed:
    """A URL of a list, normalised, and when it changed last; None where no date is believed."""

    url: str
    modified_at: float | None = None


@dataclass(frozen=True, slots=True)
class SitemapOptions:
    """Bounds of one list.

    Attributes:
        max_entries: usable entries; the first ones win. The sitemap protocol allows 50,000.
        max_bytes: of the document, unpacked; the rest is not read. The protocol allows 50 MiB.
    """

    max_entries: int = 50_000
    max_bytes: int = 50 * 2**20


DEFAULT_SITEMAP_OPTIONS = SitemapOptions()
DEFAULT_FEED_OPTIONS = SitemapOptions(max_entries=10_000, max_bytes=10 * 2**20)


@dataclass(slots=True)
class Feed:
    """What a document lists.

    Attributes:
        pages: distinct URLs of pages, in document order; the first date of a URL holds.
        sitemaps: the same of the lists that an index names; empty for a feed.
        kind: urlset, index, text, rss, atom, json; none if it is no list.
        skipped: entries that could not be used: no address, not http(s), damaged, not read.
        truncated: some bound cut the list.
        error: the first thing that was wrong with the document as a whole.
    """

    pages: list[Listed] = field(default_factory=list)
    sitemaps: list[Listed] = field(default_factory=list)
    kind: str = "none"
    skipped: int = 0
    truncated: bool = False
    error: str | None = None

    def fail(self, error: str) -> None:
        """Keep the first error."""
        self.error = self.error or error[:_LONGEST_ERROR]


class Target(NamedTuple):
    """An address as written, and the base URL in force where it stands."""

    href: str
    base: str


class Entry:
    """The children of one entry: texts by lower-case local name, and links."""

    __slots__ = ("_bases", "base", "depth", "element", "links", "local", "prefix", "texts")

    def __init__(self, element: str, prefix: str, local: str, *, depth: int, base: str) -> None:
        self.element, self.prefix, self.local = element, prefix, local
        self.depth, self.base = depth, base
        self.texts: dict[str, str] = {}
        self.links: tuple[tuple[bool, Target], ...] = ()  # is it to HTML, where to
        self._bases: dict[str, str] | None = None  # of the children that have one of their own

    def keep(self, name: str, text: str, base: str) -> None:
        """Keep the first text of each name."""
        text = text.strip()
        if text and name not in self.texts:
            self.texts[name] = text
            if base != self.base:
                self._bases = {**(self._bases or {}), name: base}

    def target(self, name: str) -> Target | None:
        """Return the address in a child, if it has one."""
        href = self.texts.get(name)
        if href is None:
            return None
        return Target(href, self._bases.get(name, self.base) if self._bases else self.base)


class Collector:
    """Turns entries into the URLs of a list, within its bounds."""

    __slots__ = ("_latest", "_options", "_resolver", "_seen", "_tried", "listing", "own", "url")

    def __init__(
        self,
        listing: Feed,
        *,
        url: str,
        resolver: Resolver,
        options: SitemapOptions,
        now: float | None,
    ) -> None:
        self.listing, self.url = listing, url
        self._resolver, self._options = resolver, options
        self._latest = None if now is None else now + _CLOCK_SKEW
        self._seen: set[str] = set()
        self._tried = 0
        self.own = resolver.resolve(url, url)

    def resolve(self, base: str, href: str) -> str | None:
        """Return the URL that ``href`` leads to; None if it is damaged, too long, or none."""
        if DAMAGED in href or len(href) > LONGEST_HREF:
            return None
        return self._resolver.resolve(base, href)

    @property
    def max_entries(self) -> int:
        """How many entries may be taken."""
        return self._options.max_entries

    def add(self, target: Target | None, dates: Iterable[str], *, index: bool = False) -> bool:
        """Add a URL with the first usable date; False if the list is full.

        A list that names itself among its parts is skipped: it would be read for ever.
        """
        self._tried += 1
        if self._tried > self.max_entries * _TRIES_PER_ENTRY:
            self.listing.truncated = True
            return False
        url = None if target is None else self.resolve(target.base, target.href)
        if url is None or (index and url == self.own):
            self.listing.skipped += 1
        elif url not in self._seen:
            if len(self._seen) >= self.max_entries:
                self.listing.truncated = True
                return False
            self._seen.add(url)
            to = self.listing.sitemaps if index else self.listing.pages
            to.append(Listed(url, self._first_date(dates)))
        return True

    def _first_date(self, dates: Iterable[str]) -> float | None:
        for text in dates:
            at = parse_date(text)
            if at is not None and (self._latest is None or at <= self._latest):
                return at
        return None
