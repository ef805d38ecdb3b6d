"""An answer as it was received, and the page that is made of it.

A crawl and whoever reads its archive again come through here, so that the same bytes make the
same page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.dedupe import body_hash
from crawler.model import Page
from crawler.parsing import Document, split_content_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.config import Config
    from crawler.parsing import Chosen, ParsedPage, Resolver

USABLE = range(200, 300)
"""Status of the answers that a page may be made of."""
_ROBOTS = "/robots.txt"
_LONGEST_HEADER = 500  # characters


@dataclass(frozen=True, slots=True)
class Received:
    """An answer, and what was known of its URL when it came.

    Attributes:
        url: That was asked for, normalised.
        status: Of HTTP.
        headers: Returns the values of the headers with a name, in their order.
        body: Content codings undone.
        at: Crawl time at its end.
        depth: Links from a seed.
        referrer: What led to the URL first; None for a seed.
        interrupted: Whether the body ended too early.
        listed: Whether the URL was named as that of a sitemap by the operator.
    """

    url: str
    status: int
    headers: Callable[[str], Sequence[bytes]]
    body: bytes
    at: float
    depth: int = 0
    referrer: str | None = None
    interrupted: bool = False
    listed: bool = False

    @property
    def named_by_robots(self) -> bool:
        """Whether a robots.txt has named the URL, as that of a sitemap."""
        return self.referrer is not None and self.referrer.endswith(_ROBOTS)


def choose(
    received: Received, config: Config, resolver: Resolver
) -> tuple[Chosen, Document] | None:
    """Return what reads an answer, with the answer as it wants it; None if nothing does."""
    headers = received.headers
    media, charset = split_content_type(b",".join(headers("Content-Type")))
    document = Document(
        body=received.body,
        url=received.url,
        media=media,
        charset=charset,
        resolver=resolver,
        options=config.parsing,
        robots_headers=[value.decode("latin-1") for value in headers("X-Robots-Tag")],
        link_headers=[value.decode("utf-8", "replace") for value in headers("Link")],
        token=config.robots.token,
        now=received.at,
        listed=received.listed or received.named_by_robots,
    )
    chosen = config.types.choose(document)
    if chosen is None:
        return None
    return chosen, document if chosen.media == media else replace(document, media=chosen.media)


def page_of(received: Received, media: str, parsed: ParsedPage) -> Page | None:
    """Return the page that an answer is; None when it is not what it is said to be.

    Args:
        received: The answer.
        media: Its media type, as it was found to be.
        parsed: What its parser made of it.
    """
    if parsed.error is not None and not parsed.text:
        return None
    return Page(
        url=received.url,
        status=received.status,
        fetched_at=received.at,
        depth=received.depth,
        referrer=received.referrer,
        content_type=media,
        charset=parsed.charset,
        title=parsed.title,
        lang=parsed.lang,
        headings=parsed.headings,
        text=parsed.text,
        canonical=parsed.canonical,
        robots=list(parsed.robots.raw),
        etag=header_text(received.headers("ETag")),
        last_modified=header_text(received.headers("Last-Modified")),
        bytes=len(received.body),
        links=parsed.links,
        body_hash=None if parsed.text.strip() else body_hash(received.body).hex(),
        main_text=parsed.main_text,
        truncated=parsed.truncated or received.interrupted,
        interrupted=received.interrupted,
    )


def header_text(values: Sequence[bytes]) -> str | None:
    """Return the last of a header's values as text, None for none."""
    return values[-1].decode("latin-1")[:_LONGEST_HEADER] if values and values[-1] else None
