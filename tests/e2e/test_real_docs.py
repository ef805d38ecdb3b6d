"""Real documents: two documentation packages of Debian, served whole and crawled whole.

What must be found is computed by other means (:mod:`tests.support.packages`). The first run
downloads the packages (about 25 MB) into a cache; without network the tests are skipped, and
say which command fetches them.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.support import judge
from tests.support.crawl import CrawlResult, options, start_crawl
from tests.support.packages import PackageUnavailableError, Reach, debian_docs, reachable
from tests.support.server import LocalWeb

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PACKAGES = {
    "fp-docs-3.2.2": 10_000,  # hand-written HTML of the nineties: frames, tables, no lang
    "debian-handbook": 3_000,  # one book in 27 languages
}
"""Package, and the least number of pages that makes the comparison mean something."""


@dataclass(frozen=True)
class Crawled:
    package: str
    reach: Reach
    asked: dict[str, int]
    result: CrawlResult

    @property
    def lines(self):
        return {"/" + url.split("/", 3)[3] for url in self.result.urls}


@pytest.fixture(scope="module", params=PACKAGES)
def crawled(request, tmp_path_factory):
    try:
        root = debian_docs(request.param)
    except PackageUnavailableError as error:
        pytest.skip(f"NOT TESTED against real documents: {error}")
    every_file = {"FRONTIER_SKIP_EXTENSIONS": ""}
    settings = options(POLITENESS_DELAY=0, FRONTIER_HOST_BUDGET=0, **every_file)
    jobdir = tmp_path_factory.mktemp("real") / "job"
    with LocalWeb("tests.support.packages:static_site", {"root": str(root)}) as web:
        with start_crawl([web.url()], *settings, jobdir=jobdir) as running:
            reach = reachable(root)  # meanwhile
            result = running.wait(240).check()
        asked = judge.fetched(web.log(), host=f"{web.hosts[0]}:{web.port}")
    return Crawled(request.param, reach, dict(asked), result)


def some(paths):
    """Return a few of many paths, for a message."""
    return sorted(paths)[:10]


def test_what_is_fetched_is_what_is_reachable(crawled):
    """By the server's log every reachable path is asked for, and no other."""
    reach = crawled.reach
    expected = {*reach.pages, *reach.resources, *reach.dead, *reach.redirects, "/robots.txt"}
    missing, unexpected = expected - crawled.asked.keys(), crawled.asked.keys() - expected
    assert not missing, f"{len(missing)} missing: {some(missing)}"
    assert not unexpected, f"{len(unexpected)} unexpected: {some(unexpected)}"
    assert len(reach.pages) >= PACKAGES[crawled.package]


def test_nothing_is_fetched_twice(crawled):
    """A document has many links to it and is asked for once."""
    assert not some(path for path, count in crawled.asked.items() if count > 1)


def test_every_path_ends_as_what_it_is(crawled):
    """Dead links are gone, other content is skipped, and each page is a line or a duplicate."""
    reach, outcomes = crawled.reach, crawled.result.outcomes
    duplicates = outcomes.get("duplicate_exact", 0) + outcomes.get("duplicate_near", 0)
    assert outcomes.get("gone", 0) == len(reach.dead)
    assert outcomes.get("skipped_type", 0) == len(reach.resources)
    assert outcomes.get("redirected", 0) == len(reach.redirects)
    assert outcomes["stored"] + duplicates == len(reach.pages)
    assert sum(outcomes.values()) == reach.requests


def test_lines_are_of_pages_and_of_each_one(crawled):
    """Each line has a URL of its own, and that is a page."""
    assert len(crawled.lines) == len(crawled.result.lines)
    assert not some(crawled.lines - crawled.reach.pages.keys())


def test_equal_bodies_have_one_line_at_most(crawled):
    """Of pages with the same bytes at most one is stored, and they count as duplicates."""
    groups = crawled.reach.duplicates
    assert groups
    twice = [some(crawled.lines.intersection(group)) for group in groups]
    assert not [found for found in twice if len(found) > 1][:3]
    assert len(crawled.result.lines) <= crawled.reach.unique


def test_depth_is_the_number_of_clicks(crawled):
    """The depth of a line is never less than the shortest way there, and hardly ever more."""
    depths = {"/" + line["url"].split("/", 3)[3]: line["depth"] for line in crawled.result.lines}
    pages = crawled.reach.pages
    assert not some(path for path, depth in depths.items() if depth < pages[path])
    longer = [path for path, depth in depths.items() if depth > pages[path]]
    assert not longer, f"{len(longer)} of {len(depths)}: {some(longer)}"


def test_the_crawl_ends_by_itself(crawled):
    """Nothing is left, nothing failed."""
    assert crawled.result.stats["finish_reason"] == "finished"
    assert not [name for name in crawled.result.outcomes if name.startswith("failed")]
