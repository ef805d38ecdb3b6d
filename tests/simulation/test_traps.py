"""Endless sites beside honest ones: what a crawl wastes on them, and that it loses nothing.

Frontier, traps and duplicate detection are the real ones, without network and time.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest

from crawler.frontier import MemoryEngine, RocksEngine
from crawler.model import Discovery, Outcome, Reason
from crawler.traps import TrapOptions
from tests.support.prose import Prose
from tests.support.trap_crawl import TrapCrawl
from tests.support.trap_zoo import TrapZoo, ZooPage

ROOT = "http://site.test"


@pytest.fixture(scope="module")
def zoo():
    found = TrapZoo()
    crawl = TrapCrawl(found.page, found.seeds())
    crawl.run()
    return found, crawl


@pytest.mark.slow
def test_every_real_page_beside_every_trap_is_fetched(zoo):
    """Eleven sites of 1,001 pages, ten of them with a trap: all pages are found."""
    site, crawl = zoo
    assert site.real() - crawl.outcomes.keys() == set()
    assert len(site.real()) > 11_000
    assert crawl.frontier.counts.unfinished == 0


@pytest.mark.slow
def test_one_fetch_in_twenty_at_most_is_wasted_on_traps(zoo):
    """Over the whole zoo at most 5 % of the fetches, and on each site at most 10 %."""
    site, crawl = zoo
    wasted = crawl.outcomes.keys() - site.real()
    assert len(wasted) <= 0.05 * len(crawl.outcomes)
    for kind in site.kinds:
        of_kind = [url for url in wasted if url.split("/")[2].endswith(f"{kind}.zoo.test")]
        assert len(of_kind) <= 0.1 * 1001, kind


@pytest.mark.slow
def test_each_stop_has_its_reason(zoo):
    """Rejections are counted under the rule that made them, and can be listed with an example."""
    _, crawl = zoo
    rejected = crawl.frontier.counts.rejected
    expected = {Reason.TRAP_PATTERN, Reason.TRAP_GROWTH, Reason.TRAP_HOSTS, Reason.PARAMETER}
    assert expected <= rejected.keys()
    stops = crawl.lookout.report()
    assert {stop.reason for stop in stops} >= expected
    assert sum(stop.rejected for stop in stops) >= sum(rejected[reason] for reason in expected)
    assert all(stop.example for stop in stops)
    counter = next(stop for stop in stops if stop.pattern == "/entry/#")
    assert counter.where == "http://counter.zoo.test"
    assert counter.holds
    assert counter.since > 0
    assert counter.figures["fetched"] == counter.figures["stored"] < 50
    assert counter.kept == counter.rejected


@pytest.mark.slow
def test_without_traps_the_zoo_would_be_endless():
    """Switched off, a site with session ids takes as many fetches as it is given."""
    site = TrapZoo(only=("session-query",), articles=70, shelf=30)
    crawl = TrapCrawl(site.page, site.seeds(), TrapOptions(enabled=False))
    crawl.run(3_000)
    assert len(crawl.outcomes) == 3_000
    assert crawl.frontier.counts.queued > 3_000


@pytest.mark.slow
def test_ten_thousand_pages_of_one_pattern_are_all_fetched():
    """A numeric pattern goes on as long as it brings something new."""
    site = TrapZoo(only=("honest",), articles=10_000, shelf=0, words=20)
    crawl = TrapCrawl(site.page, site.seeds())
    crawl.run()
    assert set(crawl.outcomes) == site.real()
    assert crawl.frontier.counts.rejected.total() == 0


def numbered(total, hollow):
    """Return a site whose home page links ``total`` numbers, of which ``hollow`` say nothing."""

    def page(url):
        if url == f"{ROOT}/":
            return ZooPage(("Home",), tuple(f"{ROOT}/n/{n}" for n in range(total)))
        number = int(url.rpartition("/")[2])
        if number in hollow:
            return ZooPage((f"Number {number} is empty.",))
        return ZooPage((Prose(url).title(), Prose(url).paragraph(40)))

    return page


@pytest.mark.parametrize("total", [400, 3000])
def test_a_pattern_that_turns_out_to_yield_goes_on(total):
    """A stop after 150 hollow pages is undone by a probe, and all it had rejected is fetched."""
    stopped = TrapCrawl(numbered(total, range(total)), [f"{ROOT}/"])
    stopped.run()
    assert len(stopped.outcomes) < 150
    crawl = TrapCrawl(numbered(total, range(150)), [f"{ROOT}/"])
    crawl.run()
    assert {f"{ROOT}/n/{n}" for n in range(150, total)} <= crawl.outcomes.keys()
    assert crawl.frontier.counts.rejected.total() == 0
    assert {(stop.holds, stop.rejected, stop.kept) for stop in crawl.lookout.report()} == {
        (False, 0, 0)
    }


def test_what_waits_when_a_pattern_is_stopped_is_dropped():
    """The queue of a stopped pattern is not worked off: but for probes nothing of it is fetched."""
    crawl = TrapCrawl(numbered(2000, range(2000)), [f"{ROOT}/"])
    crawl.run()
    assert len(crawl.outcomes) < 120
    assert crawl.frontier.counts.rejected[Reason.TRAP_PATTERN] == 2001 - len(crawl.outcomes)


def test_views_that_lead_to_each_other_stop_both():
    """A month that links its weeks and a week that links its month are no news to each other."""

    def page(url):
        path = url.removeprefix(ROOT)
        if path == "/":
            return ZooPage(("Home",), (f"{ROOT}/month/1",))
        view, number = path.split("/")[1], int(path.rpartition("/")[2])
        other = "week" if view == "month" else "month"
        links = [f"{ROOT}/{other}/{4 * number + n}" for n in range(4)]
        return ZooPage(
            (f"The {view} {number}", "Nothing happens."), (*links, f"{ROOT}/{view}/{number + 1}")
        )

    crawl = TrapCrawl(page, [f"{ROOT}/"])
    crawl.run(1_000)
    assert len(crawl.outcomes) < 150
    assert crawl.frontier.counts.unfinished == 0


def test_switched_off_what_was_stopped_goes_on():
    """An operator who knows better fetches all of it, in the same crawl, and is told so."""
    crawl = TrapCrawl(numbered(300, range(300)), [f"{ROOT}/"])
    crawl.run()
    rejected = crawl.frontier.counts.rejected[Reason.TRAP_PATTERN]
    assert rejected > 150
    assert [(s.holds, s.rejected, s.kept) for s in crawl.lookout.report()] == [
        (True, rejected, rejected)
    ]
    crawl.options = TrapOptions(enabled=False)
    crawl.restart()
    crawl.run()
    assert len(crawl.outcomes) == 301
    assert crawl.frontier.counts.rejected.total() == 0
    [off] = crawl.lookout.report()
    assert (off.holds, off.since, off.rejected, off.kept) == (False, 0.0, 0, 0)
    crawl.options = TrapOptions()
    crawl.restart()
    [on_again] = crawl.lookout.report()
    assert (on_again.holds, on_again.rejected, on_again.kept) == (True, 0, 0)


def test_seeds_are_fetched_whatever_is_stopped():
    """Who names a URL wants it."""
    crawl = TrapCrawl(numbered(300, range(300)), [f"{ROOT}/"])
    crawl.run()
    wanted = [f"{ROOT}/n/{n}" for n in range(300, 340)]
    crawl.frontier.add(Discovery(wanted), crawl.now)
    crawl.run()
    assert set(wanted) <= crawl.outcomes.keys()


def _rocks():
    return RocksEngine(Path(tempfile.mkdtemp(prefix="traps-")) / "frontier")


@pytest.mark.parametrize("make_engine", [MemoryEngine, _rocks])
@pytest.mark.parametrize("kind", ["counter", "session-query", "facets", "subdomains"])
def test_a_crash_forgets_no_stop(make_engine, kind):
    """Stops and lessons are as durable as outcomes: restarts make a trap no dearer."""
    site = TrapZoo(only=(kind,), articles=150, shelf=50)
    undisturbed = TrapCrawl(site.page, site.seeds())
    undisturbed.run()
    crawl = TrapCrawl(site.page, site.seeds(), engine=make_engine())
    crawl.commit()
    for stop in (30, 77, 140, 190, 230):
        crawl.run(stop, commit=False)
        crawl.restart()
        assert crawl.frontier.counts.imbalance() == 0
    crawl.run()
    wasted, usual = (len(one.outcomes.keys() - site.real()) for one in (crawl, undisturbed))
    assert site.real() <= crawl.outcomes.keys()
    assert wasted <= usual + 30
    crawl.engine.close()


# --- parameters that change nothing ----------------------------------------------------

MATTER = {"id": range(30), "lang": "ab", "view": "xy"}
INERT = {"ref": ("n1", "n2", "n3"), "skin": "abcd", "theme": ("t1", "t2", "t3")}


def parametrised(matters=lambda _fetches: ()):
    """Return a script with six parameters, and its fetches; three of them change nothing.

    Args:
        matters: Which of those do all the same, by the number of fetches so far.
    """
    fetched = []

    def page(url):
        given = (
            dict(pair.split("=") for pair in url.partition("?")[2].split("&")) if "?" in url else {}
        )
        fetched.append(url)
        names = [*MATTER, *matters(len(fetched))]
        prose = Prose([given.get(name) for name in names])
        draw, number = random.Random(url), int(given.get("id", 0))
        links = []
        for step in range(4):
            for lang in MATTER["lang"]:
                for view in MATTER["view"]:
                    noise = "&".join(f"{name}={draw.choice(of)}" for name, of in INERT.items())
                    target = (3 * number + step) % len(MATTER["id"])
                    links.append(f"{ROOT}/show?id={target}&lang={lang}&view={view}&{noise}")
        return ZooPage((prose.title(), prose.paragraph(60)), tuple(links))

    return page, fetched


def core(url, *more):
    """Return what tells a page of the script from others."""
    given = dict(pair.split("=") for pair in url.partition("?")[2].split("&")) if "?" in url else {}
    return tuple(given.get(name) for name in (*MATTER, *more))


def test_irrelevant_parameters_save_most_fetches_and_lose_no_page():
    """With 3 of 6 parameters inert at least 60 % of the fetches are saved, and no page is lost."""
    counts = []
    for enabled in (False, True):
        page, fetched = parametrised()
        TrapCrawl(page, [f"{ROOT}/"], TrapOptions(enabled=enabled)).run()
        assert {core(url) for url in fetched if "?" in url} == {
            (str(n), lang, view) for n in MATTER["id"] for lang in "ab" for view in "xy"
        }
        counts.append(len(fetched))
    assert counts[1] <= 0.4 * counts[0]


def test_a_parameter_that_begins_to_matter_is_unlearned():
    """A probe finds other content, the parameter counts again, and what it had cost is fetched."""
    page, fetched = parametrised(lambda n: ("theme",) if n > 150 else ())
    crawl = TrapCrawl(page, [f"{ROOT}/"])
    crawl.run(150)
    group = crawl.lookout.traps.assess(f"{ROOT}/show?id=1&theme=t1").parameters
    assert group["theme"]["irrelevant"]
    crawl.frontier.add(
        Discovery([f"{ROOT}/show?id={n}&lang=a&view=x&ref=n9&skin=a&theme=t9" for n in range(30)]),
        crawl.now,
    )
    crawl.run()
    group = crawl.lookout.traps.assess(f"{ROOT}/show?id=1&theme=t1").parameters
    assert not group["theme"]["irrelevant"]
    assert group["skin"]["irrelevant"]
    found = {core(url, "theme") for url in fetched if "?" in url}
    linked = {
        (str(n), lang, view, theme)
        for n in MATTER["id"]
        for lang in "ab"
        for view in "xy"
        for theme in INERT["theme"]
    }
    assert linked <= found


def test_an_error_message_teaches_nothing_about_parameters():
    """Numbers that all give one message are not irrelevant: the others have pages of their own."""

    def page(url):
        if "?" not in url:
            return ZooPage(("Home",), tuple(f"{ROOT}/show?id={n}" for n in range(400)))
        number = int(url.rpartition("=")[2])
        text = Prose("no such page") if number % 2 else Prose(url)
        return ZooPage((text.title(), text.paragraph(60)))

    crawl = TrapCrawl(page, [f"{ROOT}/"])
    crawl.run()
    assert {f"{ROOT}/show?id={n}" for n in range(0, 400, 2)} <= crawl.outcomes.keys()
    assert crawl.frontier.counts.rejected[Reason.PARAMETER] == 0


def test_sub_domains_that_bring_something_may_be_many():
    """The number of sub-domains that are tried grows with what they bring."""
    total = 300

    def page(url):
        host = url.split("/")[2]
        number = int(host.partition(".")[0].removeprefix("w")) if host.startswith("w") else 0
        links = [f"http://w{n}.blogs.test/" for n in range(number + 1, min(number + 20, total))]
        return ZooPage((Prose(host).title(), Prose(host).paragraph(60)), tuple(links))

    crawl = TrapCrawl(page, ["http://blogs.test/"])
    crawl.run()
    assert len(crawl.outcomes) == total
    assert set(crawl.outcomes.values()) == {Outcome.STORED}


@pytest.mark.slow
@pytest.mark.parametrize(("shown", "most"), [(12, 400), (120, 100)], ids=["short", "long"])
def test_filters_that_combine_end_when_all_goods_are_known(shown, most):
    """Lists of 400 goods under 400,000 choices of filters: every one of the goods is found, and the
    lists end, whether they are short or longer than what is told apart by its fingerprint.
    """
    goods = {f"{ROOT}/item/{n}": Prose(n).paragraph(12) for n in range(400)}

    def page(url):
        if url in goods:
            return ZooPage((goods[url], Prose(url).paragraph(40)), (f"{ROOT}/shop",))
        chance = random.Random(url)
        on_list = chance.sample(sorted(goods), shown)
        filters = [
            f"{ROOT}/shop?colour={chance.randrange(40)}&price={chance.randrange(100)}"
            f"&size={chance.randrange(100)}"
            for _ in range(60)
        ]
        return ZooPage(("Shop", *map(goods.__getitem__, on_list)), (*on_list, *filters))

    crawl = TrapCrawl(page, [f"{ROOT}/shop"])
    crawl.run(4_000)
    assert goods.keys() <= crawl.outcomes.keys()
    assert len(crawl.outcomes.keys() - goods.keys()) <= most
