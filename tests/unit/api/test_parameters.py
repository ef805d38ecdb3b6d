"""What the read API accepts: every form of a value that is meant well, and nothing else."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from crawler.api.parameters import (
    PageFilter,
    read_hash,
    read_media_type,
    read_time,
    refuse_strange_names,
)
from crawler.api.problems import RequestError

NOON = 1_796_126_400.0  # 2026-12-01T12:00:00Z


@pytest.mark.parametrize(
    "text",
    [
        "2026-12-01T12:00:00Z",
        "2026-12-01T12:00:00",
        "2026-12-01 12:00",
        "2026-12-01T12:00:00.000Z",
        "2026-12-01T14:00:00+02:00",
        "2026-12-01T14:00:00 02:00",
        "2026-12-01T14:00:00 0200",
        "2026-12-01T07:30:00-04:30",
        "20261201T120000Z",
        "1796126400",
        "1796126400.000",
    ],
)
def test_a_time_may_be_written_in_many_ways(text):
    """ISO 8601 with any offset, without one in UTC, with a plus that became a space; seconds."""
    assert read_time(text) == NOON


@pytest.mark.parametrize(
    "text",
    ["", "noon", "-1", "1e3", "nan", "inf", "99999999999999", "2026-13-01", "2026-12-01T12:00:00 2",
     "0001-01-01T00:00:00+14:00", "1969-12-31T23:59:59Z", "\u0661\u0662", "1" * 5000,
     "2026-12-01\0"],
)  # fmt: skip
def test_what_is_no_time_is_refused(text):
    """The message says what is expected."""
    with pytest.raises(ValueError, match=r"expected .*ISO 8601"):
        read_time(text)


@given(st.text())
def test_any_text_is_read_or_refused(text):
    """Nothing but a ValueError comes of a text."""
    for read in (read_time, read_media_type, read_hash):
        with contextlib.suppress(ValueError):
            read(text)


@pytest.mark.parametrize(
    ("form", "accept", "lines"),
    [
        (None, "", False),
        (None, "*/*", False),
        (None, "application/x-ndjson", True),
        (None, "Application/X-NDJSON; q=0.9, text/plain", True),
        (None, "application/json, application/x-ndjson", False),
        ("ndjson", "application/json", True),
        ("json", "application/x-ndjson", False),
    ],
)
def test_lines_are_sent_to_those_who_ask_for_them(form, accept, lines):
    """The parameter decides; without it the header does."""
    assert PageFilter(format=form).wants_lines(accept) is lines


def test_a_filter_becomes_a_query():
    """Each condition arrives in the form that the catalog compares with."""
    wanted = PageFilter(
        domain="Example.COM", since="2026-12-01T12:00:00Z", type="TEXT/html", outcome="gone",
        order="desc", limit=7,
    )  # fmt: skip
    query = wanted.query()
    assert (query.domain, query.since, query.content_type) == ("example.com", NOON, "text/html")
    assert (query.outcome, query.newest_first, query.limit) == ("gone", True, 7)


@pytest.mark.parametrize(
    ("query", "name", "message"),
    [
        ("limits=1", "limits", r"'limits'; there are: cursor, limit"),
        ("limit=1&limit=2", "limit", "2 times"),
        ("=", "", "unknown"),
        ("x" * 1000 + "=1", "x" * 100, "…"),
    ],
)
def test_strange_names_are_refused(query, name, message):
    """A misspelt parameter would be passed over, and the answer be another than was meant."""
    request = SimpleNamespace(
        scope={"query_string": query.encode(), "route": SimpleNamespace(path="/a")},
        query_params=QueryParams(query),
    )
    with pytest.raises(RequestError, match=message) as raised:
        refuse_strange_names(request, {"/a": frozenset({"limit", "cursor"})})
    assert (raised.value.status, raised.value.parameter) == (422, name)
