"""The places that lean on Scrapy's internals, against the installed Scrapy.

A failure here after an upgrade of Scrapy means: look at crawler/seams.py first.
"""

from __future__ import annotations

import pytest

from tests.integration.endings import CASES, site
from tests.support import judge
from tests.support.run_case import Crawl, Report, run
from tests.support.server import LocalWeb

pytestmark = pytest.mark.slow

ODD = "tests.integration.odd_spiders:"
_MIDDLEWARE = "tests.integration.odd_spiders."
DELAY = 0.3


@pytest.fixture(scope="module")
def web():
    """One local web of five hosts for all crawls of this module."""
    with LocalWeb(site, hosts=5) as web:
        yield web


@pytest.fixture(scope="module")
def crawls(web) -> dict[str, Report]:
    """Every crawl of this module, run by one process."""
    others = ",".join(web.url("", host=number) for number in range(1, 5))
    arguments = {"base": web.url(""), "others": others}

    def odd(name, *, middleware="", **settings):
        if middleware:
            settings["DOWNLOADER_MIDDLEWARES"] = {_MIDDLEWARE + middleware: 300}
        return Crawl(ODD + name, arguments, settings)

    all_crawls = {
        "endings": Crawl("tests.integration.endings:EndingsSpider", {"base": web.url("")}),
        "alarms": odd("Alarms"),
        "closing": odd("Closing", POLITENESS_DELAY=1),
        "closing_waiting": odd("ClosingWaiting", POLITENESS_DELAY=30, ROBOTS_ENABLED=False),
        "closing_by_error": odd("ClosingByError"),
        "choked": odd("Choked", FRONTIER_COMMIT_INTERVAL=0.05),
        "impatient": odd("Impatient", POLITENESS_DELAY=0.2),
        "replaced_always": odd("Replaced", middleware="HeaderEverywhere"),
        "rules_never_pass": odd(
            "Replaced", middleware="AgainOnEveryAnswer", ROBOTS_RETRY=0.1, FRONTIER_MAX_WAIT=0.05
        ),
        "asked_twice": odd("Replaced", middleware="BanDetector"),
    }
    return dict(zip(all_crawls, run(list(all_crawls.values())), strict=True))


@pytest.fixture(scope="module")
def endings(crawls) -> Report:
    """The crawl of all cases of :mod:`tests.integration.endings`."""
    return crawls["endings"]


AGAIN = "again"

EXPECTED: dict[str, dict[str, list[str]]] = {
    # case: {path: how each of its leases was settled, in order}
    "sync": {"/ok/sync": ["handled"]},
    "async": {"/ok/async": ["handled"]},
    "no_items": {"/ok/no_items": ["handled"]},
    "many_items": {"/ok/many_items": ["handled"]},
    "item_dropped": {"/ok/item_dropped": ["handled"]},
    "item_error": {"/ok/item_error": ["failed_callback"]},
    "raises_at_once": {"/ok/raises_at_once": ["failed_callback"]},
    "raises_midway": {
        "/ok/raises_midway": ["failed_callback"],
        "/ok/raises_midway-child": ["handled"],
    },
    "raises_async": {"/ok/raises_async": ["failed_callback"]},
    "redirect": {"/302/redirect": ["redirected"], "/ok/redirect-target": ["handled"]},
    "retry": {"/500-once/retry": [AGAIN, "handled"]},
    "last_retry": {"/500/last_retry": [AGAIN, AGAIN, "failed_server"]},
    "last_retry_errback": {"/500/last_retry_errback": [AGAIN, AGAIN, "failed_server"]},
    "no_answer": {"/close/no_answer": [AGAIN, AGAIN, "failed_network"]},
    "errback_items": {"/close/errback_items": [AGAIN, AGAIN, "failed_network"]},
    "errback_requests": {
        "/close/errback_requests": [AGAIN, AGAIN, "failed_network"],
        "/ok/errback_requests-child": ["handled"],
    },
    "errback_raises": {"/close/errback_raises": [AGAIN, AGAIN, "failed_network"]},
    "ignored_out": {"/ok/ignored_out": ["dropped"]},
    "ignored_out_errback": {"/ok/ignored_out_errback": ["dropped"]},
    "broken_out": {"/ok/broken_out": ["failed_callback"]},
    "from_cache": {"/ok/from_cache": ["handled"]},
    "gone": {"/404/gone": ["gone"]},
    "gone_errback": {"/404/gone_errback": ["gone"]},
    "ignored_back": {"/ok/ignored_back": ["dropped"]},
    "broken_back": {"/ok/broken_back": ["failed_callback"]},
    "never_scheduled": {},
    "redirect_refused": {"/302/redirect_refused": ["dropped"]},
    "replaced_out": {"/ok/replaced_out": ["redirected"], "/ok/replaced_out-target": ["handled"]},
    "replaced_fresh": {
        "/ok/replaced_fresh": ["dropped"],
        "/ok/replaced_fresh-target": ["handled"],
    },
    "replaced_exception": {
        "/close/replaced_exception": ["redirected"],
        "/ok/replaced_exception-target": ["handled"],
    },
    "same_again": {"/ok/same_again": ["handled"]},
    "retry_in_callback": {"/ok/retry_in_callback": ["handled", "handled"]},
    "retry_request": {"/ok/retry_request": ["handled", "handled"]},
    "copied_meta": {
        "/ok/copied_meta": ["handled"],
        "/ok/copied_meta-0": ["handled"],
        "/ok/copied_meta-1": ["handled"],
        "/ok/copied_meta-2": ["handled"],
    },
    "download": {"/ok/download": ["handled"]},
    "download_meta": {"/ok/download_meta": ["handled"]},
    "download_itself": {"/ok/download_itself": ["handled"]},
    "download_fails": {"/ok/download_fails": ["failed_callback"]},
    "download_in_item": {"/ok/download_in_item": ["handled"]},
    "output_raises": {"/ok/output_raises": ["failed_callback"]},
    "input_raises": {"/ok/input_raises": ["failed_callback"]},
    "late_request": {"/ok/late_request": ["handled"], "/ok/late_request-child": ["handled"]},
}

ITEMS = {
    # what passed the pipelines; 0 for everything else
    "/ok/sync": 2,
    "/ok/async": 2,
    "/ok/many_items": 500,
    "/ok/raises_midway": 1,
    "/ok/raises_midway-child": 2,
    "/ok/raises_async": 1,
    "/ok/redirect-target": 2,
    "/500-once/retry": 2,
    "/500/last_retry_errback": 1,
    "/close/errback_items": 1,
    "/ok/errback_requests-child": 2,
    "/ok/ignored_out_errback": 1,
    "/ok/from_cache": 2,
    "/404/gone_errback": 1,
    "/ok/replaced_out-target": 2,
    "/ok/replaced_fresh-target": 2,
    "/ok/replaced_exception-target": 2,
    "/ok/same_again": 2,
    "/ok/retry_in_callback": 1,
    "/ok/retry_request": 1,
    "/ok/copied_meta-0": 2,
    "/ok/copied_meta-1": 2,
    "/ok/copied_meta-2": 2,
    "/ok/download": 1,
    "/ok/download_meta": 1,
    "/ok/download_itself": 1,
    "/ok/download_in_item": 2,
    "/ok/output_raises": 1,
    "/ok/late_request": 1,
    "/ok/late_request-child": 2,
}


def _case_of(path: str) -> str:
    return path.rpartition("/")[2].partition("-")[0]


def test_every_case_has_an_expectation():
    """No case of the spider may go unjudged."""
    assert set(EXPECTED) == set(CASES)


@pytest.mark.parametrize("case", CASES)
def test_each_ending_settles_its_lease_once(endings, case):
    """However a request ends, each of its leases is settled exactly once, by the right name."""
    found = {path: ends for path, ends in endings.endings.items() if _case_of(path) == case}
    assert found == EXPECTED[case]
    leases = {path: n for path, n in endings.leases.items() if _case_of(path) == case}
    assert leases == {path: len(ends) for path, ends in EXPECTED[case].items()}


@pytest.mark.parametrize("case", CASES)
def test_items_of_each_ending_pass_the_pipelines(endings, case):
    """What was yielded before, during and after a failure is neither lost nor doubled."""
    found = {path: n for path, n in endings.items.items() if _case_of(path) == case}
    assert found == {path: n for path, n in ITEMS.items() if _case_of(path) == case}


def test_only_expected_errors_are_logged(endings):
    """Nothing of ours may raise: each logged error is one that a case provokes."""
    strange = [line for line in endings.errors if "expected: " not in line]
    assert [line.split()[:2] for line in strange if "DownloadFailedError" not in line] == []


BALANCED = [
    "endings", "closing", "closing_waiting", "closing_by_error", "choked", "impatient",
    "replaced_always", "rules_never_pass", "asked_twice",
]  # fmt: skip


@pytest.mark.parametrize("name", BALANCED)
def test_the_books_are_in_order(crawls, name):
    """At the end of every crawl nothing is leased, held back by the shell, lost or invented."""
    crawl = crawls[name]
    assert crawl.reason != "hangs"
    assert (crawl.leased, crawl.unsettled, crawl.imbalance) == (0, 0, 0)
    assert crawl.leases == {path: len(ends) for path, ends in crawl.endings.items()}


# --- the end of a crawl ---------------------------------------------------------------


def test_closing_finishes_what_is_in_flight(crawls):
    """A graceful stop lets answers on their way reach their callbacks, and keeps their links."""
    crawl = crawls["closing"]
    assert crawl.reason == "enough"
    assert len(crawl.notes) == 5
    assert set(map(tuple, crawl.endings.values())) == {("handled",)}
    assert crawl.unfinished == 5  # the links, queued for the next run


def test_closing_does_not_wait_for_a_turn(crawls):
    """A callback that waits for a turn does not hold up the end; its page comes again."""
    crawl = crawls["closing_waiting"]
    assert crawl.seconds < 10  # the turn would come after 30
    assert crawl.notes == ["IgnoreRequest: the crawl ends"]
    assert crawl.endings == {"/ok/page": [AGAIN]}
    assert crawl.unfinished == 1


def test_close_spider_in_a_callback(crawls):
    """CloseSpider ends the crawl with its reason; the page is done and its link is kept."""
    crawl = crawls["closing_by_error"]
    assert (crawl.reason, crawl.unfinished) == ("enough", 1)
    assert crawl.endings == {"/ok/page": ["handled"]}


# --- downloads aside, and middlewares that replace requests ----------------------------


def test_a_full_scraper_does_not_starve_its_own_callback(crawls):
    """Scrapy asks for nothing while callbacks hold 5 MB; downloads they wait for still go."""
    assert crawls["choked"].notes == [200] * 5
    assert crawls["choked"].reason == "finished"


def test_downloads_given_up_free_their_host(crawls):
    """A callback that stops waiting for its downloads leaves no turn taken."""
    crawl = crawls["impatient"]
    assert crawl.notes == ["gave up"] * 5
    assert crawl.endings == {"/ok/page": ["handled"], "/ok/impatient-child": ["handled"]}


def test_a_middleware_may_replace_every_request(crawls):
    """A request replaced before it was sent goes on in its host's turn; robots.txt, too."""
    crawl = crawls["replaced_always"]
    assert crawl.endings == {"/ok/page": ["handled"], "/ok/replaced-child": ["handled"]}
    assert crawl.rejected == {"robots": 1}


def test_a_middleware_may_ask_for_a_page_twice(crawls):
    """The same URL again, after an answer, is a turn of its own and no duplicate."""
    crawl = crawls["asked_twice"]
    twice = ["redirected", "handled"]
    assert crawl.endings == {"/ok/page": twice, "/ok/replaced-child": twice}


def test_rules_that_a_middleware_withholds_count_as_unreachable(crawls):
    """A middleware that never lets robots.txt pass keeps the site closed, and ends the wait."""
    crawl = crawls["rules_never_pass"]
    assert (crawl.reason, crawl.leases, crawl.unfinished) == ("waiting", {}, 1)


# --- the alarm -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "due"),
    [("once", [0.1]), ("earlier", [0.1]), ("later", [0.2]), ("off", []), ("past", [0.0])],
)
def test_alarm_fires_once_at_its_last_setting(crawls, setting, due):
    """The engine is woken once, never early, at the time set last, be it earlier or later."""
    fired = next(note[setting] for note in crawls["alarms"].notes if setting in note)
    assert len(fired) == len(due)
    assert all(at >= want - 0.002 for at, want in zip(fired, due, strict=True))
    assert all(at <= want + 0.15 for at, want in zip(fired, due, strict=True))


def test_the_engine_wakes_for_a_host_that_rested(web):
    """A lone host is asked again right after its delay, not at Scrapy's heartbeat of 5 s."""
    before = len(web.log())
    [crawl] = run([Crawl(ODD + "ManyPages", {"base": web.url("")}, {"POLITENESS_DELAY": DELAY})])
    hits = web.log()[before:]
    assert len(hits) == 6
    judge.assert_polite(hits, DELAY)
    assert max(gap for gap, _, _ in judge.pairs(hits)) < 2.0
    assert crawl.endings == {f"/ok/many-{n}": ["handled"] for n in range(5)}
