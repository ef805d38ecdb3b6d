"""Search by Hamming distance: exact recall, whatever the layout."""

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.dedupe.signature_set import SignatureSet, _radii
from tests.unit.dedupe.samples import flip


def brute(values, wanted, distance):
    apart = [((value ^ wanted).bit_count(), place) for place, value in enumerate(values)]
    return sorted(pair for pair in apart if pair[0] <= distance)


def filled(values, scan_limit):
    pages = SignatureSet(scan_limit)
    for place, value in enumerate(values):
        pages.add(value, place)
    return pages


@pytest.mark.parametrize("distance", range(11))
def test_radii_leave_no_way_to_hide(distance):
    """Spending every split of the distance over four blocks, one block stays in its radius."""
    radii = list(_radii(distance))
    cuts = combinations(range(distance + 3), 3)
    splits = [(a, b - a - 1, c - b - 1, distance + 2 - c) for a, b, c in cuts]
    assert all(any(n <= r for n, r in zip(split, radii, strict=True)) for split in splits)


@pytest.mark.parametrize("scan_limit", [10**9, 40], ids=["scanned", "sealed"])
@pytest.mark.parametrize("distance", range(11))
def test_planted_neighbours_are_all_found(distance, scan_limit):
    """Values planted at every distance up to the limit are found, and no others."""
    rng = random.Random(distance)
    wanted = rng.getrandbits(64)
    planted = [flip(wanted, bits, rng) for bits in range(16) for _ in range(8)]
    values = planted + [rng.getrandbits(64) for _ in range(3000)]
    rng.shuffle(values)
    found = list(filled(values, scan_limit).search(wanted, distance))
    assert found == brute(values, wanted, distance)
    assert len(found) >= 8 * (distance + 1)


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 300), max_size=80),
    st.integers(0, 2**64 - 1) | st.integers(0, 300),
    st.integers(-1, 10),
    st.integers(1, 30),
)
def test_search_equals_brute_force(values, wanted, distance, scan_limit):
    """For any values, crowded in one corner or not, the answer is that of comparing all."""
    found = list(filled(values, scan_limit).search(wanted, distance))
    assert found == brute(values, wanted, distance)


@pytest.mark.parametrize("distance", range(11))
def test_values_that_share_most_blocks_are_all_found(distance):
    """Where the lists would name nearly everything, the answer is that of a scan."""
    values = list(range(1000))
    found = list(filled(values, 500).search(0, distance))
    assert found == brute(values, 0, distance)


def test_every_entry_is_found_after_each_addition():
    """No entry falls between the sealed ones and those that are scanned."""
    rng = random.Random(6)
    pages, values = SignatureSet(9), []
    for entry in range(64):
        values.append(rng.getrandbits(64))
        pages.add(values[-1], 0)
        assert [list(pages.search(value, 0)) for value in values] == [
            [(0, known)] for known in range(entry + 1)
        ]


def test_search_is_narrowed_by_data():
    """Entries whose data lies outside the range do not count, sealed or not."""
    pages = filled([0] * 40, 25)
    assert list(pages.search(0, 0, least=10, most=30)) == [(0, entry) for entry in range(10, 31)]


def test_sealing_follows_growth():
    """All but the last additions are sealed, anew each time those outgrow the limit."""
    pages, sealed = SignatureSet(10), []
    for number in range(300):
        pages.add(number, 0)
        sealed.append(pages._sealed.size if pages._sealed else 0)
    assert sorted(set(sealed))[:5] == [0, 11, 22, 33, 44]
    assert all(number + 1 - size <= max(10, size // 8) for number, size in enumerate(sealed))


@pytest.mark.slow
def test_recall_is_exact_among_a_hundred_thousand():
    """A large site is searched through its lists, and no planted neighbour is missed."""
    rng = random.Random(1)
    wanted = [rng.getrandbits(64) for _ in range(40)]
    planted = [flip(value, bits, rng) for value in wanted for bits in range(11)]
    values = planted + [rng.getrandbits(64) for _ in range(100_000)]
    pages = filled(values, 32_768)
    for number, value in enumerate(wanted):
        mine = {(bits, number * 11 + bits) for bits in range(11)}
        assert mine <= set(pages.search(value, 10))


def test_values_added_while_a_search_is_read_do_no_harm():
    """A result half read survives additions and a seal."""
    pages = filled([0] * 10, 8)
    results = pages.search(0, 0)
    first = next(results)
    for _ in range(30):
        pages.add(0, 0)
    assert [first, *results] == [(0, entry) for entry in range(10)]


def test_data_belongs_to_its_entry():
    """Each entry keeps its word of data, and it can be replaced."""
    pages = filled([5, 6, 7], 1)
    pages.set_data(1, 2**64 - 1)
    assert [pages.data(entry) for entry in range(len(pages))] == [0, 2**64 - 1, 2]
