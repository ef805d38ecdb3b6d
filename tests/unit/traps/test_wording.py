"""Short texts that differ in numbers only say nothing new."""

from __future__ import annotations

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


@pytest.mark.parametrize("text", ["", " \n ", "12 34", "2024"])
def test_no_words_are_no_news(text):
    """A page without words is hollow from the first one on."""
    assert Wording().is_hollow(text)


def test_long_texts_are_left_to_their_fingerprints():
    """A page of more than a thousand words is never hollow."""
    wording, text = Wording(), "the same " * 1000
    assert not wording.is_hollow(text)
    assert not wording.is_hollow(text)


@given(st.lists(st.text(max_size=2000), max_size=5))
def test_any_text_is_read_and_a_row_says_all(texts):
    """Nothing raises, lone surrogates included, and a table read back judges as it did."""
    wording = Wording()
    for text in [*texts, "\ud800 a"]:
        wording.is_hollow(text)
    again = Wording.decode(wording.encode())
    assert again.encode() == wording.encode()
    assert all(again.is_hollow(text) == wording.is_hollow(text) for text in texts)
