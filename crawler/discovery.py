"""What an answer leads to: which URLs, how far from the seeds they are, and how soon they go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.model import Discovery

if TYPE_CHECKING:
    from crawler.frontier import Entry
    from crawler.model import Page
    from crawler.parsing import Feed

_LAST_OF_DISCOVERED = 250  # the priorities behind it are for what is put off


def priority_at(depth: int) -> int:
    """Return the frontier's priority at a link depth: nearer to a seed goes first."""
    return min(1 + depth, _LAST_OF_DISCOVERED)


def links_of(page: Page, entry: Entry, *, most_copies: int) -> Discovery | None:
    """Return a page's links that may be followed.

    Args:
        page: As it was parsed.
        entry: Of its URL.
        most_copies: Duplicates in a row whose links are followed; None comes back beyond.
    """
    copies = entry.copies + 1 if page.duplicate is not None else 0
    if copies > most_copies:
        return None
    depth = entry.depth + 1
    return Discovery(
        [link.url for link in page.links if not link.nofollow],
        depth=depth,
        referrer=page.url,
        priority=priority_at(depth),
        copies=copies,
    )


def hop_of(entry: Entry, target: str, *, payload: bytes = b"", variant: str = "") -> Discovery:
    """Return where a redirect or a meta refresh leads: one more hop of the chain.

    Args:
        entry: Of the URL that leads there.
        target: Normalised.
        payload: Of a request that a spider made itself.
        variant: What tells the target from a URL with the same key.
    """
    return Discovery(
        [target],
        depth=entry.depth,
        referrer=entry.url,
        priority=entry.priority,
        redirects=entry.redirects + 1,
        copies=entry.copies,
        payload=payload,
        variant=variant,
    )


def listed_by(entry: Entry, listing: Feed) -> list[Discovery]:
    """Return what a sitemap or feed lists: pages one link further on, sitemaps beside it.

    A listed sitemap is one hop more of a chain, and goes in turn with the pages: sitemaps
    that list each other without end neither go on for ever nor before every page.
    """
    pages, sitemaps = ([one.url for one in part] for part in (listing.pages, listing.sitemaps))
    depth = entry.depth + 1
    priority, hops = priority_at(depth), entry.redirects + 1
    return [
        Discovery(sitemaps, entry.depth, entry.url, priority=priority, redirects=hops),
        Discovery(pages, depth, entry.url, priority=priority),
    ]
