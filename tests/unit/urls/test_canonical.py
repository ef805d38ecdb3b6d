"""The normal form, the comparison key, and every switch of both."""

from __future__ import annotations

import re

import pytest

from crawler.errors import ConfigError
from crawler.urls import LONGEST_HREF, Canonicalizer, UrlOptions

BASE = "https://example.com/dir/index.html"
AT = "https://example.com"

# what the row is about, href, URL sent
LINKS = [
    ("scheme and host case", "HTTP://E.Com/A", "http://e.com/A"),
    ("%7E is ~", "/%7Ejoe", f"{AT}/~joe"),
    ("%2F is no slash", "/a%2Fb", f"{AT}/a%2Fb"),
    ("escapes in upper case", "/a%2fb", f"{AT}/a%2Fb"),
    ("lone %", "/100%", f"{AT}/100%25"),
    ("% without hex", "/a%zz", f"{AT}/a%25zz"),
    ("non-ASCII path", "/é", f"{AT}/%C3%A9"),
    ("non-ASCII query", "/s?q=é", f"{AT}/s?q=%C3%A9"),
    ("UTF-8 in lower case hex", "/%e4%b8%ad", f"{AT}/%E4%B8%AD"),
    ("escape that is not UTF-8, path", "/%E9", f"{AT}/%E9"),
    ("escape that is not UTF-8, query", "/s?q=%E9", f"{AT}/s?q=%E9"),
    ("IDN host", "http://bücher.example/", "http://xn--bcher-kva.example/"),
    ("IDN host, upper case", "http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
    ("IDN host with port", "https://тест.test:33", "https://xn--e1aybc.test:33/"),
    ("IDN host with root dot", "http://тест.test./x", "http://xn--e1aybc.test/x"),
    ("port 80", "http://e.com:80/x", "http://e.com/x"),
    ("port 443", "https://e.com:443/x", "https://e.com/x"),
    ("port 443 of http", "http://e.com:443/x", "http://e.com:443/x"),
    ("empty port", "http://e.com:/x", "http://e.com/x"),
    ("no path", "http://e.com", "http://e.com/"),
    ("no path but a query", "http://e.com?a=1", "http://e.com/?a=1"),
    ("root dot", "http://e.com./x", "http://e.com/x"),
    ("several root dots and a port", "http://e.com...:8080/x", "http://e.com:8080/x"),
    ("root dots behind an address", "http://0x7f.1../x", "http://127.0.0.1/x"),
    ("dot segments", "../a/./b/../c", f"{AT}/a/c"),
    ("above the root", "/../../a", f"{AT}/a"),
    ("absolute, /..", "/a/b/..", f"{AT}/a/"),
    ("absolute, /.", "/a/.", f"{AT}/a/"),
    ("escaped dot segment", "/a/%2e%2e/b", f"{AT}/b"),
    ("dots that are no segment", "/a/...//.b", f"{AT}/a/...//.b"),
    ("empty segments count", "/a//b", f"{AT}/a//b"),
    ("userinfo", "http://u:p@e.com/x", "http://e.com/x"),
    ("userinfo, IPv6 and port", "http://u@[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
    ("IPv6, default port", "http://[2001:DB8:0:0::1]:80/x", "http://[2001:db8::1]/x"),
    ("order of parameters", "/s?b=2&a=1", f"{AT}/s?b=2&a=1"),
    ("blank values", "/s?a=&b=", f"{AT}/s?a=&b="),
    ("repeated names", "/s?a=2&a=1", f"{AT}/s?a=2&a=1"),
    ("+ in a query", "/s?q=a+b", f"{AT}/s?q=a+b"),
    ("%20 in a query", "/s?q=a%20b", f"{AT}/s?q=a%20b"),
    ("%2B", "/s?q=a%2Bb", f"{AT}/s?q=a%2Bb"),
    ("; between parameters", "/s?a=1;b=2", f"{AT}/s?a=1;b=2"),
    ("escaped reserved", "/s?u=%2Fx%2Fy%3Az%2C%40", f"{AT}/s?u=%2Fx%2Fy%3Az%2C%40"),
    ("raw reserved", "/s?u=/x/y:z,@", f"{AT}/s?u=/x/y:z,@"),
    ("%26 in a value", "/s?q=a%26b&c=1", f"{AT}/s?q=a%26b&c=1"),
    ("%3B is not ;", "/p/a%3Bb;c", f"{AT}/p/a%3Bb;c"),
    ("empty parameters", "/s?a=1&&b=2&", f"{AT}/s?a=1&b=2"),
    ("tracking parameter", "/s?utm_source=x&a=1", f"{AT}/s?a=1"),
    ("fragment", "/a#x", f"{AT}/a"),
    ("fragment only", "#top", BASE),
    ("application state in a fragment", "#!/products/7", BASE),
    ("spaced fragment only", " #top", BASE),
    ("empty", "", BASE),
    ("lone ?", "/a?", f"{AT}/a"),
    ("query only", "?x=1", f"{BASE}?x=1"),
    ("other host", "//cdn.test/a", "https://cdn.test/a"),
    ("beside the page", "other.html", f"{AT}/dir/other.html"),
    ("colon in a later segment", "a/b:c@d", f"{AT}/dir/a/b:c@d"),
    ("backslashes", "\\a\\b", f"{AT}/a/b"),
    ("scheme with backslashes", "https:\\\\e.com\\a", "https://e.com/a"),
    ("escaped backslash", "/nb%5Cnb.nsf/x", f"{AT}/nb%5Cnb.nsf/x"),
    ("backslash in a query", "/?a\\b", f"{AT}/?a%5Cb"),
    ("tab and newline inside", "/a\tb\nc", f"{AT}/abc"),
    ("whitespace around", "  /a \n", f"{AT}/a"),
    ("space inside", "/a b", f"{AT}/a%20b"),
    ("space in a query", "/s?q=a b", f"{AT}/s?q=a%20b"),
    ("pipe, quotes, braces", '/a|b"{}', f"{AT}/a%7Cb%22%7B%7D"),
    ("brackets in a query", "/search?tags[]=a", f"{AT}/search?tags%5B%5D=a"),
    ("brackets and quotes", '/?m=p&p=[%221%22]"x', f"{AT}/?m=p&p=%5B%221%22%5D%22x"),
    ("sub-delims", "/a!$&'()*+,;=:@b", f"{AT}/a!$&'()*+,;=:@b"),
    ("apostrophe in a query", "/?q='", f"{AT}/?q=%27"),
    ("javascript:", "javascript:void(0)", None),
    ("javascript: in disguise", " JaVa\tScript:void(0)", None),
    ("mailto:", "mailto:a@b.c", None),
    ("data:", "data:text/html,x", None),
    ("tel:", "tel:+1", None),
    ("ftp:", "ftp://e.com/x", None),
    ("port too large", "http://e.com:99999/", None),
    ("port no number", "http://e.com:abc/", None),
    ("broken IPv6", "http://[::1/", None),
    ("empty host", "http:///", None),
    ("NUL inside", "/a\0b", f"{AT}/a%00b"),
    ("lone surrogate", "/a\ud83d", f"{AT}/a%EF%BF%BD"),
    ("surrogate pair", "/\ud83d\udca9", f"{AT}/%F0%9F%92%A9"),
    ("long path", "/" + "a" * 5000, f"{AT}/" + "a" * 5000),
    ("longer than any URL", "/" + "a" * LONGEST_HREF, None),
    ("underscore in a host", "http://wod_forum.a.test/", "http://wod_forum.a.test/"),
    ("hyphens in places 3 and 4", "https://hg--69.a.test/f", "https://hg--69.a.test/f"),
    ("; in a host", "http://a.test;jsessionid=E460A978.tpd_2?p=v", None),
    ("host label of 64", f"http://{'a' * 64}.test/", None),
    ("host label of 63", f"http://{'a' * 63}.test/", f"http://{'a' * 63}.test/"),
    ("host of 255", f"http://{'.'.join(['a' * 50] * 5)}/", None),
    ("Punycode of nothing", "http://xn--/", None),
    ("Punycode of nothing, first label", "http://xn--pokxncvks.a.test/x", None),
    ("Punycode of nothing, last label", "http://www.xn--pokxncvks/x", None),
    ("Punycode of a name", "http://xn--e1aybc.test/x", "http://xn--e1aybc.test/x"),
    ("directory of a hidden file", "/.well-known/a", f"{AT}/.well-known/a"),
    ("IPv4 in other notation", "http://0x7f.1/", "http://127.0.0.1/"),
    ("escape right behind a lone %", "/%2%65", f"{AT}/%252e"),
]


@pytest.mark.parametrize(("href", "url"), [row[1:] for row in LINKS], ids=[row[0] for row in LINKS])
def test_a_link_is_sent_in_its_normal_form(href, url):
    """One link, one spelling, and for good (RFC 3986 §6.2.2, WHATWG URL §4.4)."""
    canonicalizer = Canonicalizer()
    assert canonicalizer.resolve(BASE, href) == url
    if url is not None:
        assert canonicalizer.normalize(url) == url


@pytest.mark.parametrize("code", range(256))
def test_only_unreserved_characters_lose_their_escape(code):
    """Each escape alone, in path and query: A-Z a-z 0-9 - . _ ~ stand raw (RFC 3986 §6.2.2.2)."""
    raw = re.fullmatch(r"[A-Za-z0-9._~-]", chr(code))
    expected = chr(code) if raw else f"%{code:02X}"
    for escape in {f"%{code:02X}", f"%{code:02x}"}:
        url = Canonicalizer().normalize(f"http://a.test/x{escape}?y{escape}")
        assert url == f"http://a.test/x{expected}?y{expected}"


@pytest.mark.parametrize(
    ("base", "href", "url"),
    [
        ("", "http://a.test/x", "http://a.test/x"),
        ("", "/x", None),
        ("", "#x", None),
        ("mailto:a@b.c", "/x", None),
        ("mailto:a@b.c", "http://a.test/x", "http://a.test/x"),
        ("not a url", "x", None),
        ("http://a.test", "x", "http://a.test/x"),
        ("http://a.test/b%7e/c|d/e", "x", "http://a.test/b~/c%7Cd/x"),
        ("http://a.test/b/../c/d", "x", "http://a.test/c/x"),
        ("http://u:p@a.test.:80/b/", "x", "http://a.test/b/x"),
        ("http://a.test/b;jsessionid=1/c", "x", "http://a.test/b/x"),
        ("http://a.test/p?next=/q/r", "x", "http://a.test/x"),
        ("http://a.test/.b/c", "x", "http://a.test/.b/x"),
        ("http://a.test/db/?pos=6901", "?pos=7001", "http://a.test/db/?pos=7001"),
        ("http://[::1]:8080/a", "b", "http://[::1]:8080/b"),
        ("http://a.test/" + "b" * LONGEST_HREF, "x", None),
    ],
)
def test_any_base_is_read_once_and_read_right(base, href, url):
    """A base that is no plain http(s) URL neither breaks links nor leaks into them."""
    assert Canonicalizer().resolve(base, href) == url


def test_one_instance_serves_pages_in_any_order():
    """The remembered base must never answer for another page."""
    canonicalizer = Canonicalizer()
    for host in ("a.test", "b.test", "a.test"):
        assert canonicalizer.resolve(f"http://{host}/d/", "x") == f"http://{host}/d/x"
        assert canonicalizer.normalize("/x") is None
        assert canonicalizer.resolve(f"http://{host}/d/", "#x") == f"http://{host}/d/"


@pytest.mark.parametrize(
    ("encoding", "href", "url"),
    [
        ("windows-1251", "/п?q=п", f"{AT}/%D0%BF?q=%EF"),
        ("windows-1251", "/п?q=п'x|#п", f"{AT}/%D0%BF?q=%EF%27x%7C"),
        ("iso-8859-1", "/é?q=é", f"{AT}/%C3%A9?q=%E9"),
        ("iso-8859-1", "?q=é&r=%E9", f"{BASE}?q=%E9&r=%E9"),
        ("iso-8859-1", "//bücher.example/?q=é", "https://xn--bcher-kva.example/?q=%E9"),
        ("iso-8859-1", "?q=中&a=1", f"{BASE}?q=%26%2320013%3B&a=1"),
        ("gb18030", "?q=中", f"{BASE}?q=%D6%D0"),
        ("utf-8", "?q=é", f"{BASE}?q=%C3%A9"),
        ("utf-16", "?q=é", f"{BASE}?q=%C3%A9"),
        ("no such", "?q=é", f"{BASE}?q=%C3%A9"),
        ("hex", "?q=é", f"{BASE}?q=%C3%A9"),
        ("idna", "?q=é..", f"{BASE}?q=%C3%A9.."),
    ],
)
def test_a_query_is_written_in_the_encoding_of_its_page(encoding, href, url):
    """Raw non-ASCII: path in UTF-8, query as the page is encoded (WHATWG URL §4.4, query state)."""
    assert Canonicalizer().resolve(BASE, href, encoding) == url


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("/?utm_source=x&utm_anything=y&UTM_Medium=z", "/"),
        ("/?utm%5Fsource=x&a=1", "/?a=1"),
        ("/?utmost=1&my_utm_source=2", "/?utmost=1&my_utm_source=2"),
        ("/?fbclid=1&GCLID=2&a=gclid", "/?a=gclid"),
        ("/?ref=2&gclid_not=3", "/?ref=2&gclid_not=3"),
        ("/?a=1&gclid", "/?a=1"),
        ("/x;jsessionid=E460A97852FA.n2?p=v", "/x?p=v"),
        ("/x;JSESSIONID=1;v=2/y;phpsessid=3", "/x;v=2/y"),
        ("/x;jsession;jsessionid=1id=2", "/x;jsession"),
        ("/x;v=1.1;type=a", "/x;v=1.1;type=a"),
        ("/a/..;jsessionid=1/b", "/a/..;jsessionid=1/b"),
        ("/?q=;jsessionid=1", "/?q=;jsessionid=1"),
        ("/?PHPSESSID=abc&jsessionid=1&a=1", "/?a=1"),
        ("/?sid=0123456789abcdef0123456789abcdef", "/"),
        ("/?sid=42&s=ann+arbor", "/?sid=42&s=ann+arbor"),
        ("/?sid=2024-summer-olympics-in-paris", "/?sid=2024-summer-olympics-in-paris"),
        ("/?sid=20240101123456789012", "/?sid=20240101123456789012"),
        ("/?ASPSESSIONIDQQABCDEF=X", "/"),
        ("/?a&&b&", "/?a&b"),
        ("/?&", "/"),
        ("/?=&a", "/?=&a"),
    ],
)
def test_noise_leaves_the_url_and_nothing_else_does(href, url):
    """By default trackers, session ids and empty parameters go; what only resembles them stays."""
    assert Canonicalizer().resolve("http://a.test/", href) == "http://a.test" + url


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("?PHPSESSID=0123456789abcdef", "http://a.test/x?PHPSESSID=0123456789abcdef"),
        ("/x;jsessionid=1?q", "http://a.test/x;jsessionid=1?q"),
        ("HTTP://WWW.A.TEST:80/%7ex?utm_source=b#c", "http://www.a.test/~x?utm_source=b"),
        ("/ä", "http://a.test/%C3%A4"),
        ("http://[", None),
        ("javascript:x", None),
        ("/" + "x" * LONGEST_HREF, None),
    ],
)
def test_what_a_server_insists_on_is_kept(href, url):
    """Only the spelling is normal: session ids, trackers and the host stay as written."""
    urls = Canonicalizer(UrlOptions(https_upgrade=True, strip_www=True))
    assert urls.resolve_whole("http://a.test/x", href) == url


@pytest.mark.parametrize(
    ("options", "href", "url"),
    [
        ({"drop_tracking": False}, "http://a.test/?utm_id=1", "http://a.test/?utm_id=1"),
        ({"tracking_parameters": ("ref", "x_*")}, "http://a.test/?ref=1&x_y=2&utm_id=3", "http://a.test/?utm_id=3"),
        ({"tracking_parameters": ()}, "http://a.test/?utm_id=1", "http://a.test/?utm_id=1"),
        ({"drop_session_ids": False}, "http://a.test/;jsessionid=1?phpsessid=2", "http://a.test/;jsessionid=1?phpsessid=2"),
        ({"drop_empty_parameters": False}, "http://a.test/?a&&b&", "http://a.test/?a&&b&"),
        ({"https_upgrade": True}, "http://a.test/x", "https://a.test/x"),
        ({"https_upgrade": True}, "http://a.test:8080/x", "http://a.test:8080/x"),
        ({"https_upgrade": True}, "http://[::1]/x", "https://[::1]/x"),
        ({"https_upgrade": True}, "http://[::1]:8080/x", "http://[::1]:8080/x"),
        ({"strip_www": True}, "http://www.www.a.test:81/x?u=http://www.b.test/", "http://a.test:81/x?u=http://www.b.test/"),
        ({"strip_www": True}, "http://www.test/", "http://www.test/"),
    ],
)  # fmt: skip
def test_switches_of_the_url_that_is_sent(options, href, url):
    """Each switch changes what it names and no more, and once is enough."""
    canonicalizer = Canonicalizer(UrlOptions(**options))
    assert canonicalizer.normalize(href) == url
    assert canonicalizer.normalize(url) == url


@pytest.mark.parametrize(
    ("options", "url", "key"),
    [
        ({}, "/x", "/x"),
        ({}, "/?b=2&a=1&a=0", "/?a=1&a=0&b=2"),
        ({}, "/?a=2&a=1", "/?a=2&a=1"),
        ({}, "/?ab=1&a=2&a", "/?a=2&a&ab=1"),
        ({}, "/a%20b?q=a%20b", "/a%20b?q=a+b"),
        ({}, "/a//b/index.html/", "/a//b/index.html/"),
        ({}, "/(S(lit3py55t21z5v55vlm25s55))/x.aspx?b=2&a=1", "/x.aspx?a=1&b=2"),
        ({}, "/app/(A(lit3py55t21z5v)S(lit3py55t21z5v))/(S(lit3py55t21z5v))/", "/app/"),
        ({}, "/(S(short))/x", "/(S(short))/x"),
        ({}, "/x?u=/(S(lit3py55t21z5v55vlm25s55))/", "/x?u=/(S(lit3py55t21z5v55vlm25s55))/"),
        (
            {"drop_session_ids": False},
            "/(S(lit3py55t21z5v55vlm25s55))/x",
            "/(S(lit3py55t21z5v55vlm25s55))/x",
        ),
        ({"sort_parameters": False}, "/?b=2&a=%20", "/?b=2&a=+"),
        ({"collapse_slashes": True}, "/a///b//?u=http://c//d", "/a/b/?u=http://c//d"),
        ({"drop_index": True}, "/a/Index.HTML?x=1", "/a/?x=1"),
        ({"drop_index": True}, "/index.html", "/"),
        ({"drop_index": True}, "/myindex.html", "/myindex.html"),
        ({"strip_trailing_slash": True}, "/a/?x=/", "/a?x=/"),
        ({"strip_trailing_slash": True}, "/", "/"),
        ({"strip_trailing_slash": True, "drop_index": True}, "/a/index.html/index.php/", "/a"),
    ],
)
def test_switches_of_the_key(options, url, key):
    """The key merges what its switches say, touches no value, and is its own key."""
    canonicalizer = Canonicalizer(UrlOptions(**options))
    url = "http://a.test" + url
    assert canonicalizer.normalize(url) == url, "the URL that is sent stays as linked"
    assert canonicalizer.key(url) == "http://a.test" + key
    assert canonicalizer.key("http://a.test" + key) == "http://a.test" + key


def test_the_key_of_an_ordinary_url_is_the_url_itself():
    """No second string is kept for the many URLs that have nothing to merge."""
    url = "http://a.test/x"
    assert Canonicalizer().key(url) is url


@pytest.mark.parametrize("pattern", ["", "*", "**", "*_id", "a*b", "utm_**"])
def test_a_tracking_pattern_that_cannot_mean_what_it_says_is_refused(pattern):
    """The error names the pattern; a lone star would delete every parameter."""
    with pytest.raises(ConfigError, match="tracking parameter"):
        UrlOptions(tracking_parameters=(pattern,))


def test_rules_change_with_the_options_and_with_nothing_else():
    """A store can tell that its URLs were made by other rules."""
    assert Canonicalizer().rules == Canonicalizer(UrlOptions()).rules
    assert Canonicalizer().rules != Canonicalizer(UrlOptions(sort_parameters=False)).rules
