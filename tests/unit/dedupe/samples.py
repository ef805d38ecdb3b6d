"""Seeded texts and numbers for the tests of this package."""

from __future__ import annotations

import random

LETTERS = "etaoinshrdlucmfwypvbgk"


def make_words(count: int, *, seed: int = 1) -> list[str]:
    """Return words of 2 to 9 letters from a vocabulary of 2,000, the first ones most often."""
    rng = random.Random(seed)
    vocabulary = ["".join(rng.choices(LETTERS, k=rng.randint(2, 9))) for _ in range(2000)]
    return [vocabulary[int(rng.paretovariate(0.8)) % 2000] for _ in range(count)]


def make_text(count: int, *, seed: int = 1) -> str:
    """Return a text of so many words with some punctuation and capitals."""
    rng = random.Random(seed + 1)
    words = make_words(count, seed=seed)
    ends = ["", "", "", "", ",", ".", "\n"]
    return " ".join(
        (word.capitalize() if rng.random() < 0.1 else word) + rng.choice(ends) for word in words
    )


def flip(value: int, bits: int, rng: random.Random) -> int:
    """Return a value at exactly so many bits from another."""
    for bit in rng.sample(range(64), bits):
        value ^= 1 << bit
    return value
