"""What belongs to this crawl, and which addresses it may reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.model import Reason
from crawler.urls import address_allowed, host_key, host_of, is_ip_literal, may_be_a_site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.model import HostKey, Origin
    from crawler.urls import Network, Scope, UrlFilter

_MOST_NOTED = 10_000


class Admission:
    """Says of a URL why it is never fetched: at discovery, and when its host proves unreachable.

    Args:
        seeds: Normalised URLs; their own hosts may be reached although they are private or local,
            unless they prove to be public.
        scope: The part of the web that is crawled; None is all of it.
        url_filter: Patterns and limits.
        networks: Addresses that may be reached although they are private or local.
    """

    def __init__(
        self,
        seeds: Sequence[str],
        scope: Scope | None,
        url_filter: UrlFilter,
        networks: Sequence[Network],
    ) -> None:
        self._seed_hosts = {_bare(host_of(url)) for url in seeds}
        self._seed_addresses = set(filter(is_ip_literal, self._seed_hosts))
        self._public_seeds: set[str] = set()  # those whose names had a public address
        self._scope = scope
        self._filter = url_filter
        files = (url for url in seeds if url_filter.verdict(url) is Reason.EXTENSION)
        self._files_wanted = frozenset(files)  # whoever names a file as a seed wants it
        self._networks = networks
        self._refused: set[str] = set()  # hosts that resolve to forbidden addresses only
        self._unknown: set[str] = set()  # names that do not exist, says the last look-up
        self._nameless: set[HostKey] = set()  # hosts without an address, on several tries

    def verdict(self, url: str) -> Reason | None:
        """Return why a URL is outside this crawl, None when it belongs to it."""
        if self._scope is not None and not self._scope.contains(url):
            return Reason.SCOPE
        host = host_of(url)
        if is_ip_literal(host) and not self.may_reach(host, host):
            return Reason.ADDRESS
        reason = self._filter.verdict(url)
        return None if reason is Reason.EXTENSION and url in self._files_wanted else reason

    def may_reach(self, host: str, address: str) -> bool:
        """Whether ``address`` may be connected to for ``host``: public, allowed, or a seed's."""
        return self._is_own(_bare(host), address) or address_allowed(address, self._networks)

    def reachable(self, host: str, addresses: Sequence[str]) -> list[str]:
        """Return those addresses of a name, just looked up, that may be connected to for it.

        A seed may be a private site. But a name that has a public address once is no private
        site, nor does it become one: whoever keeps it could else lead the crawl inside.
        """
        if any(address_allowed(address) for address in addresses):
            self._note_public(_bare(host))
        return [address for address in addresses if self.may_reach(host, address)]

    def _is_own(self, host: str, address: str) -> bool:
        """Whether the operator named this host, and with it what stands at this address."""
        if host in self._seed_addresses:
            return True  # it was meant as it is
        named = host in self._seed_hosts and host not in self._public_seeds
        return named and may_be_a_site(address)

    def _note_public(self, host: str) -> None:
        if host in self._seed_hosts:
            self._public_seeds.add(host)

    def note_named(self, host: str) -> None:
        """Treat a host as a seed's from now on."""
        self._seed_hosts.add(_bare(host))
        if is_ip_literal(host):
            self._seed_addresses.add(_bare(host))

    def note_refused(self, host: str) -> None:
        """Remember that a host resolves to no address that may be reached."""
        if len(self._refused) < _MOST_NOTED:
            self._refused.add(_bare(host))

    def was_refused(self, host: str) -> bool:
        """Whether a host failed to resolve because of its addresses."""
        return _bare(host) in self._refused

    def note_look_up(self, host: str, *, exists: bool) -> None:
        """Note whether a name exists; a look-up that merely failed leaves that open: ``exists``."""
        if exists:
            self._unknown.discard(host)
        elif len(self._unknown) < _MOST_NOTED:
            self._unknown.add(host)

    def note_nameless(self, origin: Origin) -> None:
        """Remember that a host's name did not resolve, time after time, if it does not exist."""
        if host_of(origin) in self._unknown and len(self._nameless) < _MOST_NOTED:
            self._nameless.add(host_key(origin))

    def out_of_reach(self, url: str) -> Reason | None:
        """Return why the host of a URL whose rules are not known is not worth waiting for."""
        if self.was_refused(host_of(url)):
            return Reason.ADDRESS
        return Reason.UNREACHABLE if host_key(url) in self._nameless else None


def _bare(host: str) -> str:
    """Return a host as resolvers name it: an IPv6 address without its brackets."""
    return host.strip("[]")
