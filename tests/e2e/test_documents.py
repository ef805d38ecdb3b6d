"""A small site with an endless calendar: all of it is found, and nothing a second time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.support import judge
from tests.support.crawl import CrawlResult, crawl, options
from tests.support.server import LocalWeb
from tests.support.sites import DocsSite

if TYPE_CHECKING:
    from tests.support.exchange import Hit

pytestmark = pytest.mark.e2e

SITE = DocsSite()
DELAY = 0.1


@dataclass(frozen=True)
class Run:
    result: CrawlResult
    hits: list[Hit]

    @property
    def paths(self):
        return [hit.path for hit in self.hits]

    @property
    def pages(self):
        return [hit for hit in self.hits if hit.path != "/robots.txt"]

    @property
    def months(self):
        return [path for path in self.paths if path.startswith("/calendar/")]

    @property
    def lines(self):
        return {"/" + url.split("/", 3)[3] for url in self.result.urls}


def run(folder, *args, **settings):
    with LocalWeb("tests.support.sites:docs_site") as web:
        result = crawl([web.url()], *args, *options(**settings), jobdir=folder / "job")
        return Run(result.check(), web.log())


@pytest.fixture(scope="module")
def undefended(tmp_path_factory):
    return run(
        tmp_path_factory.mktemp("undefended"),
        *("-a", "max_fetches=200"),
        POLITENESS_DELAY=0,
        FRONTIER_HOST_BUDGET=0,
    )


@pytest.fixture(scope="module")
def shallow(tmp_path_factory):
    return run(tmp_path_factory.mktemp("shallow"), "-a", "max_depth=6", POLITENESS_DELAY=DELAY)


@pytest.fixture(scope="module")
def budgeted(tmp_path_factory):
    return run(tmp_path_factory.mktemp("budgeted"), POLITENESS_DELAY=0, FRONTIER_HOST_BUDGET=50)


@pytest.fixture(params=["undefended", "shallow", "budgeted"])
def any_run(request):
    return request.getfixturevalue(request.param)


def test_every_document_is_fetched_exactly_once(any_run):
    """All 40 documents are found, however the calendar is bounded, each by one request."""
    documents = sorted(path for path in any_run.paths if path.startswith("/docs/"))
    assert documents == SITE.documents


def test_every_document_has_exactly_one_line(any_run):
    """Each document has a line; of the one with two names, one of the names has."""
    twins = {"/alias", SITE.alias_of}
    assert set(SITE.documents) - twins <= any_run.lines
    assert len(twins & any_run.lines) == 1
    assert len(any_run.result.urls) == len(any_run.lines)


def test_nothing_is_asked_for_twice(any_run):
    """No path, robots.txt and redirects included, is requested a second time."""
    assert len(any_run.paths) == len(set(any_run.paths))
    assert {"/robots.txt", "/", "/alias", "/old"} <= set(any_run.paths)


def test_robots_txt_comes_first_and_is_obeyed(any_run):
    """Nothing goes before robots.txt, and nothing below /private/ goes at all (RFC 9309 §2.2)."""
    assert min(any_run.hits, key=lambda hit: hit.t_start).path == "/robots.txt"
    assert not [path for path in any_run.paths if path.startswith("/private/")]
    assert any_run.result.rejected["robots"] == 1


def test_one_copy_and_one_redirect_are_counted(any_run):
    """The alias (or what it copies) ends as an exact duplicate, /old as a redirect."""
    assert any_run.result.outcomes["duplicate_exact"] == 1
    assert any_run.result.outcomes["redirected"] == 1


def test_without_defence_the_cap_on_fetches_is_exact(undefended):
    """max_fetches=200 gives 200 page requests: the documents, and months for the rest."""
    assert len(undefended.pages) == 200
    assert 150 <= len(undefended.months) <= 165
    assert undefended.result.stats["finish_reason"] == "max_fetches"


def test_depth_bounds_the_calendar(shallow):
    """With max_depth=6 the crawl ends by itself after six months of the calendar."""
    assert len(shallow.months) == 6
    assert shallow.result.stats["finish_reason"] == "finished"
    assert shallow.result.rejected["depth"] == 1


def test_a_host_budget_bounds_the_calendar(budgeted):
    """With a budget of 50 pages the crawl ends by itself, with 50 page requests."""
    assert len(budgeted.pages) == 50
    assert budgeted.result.stats["finish_reason"] == "finished"
    assert budgeted.result.rejected["host_budget"] >= 1


def test_no_pause_is_shorter_than_the_delay(shallow):
    """From the end of each answer to the next request lies the delay, robots.txt and redirects
    included; and no two requests overlap.
    """
    judge.assert_polite(shallow.hits, DELAY)
    assert set(judge.max_parallel_per_host(shallow.hits).values()) == {1}
    assert len(shallow.hits) > 45


def test_one_connection_serves_the_host(any_run):
    """The connection is kept: a host sees one."""
    assert set(judge.connections_per_host(any_run.hits).values()) == {1}


@pytest.mark.parametrize("most", [1, 7])
def test_max_pages_is_exact_on_one_host(tmp_path, most):
    """max_pages=N gives N lines: not one more, and on a site with enough pages not one less."""
    found = run(tmp_path, "-a", f"max_pages={most}", POLITENESS_DELAY=0)
    assert len(found.result.lines) == most
    assert found.result.stats["finish_reason"] == "max_pages"


def test_max_pages_is_exact_on_many_hosts(tmp_path):
    """The cap holds, too, when many hosts have a request in flight at once."""
    site = {"hosts": 30, "pages_per_host": 5, "links": 6, "kb": 4}
    with LocalWeb("tests.support.sites:uniform_site", site, hosts=30) as web:
        result = crawl(
            web.urls, "-a", "max_pages=37", *options(POLITENESS_DELAY=0.2), jobdir=tmp_path / "job"
        ).check()
    assert len(result.lines) == 37
