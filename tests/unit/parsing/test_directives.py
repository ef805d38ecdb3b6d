"""Robots directives: what speaks to us, and that the stricter word wins."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parsing import parse_html
from crawler.parsing.directives import LONGEST_VALUE, NO_DIRECTIVES, parse_directives
from tests.unit.parsing.resolver import Joiner

PST_2010 = datetime(2010, 6, 25, 23, 0, tzinfo=UTC).timestamp()

# X-Robots-Tag values, noindex, nofollow: as Google documents the header
HEADERS = [
    (["noindex"], True, False),
    (["none"], True, True),
    (["all"], False, False),
    (["NOINDEX,NoFollow"], True, True),
    (["noindex", "nofollow"], True, True),
    (["otherbot: noindex"], False, False),
    (["ExampleBot: noindex"], True, False),
    (["examplebot/2.1: noindex"], True, False),
    (["*: noindex"], True, False),
    (["nofollow", "examplebot: noindex"], True, True),
    (["nofollow", "otherbot: noindex"], False, True),
    (["otherbot: noindex, examplebot: nofollow"], False, True),
    (["otherbot: examplebot: noindex"], True, False),
    (["otherbot: noindex, nofollow"], False, False),  # both belong to otherbot
    (["examplebot: noindex, nofollow"], True, True),
    (["max-snippet:20, noindex"], True, False),
    (["max-snippet: 20; noindex"], True, False),
    (["max-image-preview:large"], False, False),
    (["max-snippet:20, max-image-preview:large, noindex"], True, False),
    (["noarchive, nosnippet, noimageindex, notranslate"], False, False),
    (["index, noindex"], True, False),
    (["follow, nofollow"], False, True),
    (["noindexing"], False, False),
    (["no-index"], False, False),
    ([""], False, False),
    ([" , noindex ,, "], True, False),
    (["noindex nofollow"], True, True),  # lenient
    (["noindex;nofollow"], True, True),  # lenient
    (["otherbot: noindex; examplebot: nofollow"], False, True),
    (["otherbot: noindex; nofollow"], False, False),
    (["noindex: true"], True, False),  # lenient: a rule, not a scope
    (["unavailable_after: 25 Jun 2099 15:00:00 GMT"], False, False),
    (["unavailable_after: Fri, 25 Jun 2099 15:00:00 GMT, noindex"], True, False),
    (["unavailable_after: 25 Jun 2099 15:00:00 GMT, nofollow"], False, True),
]


@pytest.mark.parametrize(("headers", "noindex", "nofollow"), HEADERS, ids=lambda v: str(v)[:50])
def test_header_rules_add_up(headers, noindex, nofollow):
    """X-Robots-Tag must be read as documented, restrictive rules winning."""
    found = parse_directives((), headers, "ExampleBot")
    assert (found.noindex, found.nofollow) == (noindex, nofollow)


# HTML, noindex, nofollow
PAGES = [
    ('<meta name="robots" content="noindex">', True, False),
    ('<META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW">', True, True),
    ("<meta name='robots'content='noindex'>", True, False),
    ("<meta content=nofollow name=robots>", False, True),
    ('<!-- <meta name="robots" content="noindex"> -->', False, False),
    ('<meta name="robots" content="noindex"><meta name="robots" content="index">', True, False),
    (
        '<meta name="examplebot" content="noindex"><meta name="robots" content="nofollow">',
        True,
        True,
    ),
    ('<meta name="examplebot" content="nofollow"><meta name="robots" content="all">', False, True),
    ('<meta name="otherbot" content="noindex">', False, False),
    ('<meta property="robots" content="noindex">', False, False),
    ('<meta name="robots" content=" none ">', True, True),
    ('<meta name="Robots" content="NONE">', True, True),
    ('<meta name="robots" content="noindex;nofollow">', True, True),
    ('<meta name="robots" content="no-index">', False, False),
    (
        """<script>document.write('<meta name="robots" content="noindex">')</script>""",
        False,
        False,
    ),
    ('<body><p>x</p><meta name="robots" content="noindex"></body>', True, False),
    ("<body><meta name=robots content='noindex,nofollow'><a href=/x>x</a>", True, True),
    ('<a rel="nofollow" href="/x">x</a>', False, False),
    ('<template><meta name="robots" content="noindex"></template>', False, False),
]


@pytest.mark.parametrize(("page", "noindex", "nofollow"), PAGES, ids=lambda v: str(v)[:60])
def test_meta_rules_add_up(page, noindex, nofollow):
    """Meta robots must count wherever the element really is one, and only there."""
    found = parse_html(
        page.encode(), url="http://a.test/", canonicalizer=Joiner(), token="ExampleBot"
    ).robots
    assert (found.noindex, found.nofollow) == (noindex, nofollow)


@pytest.mark.parametrize(
    ("meta", "headers"),
    [(["noindex"], ["index"]), (["index,follow"], ["noindex"]), (["noindex"], [])],
)
def test_header_and_page_combine(meta, headers):
    """Neither place may take back what the other forbids."""
    assert parse_directives(meta, headers, "examplebot").noindex


@pytest.mark.parametrize(
    ("date", "at"),
    [
        ("25 Jun 2010 15:00:00 PST", PST_2010),
        ("Fri, 25 Jun 2010 23:00:00 GMT", PST_2010),
        ("Friday, 25-Jun-10 23:00:00 UTC", PST_2010),
        ("2010-06-25T23:00:00Z", PST_2010),
        ("2010-06-25T15:00:00-08:00", PST_2010),
        ("2010-06-25T23:00:00", PST_2010),
        ("25 Jun 2010 23:00:00", PST_2010),
        ("2010-06-25", datetime(2010, 6, 25, tzinfo=UTC).timestamp()),
        ("Fri, 25 Jun 2010", datetime(2010, 6, 25, tzinfo=UTC).timestamp()),
        ("25 June 2010", datetime(2010, 6, 25, tzinfo=UTC).timestamp()),
        ("tomorrow", None),
        ("", None),
        ("99999-99-99", None),
        ("25 Jun 99999999999 15:00:00 GMT", None),
    ],
)
def test_unavailable_after_is_a_date_and_not_a_scope(date, at):
    """The date must be read in every customary form, and never take the next rule with it."""
    for before in ("", "noarchive, ", "noarchive; ", "noarchive "):
        value = f"{before}unavailable_after: {date}, nofollow"
        found = parse_directives((), [value], "examplebot")
        assert found.nofollow
        assert found.noarchive == bool(before)
        assert found.unavailable_after == at


def test_a_page_expires_after_its_date():
    """Only after the earliest date named is a page expired."""
    found = parse_directives(
        ["unavailable_after: 2010-06-25"], ["unavailable_after: 2011-01-01"], "examplebot"
    )
    at = datetime(2010, 6, 25, tzinfo=UTC).timestamp()
    assert found.unavailable_after == at
    assert found.expired(at + 1)
    assert not found.expired(at)
    assert not NO_DIRECTIVES.expired(at)


def test_what_concerns_us_is_kept_as_written():
    """``raw`` must hold our rules once each, in order, and no one else's."""
    found = parse_directives(
        ["noindex, Max-Snippet: 20"], ["noindex", "otherbot: nofollow", "NOCACHE"], "examplebot"
    )
    assert found.raw == ("noindex", "max-snippet:20", "nocache")
    assert found.noarchive


def test_a_crawler_without_a_name_reads_what_is_said_to_all():
    """The token ``*`` must match no named scope."""
    assert parse_directives((), ["examplebot: noindex"], "*") == NO_DIRECTIVES


@given(st.lists(st.text(max_size=60), max_size=4), st.lists(st.text(max_size=60), max_size=4))
def test_nothing_raises_and_more_sources_are_never_milder(meta, headers):
    """Any text must end in a value, and adding a source may only add restrictions."""
    found = parse_directives(meta, headers, "bot")
    stricter = parse_directives([*meta, "none"], headers, "bot")
    alone = parse_directives(meta, (), "bot")
    assert stricter.noindex
    assert stricter.nofollow
    assert found.noindex >= alone.noindex


@pytest.mark.parametrize("unit", ["a:", "a: ", " ", ",", "unavailable_after:mon,", "x ", "a/"])
def test_values_are_bounded(unit):
    """Megabytes of directives must cost next to nothing and keep little."""
    found = parse_directives([unit * 500_000] * 100, [unit * 500_000] * 100, "bot")
    assert len(found.raw) <= 64
    assert sum(map(len, found.raw)) <= 64 * LONGEST_VALUE
