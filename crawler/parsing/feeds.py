"""Feeds: RSS, Atom and JSON Feed, read for the pages they list."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from crawler.parsing.listing import (
    DEFAULT_FEED_OPTIONS,
    LONGEST_HREF,
    Collector,
    Entry,
    Feed,
    SitemapOptions,
    Target,
)
from crawler.parsing.types import ContentType, Document
from crawler.parsing.xml_entries import CHUNK, DATES, XmlReader, find_root, to_utf_8

if TYPE_CHECKING:
    from crawler.parsing.page import Resolver

MOST_JSON = 8 * 2**20
"""Bytes of a JSON Feed: it is read as a whole, and takes twenty times its size at worst."""
_HTTP = re.compile(r"https?://", re.IGNORECASE).match
_FEED_ROOTS = {b"rss": "rss", b"rdf": "rss", b"feed": "atom"}
_FEED_ENTRIES = ("item", "entry")
FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/feed+json")
_RSS_1 = re.compile(rb"purl\.org/rss/|my\.netscape\.com/rdf/")
_JSON_FEED = re.compile(r"https?://jsonfeed\.org/version/").match
_FEED_FIELDS = frozenset({"link", "guid", "content", *DATES})


def parse_feed(
    body: bytes,
    *,
    url: str,
    canonicalizer: Resolver,
    options: SitemapOptions = DEFAULT_FEED_OPTIONS,
    header_charset: str | None = None,
    now: float | None = None,
) -> Feed:
    """Return the pages that an RSS, Atom or JSON feed links to; never raises.

    Args:
        body: as received, decompressed.
        url: of the feed, absolute; base of relative links unless xml:base names another.
        canonicalizer: resolves and normalises links.
        options: bounds.
        header_charset: charset parameter of Content-Type.
        now: crawl-clock seconds; dates more than a day later are not believed.

    Spec: RSS 2.0, RSS 1.0, RFC 4287 (Atom), JSON Feed 1.1, RFC 7303 §3 (charset).
    """
    feed = Feed(truncated=len(body) > options.max_bytes)
    try:
        collector = Collector(feed, url=url, resolver=canonicalizer, options=options, now=now)
        data = to_utf_8(body[: options.max_bytes], header_charset)
        if not read_feed(data, collector):
            feed.fail("neither RSS nor Atom nor JSON Feed")
    except Exception as error:  # noqa: BLE001 -- the edge of the wrapped parsers; callers count it
        feed.fail(f"{type(error).__name__}: {error}")
    return feed


def read_feed(data: bytes, collector: Collector) -> bool:
    """Read a feed in UTF-8 into the collector's list; False if it is none."""
    if data[:1] == b"{":
        return _read_json(data, collector)
    name, start = find_root(data)
    kind = _FEED_ROOTS.get(name)
    if kind is None or (name == b"rdf" and not _RSS_1.search(data, start, start + CHUNK)):
        return False
    collector.listing.kind = kind
    XmlReader(collector, _FEED_ENTRIES, _FEED_FIELDS, _finish_feed_entry).read(data, start)
    return True


def looks_like_feed(media_type: str, url: str, body_start: bytes) -> bool:  # noqa: ARG001
    """Whether a body that begins so is a feed; ``media_type`` in lower case, without parameters.

    The root element decides. Where it is not in sight, the media type does.
    """
    data = to_utf_8(body_start[:CHUNK], None)
    if data[:1] == b"{":
        return media_type == "application/feed+json" or b"jsonfeed.org/version/" in data
    name, start = find_root(data)
    if name == b"rdf":
        return _RSS_1.search(data, start) is not None
    return name in _FEED_ROOTS or (not name and data[:1] == b"<" and media_type in FEED_TYPES)


def _finish_feed_entry(entry: Entry, collector: Collector) -> bool:
    """Take the page of an entry: its link, or else what serves as one."""
    text = entry.texts.get
    dates = (entry.texts[name] for name in DATES if name in entry.texts)
    return collector.add(_feed_target(entry, text("guid", "")), dates)


def _feed_target(entry: Entry, guid: str) -> Target | None:
    """Choose the address of an entry.

    Spec: RSS 2.0 (link, guid), RSS 1.0 §5.5 (rdf:about), RFC 4287 §4.2.7.2 (rel), §4.1.3.2 (src).
    """
    link = entry.target("link")
    if link is not None:
        return link
    if entry.links:
        return next((target for is_html, target in entry.links if is_html), entry.links[0][1])
    if _HTTP(guid):
        return entry.target("guid")
    return entry.target("about") or entry.target("content")


def _read_json(data: bytes, collector: Collector) -> bool:
    """Read a JSON Feed. Spec: JSON Feed 1.1 (url, external_url, id, date_modified)."""
    if len(data) > MOST_JSON:
        collector.listing.fail(f"JSON of more than {MOST_JSON} bytes")
        collector.listing.truncated = True
        return False
    try:
        feed = json.loads(data)
    except (ValueError, RecursionError) as error:
        collector.listing.fail(f"JSON: {error}")
        return False
    if not isinstance(feed, dict) or not _JSON_FEED(str(feed.get("version"))):
        return False
    collector.listing.kind = "json"
    items = feed.get("items")
    for item in items if isinstance(items, list) else []:
        texts = _strings(item)
        dates = (texts[name] for name in ("date_modified", "date_published") if name in texts)
        if not collector.add(_json_target(texts, collector.url), dates):
            break
    return True


def _strings(item: object) -> dict[str, str]:
    if not isinstance(item, dict):
        return {}
    return {name: text for name, text in item.items() if isinstance(text, str)}


def _json_target(texts: dict[str, str], base: str) -> Target | None:
    for name in ("url", "id", "external_url"):
        href = texts.get(name, "").strip()
        if href and (name == "url" or _HTTP(href)):
            return Target(href[: LONGEST_HREF + 1], base)
    return None


def _looks(document: Document) -> bool:
    return looks_like_feed(document.media, document.url, document.start)


def _parse(document: Document) -> Feed:
    return parse_feed(
        document.body,
        url=document.url,
        canonicalizer=document.resolver,
        header_charset=document.charset,
        now=document.now,
    )


CONTENT_TYPE = ContentType(_parse, media=FEED_TYPES, looks=_looks)
