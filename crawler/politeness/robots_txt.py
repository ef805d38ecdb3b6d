"""Reads the bytes of a robots.txt down to the one group that speaks to us.

Protego matches URLs well but chooses groups differently from RFC 9309 (token matched at one edge
only, a version hides the token, any line between two agents splits them), so the choice is made
here and Protego is given a single ``User-agent: *`` group (:mod:`crawler.politeness.rules`).

Everything is linear in the size of the file and nothing raises: a line that cannot be read is
no rule (RFC 9309 §2.3.1.5).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from string import ascii_letters, digits, hexdigits

MAX_BYTES = 512_000
"""500 KiB, the size that RFC 9309 §2.5 wants read at least; we read exactly that."""

MAX_WILDCARDS = 4_000
"""Stars and anchors in the rules of our group. Plain rules are bounded by the bytes alone, being
found by look-up; each of these is tried on every URL (10 ms with 4,000 of them)."""

MAX_WILDCARDS_PER_RULE = 50
MAX_SITEMAPS = 10_000
_MAX_LINE_SHOWN = 200
_MAX_DELAY = 1e9

# Spellings that sites use and that large crawlers obey (missing colon, slips of the pen).
# ASCII only: with Unicode case folding a long s would be taken for an s.
_LINE = re.compile(
    r"\s*(user[- ]?agent|allow|disallow|dissallow|dissalow|disalow|diasllow|disallaw"
    r"|crawl[- ]delay|site-?maps?)(?:[ \t]*:|[ \t]+)([^#]*)",
    re.ASCII | re.IGNORECASE,
).match
_EOL = re.compile(r"\r\n|\n|\r")
_TOKEN = re.compile(r"[A-Za-z_-]*").match
_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII).fullmatch
_COMPATIBLE = re.compile(r"compatible;\s*([A-Za-z_-]+)", re.IGNORECASE)
_COMMENT = re.compile(r"\([^()]*\)")
_PRODUCT = re.compile(r"(?<![^\s(;,])([A-Za-z_-]+)")
_VERSIONED = re.compile(r"(?<![^\s(;,])([A-Za-z_-]+)/[0-9]")
_BROWSERS = frozenset(
    re.findall(
        r"\w+",
        "mozilla applewebkit khtml gecko chrome chromium headlesschrome safari firefox version"
        " mobile edg opr opera",
    )
)

_UNRESERVED = f"{ascii_letters}{digits}-._~"
_PLAIN_PATTERN = re.compile(r"[A-Za-z0-9_.~/=*-]+").fullmatch
_PATTERN_OCTET = re.compile(rb"%[0-9A-Fa-f]{2}|[^A-Za-z0-9_.~/=*-]")
_TARGET_OCTET = re.compile(rb"%[0-9A-Fa-f]{2}|[^A-Za-z0-9_.~/=-]")


def _spellings() -> dict[bytes, bytes]:
    """Map each octet, raw or escaped, to the one form in which it is compared."""
    octets = {octet: b"%%%02X" % octet for octet in range(256)}
    table = {bytes([octet]): escaped for octet, escaped in octets.items()}
    for high in hexdigits:
        for low in hexdigits:
            octet = int(high + low, 16)
            plain = chr(octet) in _UNRESERVED + "="
            table[f"%{high}{low}".encode()] = bytes([octet]) if plain else octets[octet]
    return table


_SPELLING = _spellings()


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One allow or disallow line: its comparable pattern, and where it stands in the file."""

    allow: bool
    pattern: str  # see comparable_pattern
    text: str  # the line as the site wrote it, at most 200 characters
    line: int  # counted from 1 in the original file

    @property
    def priority(self) -> tuple[int, bool]:
        """Longest pattern first, allow before disallow (RFC 9309 §2.2.2)."""
        return len(self.pattern), self.allow


@dataclass(frozen=True, slots=True)
class RobotsText:
    """What a robots.txt says to one crawler.

    ``dropped`` counts rules left out because the file has more than we are willing to match.
    """

    rules: tuple[RuleLine, ...] = ()
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()
    looks_like_html: bool = False
    dropped: int = 0


@dataclass(slots=True)
class _Group:
    """Lines collected for one product token, or for ``*``."""

    named: bool = False
    rules: list[tuple[bool, str, int]] = field(default_factory=list)
    delay: float | None = None


class _Reader:
    """Sorts lines into our group and the ``*`` group, one pass.

    Two groupings run side by side. Rules: agent lines up to the first rule form one group,
    whatever stands between them (RFC 9309 §2.2.1, §2.2.4). Crawl-delay is no RFC 9309 record
    and is written one per agent, so for it an agent line after a delay starts afresh.
    """

    def __init__(self, token: str) -> None:
        self.everyone = _Group()
        self.own = _Group()
        self.sitemaps: dict[str, None] = {}
        self._groups = {token: self.own, "*": self.everyone}
        self._ruled: dict[str, _Group] = {}
        self._paced: dict[str, _Group] = {}
        self._after_rule = False
        self._after_delay = False

    def chosen(self) -> _Group:
        """Return our own group if the file names us at all, else the ``*`` group."""
        return self.own if self.own.named else self.everyone

    def read(self, name: str, value: str, line: int) -> None:
        """Take one recognised line; `name` in lower case, `value` stripped."""
        if name.startswith("user"):
            self._agent(value)
        elif name == "allow" or name.startswith("di"):
            self._rule(name == "allow", value, line)
        elif name.startswith("crawl"):
            self._delay(value)
        elif value and len(self.sitemaps) < MAX_SITEMAPS:
            self.sitemaps[value] = None

    def _agent(self, value: str) -> None:
        if self._after_rule:
            self._ruled = {}
        if self._after_rule or self._after_delay:
            self._paced = {}
        self._after_rule = self._after_delay = False
        token = _line_token(value)
        if token and token in self._groups:
            group = self._ruled[token] = self._paced[token] = self._groups[token]
            group.named = True

    def _rule(self, allow: bool, value: str, line: int) -> None:
        self._after_rule = True
        if value[:1] in {"/", "*"}:
            for group in self._ruled.values():
                group.rules.append((allow, value, line))

    def _delay(self, value: str) -> None:
        self._after_delay = True
        seconds = parse_crawl_delay(value)
        if seconds is not None:
            for group in self._paced.values():
                group.delay = max(seconds, group.delay or 0.0)


def product_token(user_agent: str) -> str:
    """Return the name by which robots.txt files address this user agent, in lower case.

    ``examplebot/1.0 (+https://bot.example/)`` gives ``examplebot``; browser-like strings give
    the name after ``compatible;``, or the first product that is not a browser's. The answer
    has only letters, ``_`` and ``-``, and is empty if there is no such name.

    Spec: RFC 9309 §2.2.1.
    """
    named = _COMPATIBLE.search(user_agent)
    if named:
        return named[1].lower()
    products = _PRODUCT.findall(_COMMENT.sub(" ", user_agent)) + _VERSIONED.findall(user_agent)
    names = [name.lower() for name in products]
    return next((name for name in names if name not in _BROWSERS), names[0] if names else "")


def parse_crawl_delay(value: str) -> float | None:
    """Return the seconds of a Crawl-delay value, or None if it is not a plain decimal number.

    Signs, exponents, units, ``nan`` and digits of other scripts make it no number. The
    result is finite and not negative, at most 1e9; the caller applies its own cap.
    """
    plain = value.partition("#")[0].strip()
    if len(plain) > 64 or not _NUMBER(plain):  # noqa: PLR2004 - longer is no delay but an attack
        return None
    return min(float(plain), _MAX_DELAY)


def comparable_pattern(value: str) -> str:
    """Return a rule's path as it is compared: ``*`` free, a last ``$`` an anchor.

    Unreserved octets stand for themselves, ``/`` and ``=`` too, everything else is
    ``%XX`` in upper case; ``%2F`` and ``/`` stay apart; a lone ``%`` reads as ``%25``.

    Spec: RFC 9309 §2.2.2 and §2.2.3, RFC 3986 §2.1 to §2.4.
    """
    if _PLAIN_PATTERN(value):
        return value
    path, anchor = (value[:-1], "$") if value.endswith("$") else (value, "")
    # surrogateescape gives back the very bytes that were no UTF-8: they become %XX, not nothing
    octets = path.encode("utf-8", "surrogateescape")
    return _PATTERN_OCTET.sub(lambda m: _SPELLING[m[0]], octets).decode("ascii") + anchor


def comparable_target(target: str) -> str:
    """Return path and query of a URL in the form of :func:`comparable_pattern`."""
    octets = target.encode("utf-8", "surrogatepass")
    return _TARGET_OCTET.sub(lambda m: _SPELLING[m[0]], octets).decode("ascii")


def read_robots_txt(body: bytes, token: str, max_bytes: int = MAX_BYTES) -> RobotsText:
    """Return what `body` says to the crawler with this product token.

    Args:
        body: the payload after content decoding, possibly cut by the downloader.
        token: our product token, in lower case.
        max_bytes: nothing after this many bytes is read.

    Spec: RFC 9309 §2.2 (format), §2.3.1.5 (parse errors), §2.5 (limits).
    """
    reader = _Reader(token)
    lines = _EOL.split(_text(body, max_bytes))
    for number, line in enumerate(lines, 1):
        found = _LINE(line) if line else None
        if found:
            reader.read(found[1].lower(), found[2].strip(), number)
    group = reader.chosen()
    rules, dropped = _bounded(group.rules, lines)
    html = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<"
    return RobotsText(tuple(rules), group.delay, tuple(reader.sitemaps), html, dropped)


def _text(body: bytes, max_bytes: int) -> str:
    """Decode, and end at a line end if the file is cut: half a rule would be a broader rule.

    One byte beyond the limit is kept: if it is a line end, the line before it is whole. A body of
    exactly the limit may have been cut by the downloader and is treated as cut.
    """
    head = body[: max_bytes + 1]
    wide = _wide_codec(head)
    if wide:
        # not UTF-8, so no valid file (§2.3); the site's will is nevertheless plain
        text = head.decode(wide, "replace")
    else:
        text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    if len(body) >= max_bytes:
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    return text


def _wide_codec(head: bytes) -> str | None:
    """Return the codec of a file in UTF-16, which begins with a mark or an ASCII character."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    first, second = (*head[:2], 1, 1)[:2]
    if bool(first) == bool(second):
        return None
    return "utf-16-le" if first else "utf-16-be"


def _line_token(value: str) -> str:
    """Return the product token of a User-agent value, ``*``, or "" for none.

    Deviation (RFC 9309 §2.2.1): ``examplebot/2.1`` and ``examplebot news`` are no valid
    tokens; sites write them and mean us, so the token ends where its alphabet ends.
    """
    if value.startswith("*"):
        return "*" if value == "*" or value[1].isspace() else ""
    found = _TOKEN(value)
    return found[0].lower() if found else ""


def _bounded(raw: list[tuple[bool, str, int]], lines: list[str]) -> tuple[list[RuleLine], int]:
    """Return the distinct rules that fit our bounds, in file order, and how many did not."""
    kept: dict[tuple[bool, str], RuleLine] = {}
    stars = dropped = 0
    for allow, value, number in raw:
        pattern = comparable_pattern(value)
        if (allow, pattern) in kept:
            continue
        wild = pattern.count("*") + pattern.endswith("$")
        if wild > MAX_WILDCARDS_PER_RULE or stars + wild > MAX_WILDCARDS:
            dropped += 1
            continue
        stars += wild
        kept[allow, pattern] = RuleLine(allow, pattern, _shown(lines[number - 1]), number)
    return list(kept.values()), dropped


def _shown(line: str) -> str:
    """Return a line fit for a log: bounded, and without half characters."""
    octets = line.strip()[:_MAX_LINE_SHOWN].encode("utf-8", "surrogateescape")
    return octets.decode("utf-8", "backslashreplace")
