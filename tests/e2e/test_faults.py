"""Everything that goes wrong with pages: each fault ends in its outcome, and the crawl goes on."""

from __future__ import annotations

import json
import statistics
from collections import Counter

import pytest

from tests.support import judge
from tests.support.crawl import crawl, options
from tests.support.faults_site import CATALOGUE
from tests.support.server import LocalWeb, loopback

pytestmark = pytest.mark.e2e

DELAY = 0.2
RETRIES = 1
THROTTLES = 2
SETTINGS = {
    "POLITENESS_DELAY": DELAY,
    "BACKOFF_BASE": 0.3,
    "BACKOFF_RETRY_BASE": 0.3,
    "BACKOFF_RETRIES": RETRIES,
    "BACKOFF_THROTTLES": THROTTLES,
    "DOWNLOAD_TIMEOUT": 2,
    "DOWNLOAD_MAXSIZE": 2**20,
    "FRONTIER_SKIP_EXTENSIONS": "",  # what is no page is to be fetched, too
}

# How the fault itself ends, and how often it is asked for; what it leads to is a URL of its own.
ONCE, AGAIN = 1, 1 + RETRIES
ENDS = {
    "/500": ("failed_server", AGAIN),
    "/502": ("failed_server", AGAIN),
    "/503": ("failed_throttled", 1 + THROTTLES),
    "/429": ("failed_throttled", 1 + THROTTLES),
    "/503-then-ok": ("stored", 3),
    "/429-then-ok": ("stored", 3),
    "/500-then-ok": ("stored", 2),
    "/404": ("gone", ONCE),
    "/410": ("gone", ONCE),
    "/401": ("refused", ONCE),
    "/403": ("refused", ONCE),
    "/451": ("refused", ONCE),
    "/204": ("skipped_type", ONCE),
    "/299": ("stored", ONCE),
    "/999": ("failed_server", AGAIN),
    "/hang": ("failed_network", AGAIN),
    "/hang-headers": ("failed_network", AGAIN),
    "/hang-body": ("failed_network", AGAIN),
    "/drip": ("failed_network", AGAIN),
    "/slow": ("stored", ONCE),
    "/reset": ("failed_network", AGAIN),
    "/reset-body": ("stored", AGAIN),  # what came on the last try
    "/close": ("failed_network", AGAIN),
    "/truncated": ("stored", AGAIN),
    "/truncated-chunks": ("stored", AGAIN),
    "/length-too-long": ("stored", AGAIN),
    "/length-too-short": ("stored", ONCE),
    "/not-http": ("failed_network", AGAIN),
    "/bad-chunk": ("failed_network", AGAIN),
    "/two-lengths": ("failed_network", AGAIN),
    "/crumbs": ("stored", AGAIN),
    "/honest-chunks": ("stored", ONCE),
    "/oversize": ("failed_size", ONCE),
    "/oversize-chunked": ("failed_size", ONCE),
    "/endless": ("failed_size", ONCE),
    "/endless-headers": ("failed_size", ONCE),
    "/many-headers": ("failed_size", ONCE),
    "/long-header": ("failed_size", ONCE),
    "/large-headers": ("failed_size", ONCE),
    "/interim-answers": ("failed_size", ONCE),
    "/honest-headers": ("stored", ONCE),
    "/gzip-bomb": ("failed_size", ONCE),
    "/bad-gzip": ("failed_content", ONCE),
    "/not-gzip": ("stored", ONCE),
    "/cut-gzip": ("stored", AGAIN),
    "/unknown-encoding": ("stored", ONCE),
    "/redirect-loop": ("refused", ONCE),
    "/redirect-ring": ("redirected", ONCE),
    "/redirect-ring-2": ("redirected", ONCE),
    "/chain-4": ("redirected", ONCE),
    "/chain-7": ("redirected", ONCE),
    "/to-private": ("redirected", ONCE),
    "/to-private-address": ("redirected", ONCE),
    "/to-file": ("refused", ONCE),
    "/to-nowhere": ("refused", ONCE),
    "/to-garbage": ("refused", ONCE),
    "/no-location": ("refused", ONCE),
    "/image.png": ("skipped_type", ONCE),
    "/paper.pdf": ("skipped_type", ONCE),
    "/data.json": ("skipped_type", ONCE),
    "/no-type": ("stored", ONCE),
    "/bad-type": ("stored", ONCE),
    "/bad-charset": ("stored", ONCE),
    "/broken-bytes": ("stored", ONCE),
    "/empty": ("skipped_type", ONCE),  # no body, no page
    "/deep": ("stored", ONCE),
}


CUT_SHORT = [
    "/reset-body",
    "/truncated",
    "/truncated-chunks",
    "/length-too-long",
    "/cut-gzip",
    "/crumbs",
]

LED_TO = {"redirected": 2 + 3 + 5, "stored": 1}
"""What redirects led to: each ring's other half, and the hops behind ``/chain-4`` (3 and a page)
and ``/chain-7`` (5; the next one is one too many)."""

NO_MORE_PAGES = "deny=/good/ :[0-9]+/$"  # the links of the faults that are pages


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """Crawl every fault on a host of its own; return the result, and the log by fault."""
    site = {"only": [], "oversize_bytes": 2**21, "bomb_bytes": 2**23}
    with LocalWeb("tests.support.sites:faults_site", site, hosts=len(CATALOGUE)) as web:
        seeds = [web.url(path, host=number) for number, path in enumerate(CATALOGUE)]
        arguments = ["-a", NO_MORE_PAGES, "-a", "scope=any", *options(**SETTINGS)]
        jobdir = tmp_path_factory.mktemp("faults") / "job"
        result = crawl(seeds, *arguments, jobdir=jobdir).check()
        hosts = judge.by_host(web.log())
        names = zip(CATALOGUE, web.hosts, strict=True)
        return result, {path: hosts.get(f"{name}:{web.port}", []) for path, name in names}


def assert_pauses(hits, delay):
    """Fail when a request came early.

    Where the client broke a transfer off, or the body was larger than the socket's buffer, the
    server learns late of the end, on a busy machine by any time. So one such gap must only not
    overlap, but the middle one of several must nearly be whole; what is exact is in
    tests/integration/test_gate.py.
    """
    late = []
    for gap, earlier, later in judge.pairs(hits):
        if earlier.ended == "done" and earlier.sent <= 2**16:
            assert gap >= delay, (gap, earlier, later)
        else:
            assert gap >= 0, (gap, earlier, later)
            late.append(gap)
    if len(late) > 2:
        assert statistics.median(late) >= delay * 0.8, late


def test_every_fault_has_an_expected_end():
    """The table here and the catalogue of faults name the same paths."""
    assert ENDS.keys() == CATALOGUE.keys()


def test_the_crawl_ends_by_itself(apart):
    """With every fault behind it nothing is left, and that is said."""
    result, _ = apart
    assert result.stats["finish_reason"] == "finished"
    assert result.stats["frontier/queued"] == result.stats["frontier/waiting"] == 0


@pytest.mark.parametrize("path", CATALOGUE)
def test_a_fault_is_asked_for_as_often_as_it_deserves(apart, path):
    """What may pass is tried again, a bounded number of times; what is final is not."""
    _, hits = apart
    assert sum(hit.path == path for hit in hits[path]) == ENDS[path][1]


@pytest.mark.parametrize("path", CATALOGUE)
def test_retries_keep_the_delay(apart, path):
    """After a fault of any kind the host's next request waits as after every other one."""
    assert_pauses(apart[1][path], DELAY)


def test_what_is_endless_is_left_early(apart):
    """An endless body or head is not read until the time is up: the server gets rid of what the
    buffers of two sockets hold, and of little more.
    """
    _, hits = apart
    for path in ("/endless", "/endless-headers"):
        (hit,) = [one for one in hits[path] if one.path == path]
        assert hit.sent < 2**25, path
        assert hit.t_end - hit.t_start < 1.5, path


def test_faults_are_counted_under_their_outcome(apart):
    """The outcomes are those of the table, and of what its redirects led to."""
    result, _ = apart
    assert result.outcomes == Counter(end for end, _ in ENDS.values()) + Counter(LED_TO)


def test_a_page_cut_short_on_every_try_is_kept_and_marked(apart):
    """Half a page is better than none, if it does not pass for a whole one; nor does a page
    that is deeper than parsing goes.
    """
    result, hits = apart
    deep, *cut_short = [f"http://{hits[path][0].host}{path}" for path in ["/deep", *CUT_SHORT]]
    marked = {line["url"]: line["text"] for line in result.lines if line.get("truncated")}
    assert marked.keys() == {deep, *cut_short}
    assert all(len(marked[url]) > 100 for url in cut_short)


def test_a_chain_of_redirects_is_followed_up_to_its_limit(apart):
    """Four hops lead to the page; of seven, five are followed and the rest is rejected."""
    result, hits = apart
    assert [hit.path for hit in hits["/chain-4"]][-1] == "/hops/0"
    assert [hit.path for hit in hits["/chain-7"]][-1] == "/hops/2"
    assert result.rejected["redirects"] == 1


def test_a_redirect_into_the_forbidden_is_not_followed(apart):
    """robots.txt holds for a redirect's target, too (RFC 9309 §2.2)."""
    result, hits = apart
    assert [hit.path for hit in hits["/to-private"]] == ["/robots.txt", "/to-private"]
    assert result.rejected["robots"] == 1


def test_a_redirect_to_a_private_address_is_rejected(apart):
    """An address literal that is not public is never a URL of the crawl."""
    result, _ = apart
    assert result.rejected["address"] == 1
    assert len(result.counted("robots/")) == 1
    assert result.stats["robots/200"] == len(CATALOGUE)


def test_one_host_with_every_fault_does_not_stop_the_crawl(tmp_path):
    """All faults on one host: it rests now and then, every good page is stored, the end comes."""
    shared = [path for path in CATALOGUE if "503" not in path and "429" not in path]
    slow = {"/hang-headers", "/hang-body"}
    linked = [path for path in shared if path not in slow]
    site = {"only": linked, "oversize_bytes": 2**21, "bomb_bytes": 2**23}
    settings = options(**{**SETTINGS, "DOWNLOAD_TIMEOUT": 1, "BACKOFF_CAP": 0.3})
    with LocalWeb("tests.support.sites:faults_site", site) as web:
        result = crawl([web.url()], *settings, jobdir=tmp_path / "job").check()
        hits = web.log()
    assert result.stats["finish_reason"] == "finished"
    assert_pauses(hits, DELAY)
    for path in linked:
        assert sum(hit.path == path for hit in hits) == ENDS[path][1], path
    good = {web.url(path) for path in ["/", "/good/1", "/good/2", "/good/3", "/good/4", "/hops/0"]}
    assert good <= set(result.urls)


@pytest.fixture(scope="module")
def resting(tmp_path_factory):
    """Crawl a host that answers 503, one that answers 429, and one in good health."""
    rest, site = 2, {"only": [], "retry_after_s": 2}
    with LocalWeb("tests.support.sites:faults_site", site, hosts=3) as web:
        seeds = [web.url("/503-then-ok", host=0), web.url("/429-then-ok", host=1)]
        seeds += [web.url(f"/good/{n}", host=host) for n in range(1, 5) for host in range(3)]
        jobdir = tmp_path_factory.mktemp("resting") / "job"
        result = crawl(seeds, *options(POLITENESS_DELAY=0.5), jobdir=jobdir).check()
        hosts = judge.by_host(web.log())
    return result, rest, [hosts[f"{name}:{web.port}"] for name in web.hosts]


@pytest.mark.parametrize(("host", "status"), [(0, 503), (1, 429)])
def test_retry_after_holds_for_the_whole_host_and_for_no_other(resting, host, status):
    """Until it is over not one request goes to the host, whichever URL was answered so
    (RFC 9110 §10.2.3, RFC 6585 §4); other hosts are served meanwhile.
    """
    result, rest, hosts = resting
    refused = [hit for hit in hosts[host] if hit.status == status]
    assert len(refused) == 2
    for hit in refused:
        assert not [one for one in hosts[host] if hit.t_end < one.t_start < hit.t_end + rest]
    first = refused[0].t_end
    assert len([one for one in hosts[2] if first < one.t_start < first + rest]) >= 2
    assert result.outcomes == {"stored": 2 + 3 * 5}
    assert_pauses(hosts[host], 0.5)


def test_a_name_of_a_private_address_is_never_contacted(tmp_path):
    """Addresses are looked at after the name is resolved, also behind a redirect; not even
    robots.txt is asked for.
    """
    hosts = loopback(2)
    pages = {
        "/robots.txt": {"status": 404},
        "/": '<a href="http://inside.test:{port}/a">1</a> <a href="/go">2</a>',
        "/go": {"status": 302, "headers": {"Location": "http://inside.test:{port}/b"}},
    }
    names = options(SAFETY_HOSTS=json.dumps({"inside.test": hosts[1]}))
    site = {"hosts": {"*": pages}}
    with LocalWeb("tests.support.sites:table_site", site, hosts=hosts) as web:
        arguments = ["-a", "scope=any", *options(**SETTINGS), *names]
        result = crawl([web.url()], *arguments, jobdir=tmp_path / "job").check()
        hits = web.log()
    assert {hit.host for hit in hits} == {f"{hosts[0]}:{web.port}"}
    assert result.stats["finish_reason"] == "finished"
    assert result.outcomes == {"stored": 1, "redirected": 1}
    assert result.rejected == {"address": 2}
