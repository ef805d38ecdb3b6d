"""What follows from an answer, for the URL and for its host."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import ConfigError
from crawler.model import Outcome
from crawler.politeness import Attempt, Backoff, BackoffOptions, Trouble, Verdict

NOW = 1000.0
PLAIN = BackoffOptions(jitter=0.0)


def judge(attempt: Attempt, options: BackoffOptions = PLAIN) -> Verdict:
    return Backoff(options, random.Random(7)).judge(attempt, NOW)


def after(verdict: Verdict, attempt: Attempt) -> Attempt:
    """Return `attempt` with the counters of the verdict: the same answer once more."""
    return replace(
        attempt,
        tries=verdict.tries,
        throttled=verdict.throttled,
        host_throttles=verdict.host_throttles,
        host_failures=verdict.host_failures,
    )


def blocks(attempt: Attempt, times: int, options: BackoffOptions = PLAIN) -> list[float]:
    """Return the rests of the host, in seconds, when the same answer comes again and again."""
    rests = []
    for _ in range(times):
        verdict = judge(attempt, options)
        rests.append((verdict.blocked_until or NOW) - NOW)
        attempt = after(verdict, attempt)
    return rests


FINAL = [
    (Attempt(404), Outcome.GONE),
    (Attempt(410), Outcome.GONE),
    (Attempt(403), Outcome.REFUSED),
    (Attempt(401), Outcome.REFUSED),
    (Attempt(400), Outcome.REFUSED),
    (Attempt(451), Outcome.REFUSED),
    (Attempt(200, Trouble.SIZE), Outcome.FAILED_SIZE),
    (Attempt(None, Trouble.SIZE), Outcome.FAILED_SIZE),
    (Attempt(200, Trouble.CONTENT), Outcome.FAILED_CONTENT),
    (Attempt(None, Trouble.ADDRESS), Outcome.FAILED_ADDRESS),
    (Attempt(404, Trouble.NETWORK), Outcome.GONE),
    (Attempt(403, Trouble.CONTENT), Outcome.REFUSED),
]


@pytest.mark.parametrize(("attempt", "outcome"), FINAL)
def test_what_a_second_try_cannot_mend_is_final(attempt, outcome):
    """The URL ends at once; the status is heard although a body is spoiled."""
    verdict = judge(attempt)
    assert (verdict.outcome, verdict.retry_at, verdict.blocked_until) == (outcome, None, None)


BROKEN = [
    (Attempt(500), Outcome.FAILED_SERVER),
    (Attempt(502), Outcome.FAILED_SERVER),
    (Attempt(999), Outcome.FAILED_SERVER),
    (Attempt(100), Outcome.FAILED_SERVER),
    (Attempt(0), Outcome.FAILED_SERVER),
    (Attempt(408), Outcome.REFUSED),
    (Attempt(425), Outcome.REFUSED),
    (Attempt(None, Trouble.NETWORK), Outcome.FAILED_NETWORK),
    (Attempt(None, Trouble.TIMEOUT), Outcome.FAILED_NETWORK),
    (Attempt(None, Trouble.DNS), Outcome.FAILED_NETWORK),
    (Attempt(None, Trouble.TLS), Outcome.FAILED_NETWORK),
    (Attempt(200, Trouble.NETWORK), Outcome.FAILED_NETWORK),
    (Attempt(None), Outcome.FAILED_NETWORK),
]


@pytest.mark.parametrize(("attempt", "outcome"), BROKEN)
def test_what_may_pass_is_tried_twice_more_at_growing_distances(attempt, outcome):
    """Bounded retries: 2 s, 4 s, then the outcome."""
    waits = []
    while (verdict := judge(attempt)).outcome is None:
        waits.append(verdict.retry_at - NOW)
        attempt = after(verdict, attempt)
    assert (waits, verdict.outcome, verdict.retry_at) == ([2, 4], outcome, None)


@pytest.mark.parametrize("status", [200, 204, 206, 301, 304])
def test_an_answer_passes_and_clears_the_hosts_counters(status):
    """A host that answers is well again."""
    assert judge(Attempt(status, host_throttles=5, host_failures=9, throttled=3)) == Verdict()


@pytest.mark.parametrize("status", [429, 503])
def test_a_throttle_rests_the_host_and_keeps_the_url(status):
    """RFC 6585 §4: 429 is about the client, so the whole host rests and the URL stays."""
    verdict = judge(Attempt(status, retry_after=4.0, delay=0.2))
    assert (verdict.outcome, verdict.retry_at, verdict.blocked_until) == (None, 1004, 1004)
    assert (verdict.throttled, verdict.host_throttles, verdict.tries) == (1, 1, 0)


@pytest.mark.parametrize("retry_after", [None, 0.0], ids=["absent, -5 or garbage", "0 or past"])
def test_without_a_useful_retry_after_rests_double(retry_after):
    """Never at once because a header says so: 1, 2, 4 ... seconds, to the cap."""
    rests = blocks(Attempt(429, retry_after=retry_after), 14)
    assert rests == [*(2.0**n for n in range(12)), 3600, 3600]


def test_a_first_rest_is_longer_than_the_normal_delay():
    """A throttle must slow the crawl down, however slow it is."""
    assert blocks(Attempt(429, delay=5.0), 2) == [10, 20]
    assert blocks(Attempt(429, delay=0.5), 2) == [1, 2]
    assert blocks(Attempt(429, delay=5000.0), 2) == [5000, 5000]


def test_throttled_four_times_a_url_is_still_to_come():
    """429 says nothing about the page: it is got at the fifth try."""
    attempt = Attempt(429)
    for _ in range(4):
        verdict = judge(attempt)
        assert verdict.outcome is None
        attempt = after(verdict, attempt)
    assert judge(replace(attempt, status=200)) == Verdict()


def test_throttled_on_every_try_a_url_ends_and_the_host_still_rests():
    """A generous bound: after ten throttles the eleventh is the end."""
    verdict = judge(Attempt(429, throttled=12, host_throttles=3))
    assert (verdict.outcome, verdict.retry_at, verdict.blocked_until) == (
        Outcome.FAILED_THROTTLED, None, 1008,
    )  # fmt: skip
    assert judge(Attempt(429, throttled=9)).outcome is None


def test_a_day_of_retry_after_parks_the_host_and_more_is_cut():
    """A long wait is honoured up to a cap, as a time that can be kept across restarts."""
    assert judge(Attempt(503, retry_after=86_400.0)).blocked_until == NOW + 86_400
    assert judge(Attempt(503, retry_after=1e9)).blocked_until == NOW + 86_400


def test_a_server_is_believed_whatever_its_error():
    """RFC 9110 §10.2.3: a time that is named with an error or a redirect is kept to."""
    assert judge(Attempt(403, retry_after=30.0)).blocked_until == 1030
    for status in (300, 301, 308):
        assert judge(Attempt(status, retry_after=10.0)) == Verdict(blocked_until=1010)
    broken = judge(Attempt(500, retry_after=30.0))
    assert (broken.retry_at, broken.blocked_until) == (1030, 1030)


def test_house_rule_retry_after_beside_a_page_is_not_heard():
    """RFC 9110 §10.2.3 defines it for 503 and redirects only: the page is simply kept."""
    assert judge(Attempt(200, retry_after=10.0)) == Verdict()


@pytest.mark.parametrize("status", [500, None], ids=["5xx", "no answer"])
def test_a_host_that_breaks_down_again_and_again_rests(status):
    """Three in a row are borne, then the host rests 1, 2, 4 ... seconds."""
    assert blocks(Attempt(status), 7) == [0, 0, 0, 1, 2, 4, 8]


def test_a_refused_address_says_nothing_about_the_host():
    """Nothing was sent, so the counters stay."""
    verdict = judge(Attempt(None, Trouble.ADDRESS, host_throttles=2, host_failures=3))
    assert (verdict.host_throttles, verdict.host_failures) == (2, 3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"base": 0.0}, {"cap": float("inf")}, {"retry_base": float("nan")}, {"factor": 1.0},
        {"jitter": -0.1}, {"max_retries": -1}, {"retry_after_cap": -1.0},
    ],
    ids=str,
)  # fmt: skip
def test_options_out_of_range_stop_the_crawl_at_its_start(wrong):
    """A wait of nothing or of for ever is a mistake in the settings."""
    with pytest.raises(ConfigError):
        BackoffOptions(**wrong)


def test_an_operator_may_ask_for_no_second_try():
    """Zero tries and no patience are settings like others."""
    strict = BackoffOptions(max_retries=0, max_throttles=0, patience=0, jitter=0.0)
    assert judge(Attempt(500), strict).outcome is Outcome.FAILED_SERVER
    assert judge(Attempt(429), strict).outcome is Outcome.FAILED_THROTTLED
    assert blocks(Attempt(500), 2, strict) == [1, 2]


COUNT = st.integers(0, 2000)
SECONDS = st.floats(0, 1e6)


@given(
    st.builds(
        Attempt, st.none() | st.integers(-5, 1200), st.none() | st.sampled_from(Trouble),
        st.none() | SECONDS, SECONDS, COUNT, COUNT, COUNT, COUNT,
    ),
    st.integers(),
)  # fmt: skip
def test_no_verdict_is_early_or_endless(attempt, seed):
    """A retry keeps the delay and the Retry-After; a URL is done, waiting, or answered."""
    verdict = Backoff(BackoffOptions(), random.Random(seed)).judge(attempt, NOW)
    assert verdict.outcome is None or verdict.retry_at is None
    asked = min(attempt.retry_after or 0.0, 86_400.0)
    if verdict.retry_at is not None:
        assert verdict.retry_at >= NOW + max(attempt.delay, asked)
    for at in (verdict.retry_at, verdict.blocked_until):
        assert at is None or NOW <= at <= NOW + max(86_400, attempt.delay)


@given(st.integers(0, 30), st.integers())
def test_jitter_only_lengthens(steps, seed):
    """Hosts that fell together do not come back together, and none comes back early."""
    verdict = Backoff(BackoffOptions(), random.Random(seed)).judge(
        Attempt(429, host_throttles=steps), NOW
    )
    least = min(2.0**steps, 3600)
    assert least <= (verdict.blocked_until or 0) - NOW <= min(least * 1.25, 3600) + 1e-6
