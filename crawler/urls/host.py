"""Whose server a URL asks, read off a normalised URL by slicing, and which addresses are public.

Normalised URLs (:class:`crawler.urls.Canonicalizer`) carry no userinfo and no default port
and always have a path, so the text between ``//`` and the next ``/`` *is* the host key.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from crawler.errors import ConfigError
from crawler.model import HostKey, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Network = IPv4Network | IPv6Network

# What the IANA special-purpose registries (RFC 6890 and its updates) keep off the public
# internet, written out because ipaddress.is_global changed its mind between Python releases.
_SPECIAL_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # "this network"
        "10.0.0.0/8",  # private, RFC 1918
        "100.64.0.0/10",  # carrier-grade NAT, RFC 6598
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and the metadata services of clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays, RFC 7526
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and the broadcast address
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")  # all that is allocated; the rest is local or reserved
_SPECIAL_V6 = (
    IPv6Network("2001::/23"),  # protocol assignments, Teredo among them
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("3fff::/20"),  # documentation, RFC 9637
)
# Where nobody keeps a web site of their own: "this network", multicast, link-local, and the
# addresses of cloud metadata services that lie elsewhere.
_NEVER_A_SITE = tuple(
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3", "100.100.100.200/32"),
        *("::/128", "fe80::/10", "ff00::/8", "fd00:ec2::254/128", "fd20:ce::254/128"),
    )
)
_CARRIES_V4 = (  # network, and how far right in the address the IPv4 address ends
    (IPv6Network("::ffff:0:0/96"), 0),  # IPv4-mapped, RFC 4291 §2.5.5.2
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64, RFC 6052 §2.1
    (IPv6Network("2002::/16"), 80),  # 6to4, RFC 3056 §2
)


def host_key(url: str) -> HostKey:
    """Return the pacing key of a normalised URL: its host, with the port if not the default."""
    start = url.find("//") + 2
    end = url.find("/", start)
    return HostKey(url[start:end] if end > 0 else url[start:])


def origin(url: str) -> Origin:
    """Return ``scheme://host[:port]`` of a normalised URL. Spec: RFC 6454 §4."""
    end = url.find("/", url.find("//") + 2)
    return Origin(url[:end] if end > 0 else url)


def host_of(url: str) -> str:
    """Return the host name of a normalised URL; an IPv6 address keeps its brackets."""
    key: str = host_key(url)
    if ":" not in key or key.endswith("]"):
        return key
    return key.rpartition(":")[0]


def is_ip_literal(host: str) -> bool:
    """Tell whether ``host`` is an address, with or without brackets, and no name."""
    if not (host[-1:].isdigit() or ":" in host):
        return False
    return _address(host) is not None


def address_allowed(ip: str, networks: Sequence[Network] = ()) -> bool:
    """Tell whether ``ip`` may be connected to: public, or inside one of ``networks``.

    An IPv6 address that only carries an IPv4 one (mapped, NAT64, 6to4) is judged by what
    it carries, too. What is no address is not allowed.

    Spec: RFC 6890 (special-purpose registries).
    """
    address = _address(ip)
    if address is None:
        return False
    carried = _carried(address)
    if _within(address, networks) or (carried is not None and _within(carried, networks)):
        return True
    return _is_public(address if carried is None else carried)


def may_be_a_site(ip: str) -> bool:
    """Tell whether an address that is not public may be that of somebody's own web site."""
    address = _address(ip)
    if address is None:
        return False
    return not _within(_carried(address) or address, _NEVER_A_SITE)


def parse_networks(entries: Iterable[str]) -> tuple[Network, ...]:
    """Read networks in CIDR notation; an address alone is a network of one.

    Raises:
        ConfigError: names the entry that is neither, or that has host bits set.
    """
    return tuple(_network(entry) for entry in entries)


def _network(entry: str) -> Network:
    try:
        return ip_network(entry.strip())
    except ValueError as error:
        raise ConfigError(
            f"allowed network {entry!r}: {error}; expected an address or a network such as "
            "10.1.0.0/16"
        ) from error


def _address(ip: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(ip.strip("[]").partition("%")[0])
    except ValueError:
        return None


def _within(address: IPv4Address | IPv6Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)


def _carried(address: IPv4Address | IPv6Address) -> IPv4Address | None:
    if isinstance(address, IPv6Address):
        for network, shift in _CARRIES_V4:
            if address in network:
                return IPv4Address(int(address) >> shift & 0xFFFF_FFFF)
    return None


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address):
        return not _within(address, _SPECIAL_V4)
    return address in _GLOBAL_V6 and not _within(address, _SPECIAL_V6)
