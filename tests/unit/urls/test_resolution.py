"""Conformance of link resolution with the URL standards, row by row."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crawler.urls import Canonicalizer

CORPUS = Path(__file__).parents[2] / "corpus" / "urls"
ROWS = [json.loads(line) for line in (CORPUS / "resolution.jsonl").read_text("utf-8").splitlines()]
PAIRS = [
    json.loads(line) for line in (CORPUS / "equivalence.jsonl").read_text("utf-8").splitlines()
]

# reason -> rows (base, href, what we send). Everything not listed has to be the standard's answer.
DIFFERENCES: dict[str, list[tuple[str | None, str, str | None]]] = {
    "userinfo: credentials out of a link are neither sent nor stored": [
        (
            "http://example.org/foo/bar",
            "http://user:pass@foo:21/bar;par?b#c",
            "http://foo:21/bar;par?b",
        ),
        (None, "https://test:@test", "https://test/"),
        ("http://example.org/foo/bar", "http://a:b@c:29/d", "http://c:29/d"),
        ("http://example.org/foo/bar", "http://&a:foo(b]c@d:2/", "http://d:2/"),
        ("http://example.org/foo/bar", "http://::@c@d:2", "http://d:2/"),
        ("http://example.org/foo/bar", "http://foo.com:b@d/", "http://d/"),
        (None, "http://a:b@c\\", "http://c/"),
        (None, "http://%25DOMAIN:foobar@foodomain.com/", "http://foodomain.com/"),
        (None, "http:a:b@www.example.com", "http://www.example.com/"),
        (None, "http:/a:b@www.example.com", "http://www.example.com/"),
        (None, "http://a:b@www.example.com", "http://www.example.com/"),
        (None, "http::b@www.example.com", "http://www.example.com/"),
        (None, "http:/:b@www.example.com", "http://www.example.com/"),
        (None, "http://:b@www.example.com", "http://www.example.com/"),
        (None, "http:a:@www.example.com", "http://www.example.com/"),
        (None, "http:/a:@www.example.com", "http://www.example.com/"),
        (None, "http://a:@www.example.com", "http://www.example.com/"),
        (None, "http://www.@pple.com", "http://pple.com/"),
        ("http://other.com/", "http://foo:\U0001f4a9@example.com/bar", "http://example.com/bar"),
        ("http://doesnotmatter/", "https://@test@test@example:800/", "https://example:800/"),
        ("http://doesnotmatter/", "https://@@@example", "https://example/"),
        ("http://doesnotmatter/", "http://`{}:`{}@h/`{}?`{}", "http://h/%60%7B%7D?%60%7B%7D"),
        ("http://user@example.org/smth", "/some/path", "http://example.org/some/path"),
        ("http://user:pass@example.org:21/smth", "", "http://example.org:21/smth"),
        ("http://user:pass@example.org:21/smth", "/some/path", "http://example.org:21/some/path"),
        ("http://example.org", "https://user:pass[\x7f@foo/bar", "https://foo/bar"),
    ],
    "escapes: upper case, and none for unreserved characters (RFC 3986 §6.2.2)": [
        ("http://example.org/foo/bar", "/a%2fc", "http://example.org/a%2Fc"),
        ("http://example.org/foo/bar", "/a/%2f/c", "http://example.org/a/%2F/c"),
        (None, "http://example.com/foo/%2e./%2e%2e/.%2e/%2e.bar", "http://example.com/..bar"),
        (None, "http://example.com/foo%41%7a", "http://example.com/fooAz"),
        (None, "http://example.com/foo%00%51", "http://example.com/foo%00Q"),
        (None, "http://example.com/%3A%3a%3C%3c", "http://example.com/%3A%3A%3C%3C"),
        (None, "http://www/foo%2Ehtml", "http://www/foo.html"),
        ("http://a.test/d/p", "%2e%2e%2fg", "http://a.test/d/..%2Fg"),
        ("http://a.test/d/p", "/%e9", "http://a.test/%E9"),
    ],
    "a % that begins no escape is data and is escaped itself (RFC 3986 §2.4)": [
        (None, "http://example.com/foo/%2e%2", "http://example.com/foo/.%252"),
        (None, "http://example.com/foo%", "http://example.com/foo%25"),
        (None, "http://example.com/foo%2", "http://example.com/foo%252"),
        (None, "http://example.com/foo%2zbar", "http://example.com/foo%252zbar"),
        (
            None,
            "http://example.com/foo%2\xc2\xa9zbar",
            "http://example.com/foo%252%C3%82%C2%A9zbar",
        ),
        (None, "http://example.org/test?%GH", "http://example.org/test?%25GH"),
    ],
    "what may not stand raw in a path is escaped (RFC 3986 §3.3)": [
        ("http://example.org/foo/bar", "[61:24:74]:98", "http://example.org/foo/%5B61:24:74%5D:98"),
        (
            "http://example.org/foo/bar",
            "http:[61:27]/:foo",
            "http://example.org/foo/%5B61:27%5D/:foo",
        ),
        ("http://a.test/d/p", "/x|y^z`{}", "http://a.test/x%7Cy%5Ez%60%7B%7D"),
    ],
    "an empty query is dropped": [
        ("http://example.org/foo/bar", "?", "http://example.org/foo/bar"),
        (None, "http://example.org/test?#", "http://example.org/test"),
        (None, "https://x/?#\x00y", "https://x/"),
        (None, "https://x/?#\uffffy", "https://x/"),
    ],
    "no DNS could hold the host: empty labels, or characters that only confuse what reads it": [
        (None, "http://./", None),
        (None, "http://../", None),
        (None, "http://foo.09..", None),
        ("http://a.test/d/p", "http://a..test/", None),
        (None, "http://!\"$&'()*+,-.;=_`{}~/", None),
    ],
    "an empty path is / (RFC 3986 §6.2.3); the row leaves it unnormalised": [
        ("http://a/b/c/d;p?q", "//g", "http://g/"),
    ],
}
OURS = {(base, href): url for rows in DIFFERENCES.values() for base, href, url in rows}


@pytest.mark.parametrize(
    ("standard", "base", "href", "url"), ROWS, ids=lambda value: ascii(value)[:40]
)
def test_a_link_resolves_as_the_standard_says_or_as_a_listed_difference(standard, base, href, url):
    """A link leads where the standard says, save for the differences listed with a reason."""
    sent = Canonicalizer().resolve(base or "", href)
    if (base, href) in OURS:
        assert sent == OURS[base, href]
        assert sent != url, "no difference any more: take the row off the list"
    else:
        assert sent == url


def test_every_listed_difference_is_a_row():
    """The list of differences must not outlive the rows that it is about."""
    assert OURS.keys() <= {(base, href) for _, base, href, _ in ROWS}


@pytest.mark.parametrize(
    ("standard", "base", "href", "url"), ROWS, ids=lambda value: ascii(value)[:40]
)
def test_a_normalised_url_stays_as_it_is(standard, base, href, url):
    """What was sent once is sent in the same spelling for ever (RFC 3986 §6)."""
    canonicalizer = Canonicalizer()
    sent = canonicalizer.resolve(base or "", href)
    if sent is not None:
        assert canonicalizer.normalize(sent) == sent
        assert canonicalizer.key(canonicalizer.key(sent)) == canonicalizer.key(sent)


@pytest.mark.parametrize(
    ("standard", "a", "b", "equal"), PAIRS, ids=lambda value: ascii(value)[:40]
)
def test_two_spellings_share_a_key_exactly_when_they_are_one_url(standard, a, b, equal):
    """Equal spellings meet in the key, different resources never do."""
    canonicalizer = Canonicalizer()
    first, second = canonicalizer.normalize(a), canonicalizer.normalize(b)
    if first is None or second is None:
        assert equal
        assert first is second, "neither is fetched"
    else:
        assert (canonicalizer.key(first) == canonicalizer.key(second)) is equal
