"""Which addresses a crawl may reach for a name, and what of it is a seed's alone."""

from __future__ import annotations

import pytest

from crawler.admission import Admission
from crawler.model import Reason
from crawler.urls import Canonicalizer, UrlFilter, may_be_a_site, parse_networks

OWN = ["http://wiki.test/", "http://127.0.0.1:8000/", "http://[::1]/", "http://169.254.169.254/"]
PUBLIC, PRIVATE, METADATA = "93.184.216.34", "10.0.0.7", "169.254.169.254"


def admission(*networks: str) -> Admission:
    return Admission(OWN, None, UrlFilter(), parse_networks(networks))


@pytest.mark.parametrize(
    ("host", "address", "may"),
    [
        ("wiki.test", PRIVATE, True),
        ("wiki.test", "127.0.0.1", True),
        ("wiki.test", "fd00::7", True),
        ("wiki.test", METADATA, False),
        ("wiki.test", "::ffff:169.254.169.254", False),
        ("wiki.test", "0.0.0.0", False),
        ("wiki.test", "fe80::1", False),
        ("wiki.test", "fd00:ec2::254", False),
        ("wiki.test", "100.100.100.200", False),
        ("127.0.0.1", "127.0.0.1", True),
        ("[::1]", "::1", True),
        ("::1", "::1", True),
        (METADATA, METADATA, True),
        ("other.test", PRIVATE, False),
        ("other.test", "127.0.0.1", False),
        ("sub.wiki.test", PRIVATE, False),
        ("127.0.0.2", "127.0.0.2", False),
        ("other.test", PUBLIC, True),
    ],
)
def test_a_seed_opens_its_own_host_and_nothing_beside_it(host, address, may):
    """A private site that is named may be crawled; no other name leads to its address, and no
    name to what is nobody's site. An address that is named is meant.
    """
    assert admission().may_reach(host, address) is may
    assert admission().reachable(host, [address]) == ([address] if may else [])


def test_a_seed_that_is_public_is_never_private():
    """A name whose answers change from a public address to a private one is refused the second
    (DNS rebinding), and so is a private one beside a public one.
    """
    crawl = admission()
    assert crawl.reachable("wiki.test", [PRIVATE, PUBLIC]) == [PUBLIC]
    assert crawl.reachable("wiki.test", [PRIVATE]) == []
    assert crawl.reachable("127.0.0.1", ["127.0.0.1"]) == ["127.0.0.1"]


def test_what_a_setting_allows_stays_allowed():
    """An operator who names a network means it, for public names too."""
    crawl = admission("10.0.0.0/24", "169.254.169.254")
    assert crawl.reachable("wiki.test", [PUBLIC]) == [PUBLIC]
    assert crawl.reachable("wiki.test", [PRIVATE]) == [PRIVATE]
    assert crawl.reachable("other.test", [PRIVATE, "10.0.1.7"]) == [PRIVATE]
    assert crawl.reachable("other.test", [METADATA]) == [METADATA]


SPELLINGS = {
    "decimal": "http://2130706434/",
    "octal": "http://0177.0.0.2/",
    "hexadecimal": "http://0x7f000002/",
    "two parts": "http://127.2/",
    "root dot": "http://127.0.0.2./",
    "full width": "http://\uff11\uff12\uff17.0.0.2/",
    "circled": "http://\u2460\u2461\u2466.0.0.2/",
    "userinfo": "http://a.test@127.0.0.2/",
    "escaped": "http://%31%32%37.0.0.2/",
    "mapped": "http://[::ffff:127.0.0.2]/",
    "mapped in hexadecimal": "http://[::ffff:7f00:2]/",
    "6to4": "http://[2002:7f00:2::]/",
    "NAT64": "http://[64:ff9b::127.0.0.2]/",
    "Teredo": "http://[2001:0:7f00:2::]/",
    "this host": "http://0/",
    "unspecified": "http://[::]/",
    "link-local": "http://[fe80::1]/",
    "metadata": "http://169.254.169.253/latest/meta-data/",
    "carrier-grade NAT": "http://100.64.0.1/",
    "multicast": "http://224.0.0.1/",
    "broadcast": "http://255.255.255.255/",
}


@pytest.mark.parametrize("url", SPELLINGS.values(), ids=SPELLINGS)
def test_an_address_is_refused_however_it_is_spelt(url):
    """A link to a private address never becomes a URL of the crawl (RFC 6890, WHATWG URL §3.5)."""
    normal = Canonicalizer().normalize(url)
    assert normal is not None
    assert admission().verdict(normal) is Reason.ADDRESS


@pytest.mark.parametrize("url", ["http://localhost./", "http://LOCALHOST/", "http://x.localhost/"])
def test_a_name_is_judged_by_its_addresses(url):
    """Names of this machine pass at discovery, and are refused once they are looked up."""
    normal = Canonicalizer().normalize(url)
    assert normal is not None
    assert admission().verdict(normal) is None
    assert "./" not in normal
    assert admission().reachable(normal.split("/")[2], ["127.0.0.1", "::1"]) == []


def test_what_is_no_address_is_no_site():
    """Garbage from a resolver opens nothing."""
    assert not may_be_a_site("")
    assert not may_be_a_site("a.test")
    assert may_be_a_site("192.168.0.1")
