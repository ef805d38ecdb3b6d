"""Near-duplicates: pages by the fingerprint of their text."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from crawler.dedupe.options import NO_MATCH, DedupeOptions, threshold
from crawler.dedupe.signature_set import SignatureSet
from crawler.dedupe.url_table import UrlTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.model import Signature

_ROW_BITS = 32
_ROW = (1 << _ROW_BITS) - 1
_MOST_TOKENS = 2**31 - 1


class Match(NamedTuple):
    """A page already indexed: its URL, and how many of 64 bits differ."""

    url: str
    distance: int


class _Found(NamedTuple):
    """A match, ordered by distance and then by age."""

    distance: int
    row: int


def _data(tokens: int, row: int) -> int:
    """Pack the tokens of a page, 0 if it was discarded, above the row of its URL."""
    return max(0, min(tokens, _MOST_TOKENS)) << _ROW_BITS | row


class NearIndex:
    """The closest page, among those of the same site and, more strictly, of all sites.

    Signatures of different algorithms never meet. Texts too short for a near-duplicate
    are neither found nor kept.

    Cost:
        Per page 16 bytes in its site and 16 in the crowd of all sites, each twice that
        where more than 32,768 lie together, beside its URL in the table; per site about
        400 bytes.
        A look-up takes 15 to 20 microseconds among thousands of pages, 60 to 150 among
        a million.

    Invariants:
        Recall is exact: a page within the threshold is found, however many there are.
        A page is never found a near-duplicate of itself.
    """

    __slots__ = ("_crowds", "_options", "_sites", "_urls")

    def __init__(self, options: DedupeOptions | None = None, urls: UrlTable | None = None) -> None:
        self._options = DedupeOptions() if options is None else options
        self._urls = UrlTable() if urls is None else urls
        self._sites: defaultdict[tuple[str, str], SignatureSet] = defaultdict(SignatureSet)
        self._crowds: defaultdict[str, SignatureSet] = defaultdict(SignatureSet)

    def lookup(self, signature: Signature, url: str, site: str) -> Match | None:
        """Return the closest near-duplicate, of several the oldest, or None.

        Args:
            signature: Of the page's text.
            url: The page itself, which does not count.
            site: Whose pages are compared more widely; a registrable domain or a host.
        """
        found = [self._in_site(signature, url, site), self._in_crowd(signature, url)]
        best = min((one for one in found if one), default=None)
        return Match(self._urls[best.row], best.distance) if best else None

    def _in_site(self, signature: Signature, url: str, site: str) -> _Found | None:
        pages = self._sites.get((signature.algorithm, site))
        if pages is None:
            return None
        return self._best(pages, signature, url, same_site=True)

    def _in_crowd(self, signature: Signature, url: str) -> _Found | None:
        crowd = self._crowds.get(signature.algorithm)
        if crowd is None:
            return None
        return self._best(crowd, signature, url, same_site=False)

    def _best(
        self, pages: SignatureSet, signature: Signature, url: str, *, same_site: bool
    ) -> _Found | None:
        options, tokens = self._options, signature.tokens
        reach = options.reach(tokens) if same_site else options.cross_site_reach(tokens, len(pages))
        least, most = options.comparable(tokens)
        for distance, entry in pages.search(
            signature.value, reach, least=_data(least, 0), most=_data(most, _ROW)
        ):
            there, row = divmod(pages.data(entry), 1 << _ROW_BITS)
            limit = threshold(tokens, there, same_site=same_site, options=options, crowd=len(pages))
            if distance <= limit and self._urls[row] != url:
                return _Found(distance, row)
        return None

    def add(self, signature: Signature, url: str, site: str) -> None:
        """Index a page; adding it again with the same signature changes nothing."""
        pages = self._sites.get((signature.algorithm, site))
        if pages is None or not any(True for _ in self._entries(pages, signature, url)):
            self._append(signature, url, site)

    def discard(self, signature: Signature, url: str, site: str) -> None:
        """Forget that ``url`` has this signature: it has changed, or is gone."""
        algorithm = signature.algorithm
        for pages in (self._sites.get((algorithm, site)), self._crowds.get(algorithm)):
            if pages is None:
                continue
            for entry in self._entries(pages, signature, url):
                pages.set_data(entry, pages.data(entry) & _ROW)

    def load(self, entries: Iterable[tuple[Signature, str, str]]) -> None:
        """Add (signature, URL, site) triples, oldest first, none of them known yet."""
        for signature, url, site in entries:
            self._append(signature, url, site)

    def _entries(self, pages: SignatureSet, signature: Signature, url: str) -> Iterator[int]:
        """Yield where a page is kept with this very signature."""
        least, most = _data(signature.tokens, 0), _data(signature.tokens, _ROW)
        for _, entry in pages.search(signature.value, 0, least=least, most=most):
            if self._urls[pages.data(entry) & _ROW] == url:
                yield entry

    def _append(self, signature: Signature, url: str, site: str) -> None:
        if self._options.reach(signature.tokens) == NO_MATCH:
            return
        data = _data(signature.tokens, self._urls.add(url))
        self._sites[signature.algorithm, site].add(signature.value, data)
        if self._options.cross_site:
            self._crowds[signature.algorithm].add(signature.value, data)
