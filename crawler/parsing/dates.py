"""Dates as sitemaps and feeds write them.

Spec: W3C NOTE-datetime, RFC 3339, RFC 822 with the years of RFC 2822.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_LONGEST_DATE = 64  # characters
_END_OF_DATES = 4_102_444_800.0  # seconds: the year 2100; later ones stand for "never"
_AFTER_THE_DAY = ("", "T", "t", " ")
_YEAR_OR_MONTH = re.compile(r"\d{4}(?:-\d\d)?", re.ASCII).fullmatch
_NAMED_MONTH = re.compile(
    r"\d{1,2}[ -](?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ -]\d{2,4}\b",
    re.IGNORECASE | re.ASCII,
).search


def parse_date(text: str) -> float | None:
    """Return a date as seconds since the epoch; None if it is invalid or no date of the web.

    Without a time it is midnight, without a zone UTC.

    Spec: W3C Date and Time Formats (with a blank for the T, and any zone), RFC 5322 §3.3.
    """
    text = text.strip()
    if len(text) > _LONGEST_DATE:
        return None
    try:
        if text[4:5] == "-" and text[7:8] == "-" and text[10:11] in _AFTER_THE_DAY:
            moment = datetime.fromisoformat(text.upper())
        elif _YEAR_OR_MONTH(text):
            moment = datetime.fromisoformat(f"{text}-01-01"[:10])
        elif _NAMED_MONTH(text):
            moment = parsedate_to_datetime(text)
        else:
            return None
        at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    return at if 0 < at < _END_OF_DATES else None
