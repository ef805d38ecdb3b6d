"""How long a host rests that costs more than its share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.model import HostKey
from crawler.politeness import Effort

A, B = HostKey("a.test"), HostKey("b.test")
BURST = 0.1


def test_a_host_alone_rests_for_no_longer_than_it_has_cost():
    """Nobody is kept waiting by it."""
    effort = Effort(BURST)
    assert effort.rest(A, 0.05, 0.0) == 0
    assert effort.rest(A, 1.0, 0.0) == pytest.approx(0.03 + 0.98 - BURST)


def test_the_rest_grows_with_the_hosts_that_share_the_core():
    """Of ten hosts each has a tenth; a second beyond the burst is paid off in ten."""
    effort = Effort(BURST)
    for n in range(9):
        assert effort.rest(HostKey(f"{n}.test"), 0.004, 0.0) == 0
    assert effort.rest(A, 1.02 + BURST, 0.0) == pytest.approx(10.0)
    assert effort.rest(A, 0.0, 5.0) == pytest.approx(5.0)
    assert effort.rest(B, 0.004, 5.0) == 0


def test_whoever_keeps_to_a_share_never_rests():
    """A hundred hosts that fill the core with heavy pages are left alone."""
    effort = Effort(BURST)
    rests = [effort.rest(HostKey(f"{n % 100}.test"), 0.05, n * 0.05) for n in range(2_000)]
    assert not any(rests)


def test_a_large_site_of_ordinary_pages_never_rests():
    """Not even where thousands of hosts share the core, as at the end of a broad crawl."""
    effort = Effort(BURST)
    for n in range(5_000):
        effort.rest(HostKey(f"{n}.test"), 0.004, n * 0.004)
    assert not any(effort.rest(A, 0.015, 20.0 + n) for n in range(1_000))


def test_debts_are_forgotten_a_minute_after_the_last_answer():
    """So are the hosts, which then share no more."""
    effort = Effort(BURST)
    effort.rest(A, 0.5, 0.0)
    assert effort.rest(B, 1.02 + BURST, 10.0) == pytest.approx(2.0)
    assert effort.rest(B, 0.52, 61.0) == pytest.approx(0.4)
    assert len(effort._debts) == 1


STEPS = st.lists(
    st.tuples(st.sampled_from([A, B, HostKey("c")]), st.floats(0, 10), st.floats(0, 90)),
    max_size=40,
)


@given(STEPS)
def test_no_rest_is_negative_or_longer_than_a_minute(steps):
    """Whatever the costs; a free answer of a host without debts never makes it rest."""
    effort, now = Effort(BURST), 0.0
    for key, cost, pause in steps:
        now += pause
        assert 0 <= effort.rest(key, cost, now) <= 60
    assert effort.rest(HostKey("new"), 0.0, now) == 0
