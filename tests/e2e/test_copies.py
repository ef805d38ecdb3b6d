"""A trap that serves one page under endless names, and a site that lies behind a copy."""

from __future__ import annotations

import pytest

from tests.support.crawl import crawl, options
from tests.support.prose import Prose, anchors, document, paragraphs
from tests.support.server import LocalWeb

pytestmark = pytest.mark.e2e


def page(text: str, *links: str) -> str:
    """Return a page whose main text depends on ``text`` alone."""
    prose = Prose(text)
    return document(prose.title(), paragraphs(prose, 3, 50), links=anchors(links)).decode()


def fetched(folder, table, most):
    with LocalWeb("tests.support.sites:table_site", {"hosts": {"*": table}}) as web:
        settings = options(POLITENESS_DELAY=0, FRONTIER_MAX_COPIES=most)
        crawl([web.url()], *settings, jobdir=folder / "job").check()
        return [hit.path for hit in web.log() if hit.path != "/robots.txt"]


@pytest.mark.parametrize("most", [0, 2, 4])
def test_a_trap_of_copies_ends(tmp_path, most):
    """Behind the first page of a trap, one copy more is fetched than copies are followed."""
    trap = {f"/{n}": page("the same", f"/{n + 1}") for n in range(1, 30)}
    paths = fetched(tmp_path, {"/": page("home", "/1"), **trap}, most)
    assert paths == ["/", *(f"/{n}" for n in range(1, most + 3))]


def test_a_site_behind_two_copies_is_found(tmp_path):
    """A unique page behind copies counts anew, so its own copies may be two again."""
    table = {
        "/": page("home", "/1"),
        "/1": page("home", "/2"),
        "/2": page("home", "/news"),
        "/news": page("news", "/3"),
        "/3": page("news", "/4"),
        "/4": page("news", "/end"),
        "/end": page("end"),
    }
    assert fetched(tmp_path, table, 2) == list(table)
