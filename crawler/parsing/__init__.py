"""Parsing: from the bytes of a page to the values the other stages use.

::

    packed bytes ──codings──▶ bytes
    bytes ──types──▶ which module reads them ──reading──▶ ParsedPage or Feed, within the bounds

    bytes ──charset──▶ text ──shadow, bounds──▶ safe text ──html──▶ ParsedPage
            │ declared, labels, decoders  │  elements: title, headings, metas, links (Lexbor)
                                          └  text: main text, language (resiliparse)
    X-Robots-Tag, meta robots ──directives──▶ Directives
    bytes ──sitemap, feeds──▶ Sitemap, Feed: the URLs of a list, with dates (expat)
    bytes ──plain_text, pdf──▶ Extract ──reading──▶ ParsedPage
    Link ──link_header──▶ canonical, further links

The idea: read a page as a browser would (encoding, tree, base URL), but let no page cost more
than its size allows, and let nothing that a page contains raise. Two parsers read the text once
each: Lexbor for the tree, resiliparse for main text, and neither walks in Python over more than
the few elements that matter.

Invariants:
    * :func:`parse_html` and :func:`read` always return; what went wrong is in ``error``.
    * Every list and string of a :class:`ParsedPage` is bounded by :class:`ParsingOptions`.
    * Links are absolute, normalised, distinct and in document order.
    * :func:`parse_sitemap` and :func:`parse_feed` always return, too, within the bounds of
      :class:`SitemapOptions`; an address whose end was not seen is not among the answers.
    * Directives only ever get stricter by adding sources.
"""

from crawler.parsing.charset import decode
from crawler.parsing.directives import NO_DIRECTIVES, Directives, parse_directives
from crawler.parsing.elements import parse_refresh
from crawler.parsing.feeds import looks_like_feed, parse_feed
from crawler.parsing.html import parse_html
from crawler.parsing.labels import find_encoding
from crawler.parsing.listing import (
    DEFAULT_FEED_OPTIONS,
    DEFAULT_SITEMAP_OPTIONS,
    Feed,
    Listed,
    SitemapOptions,
)
from crawler.parsing.media import real_type, split_content_type
from crawler.parsing.page import DEFAULT_OPTIONS, ParsedPage, ParsingOptions, Resolver
from crawler.parsing.reading import finish, read
from crawler.parsing.sitemap import Sitemap, looks_like_sitemap, parse_sitemap
from crawler.parsing.types import Chosen, ContentType, ContentTypes, Document, Extract

__all__ = [
    "DEFAULT_FEED_OPTIONS",
    "DEFAULT_OPTIONS",
    "DEFAULT_SITEMAP_OPTIONS",
    "NO_DIRECTIVES",
    "Chosen",
    "ContentType",
    "ContentTypes",
    "Directives",
    "Document",
    "Extract",
    "Feed",
    "Listed",
    "ParsedPage",
    "ParsingOptions",
    "Resolver",
    "Sitemap",
    "SitemapOptions",
    "decode",
    "find_encoding",
    "finish",
    "looks_like_feed",
    "looks_like_sitemap",
    "parse_directives",
    "parse_feed",
    "parse_html",
    "parse_refresh",
    "parse_sitemap",
    "read",
    "real_type",
    "split_content_type",
]
