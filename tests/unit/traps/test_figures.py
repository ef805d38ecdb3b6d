"""When a pattern is stopped, when it goes on, and what it costs to find out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.traps.figures import LATE, Figures, Sign
from crawler.traps.options import TrapOptions
from crawler.traps.patterns import shape_of
from crawler.traps.trickle import Trickle

OPTIONS = TrapOptions(patience=32, probe_every=16)
NUMBER = shape_of("http://a.example/item/1")
NAME = shape_of("http://a.example/docs/intro")
TOKEN = shape_of("http://a.example/s/8f3a61c0b2d94e17/x")
QUERY = shape_of("http://a.example/show?id=1")
ENDLESS = shape_of("http://a.example/x/x/x/x/x/x")


def stopped_after(shape, sign, of=lambda n: f"{n}", most=2000):
    """Return after how many fetches that all end so a pattern is stopped; None for never."""
    figures = Figures(OPTIONS)
    for n in range(most):
        if figures.stopped:
            return n
        figures.count(sign, shape, of(n))
    return None


@pytest.mark.parametrize(
    ("shape", "sign", "of", "fetches"),
    [
        (NUMBER, Sign.HOLLOW, str, 32),
        (NUMBER, Sign.LEAF, str, 128),
        (NUMBER, Sign.DUPLICATE, lambda _: "one", 33),  # the first shows no concentration
        (NUMBER, Sign.DUPLICATE, str, 128),
        (NUMBER, Sign.REDIRECT, str, 32),
        (NUMBER, Sign.DEAD, str, 256),
        (NAME, Sign.HOLLOW, str, 128),
        (NAME, Sign.DUPLICATE, lambda _: "one", 33),
        (NAME, Sign.DUPLICATE, str, 256),
        (NAME, Sign.DEAD, str, None),
        (QUERY, Sign.DUPLICATE, str, 32),
        (TOKEN, Sign.DUPLICATE, str, 16),
        (ENDLESS, Sign.NEW, str, 8),
        (NUMBER, Sign.NEUTRAL, str, None),
        (NUMBER, Sign.NEW, str, None),
    ],
)
def test_how_long_a_pattern_is_tried(shape, sign, of, fetches):
    """The more a pattern looks like a trap, the sooner it is stopped; mirrors have time."""
    assert stopped_after(shape, sign, of) == fetches


@pytest.mark.parametrize(("every", "goes_on"), [(10, True), (16, True), (19, False)])
def test_one_new_page_in_seventeen_keeps_a_pattern_going(every, goes_on):
    """Each new page is worth sixteen wasted fetches."""
    figures = Figures(OPTIONS)
    for n in range(20_000):
        figures.count(Sign.HOLLOW if n % every else Sign.NEW, NUMBER)
        if figures.stopped:
            break
    assert figures.stopped is not goes_on


def test_a_pattern_that_proved_itself_has_more_patience():
    """After a thousand pages it takes four times as long to give up."""
    figures = Figures(OPTIONS)
    for _ in range(1000):
        figures.count(Sign.NEW, NUMBER)
    wasted = 0
    while not figures.stopped:
        figures.count(Sign.HOLLOW, NUMBER)
        wasted += 1
    assert wasted == 128


def test_urls_go_later_the_less_their_like_brings():
    """Priority decays with the credit, from the first quarter spent on, and never to the end."""
    figures, late = Figures(OPTIONS), []
    for _ in range(32):
        late.append(figures.late)
        figures.count(Sign.HOLLOW, NUMBER)
    assert late[:8] == 8 * [0]
    assert late == sorted(late)
    assert 0 < late[9] < late[-1] <= LATE


def test_a_new_page_lets_a_stopped_pattern_go_on():
    """The stop ends with the first probe that brings something, and is said so once."""
    figures = Figures(OPTIONS)
    for _ in range(32):
        assert not figures.count(Sign.HOLLOW, NUMBER, now=5.0)
    assert figures.stopped
    assert figures.trickle.since == 5.0
    assert figures.count(Sign.NEW, NUMBER)
    assert not figures.count(Sign.NEW, NUMBER)
    assert figures.trickle.since == 0


def test_probes_grow_with_the_logarithm_of_what_is_offered():
    """Of 100,000 rejected URLs a dozen or two are fetched; after a success it begins anew."""
    trickle = Trickle(16)
    probes = [n for n in range(1, 3000) if trickle.probe_is_due()]
    assert probes == [16, 48, 112, 240, 496, 1008, 2032]
    trickle.reset()
    assert [n for n in range(1, 50) if trickle.probe_is_due()] == [16, 48]


@given(st.lists(st.tuples(st.sampled_from(Sign), st.sampled_from([NUMBER, NAME, QUERY, TOKEN]))))
def test_a_row_says_all(signs):
    """Figures read back decide as they would have; the credit stays within its bounds."""
    figures = Figures(OPTIONS)
    for sign, shape in signs:
        figures.count(sign, shape, None, 1.0)
        assert 0 <= figures.credit <= 4 * figures.full
    again = Figures(OPTIONS).decode(figures.encode())
    assert again.encode() == figures.encode()
    assert (again.stopped, again.late) == (figures.stopped, figures.late)
