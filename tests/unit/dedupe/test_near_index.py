"""Near-duplicates: who is named, who is not, and that nobody is missed."""

import random

import pytest

from crawler.dedupe import (
    DedupeOptions,
    Indexes,
    IndexRow,
    Match,
    NearIndex,
    content_hash,
    make_fingerprinter,
)
from crawler.dedupe import signature_set as signature_set_module
from crawler.dedupe.options import threshold
from crawler.model import Signature
from tests.unit.dedupe.samples import flip, make_text

HERE, THERE = "here.example", "there.example"
A, B, C = "https://here.example/a", "https://here.example/b", "https://there.example/c"
ASKING = "https://here.example/asking"


def signed(value, tokens=500):
    return Signature(value, tokens)


def bits(count):
    return (1 << count) - 1


@pytest.fixture
def index():
    return NearIndex()


@pytest.mark.parametrize(
    ("site", "tokens", "distance", "found"),
    [
        (HERE, 100, 10, True),
        (HERE, 100, 11, False),
        (HERE, 500, 8, True),
        (HERE, 500, 9, False),
        (HERE, 24, 0, False),
        (THERE, 100, 3, True),
        (THERE, 100, 4, False),
        (THERE, 900, 6, True),
        (THERE, 900, 7, False),
        (THERE, 4000, 5, False),
    ],
)
def test_threshold_decides(index, site, tokens, distance, found):
    """A page is found up to the threshold of its length and site, and not one bit beyond."""
    index.add(signed(0, tokens), A, HERE)
    match = index.lookup(signed(bits(distance), tokens), ASKING, site)
    assert match == (Match(A, distance) if found else None)


def test_lengths_must_be_alike(index):
    """Equal fingerprints of texts with very different lengths are no match."""
    index.add(signed(0, 500), A, HERE)
    assert index.lookup(signed(0, 751), ASKING, HERE) is None
    assert index.lookup(signed(0, 750), ASKING, HERE) == Match(A, 0)
    assert index.lookup(signed(0, 334), ASKING, HERE) == Match(A, 0)
    assert index.lookup(signed(0, 333), ASKING, HERE) is None


def test_texts_of_other_lengths_do_not_hide_a_match(index):
    """However many entries are passed over for their length, the match behind them is found."""
    for number in range(60):
        index.add(signed(0, 2000 + number), f"https://here.example/{number}", HERE)
    index.add(signed(3, 500), A, HERE)
    assert index.lookup(signed(0, 500), ASKING, HERE) == Match(A, 2)


def test_smaller_limit_of_the_two_holds(index):
    """A long text near a shorter one is judged by the long one's limit."""
    index.add(signed(0, 820), A, HERE)
    assert index.lookup(signed(bits(7), 790), ASKING, HERE) is None
    assert index.lookup(signed(bits(6), 790), ASKING, HERE) == Match(A, 6)


def test_closest_wins_and_then_the_oldest(index):
    """Of several matches the closest is named; at equal distance the one indexed first."""
    index.add(signed(bits(4)), A, HERE)
    index.add(signed(bits(2) << 60), B, HERE)
    index.add(signed(bits(2) << 30), C, THERE)
    assert index.lookup(signed(0), ASKING, HERE) == Match(B, 2)


def test_older_page_of_another_site_wins_a_tie(index):
    """Age counts across sites as within one."""
    index.add(signed(1), C, THERE)
    index.add(signed(2), A, HERE)
    assert index.lookup(signed(0), ASKING, HERE) == Match(C, 1)


def test_a_page_is_no_duplicate_of_itself(index):
    """Fetched again, with a changed text too, a page finds others only (C2)."""
    index.add(signed(0), A, HERE)
    assert index.lookup(signed(0), A, HERE) is None
    assert index.lookup(signed(1), A, HERE) is None
    index.add(signed(3), B, HERE)
    assert index.lookup(signed(0), A, HERE) == Match(B, 2)


def test_algorithms_never_meet(index):
    """Signatures of two algorithms are not comparable, however alike."""
    index.add(signed(0), A, HERE)
    assert index.lookup(Signature(0, 500, "other-1"), ASKING, HERE) is None


def test_without_cross_site_search_sites_are_alone():
    """Switched off, no other site is searched, not even for equal fingerprints."""
    index = NearIndex(DedupeOptions(cross_site=False))
    index.add(signed(0), A, HERE)
    assert index.lookup(signed(0), C, THERE) is None
    assert index.lookup(signed(0), B, HERE) == Match(A, 0)


def test_a_crowd_ends_the_privilege_of_long_texts():
    """From so many pages on, long texts of other sites must be as near as short ones."""
    index = NearIndex(DedupeOptions(cross_site_crowd=2))
    index.add(signed(0, 900), A, HERE)
    assert index.lookup(signed(bits(6), 900), C, THERE) == Match(A, 6)
    index.add(signed(bits(64), 900), B, HERE)
    assert index.lookup(signed(bits(6), 900), C, THERE) is None
    assert index.lookup(signed(bits(3), 900), C, THERE) == Match(A, 3)


def test_adding_again_takes_no_room(index):
    """A page indexed again with the same signature leaves one entry."""
    for _ in range(5):
        index.add(signed(0), A, HERE)
        index.add(signed(9), B, HERE)
    assert [len(pages) for pages in index._sites.values()] == [2]
    assert len(index._urls) == 2


def test_short_texts_take_no_room(index):
    """What can never be found is not kept."""
    index.add(signed(0, 24), A, HERE)
    assert not index._sites


def test_discarded_pages_are_not_named(index):
    """After a page changed, nobody is a duplicate of what it said, in its site or beyond."""
    index.add(signed(0), A, HERE)
    index.add(signed(1), B, HERE)
    index.discard(signed(0), B, HERE)
    assert index.lookup(signed(0), ASKING, HERE) == Match(A, 0)
    index.discard(signed(0), A, HERE)
    assert index.lookup(signed(0), ASKING, HERE) == Match(B, 1)
    assert index.lookup(signed(0), C, THERE) == Match(B, 1)
    index.add(signed(0), A, HERE)
    assert index.lookup(signed(0), ASKING, HERE) == Match(A, 0)


@pytest.mark.parametrize("seed", range(3))
def test_recall_is_exact_against_brute_force(seed, monkeypatch):
    """Clustered pages of several sites and lengths: each answer is that of comparing all."""
    monkeypatch.setattr(signature_set_module.SignatureSet.__init__, "__defaults__", (50,))
    rng = random.Random(seed)
    options = DedupeOptions()
    index, pages = NearIndex(options), []
    centres = [rng.getrandbits(64) for _ in range(12)]
    for number in range(400):
        value = flip(rng.choice(centres), rng.randrange(9), rng)
        signature = Signature(value, rng.choice([20, 30, 240, 260, 300, 700, 820, 1100, 5000]))
        site, url = rng.choice([HERE, THERE]), f"https://x.example/{number}"
        crowd = len(pages)
        expected = min(
            (
                (apart, place)
                for place, (theirs, where) in enumerate(pages)
                if (apart := (theirs.value ^ value).bit_count())
                <= threshold(
                    signature.tokens,
                    theirs.tokens,
                    same_site=where == site,
                    options=options,
                    crowd=crowd,
                )
            ),
            default=None,
        )
        match = index.lookup(signature, url, site)
        if expected is None:
            assert match is None
        else:
            assert match == Match(f"https://x.example/{expected[1]}", expected[0])
        index.add(signature, url, site)
        pages.append((signature, site))


def test_texts_by_their_fingerprints():
    """End to end: a footer with a date is a near-duplicate, a short note is not judged."""
    maker, index = make_fingerprinter("fast"), NearIndex()
    article = make_text(400)
    index.add(maker.fingerprint(article), A, HERE)
    match = index.lookup(maker.fingerprint(article + " footer 2026-11-30"), B, HERE)
    assert match is not None
    assert match.url == A
    assert index.lookup(maker.fingerprint(make_text(400, seed=9)), B, HERE) is None
    index.add(maker.fingerprint("Short note. Call 1."), A, HERE)
    assert index.lookup(maker.fingerprint("Short note. Call 2."), B, HERE) is None


def test_repetitive_article_with_a_dated_footer():
    """A list-like page of 300 almost equal lines is found again under a new footer."""
    maker, index = make_fingerprinter("fast"), NearIndex()
    article = " ".join(f"a word{number} of the article" for number in range(300))
    index.add(maker.fingerprint(article), A, HERE)
    match = index.lookup(maker.fingerprint(f"{article} footer 2026-11-30"), B, HERE)
    assert match is not None


def row(url, text, site=HERE):
    signature = make_fingerprinter("fast").fingerprint(text)
    return IndexRow(url, content_hash(text).hex(), str(signature), signature.tokens, site)


def test_rows_bring_both_indexes_back():
    """After a start from stored rows the answers are those of the run before."""
    text = make_text(300)
    indexes = Indexes()
    assert indexes.load([row(A, text), row(C, "only exact", THERE)]) == 2
    signature = make_fingerprinter("fast").fingerprint(text)
    assert indexes.exact.lookup(content_hash(text), B) == A
    assert indexes.near.lookup(signature, B, HERE) == Match(A, 0)
    assert indexes.exact.lookup(content_hash("only exact"), B) == C
    assert indexes.near.lookup(signature, A, HERE) is None
    assert len(indexes.urls) == 2


@pytest.mark.parametrize(
    ("content", "simhash"),
    [(None, None), ("", ""), ("zz", "zz"), ("ab" * 15, "words3-poly-1:12"), ("ab" * 16, None)],
    ids=["none", "empty", "no-hex", "short", "exact-only"],
)
def test_unreadable_rows_are_passed_over(content, simhash):
    """A row that an older or broken store left behind raises nothing and matches nothing."""
    indexes = Indexes()
    assert indexes.load([IndexRow(A, content, simhash, 100, HERE)]) == 1
    assert indexes.near.lookup(signed(0x12, 100), B, HERE) is None
