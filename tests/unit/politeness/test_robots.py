"""The state machine of robots.txt, in virtual time."""

from __future__ import annotations

import json
import random
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import ConfigError
from crawler.model import Deny, Fetch, Wait
from crawler.politeness import (
    ALLOW,
    PENDING,
    Robots,
    RobotsAnswer,
    RobotsOptions,
)
from crawler.politeness.copies import Copies, Shelf

A, B = "http://a.test", "http://b.test"
PAGE, PRIVATE = f"{A}/ok", f"{A}/private/x"
FILE = b"User-agent: *\nDisallow: /private/\nCrawl-delay: 7\nSitemap: /s.xml\n"
CLOSED = b"User-agent: *\nDisallow: /\n"
DENIED = Deny("Disallow: /private/", 2)
DAY = 86_400.0


def resolve(base: str, href: str) -> str | None:
    url = urljoin(base, href)
    return url if url.startswith(("http://", "https://")) else None


def robots(recall=None, **options) -> Robots:
    chosen = RobotsOptions("examplebot", **{"unreachable_retry": 10.0, **options})
    return Robots(chosen, random.Random(3), resolve, recall)


def answered(*answers: RobotsAnswer, at: float = 0.0, **options) -> Robots:
    """Return a machine that fetched the file of A and got these answers, hop by hop."""
    machine = robots(**options)
    for answer in answers:
        assert isinstance(machine.check(PAGE, A, at), Fetch)
        machine.started(A)
        machine.record(A, answer, at)
    return machine


def again(machine: Robots, answer: RobotsAnswer, at: float) -> None:
    """Let the next fetch that is due be answered at `at`."""
    assert isinstance(machine.check(PAGE, A, at), Fetch)
    machine.started(A)
    machine.record(A, answer, at)


def moved(location: str | None, status: int = 301) -> RobotsAnswer:
    return RobotsAnswer(status, location=location)


def test_an_unknown_origin_asks_for_its_file_first():
    """No URL passes before the file was answered."""
    machine = robots()
    assert machine.check(PAGE, A, 0) == Fetch(f"{A}/robots.txt")
    assert (machine.state(A), machine.next_try_at(A), machine.dump(A)) == ("unknown", None, {})


def test_while_the_file_is_fetched_urls_are_pending():
    """One fetch at a time; the others wait for it."""
    machine = robots()
    machine.started(A)
    assert machine.check(PAGE, A, 0) is PENDING
    assert machine.state(A) == "fetching"


def test_an_abandoned_fetch_is_due_again():
    """A fetch that was handed out and never answered leaves no trace."""
    machine = robots()
    machine.started(A)
    machine.abandoned(A)
    assert machine.check(PAGE, A, 0) == Fetch(f"{A}/robots.txt")


def test_rules_apply_until_they_are_a_day_old():
    """RFC 9309 §2.4: no copy older than 24 hours is used while it can be refreshed."""
    machine = answered(RobotsAnswer(200, FILE))
    assert machine.check(PAGE, A, DAY - 1) is ALLOW
    assert machine.check(PRIVATE, A, DAY - 1) == DENIED
    assert machine.check(PAGE, A, DAY) == Fetch(f"{A}/robots.txt")
    again(machine, RobotsAnswer(200, CLOSED), DAY)
    assert machine.check(PAGE, A, DAY + 1) == Deny("Disallow: /", 2)


def test_what_the_file_says_beside_its_rules_is_at_hand():
    """Crawl delay and sitemaps, the delay capped; nothing for an origin without a file."""
    machine = answered(RobotsAnswer(200, FILE), crawl_delay_cap=5.0)
    assert (machine.crawl_delay(A), machine.sitemaps(A), machine.status(A)) == (5, ("/s.xml",), 200)
    assert (machine.crawl_delay(B), machine.sitemaps(B), machine.rules(B)) == (None, (), None)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 451, 499])
def test_an_unavailable_file_allows_everything_whatever_its_body(status):
    """RFC 9309 §2.3.1.3: 4xx means no rules, and the body is not read."""
    machine = answered(RobotsAnswer(status, CLOSED))
    assert machine.check(PRIVATE, A, 1) is ALLOW
    assert (machine.state(A), machine.status(A)) == ("allow_all", status)
    assert machine.check(PAGE, A, DAY) == Fetch(f"{A}/robots.txt")


UNREACHABLE = {
    "500": RobotsAnswer(500, FILE),
    "503": RobotsAnswer(503, FILE),
    "429": RobotsAnswer(429, FILE),
    "no answer": RobotsAnswer(None, error="timeout"),
    "truncated": RobotsAnswer(200, FILE, error="connection lost"),
    "redirect without a target": RobotsAnswer(301),
    "redirect to another scheme": moved("ftp://a.test/robots.txt"),
    "304 without a copy": RobotsAnswer(304),
    "100": RobotsAnswer(100),
    "999": RobotsAnswer(999, FILE),
}


@pytest.mark.parametrize("answer", UNREACHABLE.values(), ids=UNREACHABLE)
def test_an_unreachable_file_allows_nothing(answer):
    """RFC 9309 §2.3.1.4: unreachable means complete disallow, until the next try."""
    machine = answered(answer)
    until = machine.next_try_at(A)
    assert machine.state(A) == "disallow_all"
    assert machine.check(PAGE, A, 9.9) == Wait(until)
    assert 10 <= until <= 12.5
    assert machine.check(PAGE, A, until) == Fetch(f"{A}/robots.txt")


def test_tries_of_an_unreachable_file_grow_apart_and_success_ends_them():
    """10 s, 20 s, 40 s ... to an hour; a transient error is no life-long ban."""
    machine, at, waits = robots(), 0.0, []
    for _ in range(12):
        again(machine, RobotsAnswer(503), at)
        waits.append(machine.next_try_at(A) - at)
        at = machine.next_try_at(A)
    for n, wait in enumerate(waits):
        assert min(10 * 2**n, 3600) - 1e-6 <= wait <= min(12.5 * 2**n, 3600) + 1e-6
    again(machine, RobotsAnswer(200, FILE), at)
    assert machine.check(PAGE, A, at) is ALLOW
    again(machine, RobotsAnswer(404), at + DAY)
    again(machine, RobotsAnswer(503), at + 2 * DAY)
    assert machine.next_try_at(A) - at - 2 * DAY <= 12.5


@pytest.mark.parametrize(
    ("asked", "least", "most"),
    [(60.0, 60, 60), (0.0, 10, 12.5), (1.0, 10, 12.5), (1e9, DAY, DAY), (-5.0, 10, 12.5)],
)
def test_retry_after_of_the_file_is_honoured_within_bounds(asked, least, most):
    """RFC 9110 §10.2.3: it may lengthen our own wait, not shorten it, and a day is the end."""
    machine = answered(RobotsAnswer(503, retry_after=asked))
    assert least <= machine.next_try_at(A) <= most


def test_the_last_good_copy_applies_while_its_refresh_fails():
    """RFC 9309 §2.4: a stale copy is used only while the file is unreachable."""
    machine = answered(RobotsAnswer(200, FILE))
    again(machine, RobotsAnswer(500), DAY)
    assert (machine.state(A), machine.copied_at(A)) == ("stale_rules", 0)
    assert machine.check(PRIVATE, A, DAY + 1) == DENIED
    assert machine.check(PAGE, A, DAY + 1) is ALLOW
    assert machine.crawl_delay(A) == 7
    due = machine.next_try_at(A)
    again(machine, RobotsAnswer(None), due)
    assert machine.state(A) == "stale_rules"
    again(machine, RobotsAnswer(404), machine.next_try_at(A))
    assert (machine.state(A), machine.crawl_delay(A), machine.copied_at(A)) == (
        "allow_all",
        None,
        None,
    )


def test_house_rule_a_missing_file_is_no_copy_to_fall_back_on():
    """RFC 9309 §2.3.1.4: after a 404, an error is again complete disallow."""
    machine = answered(RobotsAnswer(404))
    again(machine, RobotsAnswer(500), DAY)
    assert machine.state(A) == "disallow_all"


def test_not_modified_makes_a_copy_young_again():
    """A conditional refresh, if some component makes one, is an answer."""
    machine = answered(RobotsAnswer(200, FILE))
    again(machine, RobotsAnswer(304), DAY)
    assert machine.check(PRIVATE, A, 2 * DAY - 1) == DENIED


def test_a_long_outage_is_permission_only_if_the_policy_says_so():
    """RFC 9309 §2.3.1.4: after a long period a crawler MAY assume that there is no file."""
    for policy, state in (("allow", "outage_allow"), ("disallow", "disallow_all")):
        machine = answered(RobotsAnswer(500), at=DAY, long_outage_policy=policy)
        again(machine, RobotsAnswer(500), 31 * DAY - 1)
        assert machine.state(A) == "disallow_all"
        machine.record(A, RobotsAnswer(500), 31 * DAY)
        assert machine.state(A) == state
        assert (machine.check(PAGE, A, 31 * DAY) is ALLOW) is (policy == "allow")
        assert isinstance(machine.check(PAGE, A, 32 * DAY), Fetch)


def test_a_copy_outlives_a_long_outage():
    """RFC 9309 §2.3.1.4: the cached copy may be used on, and ours is."""
    machine = answered(RobotsAnswer(200, FILE), long_outage_policy="allow")
    again(machine, RobotsAnswer(500), DAY)
    again(machine, RobotsAnswer(500), 40 * DAY)
    assert machine.check(PRIVATE, A, 40 * DAY) == DENIED


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_across_hosts_for_the_asking_origin(status):
    """RFC 9309 §2.3.1.2: the rules found elsewhere are those of the origin that was asked."""
    machine = answered(moved("https://a.test/robots.txt", status))
    assert machine.check(PAGE, A, 0) == Fetch("https://a.test/robots.txt")
    again(machine, moved("//www.a.test/robots.txt", status), 0)
    assert machine.check(PAGE, A, 0) == Fetch("https://www.a.test/robots.txt")
    again(machine, RobotsAnswer(200, FILE), 0)
    assert machine.check(PRIVATE, A, 1) == DENIED
    assert machine.check(PAGE, A, DAY) == Fetch(f"{A}/robots.txt")


def test_a_redirect_says_nothing_about_its_targets_own_file():
    """RFC 9309 §2.3: the rules of an authority are those at its own /robots.txt."""
    machine = answered(moved(f"{B}/robots.txt?from=a.test"), RobotsAnswer(200, FILE))
    assert machine.state(B) == "unknown"
    machine.started(B)
    machine.record(B, RobotsAnswer(200, CLOSED), 0)
    assert isinstance(machine.check(f"{B}/x", B, 1), Deny)
    assert machine.check(PAGE, A, 1) is ALLOW


def test_http_and_https_have_a_file_each():
    """RFC 9309 §2.3: scheme and authority make the scope."""
    machine = answered(RobotsAnswer(200, b""))
    assert machine.check("https://a.test/x", "https://a.test", 1) == Fetch(
        "https://a.test/robots.txt"
    )


def hops(count: int) -> list[RobotsAnswer]:
    return [moved(f"{A}/robots{n}.txt") for n in range(count)]


def test_five_redirects_are_followed_and_a_sixth_means_there_is_no_file():
    """RFC 9309 §2.3.1.2: at least five; beyond, the file may be taken for unavailable."""
    machine = answered(*hops(5), RobotsAnswer(200, FILE))
    assert machine.check(PRIVATE, A, 1) == DENIED
    assert answered(*hops(6)).state(A) == "allow_all"


@pytest.mark.parametrize(
    "answers",
    [[moved("/robots.txt")], [moved("/r"), moved("/robots.txt")], [moved("/r"), moved("/r")]],
    ids=["itself", "back to the start", "the same hop"],
)
def test_a_redirect_loop_ends_at_once(answers):
    """RFC 9309 §2.3.1.2: a loop is a chain without an end."""
    assert answered(*answers).state(A) == "allow_all"


def test_a_failed_hop_starts_again_from_the_origins_own_file():
    """The next try asks the origin; a copy applies meanwhile."""
    machine = answered(RobotsAnswer(200, FILE))
    again(machine, moved(f"{B}/r"), DAY)
    assert machine.check(PAGE, A, DAY) == Fetch(f"{B}/r")
    again(machine, RobotsAnswer(500), DAY)
    assert machine.check(PRIVATE, A, DAY + 1) == DENIED
    assert machine.check(PAGE, A, machine.next_try_at(A)) == Fetch(f"{A}/robots.txt")


def test_an_abandoned_hop_starts_again_from_the_origins_own_file():
    """After a crash the chain is walked anew."""
    machine = answered(moved(f"{B}/r"))
    machine.started(A)
    machine.abandoned(A)
    assert machine.check(PAGE, A, 0) == Fetch(f"{A}/robots.txt")


def test_switched_off_everything_passes_and_nothing_is_fetched():
    """An operator who says so is obeyed, in delay too."""
    machine = robots(enabled=False)
    machine.load(A, answered(RobotsAnswer(200, FILE)).dump(A))
    assert machine.check(PRIVATE, A, 0) is ALLOW
    assert machine.crawl_delay(A) is None


def test_a_file_beyond_the_limit_is_read_up_to_it():
    """RFC 9309 §2.5: a large file is an answer, not an error."""
    machine = answered(RobotsAnswer(200, FILE + b"#" * 2_000_000), max_bytes=len(FILE) + 10)
    assert machine.check(PRIVATE, A, 1) == DENIED


def test_a_line_that_ends_at_the_limit_is_whole_in_a_copy_too():
    """The byte after the limit is kept with the copy: it tells whether a line was cut."""
    first = answered(RobotsAnswer(200, FILE + b"X: y\n"), max_bytes=len(FILE) - 1)
    second = robots(max_bytes=len(FILE) - 1)
    second.load(A, first.dump(A))
    assert first.sitemaps(A) == second.sitemaps(A) == ("/s.xml",)


STORIES = {
    "rules": [RobotsAnswer(200, FILE)],
    "allow_all": [RobotsAnswer(404)],
    "disallow_all": [RobotsAnswer(500)],
}


@pytest.mark.parametrize(("state", "answers"), STORIES.items(), ids=STORIES)
def test_a_dumped_state_is_restored_with_its_age(state, answers):
    """A restart changes nothing: the same answers, the same next try."""
    first = answered(*answers)
    second = robots()
    second.load(A, json.loads(json.dumps(first.dump(A))))
    assert second.state(A) == state
    for at in (0, 5, 100, DAY - 1, DAY):
        assert second.check(PRIVATE, A, at) == first.check(PRIVATE, A, at)
    assert (second.crawl_delay(A), second.status(A)) == (first.crawl_delay(A), first.status(A))
    assert second.dump(A) == first.dump(A)


def test_a_stale_copy_survives_a_restart():
    """While a refresh fails, the last good copy applies in the next run as well."""
    first = answered(RobotsAnswer(200, FILE))
    again(first, RobotsAnswer(500), DAY)
    second = robots()
    second.load(A, first.dump(A))
    assert second.check(PRIVATE, A, DAY + 1) == DENIED
    again(second, RobotsAnswer(500), second.next_try_at(A))
    assert second.next_try_at(A) - first.next_try_at(A) >= 20


def test_a_fetch_under_way_is_due_after_a_restart():
    """A lease does not survive, and a half-walked redirect chain neither."""
    first = answered(RobotsAnswer(404))
    first.started(A)
    second = robots()
    second.load(A, first.dump(A))
    assert second.check(PAGE, A, 1) is ALLOW
    assert second.check(PAGE, A, DAY) == Fetch(f"{A}/robots.txt")


def test_a_clock_set_back_between_runs_makes_a_copy_due():
    """A copy from the future could otherwise be used for longer than a day."""
    machine = robots()
    machine.load(A, answered(RobotsAnswer(200, FILE), at=1e6).dump(A))
    assert isinstance(machine.check(PAGE, A, 1e6 - 1), Fetch)


def test_a_shorter_max_age_holds_for_restored_copies():
    """Settings of this run decide, not those of the run that fetched."""
    for answer in (RobotsAnswer(200, FILE), RobotsAnswer(404)):
        machine = robots(max_age=60.0)
        machine.load(A, answered(answer, at=100.0).dump(A))
        assert machine.check(PAGE, A, 159) is ALLOW
        assert isinstance(machine.check(PAGE, A, 160), Fetch)


VALID = answered(RobotsAnswer(200, FILE)).dump(A)
DAMAGED = [
    {}, {"state": "rules"}, {**VALID, "copy": None}, {**VALID, "copy": "!!"},
    {**VALID, "copy": "AAAA"}, {**VALID, "copy": 7}, {**VALID, "state": "fetching"},
    {**VALID, "state": "gone"},
    {**VALID, "until": float("inf")},
    {**VALID, "state": ["rules"]}, {**VALID, "until": float("nan")}, {**VALID, "until": "x"},
    {**VALID, "answered_at": None}, {**VALID, "until": 10**400}, {**VALID, "until": True},
]  # fmt: skip


@pytest.mark.parametrize("values", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_state_leaves_the_origin_unknown(values):
    """What cannot be read is fetched again; it is never permission."""
    machine = robots()
    machine.load(A, values)
    assert machine.check(PAGE, A, 1) == Fetch(f"{A}/robots.txt")


def test_a_state_that_claims_to_hold_for_years_is_bounded():
    """No stored number can close a site for ever."""
    machine = robots()
    machine.load(A, {**answered(RobotsAnswer(500)).dump(A), "until": 1e15})
    assert machine.next_try_at(A) <= DAY


def test_an_origin_out_of_memory_is_recalled_from_the_store():
    """Memory is bounded; the store has the rest."""
    stored = {A: answered(RobotsAnswer(200, FILE)).dump(A)}
    machine = robots(recall=stored.get)
    assert machine.check(PRIVATE, A, 1) == DENIED
    machine.forget(A)
    assert machine.state(A) == "rules"
    machine.forget(A)
    assert machine.check(PRIVATE, A, 1) == DENIED
    assert machine.check(PAGE, B, 1) == Fetch(f"{B}/robots.txt")


def test_a_copy_lost_from_memory_without_a_store_is_fetched_again():
    """Without its rules an origin is unknown."""
    machine = answered(RobotsAnswer(200, FILE))
    machine._copies.drop(A)
    assert machine.check(PAGE, A, 1) == Fetch(f"{A}/robots.txt")
    assert machine.state(A) == "unknown"


def test_a_shelf_keeps_to_its_weight_and_drops_the_longest_unused():
    """Memory is bounded by weight, whatever the number of entries."""
    shelf: Shelf[str] = Shelf(10)
    for name in "abc":
        shelf.put(name, name, 4)
        shelf.get("a")
    assert (shelf.get("a"), shelf.get("b"), shelf.get("c")) == ("a", None, "c")
    shelf.put("a", "A", 6)
    assert len(shelf) == 2
    shelf.put("big", "x", 99)
    assert len(shelf) == 1


def test_a_copy_evicted_from_memory_comes_back_through_recall():
    """Parsed rules and packed text give way separately; either can be had again."""
    store: dict[str, bytes] = {}
    copies = Copies("x", 1000, store.get, text_budget=1, rule_budget=1)
    for origin in (A, B):
        copies.put(origin, FILE)
        store[origin] = copies.packed(origin)
    assert len(copies._packed) == len(copies._parsed) == 1
    assert not copies.rules(A).decide(PRIVATE).allowed


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_age": 9e4}, {"max_age": 0.0}, {"unreachable_retry": 0.0}, {"unreachable_cap": 1.0},
        {"crawl_delay_cap": float("nan")}, {"long_outage_policy": "maybe"}, {"max_redirects": -1},
        {"max_bytes": 0}, {"retry_after_cap": float("inf")},
    ],
    ids=str,
)  # fmt: skip
def test_options_out_of_range_stop_the_crawl_at_its_start(wrong):
    """RFC 9309 §2.4 among others: a copy is never kept for longer than a day."""
    with pytest.raises(ConfigError):
        robots(**wrong)


ANSWER = st.builds(
    RobotsAnswer,
    st.none() | st.integers(-1, 700),
    st.sampled_from([FILE, CLOSED, b"", b"\xff\x00<"]) | st.binary(max_size=30),
    st.none() | st.sampled_from(["/r", "/robots.txt", "http://b.test/robots.txt", "x:", "//["]),
    st.none() | st.floats(0, 1e9),
    st.none() | st.just("lost"),
)
STEP = st.tuples(ANSWER, st.floats(0, 2 * DAY), st.sampled_from(["record", "abandon", "restart"]))


def safe_resolve(base: str, href: str) -> str | None:
    return None if href == "//[" else resolve(base, href)


@given(st.lists(STEP, max_size=12), st.integers())
def test_any_life_of_a_file_keeps_the_invariants(steps, seed):
    """Nothing raises; a pass needs an answer in time; a wait ends within a day."""
    options = RobotsOptions("examplebot")
    machine, now = Robots(options, random.Random(seed), safe_resolve), 0.0
    for answer, pause, event in steps:
        now += pause
        gate = machine.check(PRIVATE, A, now)
        if isinstance(gate, Fetch):
            machine.started(A)
            assert machine.check(PRIVATE, A, now) is PENDING
            if event == "record":
                machine.record(A, answer, now)
            else:
                machine.abandoned(A)
        if event == "restart":
            kept, machine = machine.dump(A), Robots(options, random.Random(seed), safe_resolve)
            machine.load(A, kept)
        gate = machine.check(PRIVATE, A, now)
        assert gate is not PENDING
        if gate is ALLOW:
            assert machine.state(A) in {"rules", "stale_rules", "allow_all"}
        if isinstance(gate, Wait):
            assert machine.state(A) == "disallow_all"
            assert now < gate.until <= now + DAY


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
DUMPED = st.dictionaries(
    st.sampled_from(
        ["state", "answered_at", "until", "status", "copied_at", "failures", "failed_since", "copy"]
    ),
    PLAIN | st.sampled_from(["rules", "stale_rules", "allow_all", "disallow_all", "eJwDAAAAAAE="]),
)


@given(DUMPED, st.floats(0, 2e9))
def test_any_dumped_state_is_restored_or_fetched_anew(values, now):
    """Nothing about a stored state is trusted: it raises nothing, and a wait is no longer than a
    day.
    """
    machine = Robots(RobotsOptions("examplebot"), random.Random(0), safe_resolve)
    machine.load(A, values)
    gate = machine.check(PRIVATE, A, now)
    assert gate is not PENDING
    if isinstance(gate, Wait):
        answered = values["answered_at"]
        assert gate.until <= max(now, float(answered)) + DAY
    assert machine.crawl_delay(A) is None or machine.crawl_delay(A) >= 0
    machine.dump(A)
