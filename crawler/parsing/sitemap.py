"""Sitemaps: what a site says that it has.

A sitemap is an XML list of pages (urlset) or of other sitemaps (sitemapindex), a feed, or a text
with one address a line; each of them may be packed with gzip. The body decides which it is, since
names and media types are often wrong. A page of HTML or JSON is no sitemap, whatever it contains.

Addresses outside the scope of the sitemap are kept: whether they may be fetched is decided where
all links are judged.
"""

from __future__ import annotations

import re
import zlib
from itertools import islice
from typing import TYPE_CHECKING

from crawler.parsing.feeds import read_feed
from crawler.parsing.listing import (
    DEFAULT_SITEMAP_OPTIONS,
    Collector,
    Entry,
    Feed,
    SitemapOptions,
    Target,
)
from crawler.parsing.types import ContentType, Document
from crawler.parsing.xml_entries import XmlReader, find_root, to_utf_8

if TYPE_CHECKING:
    from crawler.parsing.page import Resolver

_GZIP = b"\x1f\x8b"
_MOST_LAYERS = 2  # a packed file, packed once more by a server that lost its header
_MOST_MEMBERS = 100
_PIECE = 16_384  # of a broken one nothing is seen
_START = 65_536
_LINES_PER_ENTRY = 4

_KINDS = {b"urlset": "urlset", b"sitemapindex": "index"}
_ENTRIES = ("url", "sitemap")
_FIELDS = frozenset({"loc", "lastmod"})
_LINE = re.compile(rb"[^\s][^\r\n]*")
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE).fullmatch
_FIRST_ADDRESS = re.compile(rb"(?:#[^\r\n]*+\s*+)*+https?://[^\s<>\"]+(?:\s|\Z)", re.IGNORECASE)


class Sitemap(Feed):
    """What a sitemap lists: pages, or further sitemaps, or both if it mixes them."""


def parse_sitemap(
    body: bytes,
    *,
    url: str,
    canonicalizer: Resolver,
    options: SitemapOptions = DEFAULT_SITEMAP_OPTIONS,
    header_charset: str | None = None,
    now: float | None = None,
) -> Sitemap:
    """Return the pages and sitemaps that a sitemap lists; never raises.

    Args:
        body: as received, content codings undone; a gzip file is unpacked here.
        url: of the sitemap, absolute; base of relative addresses.
        canonicalizer: resolves and normalises addresses.
        options: bounds.
        header_charset: charset parameter of Content-Type.
        now: crawl-clock seconds; dates more than a day later are not believed.

    Of several addresses in an entry the first one is taken. Relative ones are resolved, and names
    in upper case understood, though the protocol knows neither.

    Spec: sitemaps.org protocol 0.9, RFC 1952 (gzip), RFC 7303 §3 (charset).
    """
    sitemap = Sitemap()
    try:
        collector = Collector(sitemap, url=url, resolver=canonicalizer, options=options, now=now)
        data = to_utf_8(_unpack(body, sitemap, options.max_bytes), header_charset)
        if not (_read_xml(data, collector) or _read_text(data, collector, options)):
            sitemap.fail("no sitemap" if data else "empty")
    except Exception as error:  # noqa: BLE001 -- the edge of the wrapped parsers; callers count it
        sitemap.fail(f"{type(error).__name__}: {error}")
    return sitemap


def looks_like_sitemap(
    media_type: str, url: str, body_start: bytes, *, listed: bool = False
) -> bool:
    """Whether a body that begins so is a sitemap; feeds are left to ``looks_like_feed``.

    The root element decides, in a gzip file too. A list of addresses in plain text is one if its
    URL, or whoever named it, says so.

    Args:
        media_type: in lower case, without parameters.
        url: where the body came from.
        body_start: the first bytes, 4 KiB or more where there are as many.
        listed: the URL was named as that of a sitemap.
    """
    data = to_utf_8(_unpack(body_start[:_START], Sitemap(), _START), None)
    if find_root(data)[0] in _KINDS:
        return True
    is_plain = media_type in ("", "text/plain", "application/octet-stream", "application/gzip")
    named = listed or "sitemap" in url.lower()
    return is_plain and named and _FIRST_ADDRESS.match(data) is not None


def _unpack(body: bytes, sitemap: Sitemap, limit: int) -> bytes:
    """Undo gzip as far as it goes: what a broken file holds before its fault counts."""
    for _ in range(_MOST_LAYERS):
        if body.startswith(_GZIP):
            body = _gunzip(body, sitemap, limit)
    sitemap.truncated = sitemap.truncated or len(body) > limit
    return body[:limit]


def _gunzip(body: bytes, sitemap: Sitemap, limit: int) -> bytes:
    """Undo one layer, up to a byte more than ``limit``; members follow each other."""
    parts: list[bytes] = []
    room, place, members = limit + 1, 0, 0
    engine = zlib.decompressobj(31)
    try:
        while room > 0 and place < len(body):
            piece = body[place : place + _PIECE]
            parts.append(engine.decompress(piece, room))
            room -= len(parts[-1])
            place += len(piece) - len(engine.unused_data)
            if engine.eof:
                members += 1
                if not body.startswith(_GZIP, place):
                    break
                if members == _MOST_MEMBERS:
                    sitemap.truncated = True
                    break
                engine = zlib.decompressobj(31)
        if room > 0 and not engine.eof:
            sitemap.fail("gzip: cut short")
    except zlib.error as error:
        sitemap.fail(f"gzip: {error}")
    return b"".join(parts)


def _read_xml(data: bytes, collector: Collector) -> bool:
    name, start = find_root(data)
    kind = _KINDS.get(name)
    if kind is None:
        return data[:1] == b"<" and read_feed(data, collector)
    collector.listing.kind = kind
    XmlReader(collector, _ENTRIES, _FIELDS, _finish_entry).read(data, start)
    return True


def _finish_entry(entry: Entry, collector: Collector) -> bool:
    modified = entry.texts.get("lastmod")
    dates = () if modified is None else (modified,)
    return collector.add(entry.target("loc"), dates, index=entry.local == "sitemap")


def _read_text(data: bytes, collector: Collector, options: SitemapOptions) -> bool:
    """Read one absolute address a line; blank lines and comments count for nothing.

    It is a sitemap only if an address comes first: an error message has some, too.
    """
    if not _FIRST_ADDRESS.match(data):
        return False
    listing = collector.listing
    listing.kind = "text"
    if listing.truncated or listing.error:
        data = data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1]  # the last line may be cut
    lines = _LINE.finditer(data)
    for match in islice(lines, options.max_entries * _LINES_PER_ENTRY):
        line = match[0].decode("utf-8", "replace").strip()
        if line[:1] == "#":
            continue
        target = Target(line, collector.url) if _ADDRESS(line) else None
        if not collector.add(target, ()):
            return True
    listing.truncated = listing.truncated or next(lines, None) is not None
    return True


def _looks(document: Document) -> bool:
    return looks_like_sitemap(document.media, document.url, document.start, listed=document.listed)


def _parse(document: Document) -> Sitemap:
    return parse_sitemap(
        document.body,
        url=document.url,
        canonicalizer=document.resolver,
        header_charset=document.charset,
        now=document.now,
    )


CONTENT_TYPE = ContentType(_parse, looks=_looks)
