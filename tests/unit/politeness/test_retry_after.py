"""Retry-After: both forms, all three dates, and garbage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.politeness import parse_retry_after

NOW = 1_796_040_000.0  # Mon, 30 Nov 2026 12:00:00 GMT
CAP = 86_400.0

ROWS = [
    # RFC 9110 §10.2.3: delay-seconds is 1*DIGIT
    ("120", 120), ("0", 0), ("  7  ", 7), ("\t7", 7), ("007", 7), ("86400", CAP), ("86401", CAP),
    ("-5", None), ("+5", None), ("0x10", None), ("10s", None), ("1.5", None), ("120, 60", None),
    ("", None), ("soon", None), ("\u0663", None), ("1_0", None), ("nan", None), ("inf", None),
    ("99999999999999999999999", CAP), ("2147483648", CAP), ("9" * 5000, CAP),
    ("0" * 5000 + "7", 7.0),
    # §5.6.7: all three forms must be read
    ("Mon, 30 Nov 2026 12:02:00 GMT", 120),
    ("Monday, 30-Nov-26 12:02:00 GMT", 120),
    ("Mon Nov 30 12:02:00 2026", 120),
    ("Tue Dec  1 00:00:00 2026", 43_200),
    # the past asks for no wait; two-digit years lie at most 50 years ahead
    ("Mon, 30 Nov 2026 11:00:00 GMT", 0), ("Fri, 31 Dec 1999 23:59:59 GMT", 0),
    ("Friday, 31-Dec-99 23:59:59 GMT", 0), ("Monday, 30-Nov-76 12:00:00 GMT", CAP),
    ("Wed, 21 Oct 2099 07:28:00 GMT", CAP), ("Fri, 31 Dec 9999 23:59:60 GMT", None),
    # leniencies: weekday unchecked, leap second, any case
    ("Tue, 30 Nov 2026 12:02:00 GMT", 120), ("Mon, 30 Nov 2026 12:02:60 GMT", 180),
    ("mon, 30 nov 2026 12:02:00 gmt", 120),
    # no HTTP-date
    ("Mon, 30 Nov 2026 12:02:00 +0200", None), ("Mon, 31 Nov 2026 12:02:00 GMT", None),
    ("Mon, 30 Nov 2026 24:02:00 GMT", None), ("2026-11-30T12:02:00Z", None),
    ("Mon, 00 Nov 2026 12:02:00 GMT", None), ("Mon, 30 Nov 0000 12:02:00 GMT", None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "seconds"), ROWS)
def test_a_value_is_read_as_seconds_from_now_or_as_nothing(value, seconds):
    """RFC 9110 §10.2.3, §5.6.7: what the grammar allows is read, all else counts as absent."""
    assert parse_retry_after(value, NOW, CAP) == seconds


def test_an_absent_header_is_none_and_bytes_are_read_too():
    """Headers come as bytes or not at all."""
    assert parse_retry_after(None, NOW, CAP) is None
    assert parse_retry_after(b"12", NOW, CAP) == 12
    assert parse_retry_after(b"\xff12", NOW, CAP) is None


@given(st.text(max_size=80) | st.binary(max_size=80) | st.sampled_from([row[0] for row in ROWS]))
def test_any_value_ends_within_zero_and_the_cap(value):
    """Nothing raises, no wait is negative or beyond the cap."""
    seconds = parse_retry_after(value, NOW, 60.0)
    assert seconds is None or 0 <= seconds <= 60
