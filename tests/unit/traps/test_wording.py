"""Short texts that differ in numbers only say nothing new."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.traps.wording import Wording
from tests.support.prose import Prose


def test_numbers_alone_are_no_news():
    """The second page of a counter is hollow, and so is every further one."""
    wording = Wording()
    texts = [f"Entry {n}\nGo on to entry {n + 1}." for n in range(100)]
    assert [wording.is_hollow(text) for text in texts] == [False] + 99 * [True]


def test_prose_is_news_however_much_was_read():
    """Pages of a few sentences go on being new, also when the table of words has been filled."""
    wording = Wording()
    assert not any(wording.is_hollow(Prose(n).paragraph(40)) for n in range(2000))


def test_a_new_caption_under_the_same_words_is_news():
    """Four words of its own tell a page from its template, nearly always."""
    wording, template = Wording(), "\nBuy now\nReturns within 30 days\nAll our shops\nContact us"
    texts = [" ".join(Prose(n).words(4)) + template for n in range(100)]
    assert sum(map(wording.is_hollow, texts)) <= 20


def test_lists_of_the_same_goods_are_soon_no_news():
    """However filters are combined, next to no list of 12 of 200 goods is news after 60 others."""
    wording, chance = Wording.of_script(), random.Random(1)
    goods = [Prose(n).paragraph(12) for n in range(200)]
    lists = ["Shop\n" + "\n".join(chance.sample(goods, 12)) for _ in range(240)]
    hollow = [wording.is_hollow(text, combined=True) for text in lists]
    assert not any(hollow[:15])
    assert sum(hollow[60:]) >= 170


def test_texts_of_their_own_are_news_under_combined_parameters():
    """Thirty words of their own tell most pages from a template of a hundred, to the last.

    One page in 17 would do for such pages to go on.
    """
    wording, template = Wording.of_script(), Prose("template").paragraph(100)
    texts = [f"{template}\n{Prose(n).paragraph(30)}" for n in range(1000)]
    hollow = [wording.is_hollow(text, combined=True) for text in texts]
    assert sum(hollow) <= 400
    assert not all(hollow[-17:])


@pytest.mark.parametrize("wording", [Wording, Wording.of_script])
@pytest.mark.parametrize("text", ["", " \n ", "12 34", "2024"])
def test_no_words_are_no_news(text, wording):
    """A page without words is hollow from the first one on."""
    assert wording().is_hollow(text)


def test_long_texts_are_left_to_their_fingerprints():
    """A page of more than a thousand words is never hollow."""
    wording, text = Wording(), "the same " * 1000
    assert not wording.is_hollow(text)
    assert not wording.is_hollow(text)


@given(
    st.sampled_from([Wording, Wording.of_script]),
    st.lists(st.text(max_size=2000), max_size=5),
)
def test_any_text_is_read_and_a_row_says_all(empty, texts):
    """Nothing raises, lone surrogates included, and a table read back judges as it did."""
    wording = empty()
    for text in [*texts, "\ud800 a"]:
        wording.is_hollow(text)
    again = Wording.decode(wording.encode())
    assert again.encode() == wording.encode()
    assert all(again.is_hollow(text) == wording.is_hollow(text) for text in texts)
