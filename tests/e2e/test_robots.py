"""robots.txt in every mood (RFC 9309): unknown or out of reach is permission for nothing.

One crawl meets a host for each mood, several seeds to a host, so that many URLs wait for the
same robots.txt at once; each test looks at what one host saw.
"""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.support import judge
from tests.support.crawl import crawl, options
from tests.support.server import LocalWeb, loopback
from tests.support.sites import RobotsSite

pytestmark = pytest.mark.e2e

DELAY = 0.1
RETRY = 0.4  # seconds before robots.txt is asked for again
RETRY_AFTER = 1  # seconds, as some hosts ask for
CRAWL_DELAY = 0.5
PAGES = ["/", *RobotsSite.pages]
PRIVATE = "/private/1"
SEEDS = ["/page/1", "/", "/page/2", PRIVATE, "/page/3"]

UNREACHABLE = ["500", "503", "429", "hang", "hang_body", "drip", "reset", "close"]
ALLOW_ALL = ["404", "403", "410", "html", "empty", "redirect_loop", "redirect_long"]
TOO_LARGE = ["huge", "endless"]
RULES = ["ok", "garbage", *TOO_LARGE, "redirect", "redirect_away", "redirect_chain", "crawl_delay"]
LATE = ["503_then_ok", "500_then_ok", "429_then_ok"]
MOODS = [*UNREACHABLE, *ALLOW_ALL, *RULES, *LATE, "disallow_all"]
PATIENT = ["503", "429", "503_then_ok", "429_then_ok"]  # once more, with Retry-After


class Judged:
    """The finished crawl, mood by mood."""

    def __init__(self, result, hits_by_name):
        self.result = result
        self._hits = hits_by_name

    def hits(self, name):
        return sorted(self._hits[name], key=lambda hit: hit.t_start)

    def rules(self, name):
        return [hit for hit in self.hits(name) if hit.path.startswith("/robots.txt")]

    def pages(self, name):
        return [hit for hit in self.hits(name) if not hit.path.startswith("/robots.txt")]

    def paths(self, name):
        return [hit.path for hit in self.pages(name)]


def moods_of(stack, moods, **more):
    """Serve one host for each mood; return the web and each mood's address."""
    addresses = dict(zip(moods, loopback(len(moods)), strict=True))
    site = {"behaviours": {address: mood for mood, address in addresses.items()}, **more}
    web = LocalWeb("tests.support.sites:robots_site", site, hosts=list(addresses.values()))
    return stack.enter_context(web), addresses


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    with ExitStack() as stack:
        other = loopback(MOODS.index("ok") + 1)[-1]
        webs = {
            "": moods_of(stack, MOODS, other=other, crawl_delay_s=CRAWL_DELAY),
            "+": moods_of(stack, PATIENT, retry_after=str(RETRY_AFTER)),
        }
        seeds = [
            web.url(path, host=address)
            for path in SEEDS
            for web, addresses in webs.values()
            for address in addresses.values()
        ]
        settings = options(
            POLITENESS_DELAY=DELAY,
            ROBOTS_RETRY=RETRY,
            DOWNLOAD_TIMEOUT=2,
            DOWNLOAD_MAXSIZE=2**20,
            FRONTIER_MAX_WAIT=1.2,
        )
        result = crawl(seeds, *settings, jobdir=tmp_path_factory.mktemp("robots") / "job")
        hits = {
            mood + mark: [h for h in web.log() if h.host == f"{address}:{web.port}"]
            for mark, (web, addresses) in webs.items()
            for mood, address in addresses.items()
        }
        return Judged(result.check(), hits)


def test_the_crawl_ends_as_waiting(judged):
    """It ends by itself, its queue kept, and says that hosts could not be asked."""
    assert judged.result.stats["finish_reason"] == "waiting"
    assert judged.result.stats["frontier/queued"] == len(SEEDS) * len([*UNREACHABLE, "503", "429"])


@pytest.mark.parametrize("mood", [*UNREACHABLE, "503+", "429+"])
def test_not_one_page_is_asked_for_while_the_rules_are_unknown(judged, mood):
    """Server errors, 429, silence and broken transfers forbid everything (§2.3.1.4; for 429
    our own rule), for all of the URLs that wait.
    """
    assert judged.pages(mood) == []
    assert len(judged.rules(mood)) >= 2


@pytest.mark.parametrize("mood", [*UNREACHABLE, *LATE])
def test_an_unreachable_robots_txt_is_asked_for_with_growing_patience(judged, mood):
    """Each new try waits, and the next one twice as long."""
    gaps = [gap for gap, _, _ in judge.pairs(judged.rules(mood))]
    for number, gap in enumerate(gaps):
        assert gap >= RETRY * 2**number - SLACK.get(mood, 0.0)


SLACK = dict.fromkeys(["hang", "hang_body", "drip", "endless"], 0.05)
"""Seconds by which the server may learn late that the client hung up."""


@pytest.mark.parametrize("mood", PATIENT)
def test_retry_after_of_robots_txt_is_honoured(judged, mood):
    """No request of any kind goes to the host before its Retry-After is over (RFC 9110 §10.2.3)."""
    refused = [hit for hit in judged.rules(mood + "+") if hit.status != 200]
    assert len(refused) >= 2
    later = judged.hits(mood + "+")[1:]
    for hit, following in zip(refused, later, strict=False):
        assert following.t_start - hit.t_end >= RETRY_AFTER


@pytest.mark.parametrize("mood", ALLOW_ALL)
def test_without_rules_everything_is_allowed(judged, mood):
    """4xx, an endless redirect, and a file without rules forbid nothing (§2.3.1.3, §2.3.1.2)."""
    assert sorted(judged.paths(mood)) == sorted([*PAGES, PRIVATE])


@pytest.mark.parametrize("mood", [*RULES, *LATE, "503_then_ok+", "429_then_ok+"])
def test_rules_are_obeyed_once_they_are_known(judged, mood):
    """Every page is fetched once, the disallowed one never, however the rules arrived (§2.2)."""
    assert sorted(judged.paths(mood)) == sorted(PAGES)


@pytest.mark.parametrize("mood", [*LATE, "503_then_ok+", "429_then_ok+"])
def test_pages_wait_for_the_first_good_answer(judged, mood):
    """Not one page goes before the robots.txt that was answered with 200."""
    good = next(hit for hit in judged.rules(mood) if hit.status == 200)
    assert len(judged.rules(mood)) == 3
    assert all(page.t_start >= good.t_end + DELAY for page in judged.pages(mood))


@pytest.mark.parametrize("mood", [*ALLOW_ALL, *RULES, "disallow_all"])
def test_robots_txt_comes_first_and_once(judged, mood):
    """However many URLs wait, robots.txt is asked for first, and for each origin once."""
    hits = judged.hits(mood)
    asked = [hit for hit in hits if hit.path == "/robots.txt"]
    assert hits[0].path == "/robots.txt"
    assert len(asked) == (2 if mood == "ok" else 1)  # "redirect_away" leads to "ok"


@pytest.mark.parametrize("mood", TOO_LARGE)
def test_of_a_file_that_is_too_large_little_more_than_the_beginning_is_read(judged, mood):
    """500 KiB count; the rest is not waited for, and the rules are known all the same (§2.5)."""
    assert judged.rules(mood)[0].sent < 8 * 2**20  # with what lies in the sockets' buffers


def test_disallow_all_means_none(judged):
    """A host that forbids everything sees its robots.txt read and nothing else."""
    assert judged.pages("disallow_all") == []


@pytest.mark.parametrize(("mood", "requests"), [("redirect_chain", 6), ("redirect_long", 6)])
def test_five_redirects_are_followed(judged, mood, requests):
    """robots.txt is found behind five redirects, and a sixth is not followed (§2.3.1.2)."""
    assert len(judged.rules(mood)) == requests


def test_crawl_delay_is_kept(judged):
    """The site's own Crawl-delay, longer than ours, lies between all requests after robots.txt."""
    judge.assert_polite(judged.hits("crawl_delay"), CRAWL_DELAY)


@pytest.mark.parametrize("mood", [*MOODS, *(mood + "+" for mood in PATIENT)])
def test_the_delay_holds_whatever_the_mood(judged, mood):
    """robots.txt, its redirects and its retries keep the delay like every other request."""
    judge.assert_polite(judged.hits(mood), DELAY, slack=SLACK.get(mood, 0.0))
    assert judge.max_parallel_per_host(judged.hits(mood)).popitem()[1] == 1
