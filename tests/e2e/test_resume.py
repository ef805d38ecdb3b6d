"""The same command continues a crawl: after Ctrl-C, after kill -9, after its end."""

from __future__ import annotations

import time

import pytest

from tests.support import judge
from tests.support.crawl import crawl, options, start_crawl
from tests.support.server import LocalWeb

pytestmark = pytest.mark.e2e


def uniform(hosts, pages):
    site = {"hosts": hosts, "pages_per_host": pages, "links": 8, "kb": 4, "cross": 0.0}
    return LocalWeb("tests.support.sites:uniform_site", site, hosts=hosts)


def every_page(web, pages):
    return {
        web.url(f"/page/{n}" if n else "/", host=host)
        for host in range(len(web.hosts))
        for n in range(pages)
    }


def await_hits(web, count):
    """Wait until the server has answered so many requests in all."""
    for _ in range(1000):
        if len(web.log()) >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"no {count} requests within 20 s, only {len(web.log())}")


def test_killed_at_any_time_each_page_is_one_line_in_the_end(tmp_path):
    """However often it is killed, in the end there is each page once; what was fetched again is
    what was not yet committed.
    """
    pages, kills = 300, [40, 140, 141]
    settings = options(POLITENESS_DELAY=0, FRONTIER_COMMIT_INTERVAL=0.2, FRONTIER_COMMIT_PAGES=10)
    with uniform(1, pages) as web:
        for count in kills:
            with start_crawl([web.url()], *settings, jobdir=tmp_path / "job") as running:
                await_hits(web, count)
                running.kill()
        result = crawl([web.url()], *settings, jobdir=tmp_path / "job").check()
        hits = [hit for hit in web.log() if hit.path != "/robots.txt"]
        assert sorted(result.urls) == sorted(every_page(web, pages))
    assert result.stats["finish_reason"] == "finished"
    assert result.outcomes == {"stored": pages}
    again = len(hits) - pages
    assert again <= len(kills) * (10 + 1)  # a group, and the one in flight


def test_no_host_is_asked_early_after_a_kill(tmp_path):
    """The delay holds across the crash: a host rests for it from the start on, because its last
    request may not have been recorded.
    """
    delay, pages = 2.0, 3
    settings = options(POLITENESS_DELAY=delay)
    with uniform(40, pages) as web:
        with start_crawl(web.urls, *settings, jobdir=tmp_path / "job") as running:
            await_hits(web, 100)
            running.kill()
        result = crawl(web.urls, *settings, jobdir=tmp_path / "job").check()
        hits = web.log()
        assert sorted(result.urls) == sorted(every_page(web, pages))
    judge.assert_polite(hits, delay)


def test_after_ctrl_c_nothing_is_fetched_again(tmp_path):
    """A crawl that was stopped goes on where it stopped: each page is fetched once in all, and a
    further run finds nothing to do.
    """
    pages = 30
    settings = options(POLITENESS_DELAY=0.05)
    with uniform(3, pages) as web:
        with start_crawl(web.urls, *settings, jobdir=tmp_path / "job") as running:
            await_hits(web, 40)
            running.interrupt()
            first = running.wait(20)
        second = crawl(web.urls, *settings, jobdir=tmp_path / "job").check()
        third = crawl(web.urls, *settings, jobdir=tmp_path / "job").check()
        asked = judge.fetched(hit for hit in web.log() if hit.path != "/robots.txt")
        assert sorted(second.urls) == sorted(every_page(web, pages))
    assert 0 < len(first.lines) < len(second.lines)
    assert second.lines[: len(first.lines)] == first.lines
    assert third.lines == second.lines
    assert set(asked.values()) == {1}
