"""What is asked for on the command line, as a query of the catalog."""

from __future__ import annotations

import difflib
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawler.errors import QueryError
from crawler.model import Outcome
from crawler.store import PageQuery
from crawler.urls import read_domain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.store import PageRow

_MEDIA = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_STATUS = range(100, 1000)
_OUTCOMES = [outcome.value for outcome in Outcome]


def read_query(given: Mapping[str, str | None], *, newest_first: bool = False) -> PageQuery:
    """Return the query that options ask for.

    Args:
        given: Values of ``domain``, ``since``, ``until``, ``status``, ``type`` and
            ``outcome``; None, or nothing, for any.
        newest_first: The order.

    Raises:
        QueryError: A value is unusable; names the option, the rule and the remedy.
    """
    read = {name: value for name, value in given.items() if value is not None}
    return PageQuery(
        domain=_domain(read["domain"]) if "domain" in read else None,
        since=_time("since", read["since"]) if "since" in read else None,
        until=_time("until", read["until"]) if "until" in read else None,
        status=_status(read["status"]) if "status" in read else None,
        content_type=_media(read["type"]) if "type" in read else None,
        outcome=_outcome(read["outcome"]) if "outcome" in read else None,
        newest_first=newest_first,
    )


def read_limit(value: str) -> int:
    """Return how many rows are asked for; 0 = all.

    Raises:
        QueryError: It is no such number.
    """
    if value.isascii() and value.isdigit() and len(value) < 10:  # noqa: PLR2004
        return int(value)
    raise QueryError(f"--limit {value}: expected a whole number, 0 for all")


def matches(query: PageQuery, row: PageRow) -> bool:
    """Whether a page is among those that a query asks for."""
    return (
        query.domain in (None, row.domain)
        and query.status in (None, row.status_code)
        and query.content_type in (None, row.content_type)
        and query.outcome in (None, row.outcome)
        and (query.since is None or row.fetched_at >= query.since)
        and (query.until is None or row.fetched_at < query.until)
    )


def _domain(value: str) -> str:
    try:
        return read_domain(value)
    except ValueError as error:
        raise QueryError(f"--domain {value}: {error}") from None


def _time(name: str, value: str) -> float:
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise QueryError(
            f"--{name} {value}: expected a date or time in ISO 8601, UTC unless it says "
            "otherwise, such as 2026-11-30 or 2026-11-30T19:54:27Z"
        ) from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _status(value: str) -> int:
    if value.isascii() and value.isdigit() and len(value) == 3 and int(value) in _STATUS:  # noqa: PLR2004
        return int(value)
    raise QueryError(f"--status {value}: expected an HTTP status, 100 to 999")


def _media(value: str) -> str:
    if not _MEDIA.fullmatch(value):
        raise QueryError(f"--type {value}: expected a media type, such as text/html")
    return value.lower()


def _outcome(value: str) -> str:
    if value in _OUTCOMES:
        return value
    near = difflib.get_close_matches(value, _OUTCOMES, n=1)
    hint = f"did you mean {near[0]}? all are " if near else "expected one of "
    raise QueryError(f"--outcome {value}: is none; {hint}{', '.join(_OUTCOMES)}")
