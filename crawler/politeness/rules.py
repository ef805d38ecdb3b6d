r"""The rules of one robots.txt, as they apply to us.

Protego does the matching. What it reads differently from RFC 9309 is mended around it, here and in
:mod:`crawler.politeness.robots_txt`, and nowhere else:

====================================  ==========  =============================================
Protego 0.7                           RFC 9309    mended by
====================================  ==========  =============================================
group chosen by a one-edge match,     §2.2.1      our group is picked first; Protego sees one
version hides the token, other        §2.2.4      ``User-agent: *`` group
lines split stacked agents
lines also end at U+2028, \x0b ...     §2.2        own line split, such octets escaped
no limit on size or rules             §2.5        cut at a line end; bounded rules, wildcards
``/robots.txt?x`` always allowed      §2.2.2      decided by `_winner`
``/a$`` also matches ``/a$b``         §2.2.3      decided by `_winner` if the URL has a ``$``
``Allow: /d/index.html`` allows /d/   §2.2.2      such a file is decided by `_winner`
all octets that are no UTF-8 equal    §2.2.2      such a file is decided by `_winner`
lone ``%`` in rule, ``%25`` in URL    RFC 3986    both become ``%25``
Crawl-delay ``1_0``, ``+3``, ``٣``    none        own number
====================================  ==========  =============================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import unquote_to_bytes

from protego import Protego

from crawler.politeness.robots_txt import (
    MAX_BYTES,
    RobotsText,
    RuleLine,
    comparable_target,
    read_robots_txt,
)

_ODD_URL = re.compile(r"[$\x00-\x20]|%24|/robots\.txt|%(?![0-9A-Fa-f]{2})").search
_TARGET = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*([^#]*)").match
_ROBOTS = "/robots.txt"


@dataclass(frozen=True, slots=True)
class RobotsDecision:
    """May a URL be fetched, and which line of the file says so (None: no line does)."""

    allowed: bool
    rule: str | None = None
    line: int | None = None


ALLOWED = RobotsDecision(allowed=True)


class RobotsRules:
    """The rules of one robots.txt for one product token; immutable.

    Invariants: nothing raises, whatever the bytes and the URL; the verdict depends on the
    file, the token and the URL alone. Cost: parsing is linear in the file (at most 500 KiB);
    a decision is O(wildcard rules), which are bounded.
    """

    __slots__ = ("_judge", "_lengths", "_mended", "_plain", "_special", "_text")

    def __init__(self, text: RobotsText) -> None:
        self._text = text
        self._judge = _protego(text.rules) if text.rules else None
        self._plain: dict[str, RuleLine] = {}
        self._special: list[tuple[RuleLine, list[str], bool]] = []
        for rule in sorted(text.rules, key=lambda rule: rule.priority):
            if "*" in rule.pattern or rule.pattern.endswith("$"):
                self._special.append(_glob(rule))
            else:
                self._plain[rule.pattern] = rule  # of equal patterns the allow comes last
        self._special.reverse()
        self._lengths = sorted({len(pattern) for pattern in self._plain}, reverse=True)
        self._mended = any(map(_misread, text.rules))

    @classmethod
    def parse(cls, body: bytes, token: str, *, max_bytes: int = MAX_BYTES) -> Self:
        """Read a robots.txt for the crawler with this product token (see `product_token`).

        Args:
            body: the payload, content coding removed; any bytes will do.
            token: ASCII letters, ``_`` and ``-``; compared without regard to case.
            max_bytes: what lies beyond is not read (RFC 9309 §2.5).
        """
        return cls(read_robots_txt(body, token.lower(), max_bytes))

    @property
    def crawl_delay(self) -> float | None:
        """Seconds the site asks for between requests; finite, not negative; None if not said.

        The largest, if our group says it several times.
        """
        return self._text.crawl_delay

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """Sitemap values of the whole file as written, distinct, in order (RFC 9309 §2.2.4)."""
        return self._text.sitemaps

    @property
    def looks_like_html(self) -> bool:
        """True if the body begins with markup: a site that answers every path with a page."""
        return self._text.looks_like_html

    @property
    def dropped(self) -> int:
        """Number of rules of our group beyond our bounds, hence not obeyed; worth a warning."""
        return self._text.dropped

    def __len__(self) -> int:
        return len(self._text.rules)

    def decide(self, url: str) -> RobotsDecision:
        """Say whether `url` may be fetched; a denial names its line, a permission does not.

        Spec: RFC 9309 §2.2.2, §2.2.3.
        """
        if self._judge is None:
            return ALLOWED
        if not self._mended and not _ODD_URL(url):
            try:
                if self._judge.can_fetch(url, "*"):
                    return ALLOWED
            except ValueError:  # a host or a character that urllib cannot take
                pass
            else:
                return _decision(self._winner(_target(url)), allowed=False)
        decision = self.explain(url)
        return ALLOWED if decision.allowed else decision

    def explain(self, url: str) -> RobotsDecision:
        """Decide like `decide`, and name the line of a permission too."""
        target = _target(url)
        if target == _ROBOTS:
            return ALLOWED
        rule = self._winner(target)
        return _decision(rule, allowed=rule is None or rule.allow)

    def _winner(self, target: str) -> RuleLine | None:
        """Return the matching rule with the longest pattern, or None.

        A plain pattern is a prefix of the target, so one look-up per length in use finds it.
        """
        target = comparable_target(target)
        best = None
        for length in self._lengths:
            best = self._plain.get(target[:length])
            if best is not None:
                break
        for rule, parts, anchored in self._special:
            if best is not None and rule.priority <= best.priority:
                break
            if _matches(parts, target, anchored=anchored):
                return rule
        return best


def _protego(rules: tuple[RuleLine, ...]) -> Protego:
    """Hand our rules to Protego as the only group of a file."""
    lines = [f"{'Allow' if rule.allow else 'Disallow'}: {rule.pattern}" for rule in rules]
    return Protego.parse("User-agent: *\n" + "\n".join(lines))


def _glob(rule: RuleLine) -> tuple[RuleLine, list[str], bool]:
    anchored = rule.pattern.endswith("$")
    pattern = rule.pattern[:-1] if anchored else rule.pattern
    return rule, pattern.split("*"), anchored


def _matches(parts: list[str], target: str, *, anchored: bool) -> bool:
    """Match literal parts with anything between them; the leftmost place for each is enough."""
    if not target.startswith(parts[0]):
        return False
    at = len(parts[0])
    if len(parts) == 1:
        return not anchored or at == len(target)
    for part in parts[1:-1]:
        found = target.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    last = parts[-1]
    if anchored:
        return target.endswith(last) and len(target) - len(last) >= at
    return target.find(last, at) >= 0


def _target(url: str) -> str:
    """Return path and query of an absolute URL; an empty path is ``/`` (RFC 3986 §6.2.3)."""
    found = _TARGET(url)
    target = found[1] if found else url.partition("#")[0]
    return target if target.startswith("/") else f"/{target}"


def _misread(rule: RuleLine) -> bool:
    """True if Protego would take this pattern for another one."""
    if rule.allow and rule.pattern.endswith("/index.html"):
        return True
    if "%" not in rule.pattern:
        return False
    return "�" in unquote_to_bytes(rule.pattern).decode("utf-8", "replace")


def _decision(rule: RuleLine | None, *, allowed: bool) -> RobotsDecision:
    if rule is None:
        return RobotsDecision(allowed)
    return RobotsDecision(allowed, rule.text, rule.line)
