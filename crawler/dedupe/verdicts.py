"""Verdicts on pages, one after the other: what an earlier page has said already."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.dedupe.exact import content_hash
from crawler.dedupe.indexes import Indexes, IndexRow
from crawler.dedupe.simhash import make_fingerprinter
from crawler.model import Duplicate, Outcome
from crawler.urls import host_of, site_of

if TYPE_CHECKING:
    from crawler.dedupe.options import DedupeOptions
    from crawler.model import Page


class Verdicts:
    """Both indexes of a crawl, asked and filled with pages.

    A page gets its hashes and its verdict from :meth:`exact`, then :meth:`near`; one without a
    duplicate becomes the first of its kind by :meth:`keep`.
    """

    def __init__(self, options: DedupeOptions) -> None:
        self.indexes = Indexes(options)
        self._options = options
        self._fingerprinter = make_fingerprinter(options.algorithm)

    def verdict(self, page: Page) -> Duplicate | None:
        """Give the verdict of the stages that are switched on, in their order."""
        found = self.exact(page) if self._options.exact else None
        if found is None and self._options.near:
            found = self.near(page)
        return found

    def exact(self, page: Page) -> Duplicate | None:
        """Note a page's content hash, and the page that had the same content first."""
        page.content_hash = page.body_hash or content_hash(page.text).hex()
        first = self.indexes.exact.lookup(bytes.fromhex(page.content_hash), page.url)
        if first is not None:
            page.duplicate = Duplicate(first, Outcome.DUPLICATE_EXACT)
        return page.duplicate

    def near(self, page: Page) -> Duplicate | None:
        """Note a page's simhash, and the closest page that says nearly the same."""
        signature = self._fingerprinter.fingerprint(page.text)
        page.simhash = str(signature)
        if not page.main_text:  # a text with boilerplate is never compared with one without
            signature = replace(signature, algorithm=f"{signature.algorithm}+full")
        page.signature = signature
        match = self.indexes.near.lookup(signature, page.url, site_of(host_of(page.url)))
        if match is not None:
            page.duplicate = Duplicate(match.url, Outcome.DUPLICATE_NEAR, match.distance)
        return page.duplicate

    def keep(self, page: Page) -> IndexRow | None:
        """Make a page the first of its kind; return what finds it again after a restart.

        None for a page that was cut in transfer: a stump tells nothing of pages like it.
        """
        if page.interrupted:
            return None
        site, signature = site_of(host_of(page.url)), page.signature
        if page.content_hash is not None:
            self.indexes.exact.add(bytes.fromhex(page.content_hash), page.url)
        if signature is not None:
            self.indexes.near.add(signature, page.url, site)
        return IndexRow(
            page.url,
            page.content_hash,
            str(signature) if signature is not None else None,
            signature.tokens if signature is not None else 0,
            site,
        )
