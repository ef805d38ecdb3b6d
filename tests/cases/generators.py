"""Webs without end, page by page: what a table cannot hold."""

from __future__ import annotations

import hashlib
import random
import re
from typing import TYPE_CHECKING

from tests.support.prose import Prose, anchors, document, paragraphs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tests.support.exchange import Request


def _page(seed: str, links: Iterable[str]) -> str:
    """Return a page whose text is its own."""
    prose = Prose(seed)
    return document(prose.title(), paragraphs(prose, 3, 50), links=anchors(list(links))).decode()


def _chance(*seed: object) -> random.Random:
    return random.Random(repr(seed))


def years(name: str, request: Request) -> str:
    """Statistics of every year, all saying that there are none, beside 30 pages."""
    found = re.search(r"year=(-?\d+)", request.path)
    if found:
        year = int(found[1])
        near = [f"<a href='/stats?year={when}'>{when}</a>" for when in (year + 1, year - 1)]
        return f"<p>No data</p>{' '.join(near)}"
    return _page(name + request.path, [*(f"/a/{n}" for n in range(30)), "/stats?year=2015"])


def facets(name: str, request: Request) -> str:
    """A shop whose filters combine, beside 60 pages; each shows some of its 200 goods."""
    if not request.path.startswith("/shop"):
        return _page(name + request.path, [*(f"/real/{n}" for n in range(60)), "/shop"])
    chance = _chance(request.path)
    links = [
        f"/shop?colour={chance.randrange(50)}&size={chance.randrange(20)}&price={chance.randrange(900)}"
        for _ in range(100)
    ]
    goods = sorted(chance.sample(range(200), 12))
    shown = "".join(f"<p>{Prose(f'{name} {number}').paragraph(12)}</p>" for number in goods)
    return document("Shop", shown, links=anchors(links)).decode()


def slashes(name: str, request: Request) -> str:
    """Each page links itself with one more slash."""
    return _page(name + request.path, [request.path + "/"])


def segments(name: str, request: Request) -> str:
    """A relative link without its slash: the path grows by the same segment."""
    return _page(name + request.path, ["products/"])


def calendar(name: str, request: Request) -> str:
    """Months without end with a page for every day, beside 40 documents in a tree."""
    month = re.fullmatch(r"/cal/(\d+)/(\d+)", request.path)
    if month:
        at = int(month[1]) * 12 + int(month[2]) - 1
        near = [f"/cal/{when // 12}/{when % 12 + 1:02}" for when in (at - 1, at + 1)]
        days = [f"{request.path}/{day:02}" for day in range(1, 29)]
        links = "".join(f"<a href='{path}'>{path[-2:]}</a> " for path in [*near, *days])
        return f"<p>Events for {month[2]} {month[1]}</p>{links}"
    if request.path.startswith("/cal/"):
        return f"<p>Events for the day {request.path[5:]}: none.</p>"
    number = int(request.path.rpartition("/")[2] or 0)
    children = [f"/docs/{n}" for n in range(number * 6 + 1, number * 6 + 7) if n <= 40]
    return _page(name + request.path, [*children, *(["/cal/2026/11"] if number == 0 else [])])


_SESSION = re.compile(r";jsessionid=\w+|/\(S\(\w+\)\)|[?&](?:PHPSESSID|sid)=\w+")


def sessions(name: str, request: Request) -> str:
    """Twenty pages, every link to them with a session id of its own."""
    chance = _chance(request.path, request.count)

    def link(page: int) -> str:
        token = f"{chance.getrandbits(128):032x}"
        form = page % 3
        return [
            f"/p/{page};jsessionid={token}",
            f"/p/{page}?PHPSESSID={token}",
            f"/(S({token[:24]}))/p/{page}",
        ][form]

    return _page(name + _SESSION.sub("", request.path), [link(page) for page in range(20)])


def orders(name: str, request: Request) -> str:
    """Twenty pages, linked in every order and with a number that defeats caches."""
    chance = _chance(request.path, request.count)
    links = [
        f"/p/{page}?order={order}&dir={way}&cb={chance.getrandbits(32)}"
        for page in range(20)
        for order in ("name", "price")
        for way in ("asc", "desc")
    ]
    return _page(name + request.path.partition("?")[0], links)


def subdomains(name: str, request: Request) -> str:
    """Each host links the next one of its domain, and one below itself."""
    number = int(re.sub(r"\D", "", name) or 0)
    return _page(name, [f"http://n{number + 1}.a.test/", f"http://x.{name}/"])


def copies(name: str, request: Request) -> str:
    """The same page whatever is asked for, which links itself ever deeper."""
    return "<h1>Oops</h1><p>" + "Nothing is to be seen here. " * 30 + "</p><a href='more/'>more</a>"


def near_copies(name: str, request: Request) -> str:
    """The same page but for a time of day, which links itself ever deeper."""
    stamp = int(hashlib.md5(request.path.encode()).hexdigest()[:8], 16)
    prose = Prose(name)
    text = paragraphs(prose, 6, 80)
    return document(
        prose.title(), [*text, f"Served at {stamp}."], links=anchors(["more/"])
    ).decode()


GENERATORS: Mapping[str, Callable[[str, Request], str]] = {
    make.__name__: make
    for make in (
        years, facets, slashes, segments, calendar, sessions, orders, subdomains, copies,
        near_copies,
    )
}  # fmt: skip
