"""What a page may cost to parse, decided before it is parsed.

A parser that follows the standard can be made to work, and to fill memory, out of all
proportion to its input. Nobody writes such pages by accident, and a few kilobytes of them
stop a crawler. Three shapes matter, and each has its bound here:

* Formatting elements left open (``<font a><font b>...``) are opened again in every later
  paragraph: n elements and m paragraphs make n*m nodes, gigabytes out of 100 KB. They mean
  nothing to a crawler, so on a suspicious page they become ``span``, which does not do that.
* A block element asks its ancestors whether one of them has to be closed first: time grows
  with the square of the depth. A page that gets too deep is cut there.
* Each attribute of an element is compared with those before it: again a square. An element
  with too many keeps only those that are read here.

Ordinary pages pay for a count or two.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import islice
from typing import NamedTuple

FEW_TAGS = 1_000
"""Up to here no shape takes long: at worst 0.1 s and 100 MB. Counts ``<``, start and end."""

MANY_TAGS = 12_000
"""From here on the depth is looked at."""

MOST_TAGS = 200_000
"""The rest of the page is cut off."""

DEEPEST = 1_000
"""Open elements; the page is cut where it has more. (Browsers flatten at 512.)"""

MOST_NODES = 300_000
"""Nodes that formatting elements might multiply to before they are renamed."""

MOST_ATTRIBUTES = 1_000
"""Of one element, before the unread ones are dropped."""

_LONG = 49_152
"""Characters from which on attributes are looked at; a shorter page can hold 12,000: 0.3 s."""

# One attribute: after a value none of the separators is needed; "=" may begin a name.
_VALUE = r"""\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)"""
_NAME = r"(?:=|[^\s/>=])[^\s/>=]*+"
_ANY_ATTRIBUTE = rf"[\s/]*+{_NAME}(?:{_VALUE})?+"
_ATTRIBUTE = re.compile(rf"[\s/]*+({_NAME})((?:{_VALUE})?+)")
_TAG = re.compile(rf"(</?[a-zA-Z][^\s/>]*+)((?:{_ANY_ATTRIBUTE})*+)")
_COMMENT = "!--(?>-?>|.*?--!?>|.*)"

# Scripts and styles with their content, comments. The "<" stands in front for speed.
_SCRIPT, _STYLE = "[sS][cC][rR][iI][pP][tT]", "[sS][tT][yY][lL][eE]"
_SILENT = re.compile(
    rf"<(?:{_COMMENT}|((?:{_SCRIPT}|{_STYLE})(?=[\s/>])[^<>]*+>)"
    rf"(?:\s*+<{_COMMENT})?+(?>.*?(?=</(?:{_SCRIPT}|{_STYLE})[\s/>])|.*))",
    re.DOTALL,
)
_HARMLESS = re.compile(  # one run over everything up to a tag with too many attributes
    rf"(?>[^<]++|<(?!/?[a-zA-Z])|</?[a-zA-Z][^\s/>]*+"
    rf"(?:>|(?:{_ANY_ATTRIBUTE}){{0,{MOST_ATTRIBUTES}}}+(?=[\s/]*+(?:>|\Z))))*+",
)

# The active formatting elements of the standard, HTML §13.2.4.3. Of `a` one at most is open.
# The expression that all long pages meet spells both cases out: that is four times faster.
_FORMATTING_NAMES = "b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_FORMATTING_LIKE = re.compile(
    r"<[bcefinstuBCEFINSTU](?i:ig|ode|m|ont|obr|mall|trike|trong|t)?[\s/>]"
)
_FORMATTING = re.compile(rf"<(/?)(?:{_FORMATTING_NAMES})(?=[\s/>])", re.IGNORECASE)
_FORMATTING_TAG = re.compile(
    rf"<(?:{_FORMATTING_NAMES})(?=[\s/>])(?:{_ANY_ATTRIBUTE})*+", re.IGNORECASE
)
_SAME_AT_ONCE = 3  # equal elements in the list: the "Noah's Ark clause"

_NESTING = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
_FLAT = frozenset(  # void, or closed by their like: these do not nest by themselves
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr", "html", "head", "body", "a", "p", "li", "dd", "dt", "option"),
        *("optgroup", "tr", "td", "th", "tbody", "thead", "tfoot", "colgroup", "rp", "rt"),
    )
)
_READ_ATTRIBUTES = frozenset(
    ("href", "src", "rel", "name", "property", "content", "http-equiv", "type", "hreflang", "lang")
)


class Bounded(NamedTuple):
    """A page that is safe to parse.

    Attributes:
        html: what to parse; the very same string for nearly all pages.
        tags: how many ``<`` it has, an upper bound of its tags.
        cut: something at its end is missing.
    """

    html: str
    tags: int
    cut: bool


def bound(html: str) -> Bounded:
    """Return ``html`` such that parsing it takes bounded time and memory.

    Cost: linear; a count for ordinary pages, about 4 us a KB above 48 Ki characters.
    """
    tags = html.count("<")
    cut = tags > MOST_TAGS
    if cut:
        html, tags = _first_tags(html, MOST_TAGS), MOST_TAGS
    if len(html) > _LONG or tags > MANY_TAGS:
        html = _drop_attributes(_SILENT.sub(_silence, html))
    if tags > FEW_TAGS and _may_multiply(html, tags):
        html = _FORMATTING.sub(r"<\1span", html)
    if tags > MANY_TAGS:
        end = _too_deep_at(html)
        if end is not None:
            html, tags, cut = html[:end], html.count("<", 0, end), True
    return Bounded(html, tags, cut)


def _first_tags(html: str, count: int) -> str:
    last = next(islice(re.finditer("<", html), count, None))
    return html[: last.start()]


def _silence(match: re.Match[str]) -> str:
    """Empty scripts, styles and comments: nothing in them is read, and odd things hide there."""
    return f"<{match[1]}" if match[1] else "<!---->"


def _may_multiply(html: str, tags: int) -> bool:
    """Whether open formatting elements times tags could come to more than MOST_NODES."""
    if len(_FORMATTING_LIKE.findall(html)) * tags <= MOST_NODES:
        return False
    different = len(set(_FORMATTING_TAG.findall(html)))
    return _SAME_AT_ONCE * different * tags > MOST_NODES


def _too_deep_at(html: str) -> int | None:
    """Return where more than DEEPEST elements are open; an estimate that errs to both sides."""
    depth = 0
    opened: defaultdict[str, int] = defaultdict(int)
    for match in _NESTING.finditer(html):
        closing, name = match.groups()
        name = name.lower()
        if name in _FLAT:
            continue
        if not closing:
            opened[name] += 1
            depth += 1
            if depth > DEEPEST:
                return match.start()
        elif opened[name]:
            opened[name] -= 1
            depth -= 1
    return None


def _drop_attributes(html: str) -> str:
    """Rewrite tags with more than MOST_ATTRIBUTES attributes."""
    pieces: list[str] = []
    position = 0
    while (harmless := _HARMLESS.match(html, position)) and harmless.end() < len(html):
        tag = _TAG.match(html, harmless.end())
        if tag is None:  # cannot be: a run ends only before a tag
            break
        pieces += (harmless[0], tag[1], _read_attributes(tag[2]))
        position = tag.end()
    return "".join(pieces) + html[position:] if pieces else html


def _read_attributes(attributes: str) -> str:
    kept: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(attributes):
        name = match[1].lower()
        if name in _READ_ATTRIBUTES:
            kept.setdefault(name, f" {name}{match[2]}")
    return "".join(kept.values())
