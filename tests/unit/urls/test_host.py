"""Reading hosts off URLs, and which addresses a crawler may connect to."""

from __future__ import annotations

import pytest

from crawler.errors import ConfigError
from crawler.urls import (
    address_allowed,
    host_key,
    host_of,
    is_ip_literal,
    origin,
    parse_networks,
)


@pytest.mark.parametrize(
    ("url", "key", "host", "at"),
    [
        ("http://a.test/x", "a.test", "a.test", "http://a.test"),
        ("https://a.test/x//y?u=http://b/", "a.test", "a.test", "https://a.test"),
        ("http://a.test:443/", "a.test:443", "a.test", "http://a.test:443"),
        ("https://a.test:8080/", "a.test:8080", "a.test", "https://a.test:8080"),
        ("http://[::1]/", "[::1]", "[::1]", "http://[::1]"),
        ("http://[::1]:81/", "[::1]:81", "[::1]", "http://[::1]:81"),
        ("http://127.0.0.1:9/", "127.0.0.1:9", "127.0.0.1", "http://127.0.0.1:9"),
        ("http://a.test", "a.test", "a.test", "http://a.test"),
    ],
)
def test_host_key_and_origin_are_slices_of_the_url(url, key, host, at):
    """Both schemes share a host key on their default ports, never an origin (RFC 6454 §4)."""
    assert (host_key(url), host_of(url), origin(url)) == (key, host, at)


@pytest.mark.parametrize(
    ("host", "literal"),
    [
        ("127.0.0.1", True),
        ("[::1]", True),
        ("::1", True),
        ("2001:db8::1", True),
        ("a.test", False),
        ("a1", False),
        ("1.2.3", False),
        ("1.2.3.4.test", False),
        ("", False),
        ("a:b", False),
    ],
)
def test_only_an_address_is_an_ip_literal(host, literal):
    """A name that merely ends in a digit has to be resolved."""
    assert is_ip_literal(host) is literal


@pytest.mark.parametrize(
    ("ip", "allowed"),
    [
        ("93.184.216.34", True),
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("[2606:4700::1111]", True),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("100.63.255.255", True),
        ("100.64.0.1", False),
        ("100.127.255.255", False),
        ("100.128.0.0", True),
        ("127.0.0.1", False),
        ("127.255.255.254", False),
        ("169.254.169.254", False),
        ("172.15.255.255", True),
        ("172.16.0.1", False),
        ("172.31.255.255", False),
        ("172.32.0.0", True),
        ("192.0.0.8", False),
        ("192.0.2.1", False),
        ("192.168.0.1", False),
        ("198.18.0.1", False),
        ("203.0.113.9", False),
        ("224.0.0.1", False),
        ("239.255.255.250", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("fc00::1", False),
        ("fd12:3456::1", False),
        ("fe80::1", False),
        ("fe80::1%eth0", False),
        ("fec0::1", False),
        ("ff02::1", False),
        ("2001::1", False),
        ("2001:db8::1", False),
        ("2001:4860:4860::8888", True),
        ("3fff::1", False),
        ("4000::1", False),
        ("100::1", False),
        ("::127.0.0.1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:169.254.169.254", False),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::10.0.0.1", False),
        ("64:ff9b::8.8.8.8", True),
        ("64:ff9b:1::1", False),
        ("2002:7f00:1::", False),
        ("2002:a00:808::1", False),
        ("2002:808:808::1", True),
        ("", False),
        ("a.test", False),
        ("127.1", False),
        ("0x7f000001", False),
    ],
)
def test_only_public_addresses_are_connected_to(ip, allowed):
    """What the special-purpose registries keep local is refused in any spelling (RFC 6890)."""
    assert address_allowed(ip) is allowed


@pytest.mark.parametrize(
    ("ip", "networks", "allowed"),
    [
        ("127.0.0.1", ["127.0.0.0/8"], True),
        ("::ffff:127.0.0.1", ["127.0.0.0/8"], True),
        ("127.0.0.1", ["127.0.0.2"], False),
        ("10.0.0.1", ["127.0.0.0/8", "10.0.0.0/24"], True),
        ("10.0.1.1", ["10.0.0.0/24"], False),
        ("::1", ["::1"], True),
        ("::1", ["0.0.0.0/0"], False),
        ("fd00::5", ["fd00::/8"], True),
        ("8.8.8.8", ["10.0.0.0/8"], True),
    ],
)
def test_allowed_networks_open_exactly_what_they_name(ip, networks, allowed):
    """An operator may open a network; nothing beside it opens with it."""
    assert address_allowed(ip, parse_networks(networks)) is allowed


@pytest.mark.parametrize("entry", ["", "10.0.0.0/33", "10.0.0.1/8", "a.test", "127.0.0.1:80"])
def test_a_network_that_is_none_is_named(entry):
    """A typo in a list of networks stops the start and says which entry it is."""
    with pytest.raises(ConfigError) as error:
        parse_networks(["127.0.0.0/8", entry])
    assert repr(entry) in str(error.value)
