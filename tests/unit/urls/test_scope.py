"""Which URLs belong to a crawl."""

from __future__ import annotations

import pytest

from crawler.errors import ConfigError
from crawler.model import Reason
from crawler.urls import Scope, UrlFilter, limits_verdict, scope, site_of


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("example.com", "example.com"),
        ("www.example.com", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("co.uk", "co.uk"),
        ("user.github.io", "user.github.io"),
        ("www.user.github.io", "user.github.io"),
        ("github.io", "github.io"),
        ("www.ck", "www.ck"),
        ("a.b.kobe.jp", "a.b.kobe.jp"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("a.test", "a.test"),
        ("www.a.test", "a.test"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("", ""),
    ],
)
def test_a_site_is_a_registrable_domain(host, site):
    """One owner, one site; users of a hosting service are different owners (publicsuffix.org)."""
    assert site_of(host) == site


@pytest.mark.parametrize(
    ("mode", "seeds", "url", "inside"),
    [
        ("host", ["http://a.test/"], "https://a.test/x", True),
        ("host", ["http://a.test/"], "http://www.a.test/x", False),
        ("host", ["http://a.test/"], "http://a.test:9200/", False),
        ("host", ["http://a.test:8080/"], "http://a.test/", False),
        ("host", ["http://a.test/", "http://b.test/"], "http://b.test/x", True),
        ("site", ["http://www.example.com/"], "https://example.com/", True),
        ("site", ["http://example.com/"], "https://news.example.com/", True),
        ("site", ["http://example.com/"], "http://example.com.evil.test/", False),
        ("site", ["http://example.com/"], "http://notexample.com/", False),
        ("site", ["http://a.github.io/"], "http://b.github.io/", False),
        ("site", ["http://a.test/"], "http://a.test:9200/", False),
        ("site", ["http://a.test/"], "http://169.254.169.254/latest/meta-data/", False),
        ("site", ["http://a.test:8080/"], "http://b.a.test:8080/", True),
        ("site", ["http://a.test:8080/"], "http://a.test/", True),
        ("site", ["http://a.test:8080/"], "http://a.test:8081/", False),
        ("site", ["http://a.test:8080/", "http://b.test/"], "http://b.test:8080/", False),
        ("site", ["http://127.0.0.1:8000/"], "http://127.0.0.1:8000/x", True),
        ("site", ["http://127.0.0.1:8000/"], "http://127.0.0.2:8000/x", False),
        ("site", ["http://[::1]:8000/"], "http://[::1]:8000/x", True),
        ("site", ["http://[::1]/"], "http://[::2]/x", False),
        ("site", [], "http://a.test/", False),
        ("any", [], "http://anything.test:9/", True),
    ],
)
def test_a_scope_contains_what_its_mode_says(mode, seeds, url, inside):
    """The first and the remembered answer are the same, and the right one."""
    around = Scope(seeds, mode)
    assert [around.contains(url), around.contains(url)] == [inside, inside]


def test_a_seed_added_later_widens_the_scope():
    """An answer remembered from before must not keep a new seed out."""
    around = Scope(["http://a.test/"], "site")
    assert not around.contains("http://b.test/")
    around.add("http://b.test/")
    assert around.contains("http://b.test/")
    assert around.contains("http://www.b.test/")


def test_remembered_hosts_are_bounded(monkeypatch):
    """A crawl that meets ever new hosts keeps a fixed number of answers."""
    monkeypatch.setattr(scope, "_MOST_HOSTS", 10)
    around = Scope(["http://a.test/"], "host")
    for number in range(100):
        assert not around.contains(f"http://h{number}.test/")
        assert len(around._known) <= 10
    assert around.contains("http://a.test/")


def test_an_unknown_mode_is_refused():
    """The error names the value and the choices."""
    with pytest.raises(ConfigError, match="'domain': expected one of host, site, any"):
        Scope([], "domain")


@pytest.mark.parametrize(
    ("allow", "deny", "url", "reason"),
    [
        ([], [], "http://a.test/x", None),
        ([r"/news/"], [], "http://a.test/news/1", None),
        ([r"/news/"], [], "http://a.test/x", Reason.NOT_ALLOWED),
        ([r"/x$", r"/news/"], [], "http://a.test/news/1", None),
        ([], [r"\.pdf$"], "http://a.test/x.pdf", Reason.DENIED),
        ([], [r"/x$", r"(?i)LOGIN"], "http://a.test/login", Reason.DENIED),
        ([r"/x$"], [r"\.pdf$"], "http://a.test/y.pdf", Reason.DENIED),
        ([r"a\.test"], [r"\.pdf$"], "http://a.test/y.pdf", Reason.DENIED),
    ],
)
def test_deny_is_stronger_than_allow(allow, deny, url, reason):
    """A denied URL is DENIED whatever allows it; with allow patterns one has to be found."""
    assert UrlFilter(allow, deny).verdict(url) is reason


def test_limits_come_before_patterns():
    """An overlong URL is refused before any pattern runs over it."""
    refused = UrlFilter((), ["x"], max_length=20, max_segments=2, max_parameters=2)
    assert refused.verdict("http://a.test/" + "x" * 20) is Reason.URL_LENGTH
    assert refused.verdict("http://a.test/a/b/c") is Reason.PATH_SEGMENTS
    assert refused.verdict("http://a.test/?a&b&c") is Reason.QUERY_PARAMETERS
    assert refused.verdict("http://a.test/x") is Reason.DENIED


FILES = ("pdf", "js", "png", "zip", "tar.gz")
PATHS = [
    ("/app.js?ver=1.1", Reason.EXTENSION),
    ("/style/LOGO.PNG", Reason.EXTENSION),
    ("/img.png?w=1&h=2", Reason.EXTENSION),
    ("/doc.pdf;v=1", Reason.EXTENSION),
    ("/v1.2.tar.gz", Reason.EXTENSION),
    ("/list.xml.gz", None),
    ("/page?file=x.js", None),
    ("/get.php?f=a.zip", None),
    ("/get;f=a.zip", None),
    ("/x.php/a.zip?raw", Reason.EXTENSION),
    ("/app.js/", None),
    ("/v1.2", None),
    ("/pdf", None),
    ("/notpdf", None),
    ("/x.apdf", None),
    ("/wiki/File:Map.png", None),
    ("/wiki/File%3AMap.png", None),
    ("/", None),
]


@pytest.mark.parametrize(("path", "reason"), PATHS, ids=[path for path, _ in PATHS])
def test_the_last_segment_of_the_path_tells_a_file(path, reason):
    """The query, path parameters and other segments do not, nor does a title of a page."""
    assert UrlFilter(extensions=FILES).verdict("http://a.test" + path) is reason
    assert UrlFilter().verdict("http://a.test" + path) is None


def test_a_host_name_is_no_file():
    """What looks like an extension before the path is none."""
    assert UrlFilter(extensions=FILES).verdict("http://a.zip/") is None


def test_patterns_come_before_extensions():
    """A denied file is denied; an allowed one is still no page."""
    url = "http://a.test/x.pdf"
    assert UrlFilter((), ["x"], extensions=FILES).verdict(url) is Reason.DENIED
    assert UrlFilter(["y"], extensions=FILES).verdict(url) is Reason.NOT_ALLOWED
    assert UrlFilter(["x"], extensions=FILES).verdict(url) is Reason.EXTENSION


@pytest.mark.parametrize("pattern", ["(", "[a", "*x", "a{99999999999999999999}"])
@pytest.mark.parametrize("purpose", ["allow", "deny"])
def test_a_pattern_that_does_not_compile_is_named(pattern, purpose):
    """The crawl does not start, and the message says which pattern is at fault."""
    with pytest.raises(ConfigError) as error:
        UrlFilter(**{purpose: ["fine", pattern]})
    assert f"{purpose} pattern {pattern!r}" in str(error.value)


@pytest.mark.parametrize(
    ("url", "limits", "reason"),
    [
        ("http://a.test/123456", (20, 0, 0), None),
        ("http://a.test/1234567", (20, 0, 0), Reason.URL_LENGTH),
        ("http://a.test/a/b", (0, 2, 0), None),
        ("http://a.test/a/b/", (0, 2, 0), None),
        ("http://a.test/a/b/c", (0, 2, 0), Reason.PATH_SEGMENTS),
        ("http://a.test/a//c/", (0, 2, 0), Reason.PATH_SEGMENTS),
        ("http://a.test/a/b?u=/c/d/e", (0, 2, 0), None),
        ("http://a.test/", (0, 1, 0), None),
        ("http://a.test/?a=1&b=2", (0, 0, 2), None),
        ("http://a.test/?a=1&b=2&b=3", (0, 0, 2), Reason.QUERY_PARAMETERS),
        ("http://a.test/a&b&c?d", (0, 0, 2), None),
        ("http://a.test/a/b/c?a&b&c", (0, 0, 0), None),
    ],
)
def test_a_limit_is_the_last_number_that_passes(url, limits, reason):
    """At the limit a URL passes, one more and it does not; 0 is no limit."""
    assert limits_verdict(url, *limits) is reason
