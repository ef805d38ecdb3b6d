"""What is decided of URLs from what came of others, without a frontier."""

from __future__ import annotations

import pytest

from crawler.model import Discovery, Outcome, Reason
from crawler.traps import Observation, TrapOptions, Traps, library
from crawler.traps.book import MOST_PATTERNS
from tests.support.prose import Prose
from tests.unit.traps.rows import DictRows

ROOT = "http://a.example"


@pytest.fixture
def rows():
    return DictRows()


@pytest.fixture
def traps(rows):
    return Traps(TrapOptions(), rows)


def found(url):
    """Return a URL as a link of a page."""
    return Discovery([url], 1, f"{ROOT}/")


def fetch(traps, url, outcome=Outcome.STORED, text="", links=(), original=None, now=1.0):
    """Let a URL be fetched; return what became of its links."""
    traps.begin(Observation(url, outcome, text, original))
    verdicts = [traps.admit(link, found(link)) for link in links]
    traps.end(now)
    return verdicts


def stop(traps, count=40):
    """Have /n/# stopped, whose pages lead to ever more of them."""
    for n in range(count):
        if traps.assess(f"{ROOT}/n/1").reason is None:
            link = f"{ROOT}/n/{n + 1000}"
            fetch(traps, f"{ROOT}/n/{n}", text=f"Number {n}", links=[link])


def test_what_is_like_nothing_known_goes_with_its_own_priority(traps):
    """Nothing is held against a URL before its like was fetched."""
    assert traps.admit(f"{ROOT}/n/1", Discovery([f"{ROOT}/n/1"], 1, f"{ROOT}/", priority=7)) == 7


def test_a_hollow_pattern_goes_late_and_is_stopped(traps):
    """Its URLs go later and later, and then are rejected with the reason; others are not."""
    stop(traps, 16)
    late = traps.admit(f"{ROOT}/n/100", found(f"{ROOT}/n/100"))
    assert isinstance(late, int)
    assert late > 100
    stop(traps, 20)
    assert traps.admit(f"{ROOT}/n/101", found(f"{ROOT}/n/101")) is Reason.TRAP_PATTERN
    assert traps.recheck(found(f"{ROOT}/n/100")) is Reason.TRAP_PATTERN
    assert traps.admit(f"{ROOT}/docs/a", found(f"{ROOT}/docs/a")) == 0


def test_a_stop_holds_for_one_origin(traps):
    """Other hosts, and the other scheme, are judged by themselves."""
    stop(traps)
    for url in ("http://b.example/n/1", "https://a.example/n/1"):
        assert traps.admit(url, found(url)) == 0


def test_a_useful_probe_ends_a_stop_and_all_that_was_kept_is_given_out(traps):
    """Each rejected URL comes back once, with the way in which it was found."""
    stop(traps)
    urls = [f"{ROOT}/n/{n}" for n in range(100, 110)]
    for url in urls:
        assert traps.admit(url, Discovery([url], 3, f"{ROOT}/x", priority=4)) is Reason.TRAP_PATTERN
    assert list(traps.release()) == []
    fetch(traps, f"{ROOT}/n/99", text=Prose(1).paragraph(40))
    released = list(traps.release())
    assert {reason for reason, _ in released} == {Reason.TRAP_PATTERN}
    assert sorted(d.urls[0] for _, d in released) == sorted(urls)
    assert all((d.depth, d.referrer, d.priority) == (3, f"{ROOT}/x", 4) for _, d in released)
    assert list(traps.release()) == []
    assert traps.admit(urls[0], found(urls[0])) < 255


def test_pages_that_lead_nowhere_are_tried_for_longer(traps):
    """What says nothing and feeds nothing is as much as others link: it has four times the time."""
    for n in range(60):
        url = f"{ROOT}/leaf/{n}"
        traps.begin(Observation(url, Outcome.STORED, f"Number {n}", None, f"{ROOT}/docs/a"))
        traps.end(1.0)
    assert traps.assess(f"{ROOT}/leaf/100").reason is None
    for n in range(60):
        url = f"{ROOT}/leaf/{n}"
        traps.begin(Observation(url, Outcome.STORED, f"Number {n}", None, f"{ROOT}/leaf/0"))
        traps.end(1.0)
    assert traps.assess(f"{ROOT}/leaf/100").reason is Reason.TRAP_PATTERN


def test_what_is_kept_of_a_rule_is_bounded(rows):
    """Beyond the bound a URL is rejected all the same, and may be found again."""
    traps = Traps(TrapOptions(kept=5), rows)
    stop(traps)
    for n in range(100, 110):
        assert traps.admit(f"{ROOT}/n/{n}", found(f"{ROOT}/n/{n}")) is Reason.TRAP_PATTERN
    assert len(list(traps.release_all())) == 5
    [rule] = traps.stops()
    assert (rule.rejected, rule.kept) == (5, 0)
    fetch(traps, f"{ROOT}/n/99", text=Prose(1).paragraph(40))
    assert traps.reconsiders(f"{ROOT}/n/109")


def test_a_rejected_url_that_is_found_again_is_not_given_out_as_well(traps):
    """When it is reconsidered it is kept no longer, so that it is in the books once."""
    stop(traps)
    url = f"{ROOT}/n/100"
    assert traps.admit(url, found(url)) is Reason.TRAP_PATTERN
    assert not traps.reconsiders(url)
    fetch(traps, f"{ROOT}/n/99", text=Prose(1).paragraph(40))
    assert traps.reconsiders(url)
    assert list(traps.release()) == []


def test_what_was_learned_is_read_back(rows):
    """Another run goes on with the same stops, figures and examples."""
    traps = Traps(TrapOptions(), rows)
    stop(traps)
    traps.admit(f"{ROOT}/n/100", found(f"{ROOT}/n/100"))
    stops = list(traps.stops())
    again = Traps(TrapOptions(), rows)
    assert list(again.stops()) == stops
    assert again.assess(f"{ROOT}/n/1") == traps.assess(f"{ROOT}/n/1")
    assert again.admit(f"{ROOT}/n/101", found(f"{ROOT}/n/101")) is Reason.TRAP_PATTERN


def test_an_assessment_says_pattern_figures_and_rule(traps):
    """Whoever asks about a URL learns what came of its like, and changes nothing by asking."""
    fetch(traps, f"{ROOT}/n/1", text="one two three four")
    known = traps.assess(f"{ROOT}/n/77")
    assert (known.pattern, known.parent) == ("/n/#", "/*/#")
    assert known.figures["/n/#"]["fetched"] == known.figures["/n/#"]["useful"] == 1
    assert known.reason is None
    assert known.rule == ""
    stop(traps)
    assert traps.assess(f"{ROOT}/n/77").reason is Reason.TRAP_PATTERN
    assert traps.assess(f"{ROOT}/n/77").rule == f"pattern /n/# of {ROOT} brings nothing new"
    assert traps.assess(f"{ROOT}/n/77") == traps.assess(f"{ROOT}/n/77")


def test_a_page_that_leads_elsewhere_is_no_waste(traps):
    """A list without words of its own is worth it while it leads to pages that are."""
    for n in range(200):
        fetch(traps, f"{ROOT}/list/{n}", text=f"List {n}", links=[f"{ROOT}/item/{n}"])
        fetch(traps, f"{ROOT}/item/{n}", text=Prose(n).paragraph(40))
    assert traps.assess(f"{ROOT}/list/1000").reason is None


def test_a_page_that_leads_to_a_trap_is(traps):
    """Links to what brings nothing are no merit."""
    for n in range(60):
        links = [f"{ROOT}/item/{n}", f"{ROOT}/list/{n + 1}"]
        fetch(traps, f"{ROOT}/list/{n}", text=f"List {n}", links=links)
        fetch(traps, f"{ROOT}/item/{n}", text="Nothing")
    assert traps.assess(f"{ROOT}/list/1000").reason is Reason.TRAP_PATTERN


def test_invented_folders_share_the_fate_of_their_parent(traps):
    """Folders that were never seen before are stopped when such folders brought nothing."""
    for n in range(60):
        name = Prose(f"folder {n}").words(3)
        url = f"{ROOT}/{''.join(name)}/x"
        fetch(traps, url, Outcome.DUPLICATE_NEAR, original=f"{ROOT}/sorry")
    url = f"{ROOT}/neverseen/x"
    assert traps.admit(url, found(url)) is Reason.TRAP_PATTERN


def test_a_folder_that_proved_itself_outlives_its_parent(traps):
    """What brought something is judged by itself."""
    for n in range(3):
        fetch(traps, f"{ROOT}/honest/a{'b' * n}", text=Prose(n).paragraph(40))
    for n in range(80):
        name = "".join(Prose(f"folder {n}").words(3))
        fetch(traps, f"{ROOT}/{name}/x", Outcome.DUPLICATE_NEAR, original=f"{ROOT}/sorry")
    assert traps.assess(f"{ROOT}/neverseen/x").reason is Reason.TRAP_PATTERN
    assert traps.assess(f"{ROOT}/honest/z").reason is None


def test_redirects_that_lead_to_news_are_worth_it(traps):
    """Numbers that redirect to articles go on; those that redirect to one page do not."""
    for n in range(60):
        article = f"{ROOT}/articles/{'x' * n}y"
        fetch(traps, f"{ROOT}/go/{n}", Outcome.REDIRECTED, links=[article])
        fetch(traps, article, text=Prose(n).paragraph(40))
        fetch(traps, f"{ROOT}/away/{n}", Outcome.REDIRECTED)
    assert traps.assess(f"{ROOT}/go/999").reason is None
    assert traps.assess(f"{ROOT}/away/999").reason is Reason.TRAP_PATTERN


def test_failures_of_a_server_say_nothing_of_a_pattern(traps):
    """An outage stops nothing."""
    for n in range(500):
        for outcome in (Outcome.FAILED_SERVER, Outcome.FAILED_NETWORK, Outcome.FAILED_THROTTLED):
            fetch(traps, f"{ROOT}/n/{n}", outcome)
    assert traps.assess(f"{ROOT}/n/1000").reason is None


def test_the_patterns_of_an_origin_are_bounded(traps, rows):
    """A site of endless folders has a bounded number of rows, and goes on being crawled."""
    for n in range(MOST_PATTERNS + 300):
        name = "".join(Prose(f"{n}").words(3)) + "ab"[n % 2] * (n // 50)
        fetch(traps, f"{ROOT}/{name}/x", text=Prose(n).paragraph(40))
    patterns = [key for key in rows.rows if b"\0p" in key]
    assert len(patterns) <= MOST_PATTERNS
    assert traps.assess(f"{ROOT}/neverseen/x").reason is None


def test_origins_that_were_not_needed_wait_in_the_store(monkeypatch, rows):
    """Memory is bounded over all origins, and who comes back is known."""
    monkeypatch.setattr(library, "MOST_IN_MEMORY", 300)
    monkeypatch.setattr(library, "_BOOKS_BETWEEN", 10)
    traps = Traps(TrapOptions(), rows)
    stop(traps)
    for n in range(500):
        fetch(traps, f"http://host{n}.example/a", text=Prose(n).paragraph(40))
    assert len(traps._library._books) < 320
    assert traps.assess(f"{ROOT}/n/1").reason is Reason.TRAP_PATTERN
