"""Where the CPU of a page goes: each stage alone, on the pages of the benchmark's web."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import orjson

from crawler.dedupe import Indexes, content_hash, make_fingerprinter
from crawler.frontier import Frontier, FrontierOptions, MemoryEngine
from crawler.model import Allow, Discovery, Outcome, Page
from crawler.parsing import parse_html
from crawler.parsing.text import language
from crawler.politeness import RobotsRules
from crawler.store import page_record
from crawler.urls import Canonicalizer
from tests.support.exchange import Request
from tests.support.uniform_site import UniformSite

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES = 200
ROUNDS = 3


def stage_table(site: dict[str, Any], total_ms: float) -> str:
    """Return a table of ms CPU per page and stage, and what remains for Scrapy and HTTP."""
    urls, bodies = _pages(site)
    parsed = _parse(urls, bodies)
    rows = [
        ("parse (charset, tree, links, text, language)", lambda: _parse(urls, bodies)),
        ("  of it language", lambda: [language(page.text, "en") for page in parsed]),
        ("exact hash", lambda: [content_hash(page.text) for page in parsed]),
        ("simhash", lambda: _fingerprint(parsed)),
        ("near-duplicate look-up and add", lambda: _index(urls, parsed)),
        ("JSON line", lambda: _lines(urls, parsed)),
        ("frontier: add links, hand out, done", lambda: _frontier(urls, parsed)),
        ("robots decision", lambda: _robots(urls)),
    ]
    figures = [(name, _ms_per_page(work)) for name, work in rows]
    signature = next(ms for name, ms in figures if name == "simhash")
    figures = [(name, ms - signature if name.startswith("near") else ms) for name, ms in figures]
    known = sum(ms for name, ms in figures if not name.startswith(" "))
    figures.append(("Scrapy, Twisted, HTTP, start-up (the rest)", total_ms - known))
    figures.append(("whole process, last round", total_ms))
    return "\n".join(
        ["", "stage                                            ms/page   share"]
        + [f"{name:<47} {ms:>8.3f}  {ms / total_ms:>5.0%}" for name, ms in figures]
    )


def _ms_per_page(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times) / PAGES


def _pages(site: dict[str, Any]) -> tuple[list[str], list[bytes]]:
    web = UniformSite(**{**site, "gzip": False})
    urls, bodies = [], []
    for number in range(PAGES):
        host = web.hosts[number % len(web.hosts)]
        path = f"/page/{1 + number // len(web.hosts)}"
        answer = web(Request(host=host, path=path))
        urls.append(f"http://{host}{path}")
        bodies.append(answer.body)
    return urls, bodies


def _parse(urls: list[str], bodies: list[bytes]) -> list[Any]:
    canonicalizer = Canonicalizer()
    return [
        parse_html(body, url=url, header_charset="utf-8", canonicalizer=canonicalizer)
        for url, body in zip(urls, bodies, strict=True)
    ]


def _fingerprint(parsed: list[Any]) -> list[Any]:
    fingerprinter = make_fingerprinter("fast")
    return [fingerprinter.fingerprint(page.text) for page in parsed]


def _index(urls: list[str], parsed: list[Any]) -> None:
    near = Indexes().near
    for url, signature in zip(urls, _fingerprint(parsed), strict=True):
        site = url.split("/")[2]
        near.lookup(signature, url, site)
        near.add(signature, url, site)


def _lines(urls: list[str], parsed: list[Any]) -> None:
    for url, page in zip(urls, parsed, strict=True):
        record = page_record(
            Page(
                url=url, status=200, fetched_at=0.0, depth=1, referrer=None,
                content_type="text/html", charset=page.charset, title=page.title, lang=page.lang,
                headings=page.headings, text=page.text, canonical=None, robots=[], etag=None,
                last_modified=None, bytes=20_000, links=page.links,
            )
        )  # fmt: skip
        orjson.dumps(record)


def _frontier(urls: list[str], parsed: list[Any]) -> None:
    frontier = Frontier(
        MemoryEngine(),
        FrontierOptions(delay=0.0),
        admit=lambda _: None,
        key=Canonicalizer().key,
        now=0.0,
    )
    frontier.add(Discovery(urls), 0.0)
    for page in parsed:
        lease = frontier.next(0.0, lambda *_: Allow())
        assert lease is not None
        links = Discovery([link.url for link in page.links], depth=1)
        frontier.done(lease, Outcome.STORED, 0.0, found=[links])


def _robots(urls: list[str]) -> None:
    rules = RobotsRules.parse(b"User-agent: *\nDisallow: /private/\n", "crawler")
    for url in urls:
        rules.decide(url)
