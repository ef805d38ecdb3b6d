"""The benchmark web: many hosts of like pages, cheap to serve and unlike each other.

Page *n* of a host links *n + 1*, so a crawl that starts at the home page reaches every
page, and otherwise draws its links at random: most within the host, some to the others.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tests.support.exchange import Answer, Request, not_found, plain
from tests.support.prose import Prose
from tests.support.server import loopback

if TYPE_CHECKING:
    from collections.abc import Sequence

_POOL = 1500  # paragraphs shared by all pages; two pages share one with odds of about one in two
_PARAGRAPH_BYTES = 500  # with its links


def uniform_site(**options: Any) -> UniformSite:
    """Build a :class:`UniformSite`."""
    return UniformSite(**options)


class UniformSite:
    """Hosts of ``pages_per_host`` pages each, at ``/``, ``/page/1`` and so on.

    About two thirds of a page's bytes are main text; the rest are navigation, header and
    footer, which are equal on all pages of a host. Most paragraphs come from a common pool, in an
    order of the page's own, between sentences that no other page has.

    Args:
        hosts: Host names without port, or how many of ``loopback``.
        pages_per_host: Pages of each host, its home page included.
        links: Links a page, navigation included.
        kb: Size of a page in KiB, before compression.
        cross: Share of the random links that go to another host.
        gzip: Compress when asked.
        keep: How many pages stay rendered; 0 renders each request (about 0.1 ms).
    """

    def __init__(
        self,
        *,
        hosts: int | Sequence[str] = 1,
        pages_per_host: int = 50,
        links: int = 40,
        kb: float = 20.0,
        cross: float = 0.1,
        gzip: bool = False,
        delay_s: float = 0.0,
        keep: int = 0,
        seed: int = 0,
        robots: str = "User-agent: *\nDisallow: /private/\n",
    ) -> None:
        self.hosts = loopback(hosts) if isinstance(hosts, int) else list(hosts)
        self.pages_per_host = pages_per_host
        self._links = links
        self._menu = min(8, links, pages_per_host)
        self._bytes = int(kb * 1024)
        self._cross = cross
        self._gzip = gzip
        self._delay_s = delay_s
        self._seed = seed
        self._robots = robots
        self._pool = _pool(seed)
        self._page = lru_cache(maxsize=keep)(self._render) if keep else self._render

    def __call__(self, request: Request) -> Answer:
        """Serve one page."""
        if request.path == "/robots.txt":
            return plain(self._robots, delay_s=self._delay_s)
        number = self._number(request.path)
        if number < 0:
            return not_found()
        return self._page(f"{request.scheme}://", request.name, request.port, number)

    def _number(self, path: str) -> int:
        """Return which page a path names; -1 for none."""
        if path == "/":
            return 0
        text = path.removeprefix("/page/")
        known = text.isdigit() and text != path and 0 < int(text) < self.pages_per_host
        return int(text) if known else -1

    def _render(self, scheme: str, host: str, port: str, number: int) -> Answer:
        rng = random.Random(f"{self._seed} {host} {number}")
        prose = Prose(f"{self._seed} {host} {number} own")
        title = prose.title()
        top, bottom = _frame(f"{self._seed} {host}", self._menu)
        parts = [f'<!DOCTYPE html>\n<html lang="en"><head><title>{title}</title>{top}']
        parts.append(f"<main><article><h1>{title}</h1>\n")
        room = self._bytes - len(parts[0]) - len(bottom) - 100
        links = self._targets(rng, scheme, host, port, number)
        each = 1 + len(links) * _PARAGRAPH_BYTES // max(room, _PARAGRAPH_BYTES)
        while room > 0:
            here, links = links[:each], links[each:]
            pooled = self._pool[int(rng.random() * _POOL)]
            parts.append(f"<p>{prose.sentence()} {pooled} {_see(here)}</p>\n")
            room -= len(parts[-1])
        parts.append(f"<p>{_see(links)}</p></article></main>\n{bottom}")
        return Answer(body="".join(parts).encode(), gzip=self._gzip, delay_s=self._delay_s)

    def _targets(
        self, rng: random.Random, scheme: str, host: str, port: str, number: int
    ) -> list[str]:
        """Return the page's own links: the next page, then random ones."""
        found = [_path(number + 1)] if number + 1 < self.pages_per_host else []
        own = self._links - self._menu - len(found)
        for _ in range(own):
            path = _path(int(rng.random() * self.pages_per_host))
            if len(self.hosts) > 1 and rng.random() < self._cross:
                other = self.hosts[int(rng.random() * len(self.hosts))]
                path = f"{scheme}{other}{port}{path}"
            found.append(path)
        return found


def _path(number: int) -> str:
    return f"/page/{number}" if number else "/"


@lru_cache(maxsize=4)
def _pool(seed: int) -> list[str]:
    prose = Prose(f"{seed} pool")
    return [prose.paragraph(45) for _ in range(_POOL)]


def _see(links: list[str]) -> str:
    """Return one HTML link per URL; its text is the last part of the URL."""
    return " ".join(f'<a href="{url}">part {url[url.rfind("/") + 1 :]}</a>' for url in links)


@lru_cache(maxsize=4096)
def _frame(seed: str, menu: int) -> tuple[str, str]:
    """Return what surrounds the main text on every page of a host: its top and its bottom."""
    prose = Prose(f"{seed} frame")
    words = prose.words(menu + 2)
    items = "".join(f'<li><a href="{_path(n)}">{words[n]}</a></li>' for n in range(menu))
    style = "body{margin:0;font:16px/1.5 serif}nav li{display:inline}main{max-width:40em}" * 3
    top = (
        f'<meta charset="utf-8"><meta name="description" content="{prose.sentence()}">'
        f"<style>{style}</style></head>\n<body><header><p>{words[-1]} &amp; {words[-2]}</p>"
        f"<nav><ul>{items}</ul></nav></header>\n"
    )
    aside = f"<aside><h2>{words[-1]}</h2><p>{prose.paragraph(30)}</p></aside>\n"
    bottom = f"{aside}<footer><p>{prose.paragraph(25)}</p></footer></body></html>\n"
    return top, bottom
