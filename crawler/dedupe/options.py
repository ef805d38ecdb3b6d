"""What counts as a duplicate: the switches and the threshold table."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import ceil, floor

from crawler.errors import ConfigError

MAX_DISTANCE = 10
"""Largest usable distance in bits. At 12, pages that merely share a template begin to match."""

NO_MATCH = -1
"""A distance no pair can have: the two pages must not be compared at all."""

THRESHOLDS = ((25, 10), (250, 9), (400, 8), (800, 6), (2_000, 5), (4_000, 4))
"""(fewest tokens, largest distance in bits), measured for main text inside one site.

One changed word touches three of n shingles, and the expected distance of a small edit
falls with the square root of its share: a date line moves 100 words by 6 bits and 5,000
words by none. So short pages need a wide threshold and long ones bear a narrow one.
"""


@dataclass(frozen=True, slots=True)
class DedupeOptions:
    """How duplicates are recognised.

    Attributes:
        exact: Whether pages with the same text are duplicates.
        near: Whether pages with nearly the same text are duplicates.
        algorithm: Name of the fingerprinter: "fast", "numpy" or "reference".
        thresholds: Rows of (fewest tokens, largest distance in bits), for one site.
        min_tokens: Texts with fewer tokens have no near-duplicates, only exact ones.
        length_factor: The longer text has at most this many times the tokens of the other.
        cross_site: Whether near-duplicates are sought on other sites too.
        cross_site_distance: Largest distance across sites, in bits: chance matches grow
            with the number of pages searched.
        cross_site_long_tokens: From this many tokens on, in both texts, the next holds.
        cross_site_long_distance: Largest distance across sites for long texts, in bits.
        cross_site_crowd: With this many pages indexed, long texts get no privilege.

    Raises:
        ConfigError: A value is out of range; the crawl does not start.
    """

    exact: bool = True
    near: bool = True
    algorithm: str = "fast"
    thresholds: tuple[tuple[int, int], ...] = THRESHOLDS
    min_tokens: int = 25
    length_factor: float = 1.5
    cross_site: bool = True
    cross_site_distance: int = 3
    cross_site_long_tokens: int = 800
    cross_site_long_distance: int = 6
    cross_site_crowd: int = 10_000_000

    def __post_init__(self) -> None:
        lengths = [tokens for tokens, _ in self.thresholds]
        if not lengths or lengths != sorted(set(lengths)) or lengths[0] < 1:
            raise ConfigError(
                f"thresholds {self.thresholds!r}: expected rows (tokens, distance), tokens growing"
            )
        distances = [distance for _, distance in self.thresholds]
        for distance in (*distances, self.cross_site_distance, self.cross_site_long_distance):
            if not 0 <= distance <= MAX_DISTANCE:
                raise ConfigError(f"distance {distance} bits: expected 0 to {MAX_DISTANCE}")
        if self.length_factor < 1:
            raise ConfigError(f"length factor {self.length_factor}: expected 1 or more")
        if self.min_tokens < 1:
            raise ConfigError(f"fewest tokens {self.min_tokens}: expected 1 or more")

    def reach(self, tokens: int) -> int:
        """Return the largest distance in bits a text of so many tokens may have in its site.

        ``NO_MATCH`` if it is too short to be compared.
        """
        row = bisect_right(self.thresholds, (tokens, MAX_DISTANCE + 1))
        if tokens < self.min_tokens or not row:
            return NO_MATCH
        return self.thresholds[row - 1][1]

    def cross_site_reach(self, tokens: int, crowd: int) -> int:
        """Return the same for a text of another site, with ``crowd`` pages indexed."""
        long = tokens >= self.cross_site_long_tokens and crowd < self.cross_site_crowd
        limit = self.cross_site_long_distance if long else self.cross_site_distance
        return min(self.reach(tokens), limit)

    def comparable(self, tokens: int) -> tuple[int, int]:
        """Return bounds for the tokens of a text near enough in length; generous by one."""
        return floor(tokens / self.length_factor), ceil(tokens * self.length_factor)


def threshold(
    tokens_a: int, tokens_b: int, *, same_site: bool, options: DedupeOptions, crowd: int = 0
) -> int:
    """Return the largest distance in bits at which two texts are near-duplicates.

    Args:
        tokens_a: Tokens of the one text.
        tokens_b: Tokens of the other.
        same_site: Whether both are pages of one site.
        options: The table and its limits.
        crowd: How many pages are indexed in all; matters across sites only.

    Returns:
        0 to 10, the smaller of the two texts' own limits; ``NO_MATCH`` if the lengths
        alone decide that they are different.
    """
    shorter, longer = sorted((tokens_a, tokens_b))
    if longer > shorter * options.length_factor:
        return NO_MATCH
    if same_site:
        return min(options.reach(tokens_a), options.reach(tokens_b))
    return min(options.cross_site_reach(t, crowd) for t in (tokens_a, tokens_b))
