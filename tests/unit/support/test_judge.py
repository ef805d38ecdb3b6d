"""The judge finds what is impolite, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.exchange import Hit
from tests.support.judge import (
    assert_polite,
    connections_per_host,
    fetched,
    gaps,
    max_parallel_hosts,
    max_parallel_per_host,
    overlaps,
    smallest_gap,
)


def hit(start, end, host="a.test:80", path="/", connection=1):
    return Hit(host, path, "GET", 200, start, end, connection, 10, "done", "", {})


def test_gap_runs_from_end_to_start():
    """A gap is the start of a request less the end of the one before, per host."""
    hits = [hit(0, 1), hit(3, 4), hit(3.5, 9, "b.test:80"), hit(4.5, 5)]
    assert gaps(hits) == {"a.test:80": [2, 0.5], "b.test:80": []}
    assert smallest_gap(hits) == 0.5


def test_gap_counts_from_the_latest_end():
    """A short request inside a long one does not hide the long one's end."""
    hits = [hit(0, 10), hit(1, 2), hit(11, 12)]
    assert gaps(hits)["a.test:80"] == [-9, 1]


def test_order_of_the_log_does_not_matter():
    """The log is in order of ends; the judge sorts by starts."""
    hits = [hit(5, 6, path="/2"), hit(0, 1, path="/1")]
    assert gaps(hits)["a.test:80"] == [4]


def test_ports_are_hosts_of_their_own():
    """Two ports of one name are paced apart."""
    assert not overlaps([hit(0, 5, "a.test:80"), hit(1, 2, "a.test:81")])


def test_assert_polite_names_the_worst_pair():
    """The message holds the host, both paths, the gap and the delay."""
    hits = [hit(0, 1, path="/1"), hit(1.9, 2, path="/2"), hit(2.25, 3, path="/3")]
    with pytest.raises(AssertionError, match=r"2 of 2 .*a\.test:80: GET /3 .*0\.2500 s .*/2.* 1 s"):
        assert_polite(hits, 1)


def test_assert_polite_passes_at_the_exact_delay():
    """A gap equal to the delay is polite."""
    assert_polite([hit(0, 1), hit(2, 3)], 1.0)


@pytest.mark.parametrize(
    ("delay", "slack", "fails"),
    [
        pytest.param({"a.test:80": 2.0}, 0, True, id="its own delay"),
        pytest.param({"b.test:80": 2.0}, 0, False, id="another host's delay"),
        pytest.param(1.05, 0.1, False, id="within the slack"),
        pytest.param(1.05, 0.01, True, id="beyond the slack"),
    ],
)
def test_assert_polite_per_host(delay, slack, fails):
    """Delays can be given per host, and slack forgives that much."""
    hits = [hit(0, 1), hit(2, 3)]
    if fails:
        with pytest.raises(AssertionError):
            assert_polite(hits, delay, slack=slack)
    else:
        assert_polite(hits, delay, slack=slack)


def test_assert_polite_refuses_overlaps_without_a_delay():
    """Even with no delay two requests of a host may not overlap."""
    with pytest.raises(AssertionError):
        assert_polite([hit(0, 2), hit(1, 3)], 0)


def test_fetched_counts_urls():
    """Requests are counted by host and path, or by the path of one host."""
    hits = [hit(0, 1, path="/x"), hit(2, 3, path="/x"), hit(4, 5, "b.test:80", "/y")]
    assert fetched(hits) == {"a.test:80/x": 2, "b.test:80/y": 1}
    assert fetched(hits, host="b.test:80") == {"/y": 1}


def test_connections_are_counted_once():
    """A connection that served two requests counts once."""
    hits = [hit(0, 1), hit(2, 3), hit(4, 5, connection=2)]
    assert connections_per_host(hits) == {"a.test:80": 2}


def test_parallel_counts():
    """Hosts in flight at one instant, and requests in flight on one host."""
    hits = [hit(0, 4), hit(1, 3), hit(2, 5, "b.test:80"), hit(4, 6, "c.test:80")]
    assert max_parallel_hosts(hits) == 2
    assert max_parallel_per_host(hits) == {"a.test:80": 2, "b.test:80": 1, "c.test:80": 1}


TIMES = st.integers(0, 50)
HITS = st.lists(
    st.builds(
        lambda at, life, host: hit(at, at + life, host),
        TIMES,
        st.integers(1, 9),
        st.sampled_from("abc"),
    ),
    max_size=25,
)


@given(HITS)
def test_overlaps_agree_with_a_plain_count(hits):
    """There is an overlap exactly when some host has two requests in flight at one instant."""
    crowded = any(count > 1 for count in max_parallel_per_host(hits).values())
    assert bool(overlaps(hits)) == crowded


@given(HITS)
def test_parallel_hosts_agree_with_brute_force(hits):
    """The sweep finds what looking at every instant finds."""
    instants = [at + 0.5 for at in range(60)]
    each = [len({h.host for h in hits if h.t_start < at < h.t_end}) for at in instants]
    assert max_parallel_hosts(hits) == max(each)


@given(HITS)
def test_every_request_but_the_first_has_a_gap(hits):
    """Gaps are one fewer than the requests of a host."""
    for host, found in gaps(hits).items():
        assert len(found) == sum(h.host == host for h in hits) - 1
