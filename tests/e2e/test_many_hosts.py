"""Many hosts at once, each at its own pace; and a crawler that waits without working."""

from __future__ import annotations

import re

import pytest

from tests.support import judge
from tests.support.crawl import crawl, options
from tests.support.server import LocalWeb

pytestmark = pytest.mark.e2e

HOSTS = 300
PAGES = 4
DELAY = 1.0


def uniform(hosts, pages, **more):
    site = {"hosts": hosts, "pages_per_host": pages, "links": 8, "kb": 4, "cross": 0.0, **more}
    return LocalWeb("tests.support.sites:uniform_site", site, hosts=hosts)


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Crawl 300 hosts of 4 pages; return the result and the server's log."""
    with uniform(HOSTS, PAGES, delay_s=0.05) as web:
        jobdir = tmp_path_factory.mktemp("wide") / "job"
        result = crawl(web.urls, *options(POLITENESS_DELAY=DELAY), jobdir=jobdir)
        return result.check(), web.log()


def test_every_page_of_every_host_is_fetched_once(wide):
    """300 robots.txt and 1,200 pages, each by one request and each with its line."""
    result, hits = wide
    asked = judge.fetched(hits)
    assert set(asked.values()) == {1}
    assert len(asked) == HOSTS * (PAGES + 1)
    assert len(set(result.urls)) == len(result.lines) == HOSTS * PAGES


def test_no_host_is_asked_early(wide):
    """On each of the hosts lies at least the delay between an answer and the next request."""
    judge.assert_polite(wide[1], DELAY)
    assert len(judge.gaps(wide[1])) == HOSTS


def test_a_host_sees_one_request_at_a_time_on_one_connection(wide):
    """Requests to a host never overlap, and its connection is kept for all of them."""
    assert set(judge.max_parallel_per_host(wide[1]).values()) == {1}
    assert set(judge.connections_per_host(wide[1]).values()) == {1}


def test_hosts_are_crawled_in_parallel(wide):
    """Pauses of one host are used for the others: the whole takes a fraction of their sum."""
    _, hits = wide
    took = max(hit.t_end for hit in hits) - min(hit.t_start for hit in hits)
    assert took < HOSTS * PAGES * DELAY / 20
    assert judge.max_parallel_hosts(hits) >= 20


def test_the_summary_names_the_smallest_pause(wide):
    """What the crawler says of its own politeness is not more than the server saw."""
    result, hits = wide
    said = re.search(r"smallest pause .*?: (\d+\.\d{3}) s at ", result.stderr)[1]
    assert DELAY <= float(said) <= judge.smallest_gap(hits) + 0.0005  # it is rounded


def test_waiting_costs_no_cpu(tmp_path):
    """Six seconds of waiting for one host cost next to nothing beyond the work itself."""
    used = {}
    for delay in (0, 1.5):
        with uniform(1, PAGES) as web:
            arguments = options(POLITENESS_DELAY=delay)
            result = crawl([web.url()], *arguments, jobdir=tmp_path / f"job-{delay}").check()
        assert len(result.lines) == PAGES
        assert result.elapsed_s > PAGES * delay
        used[delay] = result.cpu_s
    assert used[1.5] - used[0] < 0.75


def test_the_next_request_goes_as_soon_as_it_may(tmp_path):
    """A host that is ready is asked then, not at the next tick of a clock."""
    with uniform(1, 10) as web:
        crawl([web.url()], *options(POLITENESS_DELAY=0.3), jobdir=tmp_path / "job").check()
        pauses = sorted(judge.gaps(web.log()).popitem()[1])
    assert pauses[0] >= 0.3
    assert pauses[len(pauses) // 2] < 0.6  # Scrapy's own heartbeat is 5 s, our commits tick at 1 s


@pytest.mark.parametrize(
    "body", ["<p></p>", "<p>the same words on every host, and enough of them to count"]
)
def test_a_page_that_many_hosts_have_is_one_line(tmp_path, body):
    """Of equal pages that arrive at the same moment from 60 hosts one is stored, text or none."""
    pages = {"/robots.txt": {"status": 404}, "/": {"body": body, "delay_s": 0.1}}
    with LocalWeb("tests.support.sites:table_site", {"hosts": {"*": pages}}, hosts=60) as web:
        result = crawl(web.urls, *options(POLITENESS_DELAY=0.1), jobdir=tmp_path / "job").check()
    assert result.outcomes == {"stored": 1, "duplicate_exact": 59}
