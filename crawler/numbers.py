"""Numbers with their nouns, for sentences."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return ``1 host``, ``2,000 hosts``; the noun is one whose plural takes an s.

    Of several words the first one is the noun.
    """
    if number == 1:
        return f"1 {noun}"
    head, blank, rest = noun.partition(" ")
    return f"{number:,} {head}s{blank}{rest}"
