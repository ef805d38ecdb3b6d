"""What a page asks of those who index it: meta robots and X-Robots-Tag.

All that speaks to us is added up, and the stricter word wins: a page cannot take back in one
place what it forbids in another. Separators are read generously (comma, semicolon, blank),
because a site that writes ``noindex nofollow`` means both.

There is no standard. The rules are Google's documentation of the robots meta tag and of
X-Robots-Tag; list syntax is that of RFC 9110 §5.6.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import mktime_tz, parsedate_tz
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_VALUES = 32
"""Meta elements, and headers, that are read; the rest is ignored."""

LONGEST_VALUE = 2048
"""Characters of each that are read."""

MOST_RULES = 64
"""Rules that are kept in ``raw``."""

_RESTRICTIVE = ("noindex", "nofollow", "noarchive", "nosnippet", "noimageindex", "notranslate")
_PLAIN = frozenset(
    (*_RESTRICTIVE, "none", "all", "index", "follow", "archive", "nocache", "noodp", "noydir",
     "nositelinkssearchbox", "indexifembedded", "noai", "noimageai")
)  # fmt: skip
_WITH_VALUE = frozenset(
    ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after", "content")
)
_NAMED = re.compile(r"([A-Za-z*][\w./-]*)\s*:\s*(.*)", re.DOTALL)
_BLANKS = re.compile(r"\s+")
_SEPARATORS = re.compile(r"[,;]")
_LAST_DAY = re.compile(r"\bunavailable_after\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)
_TIME_OF_DAY = re.compile(r"\d:\d").search
_WEEKDAY = re.compile(
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Directives:
    """The sum of what a page and its headers ask of us.

    Attributes:
        unavailable_after: crawl-clock seconds after which the page asks to be forgotten;
            see :meth:`expired`.
        raw: the rules that concern us as written, lower case, in order, each once.
    """

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    nosnippet: bool = False
    noimageindex: bool = False
    notranslate: bool = False
    unavailable_after: float | None = None
    raw: tuple[str, ...] = ()

    def expired(self, now: float) -> bool:
        """Whether the page's own last day has passed: then it counts as noindex."""
        return self.unavailable_after is not None and now > self.unavailable_after


NO_DIRECTIVES = Directives()


def parse_directives(meta: Sequence[str], headers: Sequence[str], token: str) -> Directives:
    """Add up meta robots contents and X-Robots-Tag values for one crawler.

    Args:
        meta: contents of the meta elements named ``robots`` or as our token.
        headers: X-Robots-Tag values; one may be scoped, as in ``otherbot: noindex``. A scope
            holds to the end of its value or to the next scope.
        token: our product token; ``*`` reads only what is said to everyone.
    """
    if not meta and not headers:
        return NO_DIRECTIVES
    values = [*meta[:MOST_VALUES], *headers[:MOST_VALUES]]
    return _add_up(tuple([value[:LONGEST_VALUE] for value in values]), token.lower())


@lru_cache(maxsize=64)  # a site says the same on all its pages; at worst 8 MB
def _add_up(values: tuple[str, ...], token: str) -> Directives:
    rules = list(dict.fromkeys(_rules(values, token)))[:MOST_RULES]
    if not rules:
        return NO_DIRECTIVES
    found = {rule.partition(":")[0] for rule in rules}
    if "none" in found:
        found |= {"noindex", "nofollow"}
    if "nocache" in found:  # the name other engines use
        found.add("noarchive")
    flags = {name: name in found for name in _RESTRICTIVE}
    return Directives(**flags, unavailable_after=_earliest_date(rules), raw=tuple(rules))


def _rules(values: Iterable[str], token: str) -> Iterator[str]:
    """Yield the rules that concern us: ``name`` or ``name:value``, lower case."""
    for value in values:
        ours = True
        for member in _members(value):
            named = _NAMED.match(member)
            rest = member
            while named and named[1].lower() not in _WITH_VALUE | _PLAIN:
                ours = _is_ours(named[1].lower(), token)
                rest = named[2]
                named = _NAMED.match(rest)
            if ours:
                yield from _read_member(rest)


def _members(value: str) -> Iterator[str]:
    """Split at commas and semicolons, but not behind the weekday of a date."""
    pieces = iter(_SEPARATORS.split(value))
    for piece in pieces:
        before, colon, day = piece.rpartition(":")
        if colon and "unavailable_after" in before.lower() and _WEEKDAY.fullmatch(day.strip()):
            piece += "," + next(pieces, "")  # noqa: PLW2901 -- the other half of it
        if piece := piece.strip():
            yield piece


def _read_member(member: str) -> Iterator[str]:
    """Read ``noindex``, ``noindex nofollow``, ``max-snippet: 20`` or, to its end, a date."""
    if dated := _LAST_DAY.search(member):
        yield f"unavailable_after:{dated[1].strip().lower()}"
        member = member[: dated.start()]
    member = re.sub(r"\s*:\s*", ":", member.lower())
    yield from (word for word in _BLANKS.split(member) if word)


def _is_ours(agent: str, token: str) -> bool:
    return agent in {"*", "robots"} or agent.partition("/")[0] == token


def _earliest_date(rules: Iterable[str]) -> float | None:
    dates = [
        at
        for rule in rules
        if rule.startswith("unavailable_after:")
        and (at := _parse_date(rule.partition(":")[2])) is not None
    ]
    return min(dates, default=None)


def _parse_date(text: str) -> float | None:
    """Read an RFC 822, RFC 850 or ISO 8601 date; UTC where it names no zone; None if none is.

    Spec: Google's documentation of ``unavailable_after``.
    """
    try:
        stamp = datetime.fromisoformat(text.upper())
        return (stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        pass
    if not _TIME_OF_DAY(text):  # email.utils wants one
        text += " 00:00:00 gmt"
    try:
        parts = parsedate_tz(text)
        return None if parts is None else float(mktime_tz((*parts[:9], parts[9] or 0)))
    except (ValueError, OverflowError, IndexError, TypeError):
        return None
