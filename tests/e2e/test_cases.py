"""What sites do wrong or oddly, one host a case: what the crawl makes of it, judged at the server.

Each case is a small site with a home page, found as a seed. One crawl meets them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.support import judge
from tests.support.crawl import crawl, options
from tests.support.server import LocalWeb, loopback

pytestmark = pytest.mark.e2e

HTML = {"content_type": "text/html"}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"  # the beginning of a PNG


@dataclass(frozen=True)
class Case:
    """A site, and what is to come of it.

    Attributes:
        pages: Path -> answer, as :class:`tests.support.sites.TableSite` takes it.
        asked: The paths asked for, robots.txt aside.
        stored: Those of which there is a line.
    """

    pages: dict[str, Any]
    asked: set[str]
    stored: set[str]


def refresh(value: str, **more: Any) -> dict[str, Any]:
    """Return a page with a Refresh header."""
    return {"body": "<p>moved</p>", "headers": {"Refresh": value}, **more}


def typed(*types: str) -> dict[str, Any]:
    """Return a page with several Content-Type headers, in this order."""
    headers = [("Content-Type", one) for one in types]
    return {"body": "<p>of several types</p>", "content_type": "", "headers": headers}


CASES = {
    "refresh header": Case(
        {"/": refresh("0; url=/x"), "/x": "<p>here</p>"}, {"/", "/x"}, {"/", "/x"}
    ),
    "refresh header without a page": Case(
        {"/": refresh("0;URL='/x'", body=""), "/x": "<p>here</p>"}, {"/", "/x"}, {"/x"}
    ),
    "refresh header before a meta": Case(
        {"/": refresh("1; /x", body="<meta http-equiv=refresh content='0;/y'>"), "/x": "<p>x</p>"},
        {"/", "/x"},
        {"/", "/x"},
    ),
    "refresh header that only reloads": Case({"/": refresh("5")}, {"/"}, {"/"}),
    "refresh header to itself": Case({"/": refresh("5; url=/")}, {"/"}, {"/"}),
    "refresh header far ahead": Case({"/": refresh("900; url=/x")}, {"/"}, {"/"}),
    "refresh header to a script": Case({"/": refresh("0; url=javascript:x()")}, {"/"}, {"/"}),
    "refresh header of garbage": Case({"/": refresh("0; u r l = /x")}, {"/"}, {"/"}),
    "picture as a page": Case({"/": {"body_b64": PIXEL, **HTML}}, {"/"}, set()),
    "the type of a page, then another": Case(
        {"/": typed("text/html", "application/json")}, {"/"}, set()
    ),
    "the type of a page, then that of a text": Case(
        {"/": typed("text/html", "text/plain")}, {"/"}, {"/"}
    ),
    "another type, then that of a page": Case(
        {"/": typed("text/plain", "text/html")}, {"/"}, {"/"}
    ),
    "links to files": Case(
        {
            "/": "<a href=/a.PNG?w=1>1</a> <a href=/b.pdf>2</a> <a href=/get?file=c.zip>3</a>"
            "<a href=/wiki/File:D.jpg>4</a> <a href=/e.js/>5</a>",
            "/get?file=c.zip": "<p>about c</p>",
            "/wiki/File:D.jpg": "<p>about d</p>",
            "/e.js/": "<p>about e</p>",
        },
        {"/", "/get?file=c.zip", "/wiki/File:D.jpg", "/e.js/"},
        {"/", "/get?file=c.zip", "/wiki/File:D.jpg", "/e.js/"},
    ),
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Crawl all sites at once; return paths asked for and paths stored, by case."""
    addresses = dict(zip(CASES, loopback(len(CASES)), strict=True))
    site = {"hosts": {addresses[name]: case.pages for name, case in CASES.items()}}
    arguments = options(
        POLITENESS_DELAY=0.05, DEDUPE_EXACT_ENABLED=False, DEDUPE_NEAR_ENABLED=False
    )
    jobdir = tmp_path_factory.mktemp("cases") / "job"
    with LocalWeb("tests.support.sites:table_site", site, hosts=list(addresses.values())) as web:
        result = crawl(web.urls, *arguments, jobdir=jobdir).check()
        hits = web.log()
        port = web.port
    found = {}
    for name, address in addresses.items():
        asked = judge.fetched(hits, host=f"{address}:{port}")
        home = f"http://{address}:{port}"
        stored = {url.removeprefix(home) for url in result.urls if url.startswith(home + "/")}
        found[name] = asked, stored
    return found


@pytest.mark.parametrize("name", CASES)
def test_what_is_asked_for(judged, name):
    """Robots.txt comes first, then what the site really leads to, each once."""
    asked, _ = judged[name]
    assert asked == dict.fromkeys(["/robots.txt", *CASES[name].asked], 1)


@pytest.mark.parametrize("name", CASES)
def test_what_is_stored(judged, name):
    """A line for each page, and for nothing else."""
    _, stored = judged[name]
    assert stored == CASES[name].stored
