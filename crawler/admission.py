"""What belongs to this crawl, and which addresses it may reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.model import HostKey, Reason
from crawler.urls import address_allowed, host_key, host_of, is_ip_literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.urls import Network, Scope, UrlFilter

_MOST_NOTED = 10_000


class Admission:
    """Says of a URL why it is never fetched: at discovery, and when its host proves unreachable.

    Args:
        seeds: Normalised URLs; their own hosts may always be reached.
        scope: The part of the web that is crawled; None is all of it.
        url_filter: Patterns and limits.
        networks: Addresses that may be reached although they are private or local.
    """

    def __init__(
        self,
        seeds: Iterable[str],
        scope: Scope | None,
        url_filter: UrlFilter,
        networks: Sequence[Network],
    ) -> None:
        self._seed_hosts = {_bare(host_of(url)) for url in seeds}
        self._scope = scope
        self._filter = url_filter
        self._networks = networks
        self._refused: set[str] = set()  # hosts that resolve to forbidden addresses only
        self._nameless: set[HostKey] = set()  # hosts without an address, on several tries

    def verdict(self, url: str) -> Reason | None:
        """Return why a URL is outside this crawl, None when it belongs to it."""
        if self._scope is not None and not self._scope.contains(url):
            return Reason.SCOPE
        host = host_of(url)
        if is_ip_literal(host) and not self.may_reach(host, host):
            return Reason.ADDRESS
        return self._filter.verdict(url)

    def may_reach(self, host: str, address: str) -> bool:
        """Whether ``address`` may be connected to for ``host``: public, allowed, or a seed's."""
        return _bare(host) in self._seed_hosts or address_allowed(address, self._networks)

    def note_refused(self, host: str) -> None:
        """Remember that a host resolves to no address that may be reached."""
        if len(self._refused) < _MOST_NOTED:
            self._refused.add(_bare(host))

    def was_refused(self, host: str) -> bool:
        """Whether a host failed to resolve because of its addresses."""
        return _bare(host) in self._refused

    def note_nameless(self, key: HostKey) -> None:
        """Remember that a host's name did not resolve, time after time."""
        if len(self._nameless) < _MOST_NOTED:
            self._nameless.add(key)

    def out_of_reach(self, url: str) -> Reason | None:
        """Return why the host of a URL whose rules are not known is not worth waiting for."""
        if self.was_refused(host_of(url)):
            return Reason.ADDRESS
        return Reason.UNREACHABLE if host_key(url) in self._nameless else None


def _bare(host: str) -> str:
    """Return a host as resolvers name it: an IPv6 address without its brackets."""
    return host.strip("[]")
