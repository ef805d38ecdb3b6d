"""A web made from a seed: sites, links, latencies, faults and traps, all a function of the URL.

Nothing is stored: every answer is drawn from a generator seeded with the web's seed and
the URL, so the web is as large as it is asked to be and the same in every run.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class WebShape:
    """How the web looks; shares are probabilities of 0 to 1."""

    sites: int = 10
    pages: int = 30  # per site
    degree: int = 8  # links of a page
    external: float = 0.1  # of the links
    dead: float = 0.03  # of the links
    redirects: float = 0.05  # of the pages
    failing: float = 0.03  # of the pages: 500 on the first tries
    throttling: float = 0.1  # of the sites: 429 with Retry-After now and then
    forbidden: float = 0.1  # of the pages lie under /private/
    robots_broken: float = 0.1  # of the sites: robots.txt answers 503 at first
    latency: float = 0.3  # mean seconds of a transfer


@dataclass(frozen=True)
class Answer:
    """What the web says to one request."""

    status: int
    latency: float
    links: tuple[str, ...] = ()
    location: str | None = None
    retry_after: float | None = None
    body: bytes = b""


@dataclass
class GeneratedWeb:
    """The web of one seed; it counts requests per URL, because some faults pass."""

    seed: int = 0
    shape: WebShape = field(default_factory=WebShape)
    asked: dict[str, int] = field(default_factory=dict)

    def seeds(self) -> list[str]:
        """Return the home pages of all sites."""
        return [f"http://site{n}.test/" for n in range(self.shape.sites)]

    def get(self, url: str) -> Answer:
        """Answer one request."""
        tries = self.asked[url] = self.asked.get(url, 0) + 1
        latency = self._rng(f"latency:{url}:{tries}").expovariate(1 / self.shape.latency)
        site = url.split("/")[2]
        if url.endswith("/robots.txt"):
            return self._robots(site, tries, latency)
        if self._throttles(site) and self._rng(f"{url}#{tries}").random() < 0.2 and tries < 4:
            return Answer(429, latency, retry_after=float(self._rng(url).randint(1, 20)))
        return self._page(url, site, tries, latency)

    def reachable(self) -> set[str]:
        """Return every page URL that a crawl obeying robots.txt ends up fetching."""
        found: set[str] = set()
        todo = self.seeds()
        while todo:
            url = todo.pop()
            if url in found or "/private/" in url:
                continue
            found.add(url)
            todo.extend(self._targets(url))
        return found

    def _rng(self, name: str) -> random.Random:
        return random.Random(f"{self.seed}:{name}")

    def _throttles(self, site: str) -> bool:
        return self._rng(f"throttle:{site}").random() < self.shape.throttling

    def _robots(self, site: str, tries: int, latency: float) -> Answer:
        if self._rng(f"robots:{site}").random() < self.shape.robots_broken and tries < 3:
            return Answer(503, latency)
        return Answer(200, latency, body=b"User-agent: *\nDisallow: /private/\n")

    def _page(self, url: str, site: str, tries: int, latency: float) -> Answer:
        if "/dead/" in url:
            return Answer(404, latency)
        target = self._redirect(url, site)
        if target is not None:
            return Answer(301, latency, location=target)
        if self._rng(f"failing:{url}").random() < self.shape.failing and tries < 3:
            return Answer(500, latency)
        return Answer(200, latency, links=tuple(self._links(url, site)))

    def _redirect(self, url: str, site: str) -> str | None:
        """Return where the URL redirects to; home pages and most others do not."""
        rng = self._rng(f"redirect:{url}")
        if url.endswith(".test/") or rng.random() >= self.shape.redirects:
            return None
        return self._name(site, rng.randrange(self.shape.pages))

    def _targets(self, url: str) -> list[str]:
        site = url.split("/")[2]
        if "/dead/" in url:
            return []
        target = self._redirect(url, site)
        return [target] if target is not None else list(self._links(url, site))

    def _links(self, url: str, site: str) -> Iterator[str]:
        rng = self._rng(f"links:{url}")
        for n in range(self.shape.degree):
            draw = rng.random()
            if draw < self.shape.dead:
                yield f"http://{site}/dead/{rng.randrange(10)}"
            elif draw < self.shape.dead + self.shape.external:
                other = f"site{rng.randrange(self.shape.sites)}.test"
                yield self._name(other, rng.randrange(self.shape.pages))
            else:
                yield self._name(site, rng.randrange(self.shape.pages) if n else 0)

    def _name(self, site: str, page: int) -> str:
        if page == 0:
            return f"http://{site}/"
        private = self._rng(f"private:{site}:{page}").random() < self.shape.forbidden
        return f"http://{site}/{'private' if private else 'page'}/{page}"
