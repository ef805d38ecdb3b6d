"""Verdicts on pages: what the pipelines of a crawl ask, and who reads an archive again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.dedupe import DedupeOptions, Verdicts, body_hash
from crawler.model import Duplicate, Outcome, Page
from tests.support.prose import Prose


def page(url, text, **changes):
    made = Page(
        url, 200, 0.0, 0, None, "text/html", "utf-8", None, None, [], text, None, [], None, None, 0
    )
    return replace(made, **changes)


def text(seed, words=200):
    return Prose(seed).paragraph(words)


@pytest.fixture
def verdicts():
    return Verdicts(DedupeOptions())


def kept(verdicts, one):
    """Have a page judged and kept."""
    assert verdicts.verdict(one) is None
    return verdicts.keep(one)


def test_the_first_of_equal_pages_is_kept(verdicts):
    """A later page of the same text is its exact duplicate, white space aside."""
    row = kept(verdicts, page("http://a.test/1", text(1)))
    copy = page("http://b.test/2", text(1).replace(" ", "\n"))
    assert verdicts.verdict(copy) == Duplicate("http://a.test/1", Outcome.DUPLICATE_EXACT)
    assert copy.duplicate is not None
    assert copy.content_hash == row.content_hash
    assert copy.simhash is None  # the second stage was not asked


def test_a_page_that_says_nearly_the_same_is_a_near_duplicate(verdicts):
    """The distance says in how many bits the two differ."""
    kept(verdicts, page("http://a.test/1", text(1)))
    found = verdicts.verdict(page("http://a.test/2", f"{text(1)} {text(2, 9)}"))
    assert found is not None
    assert (found.of, found.kind) == ("http://a.test/1", Outcome.DUPLICATE_NEAR)
    assert 0 < found.distance <= 10


def test_a_page_is_no_duplicate_of_itself(verdicts):
    """Fetched again after a crash it gets the same verdict."""
    kept(verdicts, page("http://a.test/1", text(1)))
    kept(verdicts, page("http://a.test/1", text(1)))


def test_a_page_without_text_goes_by_its_bytes(verdicts):
    """Two of them are the same when their bodies are."""
    kept(verdicts, page("http://a.test/1", "", body_hash=body_hash(b"1").hex()))
    kept(verdicts, page("http://a.test/2", "", body_hash=body_hash(b"2").hex()))
    again = page("http://a.test/3", "", body_hash=body_hash(b"1").hex())
    assert verdicts.verdict(again) == Duplicate("http://a.test/1", Outcome.DUPLICATE_EXACT)


def test_a_stump_is_judged_but_makes_nobody_a_copy(verdicts):
    """What was cut in transfer is found a copy, and nothing is found a copy of it."""
    assert kept(verdicts, page("http://a.test/cut", text(1), interrupted=True)) is None
    kept(verdicts, page("http://a.test/whole", text(1)))
    assert verdicts.verdict(page("http://a.test/cut-2", text(1), interrupted=True)) is not None


def test_a_full_text_is_not_compared_with_a_main_text(verdicts):
    """Where no main text was found the boilerplate would make strangers alike."""
    kept(verdicts, page("http://a.test/1", text(1)))
    kept(verdicts, page("http://a.test/2", text(1) + " Another end.", main_text=False))


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        (DedupeOptions(near=False), ("content_hash",)),
        (DedupeOptions(exact=False), ("simhash",)),
        (DedupeOptions(exact=False, near=False), ()),
    ],
)
def test_a_stage_that_is_off_leaves_no_trace(options, fields):
    """Its field stays None, and it makes nothing a duplicate."""
    verdicts = Verdicts(options)
    kept(verdicts, page("http://a.test/1", text(1)))
    copy = page("http://a.test/2", text(1))
    assert bool(verdicts.verdict(copy)) == bool(fields)
    assert {name for name in ("content_hash", "simhash") if getattr(copy, name)} == {*fields}
