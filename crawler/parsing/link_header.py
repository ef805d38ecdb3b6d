"""Links in the header of an answer, which may be of any type: canonical, next, alternate, sitemap.

A link about another resource (``anchor=``) says nothing of this one and is left out. Garbage
ends its own value only; a comma inside quotes or angle brackets parts nothing.

Spec: RFC 8288 §3 (the Link header), §3.2 (context), appendix B.2 (parsing); RFC 6596.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.parsing.elements import is_followed_relation, relation_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST = 16_384
"""Characters that are read of all Link headers together; a link that is cut there is none."""

MOST_LINKS = 200
"""Links that are read, those that say nothing to a crawler and garbage included."""

# Possessive throughout: nothing is tried in two ways.
_PARAMETER = re.compile(
    r"""\s*+;\s*+([^\s;,=<>"]*+)(?:\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"|([^;,"\s]*+)))?+""", re.DOTALL
)
_LINK = re.compile(
    r"[\s,]*+<([^<>]*+)>"
    r"""((?:\s*+;\s*+[^\s;,=<>"]*+(?:\s*+=\s*+(?:"(?:[^"\\]|\\.)*+"|[^;,"\s]*+))?+)*+)"""
    r"\s*+(?=,|\Z)",
    re.DOTALL,
)
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)


@dataclass(slots=True)
class HeaderLinks:
    """What Link headers say of an answer.

    Attributes:
        canonical: the declared canonical, as written; the first one counts.
        hrefs: references that lead on, as written -> whether they may be followed.
    """

    canonical: str | None = None
    hrefs: dict[str, bool] = field(default_factory=dict)


def parse_link_headers(values: Sequence[str]) -> HeaderLinks:
    """Read the Link headers of an answer; never raises.

    The same relations are taken as from the ``link`` elements of a page.
    """
    found = HeaderLinks()
    for href, parameters in _links(",".join(values)):
        _sort(href, parameters, found)
    return found


def _sort(href: str, parameters: dict[str, str], found: HeaderLinks) -> None:
    if parameters.get("anchor"):
        return
    rels = relation_tokens(parameters.get("rel", ""))
    if "canonical" in rels:
        if found.canonical is None:
            found.canonical = href
    elif is_followed_relation(rels, parameters.get("type", "")):
        followed = "nofollow" not in rels
        found.hrefs[href] = found.hrefs.get(href, False) or followed


def _links(value: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (reference, parameters) of the links of a header, and of no more than MOST_LINKS.

    Cost: at worst the product of the two bounds, some 3 million steps of the expression.
    """
    text = value[:LONGEST]
    place = 0
    for _ in range(MOST_LINKS):
        link = _LINK.match(text, place)
        if link is not None and (link.end() < len(text) or len(value) <= LONGEST):
            yield link[1].strip(), _parameters(link[2])
        place = text.find(",", link.end() if link is not None else place) + 1
        if not place:
            return


def _parameters(text: str) -> dict[str, str]:
    """Return the first value of each name. Spec: RFC 8288 appendix B.3."""
    found: dict[str, str] = {}
    for match in _PARAMETER.finditer(text):
        quoted, plain = match[2], match[3]
        value = _QUOTED_PAIR.sub(r"\1", quoted) if quoted is not None else plain or ""
        found.setdefault(match[1].lower(), value)
    return found
