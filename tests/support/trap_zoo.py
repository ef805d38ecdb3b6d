"""A zoo of crawler traps, each in an honest site, all a function of the URL.

Every site has real pages: articles with numbers, and a shelf of documents with names. Each but
the honest one has a trap as well, which the home page and every tenth page link, or all
pages where such traps are in the navigation (session ids, broken links). A page is given by
:meth:`TrapZoo.page`, for simulations; :func:`trap_zoo` serves it over HTTP.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any
from zlib import crc32

from tests.support.exchange import Answer, Request, not_found, plain, redirect
from tests.support.prose import Prose, document

if TYPE_CHECKING:
    from collections.abc import Callable

_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_COLOURS = ("red", "green", "blue", "black", "white")
_SIZES = ("s", "m", "l", "xl")
_MAKERS = ("acme", "globex", "initech", "umbrella")
_ORDERS = ("price", "name", "new")
_ITEMS = 60


@dataclass(frozen=True)
class ZooPage:
    """What a URL answers: lines of text and links; or where it redirects to."""

    lines: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    location: str | None = None

    @property
    def text(self) -> str:
        """Return the text as a parser would."""
        return "\n".join(self.lines)


class TrapZoo:
    """Sites named after their traps, ``honest`` among them.

    Args:
        articles: Real pages with numbers, per site.
        shelf: Real pages with names, per site.
        domain: Sites are ``NAME.domain``; a port may follow.
        only: Names of the sites; empty for all.
    """

    kinds = (
        *("honest", "calendar", "session-path", "session-query", "facets", "append", "counter"),
        *("soft404", "growing", "redirects", "subdomains"),
    )

    def __init__(
        self,
        *,
        articles: int = 700,
        shelf: int = 300,
        domain: str = "zoo.test",
        only: tuple[str, ...] = (),
        words: int = 60,
    ) -> None:
        self.articles, self.shelf, self.domain, self.words = articles, shelf, domain, words
        self.sites = only or self.kinds
        self._traps: dict[str, Callable[[str, str], ZooPage | None]] = {
            "calendar": _calendar,
            "session-path": self._session_path,
            "session-query": self._session_query,
            "facets": _facets,
            "append": _append,
            "counter": _counter,
            "soft404": _soft404,
            "growing": _growing,
            "redirects": _redirects,
            "subdomains": lambda *_: None,
        }

    def seeds(self) -> list[str]:
        """Return the home page of each site."""
        return [f"http://{self._host(name)}/" for name in self.sites]

    def real(self) -> set[str]:
        """Return the URLs of all real pages."""
        paths = [
            "/",
            *map(self._article, range(self.articles)),
            *map(self._book, range(self.shelf)),
        ]
        found = {f"http://{self._host(name)}{path}" for name in self.sites for path in paths}
        if "facets" in self.sites:
            found |= {f"http://{self._host('facets')}/item/{n}" for n in range(_ITEMS)}
        return found

    def page(self, url: str) -> ZooPage | None:
        """Return what a URL answers, None where nothing is."""
        host, _, path = url.removeprefix("http://").partition("/")
        name, path = host.removesuffix("." + self.domain), "/" + path
        if name.endswith(".subdomains"):
            return self._sub_domain(name)
        if name not in self.sites:
            return None
        found = self._real_page(name, path)
        if found is not None or name == "honest":
            return found
        return self._traps[name](path, f"http://{host}")

    def _host(self, name: str) -> str:
        return f"{name}.{self.domain}"

    # --- real pages ------------------------------------------------------------------

    def _article(self, number: int) -> str:
        return f"/article/{number + 1}"

    def _book(self, number: int) -> str:
        words = _name(f"book {number}", 2)
        return f"/shelf/{_name(f'room {number % 12}', 1)}/{words}-{_letters(number)}.html"

    @lru_cache(maxsize=1)  # noqa: B019 -- one zoo a test
    def _books(self) -> dict[str, int]:
        return {self._book(number): number for number in range(self.shelf)}

    def _real_page(self, name: str, path: str) -> ZooPage | None:
        number = self._number(path)
        if number is None:
            return None
        prose = Prose(f"{name} {path}")
        lines = (prose.title(), prose.paragraph(self.words))
        links = [*self._honest_links(number), *self._entries(name, number, path)]
        return ZooPage(
            lines,
            tuple(f"http://{self._host(name)}{link}" if link[0] == "/" else link for link in links),
        )

    def _number(self, path: str) -> int | None:
        """Return which real page lies at a path: 0 is the home page, then articles and books."""
        if path == "/":
            return 0
        if path.startswith("/article/") and path[9:].isdigit():
            number = int(path[9:])
            return number if 0 < number <= self.articles else None
        book = self._books().get(path)
        return None if book is None else 1 + self.articles + book

    def _path(self, number: int) -> str:
        if number == 0:
            return "/"
        return (
            self._article(number - 1)
            if number <= self.articles
            else self._book(number - 1 - self.articles)
        )

    def _honest_links(self, number: int) -> list[str]:
        """Return a tree with eight children a node, and some links across."""
        total = 1 + self.articles + self.shelf
        children = range(8 * number + 1, min(8 * number + 9, total))
        rng = random.Random(number)
        across = [rng.randrange(total) for _ in range(4)]
        return [self._path(n) for n in (*children, *across, 0)]

    def _entries(self, name: str, number: int, path: str) -> list[str]:
        """Return the links into the trap."""
        draw = random.Random(f"{name} {path}")
        if name == "session-path":
            return [f"/s/{draw.getrandbits(64):016x}1a{path}", f"/s/{draw.getrandbits(64):016x}1a/"]
        if name == "session-query":
            return [f"{path}?visit={draw.getrandbits(40):010x}" for _ in range(3)]
        if name == "soft404":
            return [f"/{_name(draw.random(), 1)}/{_name(draw.random(), 2)}"]
        if name == "redirects":
            return [f"/go/{number}"]
        if number % 10:
            return []
        return {
            "calendar": ["/calendar/2026/11"],
            "facets": ["/shop"],
            "append": ["/tree/"],
            "counter": [f"/entry/{number + 1}"],
            "growing": ["/list?view=all&page=1"],
            "subdomains": [f"http://w{number}.{self._host(name)}/"],
        }.get(name, [])

    # --- traps that copy real pages --------------------------------------------------

    def _session_path(self, path: str, root: str) -> ZooPage | None:
        if not path.startswith("/s/"):
            return None
        _, _, _, rest = path.split("/", 3)
        found = self._real_page("session-path", "/" + rest)
        if found is None:
            return None
        draw = random.Random(path)
        links = [
            f"{root}/s/{draw.getrandbits(64):016x}1a/{link.split('/', 3)[3]}"
            for link in found.links
            if "/s/" not in link
        ]
        return ZooPage(found.lines, tuple(links))

    def _session_query(self, path: str, root: str) -> ZooPage | None:
        plain_path, _, query = path.partition("?")
        found = self._real_page("session-query", plain_path)
        if found is None or not query.startswith("visit="):
            return None
        draw = random.Random(path)
        links = [
            f"{link.partition('?')[0]}?visit={draw.getrandbits(40):010x}" for link in found.links
        ]
        return ZooPage(found.lines, tuple(links))

    def _sub_domain(self, name: str) -> ZooPage:
        draw = random.Random(name)
        links = [f"http://w{draw.getrandbits(40):x}.subdomains.{self.domain}/" for _ in range(5)]
        return ZooPage(
            ("Welcome", f"This is {name}, one of our many places. Have a look around here."),
            tuple(links),
        )


def _calendar(path: str, root: str) -> ZooPage | None:
    parts = path.split("/")[2:] if path.startswith("/calendar/") else []
    if not (2 <= len(parts) <= 3 and all(part.isdigit() for part in parts)):
        return None
    year, month = int(parts[0]), int(parts[1])
    if len(parts) == 3:
        day = (f"{parts[2]} {_MONTHS[month - 1]} {year}", "There are no events on this day.")
        return ZooPage(day, (f"{root}/calendar/{year}/{month:02}", f"{root}/"))
    index = 12 * year + month - 1
    near = [
        f"{root}/calendar/{n // 12}/{n % 12 + 1:02}" for n in (index + 1, index - 1, index + 12)
    ]
    days = [f"{root}/calendar/{year}/{month:02}/{day:02}" for day in range(1, 29)]
    numbers = " ".join(map(str, range(1, 29)))
    lines = (f"{_MONTHS[month - 1]} {year}", _DAYS, numbers, "No events in this month.")
    return ZooPage(lines, (*near, *days))


def _facets(path: str, root: str) -> ZooPage | None:
    script, _, query = path.partition("?")
    if script.startswith("/item/"):
        number = int(script[6:])
        return ZooPage(tuple(_item(number)), (f"{root}/shop",)) if number < _ITEMS else None
    if script != "/shop":
        return None
    chosen = dict(piece.split("=") for piece in query.split("&")) if query else {}
    shown = [
        n
        for n in range(_ITEMS)
        if chosen.get("colour", _COLOURS[n % 5]) == _COLOURS[n % 5]
        and chosen.get("size", _SIZES[n % 4]) == _SIZES[n % 4]
        and chosen.get("maker", _MAKERS[n // 4 % 4]) == _MAKERS[n // 4 % 4]
    ]
    shown.sort(key=lambda n: crc32(f"{chosen.get('sort')} {n}".encode()))
    links = [f"{root}/item/{n}" for n in shown]
    options = {"colour": _COLOURS, "size": _SIZES, "maker": _MAKERS, "sort": _ORDERS}
    for name, values in options.items():
        for value in values:
            wanted = {**chosen, name: value}
            links.append(f"{root}/shop?" + "&".join(f"{k}={wanted[k]}" for k in sorted(wanted)))
    lines = ["Our shop", " ".join(f"{k} {v}" for k, v in sorted(chosen.items()))]
    return ZooPage((*lines, *(_item(n)[0] for n in shown)), tuple(links))


def _item(number: int) -> list[str]:
    prose = Prose(f"item {number}")
    return [f"{_COLOURS[number % 5]} {' '.join(prose.words(3))} {number}.99", prose.paragraph(40)]


def _append(path: str, root: str) -> ZooPage | None:
    if not path.startswith("/tree/"):
        return None
    prose = Prose("the tree")
    base = root + (path if path.endswith("/") else path.rpartition("/")[0] + "/")
    return ZooPage((prose.title(), prose.paragraph(60)), (f"{base}tree/", f"{base}leaf/branch/"))


def _counter(path: str, root: str) -> ZooPage | None:
    if not path.startswith("/entry/"):
        return None
    number = int(path[7:])
    lines = (f"Entry {number}", f"This is the entry with number {number}. Go on to {number + 1}.")
    return ZooPage(lines, tuple(f"{root}/entry/{n}" for n in (number + 1, number + 2, 2 * number)))


def _soft404(path: str, root: str) -> ZooPage | None:
    prose, draw = Prose("not found"), random.Random(path)
    lines = ("Oops", f"Sorry, {path} is not here.", prose.paragraph(60))
    links = [f"{root}/{_name(draw.random(), 1)}/{_name(draw.random(), 1)}" for _ in range(10)]
    return ZooPage(lines, (*links, f"{root}/"))


def _growing(path: str, root: str) -> ZooPage | None:
    script, _, query = path.partition("?")
    if script != "/list":
        return None
    prose = Prose("the list")
    grown = query.replace("&", "&amp;")
    return ZooPage(
        (prose.title(), prose.paragraph(60)),
        (f"{root}/list?{grown}", f"{root}/list?{grown}&amp;page=2"),
    )


def _redirects(path: str, root: str) -> ZooPage | None:
    if not path.startswith("/go/"):
        return None
    start, _, hop = path[4:].partition("/")
    return ZooPage(location=f"{root}/go/{start}/{int(hop or 0) + 1}")


def _name(seed: object, words: int) -> str:
    return "-".join(Prose(f"name {seed}").words(words))


def _letters(number: int) -> str:
    return "".join(chr(97 + number // 26**n % 26) for n in range(3))


def trap_zoo(**options: Any) -> Callable[[Request], Answer]:
    """Return the zoo as a site of the local web, on whatever port it is served."""
    zoo = TrapZoo(**{**options, "only": tuple(options.get("only", ()))})

    def on_port(url: str, request: Request) -> str:
        return url.replace(f"{zoo.domain}/", f"{zoo.domain}{request.port}/", 1)

    def site(request: Request) -> Answer:
        if request.path == "/robots.txt":
            return plain("User-agent: *\nDisallow:\n")
        found = zoo.page(f"http://{request.name}{request.path}")
        if found is None:
            return not_found()
        if found.location is not None:
            return redirect(on_port(found.location, request))
        title, *paragraphs = found.lines
        body = "\n".join(f"<p>{line}</p>" for line in paragraphs)
        links = " ".join(
            f'<a href="{escape(on_port(link, request))}">go</a>' for link in found.links
        )
        return Answer(body=document(title, body, links=links))

    return site
