"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from crawler.numbers import counted


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "host", "0 hosts"),
        (1, "host", "1 host"),
        (2000, "host", "2,000 hosts"),
        (1, "URL of its origin", "1 URL of its origin"),
        (3, "URL of its origin", "3 URLs of its origin"),
    ],
)
def test_one_is_singular(number, noun, text):
    """The first word is the noun; thousands are separated."""
    assert counted(number, noun) == text
