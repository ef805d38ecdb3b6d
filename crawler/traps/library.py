"""The books of all origins: some in memory, all in the store."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import TYPE_CHECKING

from crawler.traps.book import ASIDE, CORE, DOMAIN, Book, Rows
from crawler.traps.domains import Domain
from crawler.urls import fingerprint, host_key, host_of, is_ip_literal, origin, site_of

if TYPE_CHECKING:
    from crawler.model import Origin
    from crawler.traps.options import TrapOptions

MOST_IN_MEMORY = 50_000
"""Patterns over all origins, about 700 bytes each; a script counts as eight of them."""
_MOST_BOOKS = 20_000  # about 600 bytes each beside what is in them
_MOST_DOMAINS = 2_000
_BOOKS_BETWEEN = 1_000  # fetches between two looks at the memory used
_HASH_BYTES = 8


class Library:
    """Finds books and domains, and lets those go that were not needed for longest."""

    def __init__(self, rows: Rows, options: TrapOptions) -> None:
        self.rows = rows
        self.options = options
        self._books: OrderedDict[Origin, Book] = OrderedDict()
        self._domains: OrderedDict[str, Domain] = OrderedDict()
        self._fetches = 0

    def book(self, url: str) -> Book:
        """Return the book of a URL's origin."""
        of = origin(url)
        book = self._books.get(of)
        if book is None:
            book = self._books[of] = Book(of, self.rows, self.options)
            if len(self._books) > _MOST_BOOKS:
                self._let_go()
        else:
            self._books.move_to_end(of)
        return book

    def domain(self, url: str) -> Domain | None:
        """Return what is known of the sub-domains of a URL's site; None for the site itself."""
        host = host_of(url)
        site = site_of(host)
        if host in {site, f"www.{site}"} or is_ip_literal(host):
            return None
        domain = self._domains.get(site)
        if domain is None:
            row = self.rows.get(DOMAIN + site.encode())
            domain = Domain(self.options)
            domain = self._domains[site] = domain if row is None else domain.decode(row)
            if len(self._domains) > _MOST_DOMAINS:
                self._domains.popitem(last=False)
        return domain

    def write_domain(self, url: str, domain: Domain) -> None:
        """Keep what is known of the sub-domains of a URL's site."""
        self.rows.put(domain_scope(url), domain.encode())

    def flush(self) -> None:
        """Write what has changed in any book."""
        for book in self._books.values():
            book.flush()

    def forget(self) -> None:
        """Read everything from the store again when it is needed."""
        self._books.clear()
        self._domains.clear()

    def tidy(self) -> None:
        """Let books go while there are too many; called after each fetch."""
        self._fetches += 1
        if self._fetches % _BOOKS_BETWEEN:
            return
        surplus = sum(map(len, self._books.values())) - MOST_IN_MEMORY
        while surplus > 0:
            surplus -= len(self._let_go())

    def _let_go(self) -> Book:
        """Let the book go that was not needed for longest."""
        _, book = self._books.popitem(last=False)
        book.flush()
        return book


def domain_scope(url: str) -> bytes:
    """Return the key of what is known of the sub-domains of a URL's site."""
    return DOMAIN + site_of(host_of(url)).encode()


def aside_key(scope: bytes, url: str | None = None) -> bytes:
    """Return the key of a URL that is kept under a rule, or how all of them begin."""
    return ASIDE + _hash(scope) + (_hash(url.encode()) if url is not None else b"")


def core_key(url: str, core: str) -> bytes:
    """Return the key of the first URL that was fetched of those with one core."""
    return CORE + fingerprint(host_key(url), core)


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=_HASH_BYTES).digest()
