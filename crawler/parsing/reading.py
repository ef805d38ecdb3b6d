"""Reads a document with the type that was chosen for it: the edge around all parsers.

Whatever a type's module does, the answer is a page or a list within the bounds of this package.
"""

from __future__ import annotations

import logging
import traceback
from pathlib import PurePath
from typing import TYPE_CHECKING

from crawler.model import Link
from crawler.parsing.directives import parse_directives
from crawler.parsing.elements import collapse
from crawler.parsing.link_header import parse_link_headers
from crawler.parsing.listing import Feed
from crawler.parsing.page import ParsedPage
from crawler.parsing.text import language
from crawler.parsing.types import Extract

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.parsing.types import ContentType, Document

logger = logging.getLogger(__name__)

_LONGEST_ERROR = 200  # characters


def read(kind: ContentType, document: Document) -> ParsedPage | Feed:
    """Parse a document here and now; never raises, whatever it is."""
    return finish(run_parser(kind, document), document)


def run_parser(kind: ContentType, document: Document) -> ParsedPage | Feed | Extract:
    """Return what a type makes of a document; what it raises becomes an error.

    The error says which module, and where; the traceback is logged for those who debug one.
    """
    try:
        return kind.parse(document)
    except Exception as error:  # the edge of the parsers; callers count it
        module = getattr(kind.parse, "__module__", None) or repr(kind.parse)
        logger.debug("%s: %s raised:", document.url, module, exc_info=True)
        place = f"{module}, {_place(error)}"
        return Extract(error=f"{place}: {type(error).__name__}: {error}"[:_LONGEST_ERROR])


def _place(error: Exception) -> str:
    """Return the file and the line that raised an error."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{PurePath(last.filename).name} line {last.lineno}"


def finish(found: ParsedPage | Feed | Extract, document: Document) -> ParsedPage | Feed:
    """Make a page of an extract, and add to a page what the headers say."""
    if isinstance(found, Feed):
        return found
    page = _page_of(found, document) if isinstance(found, Extract) else found
    if document.link_headers:
        _add_headers(page, document)
    return page


def _page_of(found: Extract, document: Document) -> ParsedPage:
    """Bound and resolve what was read. X-Robots-Tag holds for files of any type."""
    options = document.options
    text = found.text[: options.max_text]
    page = ParsedPage(
        title=collapse(found.title or "", options.max_title) or None,
        lang=language(text, found.lang),
        headings=list(_headings(found.headings, options.max_headings, options.max_heading)),
        text=text,
        main_text=True,  # there is no navigation in it
        robots=parse_directives((), document.robots_headers, document.token),
        charset=found.charset,
        truncated=found.truncated or len(found.text) > options.max_text,
        error=found.error,
    )
    page.keep_source("", text, options.max_text)
    _add_links(page, ((href, True) for href in found.hrefs), document)
    return page


def _headings(found: list[str], most: int, longest: int) -> Iterable[str]:
    return (text for one in found[:most] if (text := collapse(one, longest)))


def _add_headers(page: ParsedPage, document: Document) -> None:
    """Add the links of Link headers. The page's own canonical is the more particular word.

    Spec: RFC 8288 §3; RFC 6596 names no order of the two ways to declare a canonical, and
    Google documents none.
    """
    header = parse_link_headers(document.link_headers)
    if page.canonical is None and header.canonical is not None:
        page.canonical = document.resolver.resolve(document.url, header.canonical)
    _add_links(page, header.hrefs.items(), document)


def _add_links(page: ParsedPage, hrefs: Iterable[tuple[str, bool]], document: Document) -> None:
    """Resolve references against the document's URL and add them behind the page's links."""
    most = document.options.max_links
    follow = {link.url: not link.nofollow for link in page.links}
    for href, may_follow in hrefs:
        if len(follow) >= most:
            break
        url = document.resolver.resolve(document.url, href)
        if url is not None:
            may = may_follow and not page.robots.nofollow
            follow[url] = follow.get(url, False) or may
    page.links = [Link(url, not may) for url, may in follow.items()]
