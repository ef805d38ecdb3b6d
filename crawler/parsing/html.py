"""One HTML page in, everything the crawler wants to know of it out.

Lexbor builds the tree that browsers would build; one selector walks it once, in document
order. Links are resolved afterwards, because ``base`` may come late. Whatever a page
contains, the answer is a :class:`ParsedPage`: a fault of a wrapped parser is caught here and
named in ``error``.

Links are ``a`` and ``area``, frames, and ``link`` with rel next, prev or alternate (to HTML or
to a feed). What scripts, comments and templates contain is no link; what stands in ``noscript``
is one, because nothing is executed here, and so is what a template shows as a shadow root.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from crawler.model import Link
from crawler.parsing.bounds import bound
from crawler.parsing.charset import decode_body
from crawler.parsing.directives import parse_directives
from crawler.parsing.elements import Elements
from crawler.parsing.media import HTML_TYPES
from crawler.parsing.page import DEFAULT_OPTIONS, ParsedPage, ParsingOptions, Resolver
from crawler.parsing.shadow import with_shadow_roots
from crawler.parsing.text import language, read_text
from crawler.parsing.types import ContentType, Document

if TYPE_CHECKING:
    from collections.abc import Sequence

EVERYONE = "*"
"""The product token of a crawler that answers to no name of its own."""

_WITHOUT_TEXT = ["script", "style"]
_LONGEST_ERROR = 200  # characters


def parse_html(
    body: bytes,
    *,
    url: str,
    canonicalizer: Resolver,
    header_charset: str | None = None,
    robots_headers: Sequence[str] = (),
    token: str = EVERYONE,
    options: ParsingOptions = DEFAULT_OPTIONS,
) -> ParsedPage:
    """Parse an HTML body; never raises, whatever it is.

    Args:
        body: as received, decompressed.
        url: of the page, absolute; base of relative links unless the page names another.
        canonicalizer: resolves and normalises links.
        header_charset: charset parameter of Content-Type.
        robots_headers: values of X-Robots-Tag.
        token: our product token, for directives to us alone.
        options: bounds and choices.

    Spec: HTML §13.2 (parsing), §2.4.3 (base URL), §4.6.7 (link types).
    """
    try:
        page, elements = _read_page(body, header_charset, token, options)
        _resolve(page, elements, url, canonicalizer, options)
        metas = elements.robots
    except Exception as error:  # noqa: BLE001 -- the edge of the wrapped parsers; callers count it
        page = ParsedPage(error=f"{type(error).__name__}: {error}"[:_LONGEST_ERROR])
        metas = []
    page.robots = parse_directives(metas, robots_headers, token)
    if page.robots.nofollow:
        page.links = [Link(link.url, nofollow=True) for link in page.links]
    return page


def _read_page(
    body: bytes, header_charset: str | None, token: str, options: ParsingOptions
) -> tuple[ParsedPage, Elements]:
    """Read all that needs no address."""
    decoded = decode_body(
        body[: options.max_bytes], header_charset, mend_latin_1=options.mend_latin_1
    )
    html, tags, cut = bound(with_shadow_roots(decoded.text))
    tree = LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS)
    tree.strip_tags(_WITHOUT_TEXT)
    elements = Elements(tree, token, options)
    source = html[: options.max_main_source]
    text, is_main, full = read_text(source, tree, tags)
    page = ParsedPage(
        title=elements.title or elements.title_of_graph or None,
        lang=language(text, elements.lang),
        headings=elements.headings,
        text=text[: options.max_text],
        main_text=is_main,
        charset=decoded.name,
        codec=decoded.codec,
        truncated=cut or len(body) > options.max_bytes,
    )
    page.keep_source(source, full, options.max_text)
    return page, elements


def _resolve(
    page: ParsedPage, elements: Elements, url: str, canonicalizer: Resolver, options: ParsingOptions
) -> None:
    """Turn the references of a page into URLs. Spec: HTML §2.4.3 (document base URL)."""
    resolve = canonicalizer.resolve
    base, encoding = url, page.codec
    if elements.base is not None:
        base = resolve(url, elements.base) or url
    if elements.canonical:
        page.canonical = resolve(base, elements.canonical, encoding)
    if elements.refresh is not None:
        seconds, href = elements.refresh
        target = resolve(base, href, encoding)
        if seconds > options.max_refresh:
            elements.hrefs.setdefault(href, True)
        elif target != resolve(url, ""):
            page.refresh = target
    page.links = _links(elements.hrefs, base, encoding, canonicalizer, options.max_links)


def _links(
    hrefs: dict[str, bool], base: str, encoding: str, canonicalizer: Resolver, most: int
) -> list[Link]:
    resolve = canonicalizer.resolve
    followed: dict[str, bool] = {}
    for href, may_follow in hrefs.items():
        url = resolve(base, href, encoding)
        if url is None:
            continue
        if may_follow or url not in followed:
            followed[url] = may_follow
            if len(followed) >= most:
                break
    return [Link(url, not may_follow) for url, may_follow in followed.items()]


def _parse(document: Document) -> ParsedPage:
    return parse_html(
        document.body,
        url=document.url,
        canonicalizer=document.resolver,
        header_charset=document.charset,
        robots_headers=document.robots_headers,
        token=document.token,
        options=document.options,
    )


CONTENT_TYPE = ContentType(_parse, media=HTML_TYPES)
