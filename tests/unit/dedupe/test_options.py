"""Thresholds: how far apart two texts of given lengths may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedupe import DedupeOptions, threshold
from crawler.dedupe.options import NO_MATCH
from crawler.errors import ConfigError

OPTIONS = DedupeOptions()
TOKENS = st.integers(-5, 10_000_000)


@pytest.mark.parametrize(
    ("tokens", "same_site", "across"),
    [
        (0, NO_MATCH, NO_MATCH),
        (24, NO_MATCH, NO_MATCH),
        (25, 10, 3),
        (149, 10, 3),
        (249, 10, 3),
        (250, 9, 3),
        (399, 9, 3),
        (400, 8, 3),
        (799, 8, 3),
        (800, 6, 6),
        (1_999, 6, 6),
        (2_000, 5, 5),
        (3_999, 5, 5),
        (4_000, 4, 4),
        (1_000_000, 4, 4),
    ],
)
def test_table_by_length(tokens, same_site, across):
    """The measured table holds at its edges, and across sites the demand is stricter."""
    assert threshold(tokens, tokens, same_site=True, options=OPTIONS) == same_site
    assert threshold(tokens, tokens, same_site=False, options=OPTIONS) == across


@pytest.mark.parametrize(
    ("a", "b", "limit"),
    [(240, 260, 9), (100, 150, 10), (100, 151, NO_MATCH), (20, 26, NO_MATCH), (3_900, 4_100, 4)],
    ids=["smaller-limit", "factor-kept", "factor-broken", "one-too-short", "edge"],
)
def test_both_texts_are_heard(a, b, limit):
    """The smaller of the two limits holds, and lengths lie within a factor of 1.5."""
    assert threshold(a, b, same_site=True, options=OPTIONS) == limit


def test_fewest_tokens_can_be_raised():
    """A floor above the table's first row holds, at its edge too."""
    options = DedupeOptions(min_tokens=60)
    limits = [threshold(n, n, same_site=True, options=options) for n in (59, 60)]
    assert limits == [NO_MATCH, 10]


def test_a_large_crowd_ends_the_privilege_of_long_texts():
    """With ten million pages searched, chance asks for distance 3 from long texts too."""
    at = {
        crowd: threshold(900, 900, same_site=False, options=OPTIONS, crowd=crowd)
        for crowd in (9_999_999, 10_000_000)
    }
    assert at == {9_999_999: 6, 10_000_000: 3}


@given(TOKENS, TOKENS, st.booleans())
def test_threshold_is_symmetric_and_bounded(a, b, same_site):
    """Neither text is special, and no pair may be more than 10 bits apart."""
    limit = threshold(a, b, same_site=same_site, options=OPTIONS)
    assert limit == threshold(b, a, same_site=same_site, options=OPTIONS)
    assert NO_MATCH <= limit <= 10
    assert limit <= threshold(a, b, same_site=True, options=OPTIONS)


@pytest.mark.parametrize(
    "values",
    [
        {"thresholds": ()},
        {"thresholds": ((100, 3), (50, 4))},
        {"thresholds": ((50, 3), (50, 4))},
        {"thresholds": ((0, 3),)},
        {"thresholds": ((25, 11),)},
        {"thresholds": ((25, -1),)},
        {"cross_site_distance": 11},
        {"cross_site_long_distance": -1},
        {"length_factor": 0.9},
        {"min_tokens": 0},
    ],
    ids=str,
)
def test_values_out_of_range_stop_the_crawl(values):
    """A table that could not be meant is refused at the start."""
    with pytest.raises(ConfigError, match="expected"):
        DedupeOptions(**values)


@given(st.integers(1, 100_000), st.integers(1, 100_000), st.sampled_from([1.0, 1.1, 1.5, 3.0]))
def test_range_of_lengths_is_that_of_the_threshold(a, b, factor):
    """A search narrowed to comparable lengths leaves out nothing the threshold would pass."""
    options = DedupeOptions(length_factor=factor, thresholds=((1, 10),), min_tokens=1)
    least, most = options.comparable(a)
    if threshold(a, b, same_site=True, options=options) != NO_MATCH:
        assert least <= b <= most
