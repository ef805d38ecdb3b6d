"""What fuzzing has found, and what it begins with, is tried with every run."""

from __future__ import annotations

import pytest

from tests.fuzz.limits import MOST_BYTES, peak_bytes, timed
from tests.fuzz.seeds import FOUND, WORDS, found, seeds
from tests.fuzz.targets import TARGETS

_LARGEST_FILE = 4_096
_LARGEST = 24 * 2**10 + 16 * _LARGEST_FILE  # bytes of one target's files


def _inputs(name: str) -> list[bytes]:
    return [*seeds(name), *(path.read_bytes() for path in found(name))]


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_that_was_found_raises_or_costs_too_much(name):
    """Each input ends as promised, in less than a second of CPU and 256 MB."""
    inputs = _inputs(name)
    assert len(inputs) >= 2

    def replay() -> None:
        for data in inputs:
            timed(TARGETS[name], data)

    assert peak_bytes(replay) < MOST_BYTES


def test_every_target_is_begun_somewhere():
    """A target has seeds, words, and what runs have kept; and nothing is kept for no target."""
    assert WORDS.keys() == TARGETS.keys()
    assert sorted(path.name for path in FOUND.iterdir() if path.is_dir()) == sorted(TARGETS)


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_kept_is_small(name):
    """The repository holds what teaches something, not what a run happened to make."""
    sizes = [path.stat().st_size for path in found(name)]
    assert max(sizes) <= _LARGEST_FILE
    assert sum(sizes) <= _LARGEST
