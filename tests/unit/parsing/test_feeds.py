"""Feeds: which pages they link to and when these changed; and the dates of lists."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.parsing.dates import parse_date
from crawler.parsing.feeds import MOST_JSON, looks_like_feed, parse_feed
from crawler.parsing.listing import SitemapOptions
from crawler.urls import Canonicalizer

CORPUS = Path(__file__).parents[2] / "corpus" / "sitemaps"
ROWS = json.loads((CORPUS / "feeds.json").read_text(encoding="ascii"))
DATES = json.loads((CORPUS / "dates.json").read_text(encoding="ascii"))
JSON_FEED = b'{"version":"https://jsonfeed.org/version/1","items":[%s]}'


def read(body, *, url="http://a.test/f", **more):
    return parse_feed(body, url=url, canonicalizer=Canonicalizer(), **more)


def seconds(date):
    return None if date is None else datetime.fromisoformat(date).timestamp()


@pytest.mark.parametrize(
    ("url", "body", "kind", "found", "skipped"),
    [row[1:] for row in ROWS],
    ids=[row[0] for row in ROWS],
)
def test_a_feed_lists_what_the_row_says(url, body, kind, found, skipped):
    """Every row of the corpus must give its pages with their dates, in order."""
    feed = read(body.encode(), url=url)
    assert [(page.url, page.modified_at) for page in feed.pages] == [
        (page, seconds(date)) for page, date in found
    ]
    assert (feed.kind, feed.skipped, feed.sitemaps, feed.truncated) == (kind, skipped, [], False)
    assert kind != "none" or feed.error


@pytest.mark.parametrize(
    ("text", "date"), [row[:2] for row in DATES], ids=[f"{r[2]}-{r[0][:30]}" for r in DATES]
)
def test_a_date_is_what_the_row_says(text, date):
    """Every form of a date must give its second, and everything else none."""
    assert parse_date(text) == seconds(date)


@settings(max_examples=40)  # drawing from an expression is slow
@given(st.one_of(st.text(), st.from_regex(r"\A\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.{0,9}\Z"),
                 st.from_regex(r"\A\d{1,2} (Jan|May) \d{2,9} .{0,20}\Z")))  # fmt: skip
def test_no_text_raises_and_every_date_is_one_of_the_web(text):
    """Any text must give None or a time between 1970 and 2100."""
    at = parse_date(text)
    assert at is None or 0 < at < 4_102_444_800


@given(st.datetimes(datetime(1970, 1, 2), datetime(2099, 12, 30)), st.integers(-840, 840))  # noqa: DTZ001
def test_every_moment_is_read_back(moment, minutes):
    """What is written in the standard's form must be read as the same moment."""
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    text = moment.isoformat() + zone
    assert parse_date(text) == datetime.fromisoformat(text).timestamp()


def test_no_more_entries_are_taken_than_allowed():
    """The first entries must win in XML and in JSON, and the cut be reported."""
    xml = b"<rss>" + b"".join(b"<item><link>/%d</link></item>" % n for n in range(5)) + b"</rss>"
    items = JSON_FEED % b",".join(b'{"url":"/%d"}' % n for n in range(5))
    for five in (xml, items):
        feed = read(five, options=SitemapOptions(max_entries=4))
        assert [page.url for page in feed.pages] == [f"http://a.test/{n}" for n in range(4)]
        assert feed.truncated
        assert not read(five, options=SitemapOptions(max_entries=5)).truncated


def test_a_feed_is_cut_at_its_limit():
    """Bytes beyond the limit must not be read."""
    body = b"<rss><item><link>/1</link></item><item><link>/2</link></item></rss>"
    feed = read(body, options=SitemapOptions(max_bytes=40))
    assert [page.url for page in feed.pages] == ["http://a.test/1"]
    assert feed.truncated


@pytest.mark.parametrize(
    ("body", "error"),
    [
        pytest.param(b'{"a":' * 100_000, "JSON: maximum recursion", id="nesting"),
        pytest.param(b'{"a":' + b"1" * 5000 + b"}", "JSON: Exceeds the limit", id="a long number"),
        pytest.param(b"{" + b" " * MOST_JSON, "JSON of more than", id="size"),
        pytest.param(b'{"a":\xff}', "JSON: ", id="bytes"),
    ],
)
def test_hostile_json_ends_in_an_error(body, error):
    """JSON is read as a whole, so its faults must be caught as a whole."""
    feed = read(body)
    assert (feed.kind, feed.pages) == ("none", [])
    assert feed.error.startswith(error)


def test_dates_of_the_future_are_not_believed():
    """The next date of an entry must count where one is later than a day from now."""
    entry = (
        "<entry><link href='/1'/><updated>2099-01-01</updated><published>2024</published></entry>"
    )
    page = read(f"<feed>{entry}</feed>".encode(), now=1_710_000_000.0).pages[0]
    assert page.modified_at == seconds("2024-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("media_type", "start", "expected"),
    [
        ("text/xml", b"<?xml version='1.0'?>\n<rss version='2.0'>", True),
        ("text/html", b"\xef\xbb\xbf<feed xmlns='http://www.w3.org/2005/Atom'>", True),
        ("application/xml", b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>", True),
        ("application/rdf+xml", b"<rdf:RDF xmlns:foaf='http://xmlns.com/foaf/0.1/'>", False),
        ("application/rss+xml", b"<?xml version='1.0'?><!-- a long comment", True),
        ("application/rss+xml", b"<!DOCTYPE html><html>", False),
        ("application/feed+json", b'{"items": [', True),
        ("application/json", b'{"version": "https://jsonfeed.org/version/1.1",', True),
        ("application/json", b'{"version": "1"', False),
        ("text/xml", b"<urlset>", False),
        ("application/rss+xml", b"", False),
    ],
)
def test_a_feed_is_told_from_other_bodies(media_type, start, expected):
    """The root element must decide, and the media type where it is not in sight."""
    assert looks_like_feed(media_type, "http://a.test/f", start) is expected


PIECES = (
    "<rss> <channel> <item> </item> <link> </link> <guid> </guid> <pubDate> </pubDate> </rss>"
    " <feed> <entry> </entry> <link/> <updated> 2024-01-01 http://a.test/1 & &x;"
    " < ]]> <![CDATA[ <!-- -->"
    ' { } [ ] : , "items" "version" "https://jsonfeed.org/version/1" "url" 1 null'
)


@given(
    st.one_of(
        st.binary(),
        st.lists(st.sampled_from(PIECES.split(" ")), max_size=40).map(
            lambda p: "".join(p).encode()
        ),
    )
)
def test_nothing_raises_and_every_bound_holds(body):
    """Any bytes must give a list of distinct URLs within the bounds."""
    feed = read(body, options=SitemapOptions(max_entries=3, max_bytes=300))
    urls = [page.url for page in feed.pages]
    assert len(set(urls)) == len(urls) <= 3
    assert feed.error is None or not feed.error.startswith(("Type", "Index", "Key", "Attribute"))
    assert looks_like_feed("", "", body) in (True, False)
