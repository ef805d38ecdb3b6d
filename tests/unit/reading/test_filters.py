"""Options of the command line as queries; bad ones are refused with rule and remedy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.errors import QueryError
from crawler.reading.filters import matches, read_limit, read_query
from crawler.store import PageQuery
from tests.support.catalog_rows import AT, page


def test_options_become_a_query():
    """Each option has its field; what is not given asks for any."""
    given = {
        "domain": "Example.COM", "since": "2026-12-01", "until": "2026-12-01T12:00:00+01:00",
        "status": "404", "type": "Text/HTML", "outcome": "gone",
    }  # fmt: skip
    assert read_query(given, newest_first=True) == PageQuery(
        domain="example.com",
        since=1_796_083_200.0,
        until=1_796_122_800.0,
        status=404,
        content_type="text/html",
        outcome="gone",
        newest_first=True,
    )
    assert read_query({"domain": None}) == PageQuery()


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("domain", "", "expected a registrable domain"),
        ("domain", "https://example.com/", "expected a registrable domain"),
        ("domain", "www.example.co.uk", "and no host below it: example.co.uk"),
        ("domain", "127.0.0.1:8767", "registrable domain, without a port: 127.0.0.1"),
        ("since", "yesterday", "ISO 8601"),
        ("until", "2026-13-01", "ISO 8601"),
        ("status", "99", "100 to 999"),
        ("status", "٢٠٠", "100 to 999"),
        ("type", "html", "a media type, such as text/html"),
        ("outcome", "duplicate", "did you mean duplicate_near?"),
        ("outcome", "x", "expected one of stored, duplicate_exact"),
    ],
)
def test_a_bad_value_names_option_rule_and_remedy(name, value, rule):
    """One sentence: the option as it was given, and what would be right."""
    with pytest.raises(QueryError) as error:
        read_query({name: value})
    assert str(error.value).startswith(f"--{name} {value}: ")
    assert rule in str(error.value)


@pytest.mark.parametrize(("text", "limit"), [("0", 0), ("12", 12), ("999999999", 999_999_999)])
def test_a_limit_is_a_whole_number(text, limit):
    """Zero stands for all."""
    assert read_limit(text) == limit


@pytest.mark.parametrize("text", ["", "-1", "1.5", "many", "1" * 10, "²"])
def test_another_limit_is_refused(text):
    """Whatever is no such number, or absurdly large, is none."""
    with pytest.raises(QueryError, match="expected a whole number"):
        read_limit(text)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"domain": "example.com"}, True),
        ({"domain": "example.org"}, False),
        ({"status": 404}, False),
        ({"content_type": "text/plain"}, False),
        ({"outcome": "gone"}, False),
        ({"since": AT, "until": AT + 1}, True),
        ({"until": AT}, False),
        ({"since": AT + 0.001}, False),
    ],
)
def test_a_row_matches_as_in_the_catalog(change, expected):
    """The bounds are those of the catalog's own queries: from since on, before until."""
    assert matches(replace(PageQuery(), **change), page(1)) is expected
