"""Reads a Retry-After header: how long a server asks to be left alone.

Garbage is treated as an absent header; so is a sign, a unit or a list. The wait is a wish for
the *least* time: the caller's own delay and back-off still hold beside it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_MAX_LENGTH = 64  # the longest date is 33 characters; a longer number of seconds is the cap
_CENTURY_WINDOW = 50
_SECONDS = re.compile(r"[0-9]+").fullmatch
_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTHS = {name: number for number, name in enumerate(_MONTH.split("|"), start=1)}
_TIME = r"(?P<h>[01][0-9]|2[0-3]):(?P<m>[0-5][0-9]):(?P<s>[0-5][0-9]|60)"
_DAY = "mon|tue|wed|thu|fri|sat|sun"
_LONG_DAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_FORMS = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE).fullmatch
    for form in (
        rf"(?:{_DAY}), (?P<d>[0-9]{{2}}) (?P<mon>{_MONTH}) (?P<y>[0-9]{{4}}) {_TIME} GMT",
        rf"(?:{_LONG_DAY}), (?P<d>[0-9]{{2}})-(?P<mon>{_MONTH})-(?P<y>[0-9]{{2}}) {_TIME} GMT",
        rf"(?:{_DAY}) (?P<mon>{_MONTH}) (?P<d>[ 0-9]?[0-9]) {_TIME} (?P<y>[0-9]{{4}})",
    )
)


def parse_retry_after(value: str | bytes | None, now: float, cap: float) -> float | None:
    """Return the seconds from `now` that the header asks for, within 0 to `cap`.

    Args:
        value: the field value; None if the header is absent.
        now: crawl-clock seconds since the epoch.
        cap: the longest wait to report, seconds; numbers of any length end there.

    Returns:
        0.0 for a date in the past; None for an absent or unreadable header.

    Spec: RFC 9110 §10.2.3, dates in all three forms of §5.6.7. Names of days and months are taken
    in any case and the day of the week is not checked against the date.
    """
    if value is None:
        return None
    text = (value.decode("latin-1") if isinstance(value, bytes) else value).strip(" \t")
    if _SECONDS(text):
        digits = text.lstrip("0") or "0"
        # far beyond any cap, and int() refuses what is longer still
        return cap if len(digits) > _MAX_LENGTH else min(float(digits), cap)
    at = _date(text, now) if len(text) <= _MAX_LENGTH else None
    return None if at is None else min(max(at - now, 0.0), cap)


def _date(text: str, now: float) -> float | None:
    """Return an HTTP-date as seconds since the epoch, or None if it is none."""
    found = next((match for form in _FORMS if (match := form(text))), None)
    if found is None:
        return None
    year = int(found["y"])
    if len(found["y"]) == 2:  # noqa: PLR2004 - the form of RFC 850
        year = _four_digits(year, now)
    try:
        day = datetime(year, _MONTHS[found["mon"].lower()], int(found["d"]), tzinfo=UTC)
        # the 60 of a leap second is the next minute's 0
        span = timedelta(hours=int(found["h"]), minutes=int(found["m"]), seconds=int(found["s"]))
        return (day + span).timestamp()
    except (ValueError, OverflowError):  # no such day
        return None


def _four_digits(year: int, now: float) -> int:
    """Place a two-digit year: never more than 50 years ahead (RFC 9110 §5.6.7)."""
    this_year = datetime.fromtimestamp(now, tz=UTC).year
    full = this_year - this_year % 100 + year
    return full - 100 if full > this_year + _CENTURY_WINDOW else full
