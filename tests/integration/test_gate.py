"""Downloads that bypass the scheduler keep the delay and obey robots.txt like all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.endings import OK
from tests.integration.endings import site as plain_site
from tests.integration.odd_spiders import BusyWithAnswers
from tests.support import judge
from tests.support.exchange import Answer, Fault, in_turn
from tests.support.run_case import Crawl, Report, run
from tests.support.server import LocalWeb

if TYPE_CHECKING:
    from collections import Counter

pytestmark = pytest.mark.slow

SPIDERS = "tests.integration.odd_spiders:"
DELAY = 0.15
RETRY_AFTER = 2
HOURS = 7200
LATE = 0.15  # s; on a busy machine by so much the server may learn late that the client hung up
FILES = ("/ok/a", "/ok/b", "/forbidden/c")


def site(request):
    """Serve the endings, and one address that is overloaded at its first request."""
    if request.path.startswith("/busy/"):
        busy = Answer(429, b"slow down", {"Retry-After": str(RETRY_AFTER)})
        return in_turn(request, busy, OK)
    if request.path.startswith("/endless/"):
        return Answer(fault=Fault.ENDLESS)
    if request.path.startswith("/closed/"):
        return Answer(429, b"come back in two hours", {"Retry-After": str(HOURS)})
    return plain_site(request)


@pytest.fixture(scope="module")
def web():
    """Pages on the first three hosts; parts on the others."""
    with LocalWeb(site, hosts=11) as web:
        yield web


@pytest.fixture(scope="module")
def crawls(web, tmp_path_factory) -> dict[str, Report]:
    """All crawls of this module; the log tells them apart by host."""

    def parts(seed_host, part_urls, **settings):
        arguments = {"seeds": web.url("/ok/page", host=seed_host), "parts": ",".join(part_urls)}
        return Crawl(SPIDERS + "Parts", arguments, {"POLITENESS_DELAY": DELAY, **settings})

    elsewhere = [web.url(f"/ok/part-{n}", host=3) for n in range(3)]
    all_crawls = {
        "parts": parts(
            0,
            [
                *elsewhere,
                web.url("/ok/own-part"),
                web.url("/forbidden/part", host=3),
                web.url("/loop/part", host=3),
                web.url("/302/part", host=3),
                "ftp://127.0.0.1/part",
            ],
        ),
        "one_page": parts(1, [web.url("/ok/part", host=1)], FRONTIER_MAX_PAGES=1),
        "one_fetch": parts(6, [web.url("/ok/part", host=6)], FRONTIER_MAX_FETCHES=1),
        "busy": parts(2, [web.url("/busy/a", host=4), web.url("/busy/a", host=4)]),
        "closed": parts(
            7, [web.url(f"/closed/{n}", host=8) for n in range(3)], FRONTIER_MAX_WAIT=1
        ),
        "busy_with_answers": Crawl(
            SPIDERS + "BusyWithAnswers",
            {"base": web.url("", host=10)},
            {"POLITENESS_DELAY": BusyWithAnswers.TURN, "DOWNLOAD_MAXSIZE": 1_000_000},
        ),
        "cancelled": Crawl(SPIDERS + "Cancelling", {"base": web.url("", host=9)}),
        "media": Crawl(
            SPIDERS + "Media",
            {
                "base": web.url("", host=5),
                "files": ",".join(
                    web.url(f"/{path}", host=5) for path in ("ok/a", "ok/b", "forbidden/c")
                ),
            },
            {
                "POLITENESS_DELAY": DELAY,
                "FILES_STORE": str(tmp_path_factory.mktemp("files")),
                "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
            },
        ),
    }
    return dict(zip(all_crawls, run(list(all_crawls.values())), strict=True))


def _asked(web, host: int) -> Counter[str]:
    return judge.fetched(web.log(), host=f"{web.hosts[host]}:{web.port}")


@pytest.mark.parametrize(
    "name",
    ["parts", "one_page", "one_fetch", "busy", "closed", "cancelled", "media", "busy_with_answers"],
)
def test_no_crawl_gets_stuck(crawls, name):
    """A callback that waits for downloads comes to its end, also when a cap leaves no room."""
    crawl = crawls[name]
    assert crawl.reason in ("finished", "max_pages", "max_fetches")
    assert (crawl.leased, crawl.unsettled, crawl.imbalance, crawl.errors) == (0, 0, 0, [])


def test_the_delay_holds_for_every_download(web, crawls):
    """The server sees the delay between all requests to one host, whoever asked for them."""
    others = [f"{web.hosts[host]}:{web.port}" for host in (9, 10)]  # crawls with other delays
    hits = [hit for hit in web.log() if "/busy/" not in hit.path and hit.host not in others]
    judge.assert_polite(hits, DELAY)


def test_downloads_of_a_callback_are_answered(crawls):
    """Several downloads at once come back in order, each with its status or a clear refusal."""
    [answers] = crawls["parts"].notes
    assert answers[:4] == [200] * 4
    assert "forbids" in answers[4]
    assert "/forbidden/" in answers[4]
    assert "more than 5 redirects" in answers[5]
    assert answers[6] == 200
    assert answers[7].startswith("IgnoreRequest: not an http or https URL")
    assert crawls["parts"].endings == {"/ok/page": ["stored"]}


def test_robots_txt_is_asked_once_and_first(web, crawls):
    """A download to an unknown host waits for its robots.txt, fetched once for all of them."""
    asked = [hit.path for hit in web.log() if hit.host.startswith(web.hosts[3] + ":")]
    assert asked[0] == "/robots.txt"
    assert asked.count("/robots.txt") == 1
    assert not [path for path in asked if path.startswith("/forbidden/")]


def test_redirects_of_a_download_end(web, crawls):
    """A chain of redirects outside the frontier is as short as one inside it."""
    assert sum(n for path, n in _asked(web, 3).items() if path.startswith("/loop/")) == 6


@pytest.mark.parametrize("name", ["one_page", "one_fetch"])
def test_a_cap_counts_pages_not_parts(crawls, name):
    """With room for one page only, the parts of that page are still fetched."""
    assert crawls[name].notes == [[200]]
    assert crawls[name].endings == {"/ok/page": ["stored"]}


def test_a_busy_host_rests_after_a_download(web, crawls):
    """A 429 with Retry-After makes the host rest, although no page of the crawl caused it."""
    hits = [hit for hit in web.log() if hit.path == "/busy/a"]
    assert [hit.status for hit in hits] == [429, 200]
    assert judge.smallest_gap(hits) >= RETRY_AFTER
    assert crawls["busy"].notes == [[429, 200]]


def test_a_callback_does_not_wait_for_hours(web, crawls):
    """Downloads from a host that rests for longer than FRONTIER_MAX_WAIT are refused in time."""
    [[first, *others]] = crawls["closed"].notes
    assert first == 429
    assert len(others) == 2
    assert all(f"rests for {HOURS - 2}"[:-2] in str(answer) for answer in others)
    assert crawls["closed"].endings == {"/ok/page": ["stored"]}


def test_a_turn_that_nobody_takes_is_given_back(crawls):
    """Who gives up in the moment of the turn does not keep the host's turn for ever."""
    assert crawls["cancelled"].notes == [True]
    assert crawls["cancelled"].endings == {"/ok/page": ["handled"]}


def test_media_pipelines_take_turns(web, crawls):
    """Files fetched by Scrapy's own pipeline go by robots.txt and by the delay."""
    asked = _asked(web, 5)
    assert asked == {"/robots.txt": 1, "/ok/media": 1, "/ok/a": 1, "/ok/b": 1}
    assert crawls["media"].items == {"/ok/media": 1}


def test_a_transfer_that_is_broken_off_has_ended_when_its_connection_is_closed(web, crawls):
    """The delay runs from there, also when the crawl has its hands full: it closes a turn later."""
    host = f"{web.hosts[10]}:{web.port}"
    assert crawls["busy_with_answers"].notes == ["DownloadCancelledError"] * 2
    hits = [hit for hit in web.log() if hit.host == host]
    judge.assert_polite(hits, BusyWithAnswers.TURN, slack=LATE)
    assert [hit.path.split("/")[1] for hit in hits] == ["robots.txt", "big", "endless", "ok"]
