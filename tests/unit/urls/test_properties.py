"""What must hold for any link, any page and any options."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest
from ada_url import join_url
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from crawler.urls import (
    LONGEST_HREF,
    Canonicalizer,
    Scope,
    UrlFilter,
    UrlOptions,
    address_allowed,
    fingerprint,
    host_key,
    host_of,
    is_ip_literal,
    limits_verdict,
    origin,
    site_of,
)
from tests.support.normal_form import is_normal

SPACED_PIECES = """
http: https: HTTP:// http:// https:// // / \\ ? # % %2 %2e %2E %2F %41 %7e %25 %zz %20
. .. ... ./ ../ ; ;jsessionid=1 ;phpsessid= ;v=1 index.html default.asp
utm_source=x gclid & && = a=1 b=2&a=1 sid=0123456789abcdef0
www. www.a.test a.test A.Test xn-- xn--e1aybc xn--0 localhost
0x7f.1 127.0.0.1 1.2. [::1] [::1 :80 :443 :8080 :99999 : @ u:p@
é п 中 \ud83d \udca9 \ufeff { } | ^ ` " ' < > [ ] + a b-c d_e ~ * ! , javascript: mailto:
"""
PIECES = [*SPACED_PIECES.split(), " ", "\t", "\n", "\0", "\x7f"]

links = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join).map("http://a.test/{}".format),
    st.text(max_size=40),
)
ORDINARY_BASES = [
    "",
    "http://a.test/d/p?q",
    "https://www.a.test:8443/x/",
    "http://[::1]/a/b",
    "mailto:x",
]
bases = st.one_of(st.sampled_from(ORDINARY_BASES), links)
SWITCHES = [field.name for field in fields(UrlOptions) if field.name != "tracking_parameters"]
options = st.fixed_dictionaries({name: st.booleans() for name in SWITCHES}).map(
    lambda switches: UrlOptions(**switches)
)
encodings = st.sampled_from(["utf-8", "windows-1251", "shift_jis", "utf-16", "iso-2022-jp", "idna"])

_PATH = r"[A-Za-z0-9_.~!$&'()*+,;=:@/-]{0,12}"
_QUERY = r"(?:\?[a-z0-9&=+./?-]{0,8})?(?:#[a-z]{0,3})?"
_HOST = r"(?:[a-z0-9_-]{1,5}\.){0,4}[a-z0-9]{1,4}\.?(?::80)?"
plain_hrefs = st.one_of(
    st.from_regex(_PATH + _QUERY, fullmatch=True),
    st.from_regex(f"https?://{_HOST}/[a-z./:@;-]{{0,8}}", fullmatch=True),
    links,
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(bases, links, encodings, options)
@example("http://a.test/", "/a/..;jsessionid=1;jsessionid=2/b", "utf-8", UrlOptions())
@example("http://a.test/", "http://0x7f.1../", "utf-8", UrlOptions())
@example("http://a.test/", "http://www.www.0x1/", "utf-8", UrlOptions(strip_www=True))
def test_every_answer_is_a_normal_url_and_final(base, href, encoding, switches):
    """Any link ends in None or in an ASCII URL of the normal form that no second pass changes."""
    canonicalizer = Canonicalizer(switches)
    url = canonicalizer.resolve(base, href, encoding)
    if url is None:
        return
    assert is_normal(url)
    assert not re.search(r"/\.{1,2}(?:[/?]|\Z)", url.partition("?")[0])
    assert canonicalizer.normalize(url) == url
    assert canonicalizer.resolve(base, url) == url
    assert len(url) <= len(base) * 12 + len(href) * 12 + 100
    key = canonicalizer.key(url)
    assert canonicalizer.key(key) == key


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(bases, plain_hrefs, options)
def test_the_short_way_answers_as_the_parser_does(base, href, switches):
    """Resolving a plain link by concatenation may save time, and nothing else."""
    canonicalizer = Canonicalizer(switches)
    answer = canonicalizer.resolve(base, href)
    assert answer == canonicalizer._resolve_odd(canonicalizer._read_base(base), href, "utf-8")


@settings(max_examples=100, deadline=None)
@given(st.from_regex(r"/?[A-Za-z0-9_.~!$&()*+,;=@/-]{1,12}(\?[a-z0-9=+./]{1,6})?", fullmatch=True))
def test_without_rewriting_a_plain_link_resolves_as_the_standard_says(href):
    """The WHATWG parser, asked directly, is the referee of the short way."""
    as_linked = UrlOptions(drop_tracking=False, drop_session_ids=False, drop_empty_parameters=False)
    assume(not href.startswith("//"))
    base = "https://a.test/d/e/f.html?q=/x/"
    expected = join_url(base, href)
    assert Canonicalizer(as_linked).resolve(base, href) == expected


@settings(max_examples=100, deadline=None)
@given(links, st.text(max_size=20))
def test_readers_of_urls_never_raise(url, host):
    """Even what no canonicalizer has seen ends in a value everywhere else."""
    key = host_key(url)
    assert origin(url) in url
    assert host_of(url) in key
    assert len(fingerprint(key, Canonicalizer().key(url))) == 16
    assert limits_verdict(url, 0, 0, 0) is None
    limits_verdict(url, 10, 1, 1)
    UrlFilter(["a"], ["b"]).verdict(url)
    Scope([url], "site").contains(host)
    assert site_of(host) in host
    if is_ip_literal(host) is False:
        assert address_allowed(host) is False


LARGE = [
    "http://a" + "." * 60_000 + "b/",
    "http://a" + "." * 60_000 + ":80/",
    "http://" + "a." * 30_000 + "test/",
    "http://" + "u@" * 30_000 + "a.test/",
    "http://" + "xn--" * 15_000 + ".test/",
    "http://a.test/" + "%" * 60_000,
    "http://a.test/" + "%7e" * 20_000,
    "http://a.test/" + "../" * 20_000,
    "http://a.test/" + "/" * 60_000,
    "http://a.test/" + ";jsessionid=" * 5_000,
    "http://a.test/" + "index.html/" * 5_000,
    "http://a.test/?" + "&" * 60_000,
    "http://a.test/?" + "b&a&" * 15_000,
    "http://a.test/?sid=" + "a1" * 30_000 + "-",
    "http://a.test/?" + "中" * 20_000,
    "a" * 60_000 + " ",
    "A.-" * 20_000 + ":",
    "#" * 60_000,
    " " * 60_000 + "x",
    "http://a.test/" + "a" * (LONGEST_HREF - 14),  # a letter longer with https
]


@pytest.mark.parametrize("href", LARGE, ids=lambda href: f"{href[:20]!r} x {len(href)}")
def test_large_links_stay_cheap_and_bounded(href):
    """Every pattern runs in linear time: a quadratic one would hang on these."""
    everything = UrlOptions(**dict.fromkeys(SWITCHES, True))
    canonicalizer = Canonicalizer(everything)
    url = canonicalizer.resolve("http://a.test/", href, "windows-1251")
    if url is not None:
        assert len(url) <= LONGEST_HREF
        assert canonicalizer.normalize(url) == url
        assert len(canonicalizer.key(url)) <= len(url)
