"""What duplicates say of parameters, and what contradicts them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.traps.parameters import Group, slots_of

NONE = frozenset()


def url(**parameters):
    query = "&".join(f"{name}={value}" for name, value in parameters.items())
    return f"http://a.example/show?{query}"


def taught(**changes):
    """Return a group that has seen eight duplicates of as many pages, which differ so."""
    group = Group(16)
    for n in range(8):
        group.repeats(url(id=n, sid=f"b{n}", **changes), url(id=n, sid=f"a{n}"), 8, NONE)
    return group


def test_slots_are_parameters_and_session_ids():
    """A repeated name has all its values; a session id in the path has its place for a name."""
    path, slots = slots_of("http://a.example/s/8f3a61c0b2d94e17/x?a=1&b=2&a=3")
    assert path == "http://a.example/s/~/x"
    assert slots == {"a": "1&3", "b": "2", "/2": "8f3a61c0b2d94e17"}


def test_a_parameter_is_learned_from_duplicates_of_several_pages():
    """Eight duplicates that differ in it make it irrelevant; the core has it no more."""
    group = taught()
    assert group.learned == {"sid"}
    assert group.core(url(id=1, sid="x")) == group.core(url(sid="y", id=1)) == group.core(url(id=1))
    assert group.core(url(id=1, sid="x")) != group.core(url(id=2, sid="x"))
    assert group.explains(url(id=1, sid="x"), url(id=1))
    assert not group.explains(url(id=1), url(id=2))


def test_a_parameter_that_is_left_out_is_learned_too():
    """A link with a tracker repeats the page without it."""
    assert taught(tracker="x").learned == {"sid", "tracker"}


def test_nothing_is_learned_too_early():
    """Seven duplicates are not enough; familiar names need two."""
    group = Group(16)
    for n in range(7):
        assert not group.repeats(url(id=n, sid=1), url(id=n, sid=2), 8, NONE)
    familiar = Group(16)
    assert not familiar.repeats(url(id=0, sid=1), url(id=0, sid=2), 8, frozenset({"sid"}))
    assert not familiar.learned


def test_familiar_names_are_learned_from_less():
    """What is irrelevant to one script needs two duplicates, of two pages, of another."""
    group = Group(16)
    for n in range(2):
        group.repeats(url(id=n, sid=1), url(id=n, sid=2), 8, frozenset({"sid"}))
    assert group.learned == {"sid"}


def test_duplicates_of_one_page_teach_nothing():
    """They may all be one error message."""
    group = Group(16)
    for n in range(100):
        group.repeats(url(id=n), url(id=1000), 8, NONE)
    assert not group.learned


def test_pages_that_differ_in_one_parameter_show_that_it_matters():
    """Against such a pair, sixteen duplicates are needed."""
    group = Group(16)
    group.is_new(url(id=1, page=1))
    group.is_new(url(id=1, page=2))
    for n in range(15):
        group.repeats(url(id=n, page=9), url(id=n, page=8), 8, NONE)
    assert not group.learned
    group.repeats(url(id=99, page=9), url(id=99, page=8), 8, NONE)
    assert group.learned == {"page"}


def test_a_contradiction_unlearns_what_two_urls_differ_in():
    """The parameter counts again, others stay learned, and next time it takes twice as much."""
    group = taught(tracker="x")
    group.contradicted(url(id=1, sid=1, tracker="x"), url(id=1, sid=1, tracker="y"))
    assert group.learned == {"sid"}
    for n in range(15):
        group.repeats(url(id=n, sid=1, tracker="x"), url(id=n, sid=1, tracker="z"), 8, NONE)
    assert group.learned == {"sid"}
    group.repeats(url(id=77, sid=1, tracker="x"), url(id=77, sid=1, tracker="z"), 8, NONE)
    assert group.learned == {"sid", "tracker"}


@pytest.mark.parametrize("other", ["http://a.example/other?id=0&sid=1", url(id=0)])
def test_other_paths_and_equal_urls_teach_nothing(other):
    """Only pages of one path are compared."""
    group = Group(16)
    for _ in range(50):
        group.repeats(url(id=0), other, 8, NONE) if other != url(id=0) else None
        group.repeats(other, other, 8, NONE)
    assert not group.learned


def test_the_number_of_names_is_bounded():
    """A script with endless names of parameters fills no memory."""
    group = Group(16)
    for n in range(1000):
        group.repeats(url(**{f"p{n}": 1}), url(), 8, NONE)
    assert len(group.names) <= 24


@given(st.text(st.sampled_from("ab1=&;/?%"), max_size=100))
def test_any_query_has_slots_and_a_row_says_all(query):
    """Nothing raises; a group read back knows what it knew."""
    group = taught()
    address = f"http://a.example/show?{query}"
    group.repeats(address, url(id=1), 8, NONE)
    again = Group(16).decode(group.encode())
    assert again.encode() == group.encode()
    assert again.core(address) == group.core(address)
