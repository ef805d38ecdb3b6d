"""The values of this package: what may be asked of a page, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from crawler.parsing.directives import NO_DIRECTIVES, Directives
from crawler.parsing.text import visible_text

if TYPE_CHECKING:
    from crawler.model import Link


class Resolver(Protocol):
    """What this package asks of :class:`crawler.urls.Canonicalizer`."""

    def resolve(self, base: str, href: str, encoding: str = "utf-8") -> str | None:
        """Return the absolute normalised http(s) URL, or None if ``href`` leads to none."""
        ...


@dataclass(frozen=True, slots=True)
class ParsingOptions:
    """Bounds and choices of parsing.

    Attributes:
        max_bytes: of the body; the rest is not read.
        max_links: distinct URLs taken from one page; the first ones win.
        max_title: characters.
        max_headings: entries of ``headings``.
        max_heading: characters of each.
        max_text: characters of ``text`` and ``full_text``.
        max_main_source: characters of HTML in which main text is looked for.
        max_refresh: seconds; a meta refresh that waits longer is an ordinary link.
        follow_frames: take the pages in ``frame`` and ``iframe`` as links.
        mend_latin_1: read valid UTF-8 as UTF-8 although it is labelled Latin-1.
    """

    max_bytes: int = 5 * 2**20
    max_links: int = 10_000
    max_title: int = 500
    max_headings: int = 50
    max_heading: int = 200
    max_text: int = 1_000_000
    max_main_source: int = 2 * 2**20
    max_refresh: float = 30.0
    follow_frames: bool = True
    mend_latin_1: bool = True


DEFAULT_OPTIONS = ParsingOptions()


@dataclass(slots=True)
class ParsedPage:
    """What a page says.

    Attributes:
        title: of ``title``, else of ``og:title``; white space collapsed.
        lang: primary language subtag, guessed from the text, else as declared.
        headings: texts of h1, h2 and h3 in document order.
        text: main text, or the full text where there is next to no main text.
        main_text: which of the two ``text`` is.
        canonical: the declared canonical, normalised; a claim, not a fact.
        robots: meta robots and X-Robots-Tag, added up.
        links: distinct URLs in document order. ``nofollow`` is set where each link to the
            URL has it, and on all of them where the page has it.
        refresh: where a meta refresh leads, if soon and to another page; not among ``links``.
        charset: standard name of the encoding that was used, lower case.
        codec: Python's name of it.
        truncated: some bound cut the page.
        error: name of the exception if a parser failed; the other fields are then empty.
    """

    title: str | None = None
    lang: str | None = None
    headings: list[str] = field(default_factory=list)
    text: str = ""
    main_text: bool = False
    canonical: str | None = None
    robots: Directives = NO_DIRECTIVES
    links: list[Link] = field(default_factory=list)
    refresh: str | None = None
    charset: str = "utf-8"
    truncated: bool = False
    error: str | None = None
    codec: str = "utf-8"
    _html: str = field(default="", repr=False)
    _full_text: str | None = field(default=None, repr=False)
    _max_text: int = field(default=0, repr=False)

    @property
    def full_text(self) -> str:
        """All visible text; read from the page when first asked for, at a third of parsing."""
        if self._full_text is None:
            self._full_text = visible_text(self._html)[: self._max_text]
            self._html = ""
        return self._full_text

    def keep_source(self, html: str, full_text: str | None, max_text: int) -> None:
        """Keep what ``full_text`` needs: itself if it is known, else the page."""
        self._max_text = max_text
        if full_text is None:
            self._html = html
        else:
            self._full_text = full_text[:max_text]
