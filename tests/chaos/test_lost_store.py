"""Stores of other machines that go away while a crawl runs: it waits, and loses nothing."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from crawler.store import PageQuery, all_pages
from crawler.store.catalog import Catalog
from tests.support.crawl import crawl, options, start_crawl
from tests.support.postgres import PASSWORD
from tests.support.server import LocalWeb

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

_SITE = {"hosts": 4, "pages_per_host": 25, "links": 5, "kb": 2, "cross": 0.0}


def _expected(web):
    return {web.url(f"/page/{n}" if n else "/", host=h) for h in range(4) for n in range(25)}


def _rows(url):
    with closing(Catalog.open(url, read_only=True)) as catalog:
        return {row.url: row.outcome for row in all_pages(catalog, PageQuery())}


def _await(said, running):
    limit = time.monotonic() + 30
    while said not in running.said:
        assert time.monotonic() < limit, running.said[-3000:]
        assert running.process.poll() is None, running.said[-3000:]
        time.sleep(0.05)


def test_a_database_that_goes_away_pauses_the_crawl(tmp_path, postgres):
    """The crawl says that it pauses, sends nothing meanwhile, goes on, and has every row."""
    url = postgres.new_schema()
    settings = options(POLITENESS_DELAY=0.1, FRONTIER_COMMIT_INTERVAL=0.2, STORE_CATALOG=url)
    with LocalWeb("tests.support.sites:uniform_site", _SITE, hosts=4) as web:
        with start_crawl(web.urls, *settings, jobdir=tmp_path / "job") as running:
            while len(web.log()) < 20:
                time.sleep(0.02)
            postgres.stop()
            try:
                _await("The crawl pauses, nothing is lost", running)
                time.sleep(0.5)
                asked = len(web.log())
                time.sleep(1.0)
                assert len(web.log()) == asked
            finally:
                postgres.start()
            _await("The crawl goes on", running)
            result = running.wait(60).check()
        expected = _expected(web)
    assert set(result.urls) == expected
    assert _rows(url) == dict.fromkeys(expected, "stored")
    assert PASSWORD not in result.stderr


def test_a_crawl_that_ends_without_its_database_delivers_later(tmp_path, postgres):
    """Stopped while the database is away, the crawl keeps its rows and brings them next time."""
    url = postgres.new_schema()
    settings = options(POLITENESS_DELAY=0.1, FRONTIER_COMMIT_INTERVAL=0.2, STORE_CATALOG=url)
    with LocalWeb("tests.support.sites:uniform_site", _SITE, hosts=4) as web:
        with start_crawl(web.urls, *settings, jobdir=tmp_path / "job") as running:
            while len(web.log()) < 20:
                time.sleep(0.02)
            postgres.stop()
            try:
                _await("The crawl pauses, nothing is lost", running)
                running.interrupt()
                stopped = running.wait(60)
                refused = crawl(web.urls, *settings, jobdir=tmp_path / "job")
            finally:
                postgres.start()
        assert stopped.lines
        assert refused.exit_code == 2
        assert PASSWORD not in stopped.stderr + refused.stderr
        result = crawl(web.urls, *settings, jobdir=tmp_path / "job").check()
        expected = _expected(web)
    assert set(result.urls) == expected
    assert _rows(url) == dict.fromkeys(expected, "stored")
