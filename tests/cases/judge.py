"""What a case expects of a crawl, and whether the evidence has it.

Each expectation is a function ``(evidence, value) -> complaints``; its name is the field of the
case. URLs may be written without their origin: it is that of the first seed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

_SLACK = 0.02  # seconds by which the log of a busy server may err


@dataclass(frozen=True)
class Asked:
    """One request that the server saw, in the names of the case."""

    url: str
    began_at: float
    ended_at: float
    status: int

    @property
    def host(self) -> str:
        """Its host name."""
        return urlsplit(self.url).netloc


@dataclass
class Evidence:
    """What one crawl left of one case.

    Attributes:
        home: Origin of the first seed.
        asked: The server's log, in order.
        lines: The lines written, by URL.
        outcomes: By URL; None when the crawler keeps none.
    """

    home: str
    asked: list[Asked] = field(default_factory=list)
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    outcomes: dict[str, str] | None = field(default_factory=dict)

    def absolute(self, url: str) -> str:
        """Return a URL of the case with its origin."""
        return self.home + url if url.startswith("/") else url

    @property
    def urls(self) -> list[str]:
        """The URL of every request."""
        return [one.url for one in self.asked]

    @property
    def pages(self) -> set[str]:
        """The URLs asked for, robots.txt aside."""
        return {url for url in self.urls if not url.endswith("/robots.txt")}


def complaints(evidence: Evidence, expected: Mapping[str, Any]) -> list[str]:
    """Return what is not as expected; nothing when all is well."""
    return [
        f"{name}: {complaint}"
        for name, value in expected.items()
        for complaint in EXPECTATIONS[name](evidence, value)
    ]


def _asked(evidence: Evidence, urls: Iterable[str]) -> list[str]:
    missing = [url for url in map(evidence.absolute, urls) if url not in evidence.urls]
    return [f"{url} was not, but {sorted(evidence.pages)[:12]}" for url in missing]


def _not_asked(evidence: Evidence, urls: Iterable[str]) -> list[str]:
    return [f"{url} was" for url in map(evidence.absolute, urls) if url in evidence.urls]


def _only_asked(evidence: Evidence, urls: Iterable[str]) -> list[str]:
    wanted = set(map(evidence.absolute, urls))
    return [] if evidence.pages == wanted else [f"{sorted(evidence.pages)[:12]} were"]


def _most(evidence: Evidence, limits: Mapping[str, int]) -> list[str]:
    counts = {url: evidence.urls.count(evidence.absolute(url)) for url in limits}
    return [f"{url} was asked {n} times" for url, n in counts.items() if n > limits[url]]


def _least(evidence: Evidence, limits: Mapping[str, int]) -> list[str]:
    counts = {url: evidence.urls.count(evidence.absolute(url)) for url in limits}
    return [f"{url} was asked {n} times" for url, n in counts.items() if n < limits[url]]


def _most_in_all(evidence: Evidence, limit: int) -> list[str]:
    return [f"{len(evidence.asked)} requests"] if len(evidence.asked) > limit else []


def _most_hosts(evidence: Evidence, limit: int) -> list[str]:
    hosts = {one.host for one in evidence.asked}
    return [f"{len(hosts)} hosts"] if len(hosts) > limit else []


def _most_like(evidence: Evidence, limits: Mapping[str, int]) -> list[str]:
    counts = {part: sum(part in url for url in evidence.urls) for part in limits}
    return [f"{n} with {part}" for part, n in counts.items() if n > limits[part]]


def _least_like(evidence: Evidence, limits: Mapping[str, int]) -> list[str]:
    counts = {part: len({url for url in evidence.urls if part in url}) for part in limits}
    return [f"{n} with {part}" for part, n in counts.items() if n < limits[part]]


def _gaps(evidence: Evidence, least: Mapping[str, float]) -> list[str]:
    """Compare the smallest pause between two requests of a URL, or of a host."""
    found = []
    for key, seconds in least.items():
        hits = [one for one in evidence.asked if evidence.absolute(key) in (one.url, one.host)]
        pauses = [later.began_at - earlier.ended_at for earlier, later in itertools.pairwise(hits)]
        if not pauses or min(pauses) < seconds - _SLACK:
            found.append(f"{key}: pauses of {[round(pause, 2) for pause in pauses]} s")
    return found


def _rest(evidence: Evidence, rests: Mapping[str, float]) -> list[str]:
    """Compare how long the host is left alone after the first answer of each URL."""
    found = []
    for key, seconds in rests.items():
        url = evidence.absolute(key)
        first = next((one for one in evidence.asked if one.url == url), None)
        if first is None:
            found.append(f"{url} was not asked")
            continue
        later = [
            one.began_at - first.ended_at
            for one in evidence.asked
            if one.host == first.host and one.began_at > first.began_at
        ]
        if later and min(later) < seconds - _SLACK:
            found.append(f"{first.host} was asked again {min(later):.2f} s after {url}")
    return found


def _stored(evidence: Evidence, urls: Iterable[str]) -> list[str]:
    missing = [url for url in map(evidence.absolute, urls) if url not in evidence.lines]
    return [f"{url} was not, but {sorted(evidence.lines)[:12]}" for url in missing]


def _not_stored(evidence: Evidence, urls: Iterable[str]) -> list[str]:
    return [f"{url} was" for url in map(evidence.absolute, urls) if url in evidence.lines]


def _only_stored(evidence: Evidence, urls: Iterable[str]) -> list[str]:
    wanted = set(map(evidence.absolute, urls))
    found = set(evidence.lines)
    return [] if found == wanted else [f"{sorted(found)[:12]} were"]


def _lines(evidence: Evidence, number: int) -> list[str]:
    found = len(evidence.lines)
    return [] if found == number else [f"there are {found}: {sorted(evidence.lines)[:12]}"]


def _page(evidence: Evidence, pages: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Compare fields of lines; of a list only the members that are named, of `text` a part."""
    found = []
    for key, fields in pages.items():
        line = evidence.lines.get(evidence.absolute(key))
        if line is None:
            found.append(f"there is no line of {key}")
            continue
        for name, wanted in fields.items():
            if not _says(evidence, name, line.get(name), wanted):
                found.append(f"{key}: {name} is {line.get(name)!r:.200}")
    return found


def _says(evidence: Evidence, name: str, value: Any, wanted: Any) -> bool:
    if name == "text":
        return str(wanted) in str(value or "")
    if name == "outlinks":
        return bool(list(map(evidence.absolute, wanted)) == value)
    return bool(value == wanted)


def _outcome(evidence: Evidence, outcomes: Mapping[str, str | list[str]]) -> list[str]:
    if evidence.outcomes is None:
        return []
    found = []
    for key, wanted in outcomes.items():
        outcome = evidence.outcomes.get(evidence.absolute(key), "none")
        if outcome not in ([wanted] if isinstance(wanted, str) else wanted):
            found.append(f"that of {key} is {outcome}")
    return found


Expectation = Callable[[Evidence, Any], list[str]]

EXPECTATIONS: Mapping[str, Expectation] = {
    "asked": _asked,
    "not_asked": _not_asked,
    "only_asked": _only_asked,
    "most": _most,
    "least": _least,
    "most_in_all": _most_in_all,
    "most_hosts": _most_hosts,
    "most_like": _most_like,
    "least_like": _least_like,
    "gaps": _gaps,
    "rest": _rest,
    "stored": _stored,
    "not_stored": _not_stored,
    "only_stored": _only_stored,
    "lines": _lines,
    "page": _page,
    "outcome": _outcome,
}
