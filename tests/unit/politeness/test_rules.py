"""The rules of one robots.txt: decisions, crawl delay, sitemaps, limits."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.politeness import RobotsRules, parse_crawl_delay, product_token
from crawler.politeness.robots_txt import MAX_BYTES, MAX_WILDCARDS, read_robots_txt

CORPUS = json.loads((Path(__file__).parents[2] / "corpus/robots/decisions.json").read_text())
ROWS = [(entry["file"], *row[:3]) for entry in CORPUS for row in entry["rows"]]

_LENIENT = "sites write it and large crawlers obey it: a polite crawler obeys too"
DELIBERATE = {
    # the RFC's table escapes reserved characters in the rule but its text keeps %2F and / apart;
    # every matcher at hand compares them as they stand
    "https://www.example.com/foo/bar?baz=https%3A%2F%2Ffoo.bar": "%2F is not /, in queries too",
    "user-agent b\ndisallow /\n": _LENIENT,
    "user-agent: b\ndissallow: /x\n": _LENIENT,
    "useragent: b\ndisallow: /x\n": _LENIENT,
}


def rules(text: str | bytes, token: str = "examplebot") -> RobotsRules:
    return RobotsRules.parse(text.encode() if isinstance(text, str) else text, token)


def allows(text: str | bytes, path: str, token: str = "examplebot") -> bool:
    return rules(text, token).decide(f"http://a.test{path}").allowed


@pytest.mark.parametrize(("file", "agent", "url", "allowed"), ROWS)
def test_every_row_of_the_corpus_is_answered_so_or_differs_on_purpose(file, agent, url, allowed):
    """RFC 9309 §2.2: each row holds, but for the listed ones, which must differ."""
    decision = RobotsRules.parse(file.encode(), product_token(agent)).decide(url)
    assert decision.allowed is (allowed != (file in DELIBERATE or url in DELIBERATE))


def test_only_rows_on_which_authorities_differ_are_answered_otherwise():
    """A deliberate difference is one on which the authorities do not agree."""
    disputed = [
        r for e in CORPUS for r in e["rows"] if e["file"] in DELIBERATE or r[1] in DELIBERATE
    ]
    assert len(ROWS) == 236
    assert len(disputed) == len(DELIBERATE)
    assert all(row[4:] == ["authorities differ"] for row in disputed)


OWN_TWICE = """\
User-agent: examplebot
Allow: /foo/bar

User-agent: *
User-agent: examplebot
Disallow: /foo/bar
Disallow: /opt
"""
DELAY_BETWEEN = "User-agent: examplebot\nCrawl-delay: 1\nUser-agent: z\nDisallow: /\n"
BOM_INSIDE = "User-agent: *\n\ufeffDisallow: /x\nDisallow: /y\n"
ANCHORED = "User-agent: *\nAllow: /*/f=*/$\nDisallow: /\n"
MORE = [
    ("bom", b"\xef\xbb\xbfUser-agent: *\nDisallow: /\n", "/x", False),
    ("bom in the middle", BOM_INSIDE, "/x", True),
    ("bom in the middle, next line", BOM_INSIDE, "/y", False),
    ("utf-16", "\ufeffUser-agent: *\nDisallow: /x\n".encode("utf-16-le"), "/x", False),
    ("utf-16 without a mark", "User-agent: *\nDisallow: /x\n".encode("utf-16-le"), "/x", False),
    ("utf-16be without a mark", "User-agent: *\nDisallow: /x\n".encode("utf-16-be"), "/x", False),
    ("utf-16, other path", "\ufeffUser-agent: *\nDisallow: /x\n".encode("utf-16-le"), "/ok", True),
    ("latin-1 rule", b"User-agent: *\nDisallow: /stra\xdfe/\n", "/stra%DFe/x", False),
    ("latin-1 rule is no broader", b"User-agent: *\nDisallow: /stra\xdfe/\n", "/strasse/", True),
    ("latin-1 rule, other octet", b"User-agent: *\nDisallow: /stra\xdfe/\n", "/stra%E4e/", True),
    ("rule after a latin-1 rule", b"User-agent: *\nDisallow: /\xdf\nDisallow: /p\n", "/p", False),
    ("control octet in path", "User-agent: *\nDisallow: /a\x0cb\n", "/a", True),
    ("nul in path", "User-agent: *\nDisallow: /a\x00b\n", "/a%00b", False),
    ("end anchored glob", ANCHORED, "/1/f=5/", True),
    ("end anchored glob, not the end", ANCHORED, "/1/f=5", False),
    ("star spans query", "User-agent: *\nDisallow: /*s=\n", "/x?page=1", True),
    ("star spans query, hit", "User-agent: *\nDisallow: /*s=\n", "/x?pages=1&s=2", False),
    ("hash ends a value", "User-agent:*#all\nDisallow:/x#y\nDisallow: /z   # w\n", "/z", False),
    ("own groups merge", OWN_TWICE, "/foo/bar", True),
    ("own groups merge, second", OWN_TWICE, "/opt", False),
    ("letters of another script", "User-agent: ex\u0430mplebot\nDisallow: /\n", "/x", True),
    ("prefix of our token", "User-agent: example\nDisallow: /\n", "/x", True),
    ("crawl-delay between agents", DELAY_BETWEEN, "/x", False),
    ("robots.txt itself", "User-agent: *\nDisallow: /\n", "/robots.txt", True),
    ("robots.txt with a fragment", "User-agent: *\nDisallow: /\n", "/robots.txt#x", True),
    ("robots.txt with a query", "User-agent: *\nDisallow: /\n", "/robots.txt?x=1", False),
    ("robots.txt with parameters", "User-agent: *\nDisallow: /\n", "/robots.txt;x", False),
    ("robots.txt in a directory", "User-agent: *\nDisallow: /\n", "/a/robots.txt", False),
    ("two slashes", "User-agent: *\nDisallow: //x\n", "//x/y", False),
    ("two slashes are not one", "User-agent: *\nDisallow: /x\n", "//x/y", True),
    ("anchor is no literal dollar", "User-agent: *\nDisallow: /a$\n", "/a$b", True),
    ("anchor opens nothing more", "User-agent: *\nAllow: /$\nDisallow: /\n", "/$x", False),
    ("lone percent in the URL", "User-agent: *\nDisallow: /p%25\n", "/p%", False),
    ("lone percent in the rule", "User-agent: *\nDisallow: /p%\n", "/p%25", False),
    ("plain glob is prefix", "User-agent: *\nDisallow: /*/print/*\n", "/a/print/", False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "path", "allowed"), [row[1:] for row in MORE], ids=[r[0] for r in MORE]
)
def test_what_files_in_the_wild_contain_is_read_as_meant(file, path, allowed):
    """RFC 9309 §2.2, §2.3.1.5: what parses counts, and nothing becomes broader than written."""
    assert allows(file, path) is allowed


def test_house_rule_a_version_after_our_token_still_means_us():
    """Deviation (RFC 9309 §2.2.1): a token ends where its alphabet ends."""
    assert not allows("User-agent: ExampleBot/2.1\nDisallow: /\n", "/x")
    assert allows("User-agent: *\nDisallow: /\nUser-agent: examplebot news\nAllow: /x\n", "/x")


def test_house_rule_an_allowed_index_page_does_not_open_its_directory():
    """RFC 9309 §2.2.2: only the written pattern counts, where Protego adds one."""
    file = "User-agent: *\nAllow: /d/index.html\nDisallow: /\n"
    assert allows(file, "/d/index.html")
    assert not allows(file, "/d/")


def test_a_denial_names_the_line_as_it_stands_in_the_file():
    """The rule and its line are those of the original file, whatever was rewritten."""
    lines = [
        "\ufeff# hi",
        "User-agent: a",
        "Disallow: /",
        "",
        "User-agent: *",
        " disallow : /p*q  # no",
    ]
    decision = rules("\r\n".join(lines)).decide("http://a.test/p/q")
    assert (decision.rule, decision.line) == ("disallow : /p*q  # no", 6)


def test_the_longest_of_the_matching_lines_is_named():
    """RFC 9309 §2.2.2: the most specific match decides, so it is the one to show."""
    found = rules("User-agent: *\nDisallow: /a\nDisallow: /a/b*\nDisallow: /a/\nDisallow: /a/b$\n")
    assert found.decide("http://a.test/a/bc").line == 3
    assert found.decide("http://a.test/a/c").line == 4
    assert found.decide("http://a.test/ax").line == 2


GLOBS = [
    ("/ab*ba$", "/aba", False), ("/ab*ba$", "/abba", True), ("/ab*ba$", "/abxba", True),
    ("/ab*ba$", "/abxbay", False), ("/a*b*b", "/axb", False), ("/a*b*b", "/abxb", True),
    ("/*aa*aa", "/aaa", False), ("/*aa*aa", "/aaaa", True), ("/*aa*a$", "/aa", False),
    ("/a$", "/a", True), ("/a$", "/ab", False), ("*", "/", True), ("/*", "/x", True),
    ("/a*", "/a", True), ("/*$", "/x", True), ("/b*", "/a", False), ("/*x*y", "/yx", False),
    ("*/a*b", "/a/b", True),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "path", "hit"), GLOBS)
def test_the_line_that_is_named_really_matches(pattern, path, hit):
    """RFC 9309 §2.2.3: parts between stars follow each other and do not overlap."""
    found = rules(f"User-agent: *\nDisallow: {pattern}\nAllow: /none\n")
    decision = found.explain(f"http://a.test{path}")
    assert decision.line == (2 if hit else None)
    assert decision.allowed is not hit
    assert found.decide(f"http://a.test{path}").allowed is not hit


def test_a_permission_is_explained_only_on_demand():
    """`decide` stays cheap; `explain` names the allow line, and none where no line matches."""
    found = rules("User-agent: *\nDisallow: /a\nAllow: /a/b\n")
    assert found.decide("http://a.test/a/b").rule is None
    assert found.explain("http://a.test/a/b").line == 3
    assert found.explain("http://a.test/x").line is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("10", 10), ("0.5", 0.5), (" 2 ", 2), ("10 # note", 10), ("0", 0), (".5", 0.5), ("7.", 7),
        ("5s", None), ("0,5", None), ("nan", None), ("inf", None), ("1e400", None), ("1e2", None),
        ("-1", None), ("1_0", None), ("\u0663", None), ("+3", None), ("", None), ("0x10", None),
        ("86400", 86400), ("9223372036854775807", 1e9), ("1/10", None),
        ("9" * 64, 1e9), ("9" * 65, None),
    ],
)  # fmt: skip
def test_a_crawl_delay_is_a_plain_decimal_number_or_nothing(value, seconds):
    """No standard: what is not surely a number of seconds is ignored; an exponent is not."""
    assert parse_crawl_delay(value) == seconds
    assert rules(f"User-agent: *\nCrawl-delay: {value}\n").crawl_delay == seconds


@pytest.mark.parametrize(
    ("file", "seconds"),
    [
        ("User-agent: *\nCrawl-delay: 30\n\nUser-agent: examplebot\nDisallow: /b\n", None),
        ("User-agent: a\nCrawl-delay: 9\nUser-agent: examplebot\nCrawl-delay: 2\nDisallow: /\n", 2),
        ("User-agent: examplebot\nCrawl-delay: 2\nUser-agent: a\nCrawl-delay: 9\n", 2),
        ("User-agent: examplebot\nUser-agent: a\nDisallow: /\nCrawl-delay: 9\n", 9),
        ("User-agent: *\nCrawl-delay: 4\nCrawl-delay: 7\nCrawl-delay: 5\n", 7),
        ("Crawl-delay: 5\nUser-agent: *\nDisallow:\n", None),
    ],
    ids=[
        "own group only",
        "one per agent",
        "not the next agent's",
        "stacked",
        "largest",
        "no group",
    ],
)
def test_the_crawl_delay_is_that_of_our_group(file, seconds):
    """RFC 9309 §2.2.1: a group of our own hides the ``*`` group, its delay too."""
    assert rules(file).crawl_delay == seconds


def test_sitemaps_belong_to_the_whole_file():
    """RFC 9309 §2.2.4: they stand anywhere, are kept as written, each once."""
    file = "Sitemap: http://a.test/1.xml\nUser-agent: z\nsitemap:/2.xml#f\nSITE-MAP http://a.test/1.xml\n"
    assert rules("\ufeff" + file).sitemaps == ("http://a.test/1.xml", "/2.xml")


def test_a_page_in_place_of_a_file_is_noticed_and_excludes_nothing():
    """RFC 9309 §2.3.1.5: without a readable rule nothing is excluded."""
    page = "\n<!doctype html><pre>User-agent: *</pre><p>Disallow: everything</p>"
    assert rules(page).looks_like_html
    assert allows(page, "/x")
    assert not rules("User-agent: *\n").looks_like_html


AGENTS = [
    ("examplebot/1.0 (+https://bot.example/)", "examplebot"),
    ("ExampleBot", "examplebot"),
    ("Mozilla/5.0 (compatible; ExampleBot/1.2; +http://bot.test/info)", "examplebot"),
    ("Mozilla/5.0 (X11; x86_64) AppleWebKit/537 (KHTML, like Gecko) Safari/537 My-Bot/1", "my-bot"),
    ("Mozilla/5.0 (Example_Bot/1.0; +http://x.test)", "example_bot"),
    ("Mozilla/5.0", "mozilla"),
    ("360spider", ""),
    ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("user_agent", "token"), AGENTS)
def test_the_product_token_is_the_crawlers_own_name(user_agent, token):
    """RFC 9309 §2.2.1: the token is a part of the identification string, and not a browser's."""
    assert product_token(user_agent) == token


def padded(last: bytes, size: int = MAX_BYTES) -> bytes:
    """Return a file whose line `last` ends, without its line end, at byte `size`."""
    head = b"User-agent: *\n"
    line = b"#" + b"x" * 78 + b"\n"
    room = size - len(head) - len(last)
    filler = line * (room // 80 - 1)
    return head + filler + b"#" * (room - len(filler) - 1) + b"\n" + last


def test_a_rule_that_ends_at_the_limit_counts_and_the_next_one_does_not():
    """RFC 9309 §2.5: 500 KiB are read."""
    file = padded(b"Disallow: /in/") + b"\nDisallow: /out/\n" + b"#" * 3_000_000
    assert rules(file).decide("http://a.test/in/x").rule == "Disallow: /in/"
    assert allows(file, "/out/x")


@pytest.mark.parametrize("tail", [b"ut/\n", b""], ids=["goes on", "cut by the downloader"])
def test_a_rule_cut_in_half_is_dropped(tail):
    """RFC 9309 §2.5: half a rule would be a broader rule."""
    assert allows(padded(b"Disallow: /o") + tail, "/other")


@pytest.mark.slow
def test_every_plain_rule_of_a_long_file_counts():
    """Plain rules have no bound but the size of the file."""
    file = "User-agent: *\n" + "".join(f"Disallow: /pad{i:05}/\n" for i in range(22_000))
    found = rules(file)
    assert (len(found), found.dropped) == (22_000, 0)
    assert not found.decide("http://a.test/pad21999/x").allowed


def test_wildcards_are_bounded_and_the_excess_is_counted():
    """A hostile file must not make each decision slow; what it loses is told."""
    file = "User-agent: *\n" + "".join(f"Disallow: /{i}*\n" for i in range(MAX_WILDCARDS + 5))
    assert rules(file).dropped == 5
    assert rules("User-agent: *\nDisallow: /" + "*a" * 51).dropped == 1
    assert rules("User-agent: *\nDisallow: /" + "*a" * 50).dropped == 0
    assert rules("User-agent: *\nDisallow: /" + "*a" * 50 + "$").dropped == 1


def test_a_rule_written_twice_is_kept_once():
    """Repetition must not use up the bounds."""
    assert len(rules("User-agent: *\n" + "Disallow: /a*\n" * 10_000)) == 1


def test_a_rule_line_shown_is_bounded():
    """Whatever a site writes, what reaches a log is short."""
    decision = rules("User-agent: *\nDisallow: /a  #" + "\ud7ff" * 5000).decide("http://a.test/a")
    assert len(decision.rule or "") <= 200


HOSTILE = [
    b"\n" * 512_000,
    b"Disallow" + b" " * 511_000,
    (b" " * 1000 + b"\n") * 511,
    b"User-agent: *\nCrawl-delay: " + b"1" * 500_000 + b"x",
    b"User-agent: *\n" + b"".join(b"Disallow: /*a*a*a*%d\n" % i for i in range(30_000)),
    b"User-agent: *\nDisallow: /" + b"*a" * 200_000,
    b"User-agent: *\nDisallow: /" + b"%e9" * 160_000,
]


@pytest.mark.slow
@pytest.mark.parametrize("body", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_files_cost_a_bounded_time(body, cpu_seconds):
    """500 KiB of anything is parsed and matched in well under two seconds of CPU."""
    spent = cpu_seconds(lambda: rules(body).decide("http://a.test/" + "a" * 2000))
    assert spent < 2


@pytest.mark.parametrize("url", ["http://[::1/x?y", "http://a.test/x?\ud800", "x", "//a.test/x"])
def test_a_url_that_cannot_be_parsed_is_decided_by_its_path(url):
    """No URL raises, and none slips through for being odd."""
    assert not rules("User-agent: *\nDisallow: /x\n").decide(url).allowed
    assert rules("User-agent: *\nDisallow: /z\n").decide(url).allowed


@given(st.binary(max_size=400), st.text(max_size=60))
def test_any_bytes_and_any_url_end_in_a_value(body, url):
    """RFC 9309 §2.3.1.5: nothing raises, and the rules kept are no more than the lines."""
    found = rules(body)
    found.decide(url)
    found.decide(f"http://a.test/{url}")
    assert len(found) <= len(re.split(rb"[\r\n]", body))
    assert found.crawl_delay is None or 0 <= found.crawl_delay <= 1e9


LINE = st.builds(
    "{}{}{}".format,
    st.sampled_from(["User-agent", "Allow", "Disallow", "disalow", "Crawl-delay", "Sitemap", "X"]),
    st.sampled_from([":", ": ", " ", " : ", ""]),
    st.text("/a*$%2Fé \ud800#?=.", max_size=8)
    | st.sampled_from(["*", "examplebot", "/index.html"]),
)


@given(st.lists(LINE, max_size=12), st.text("/a$%2Fé?=.;#", max_size=12))
def test_lines_that_nearly_are_rules_end_in_a_value(lines, path):
    """Nothing raises on input that looks like a robots.txt."""
    body = "\n".join(["User-agent: *", *lines]).encode("utf-8", "surrogatepass")
    found = rules(body)
    assert (
        found.decide(f"http://a.test/{path}").allowed
        is found.explain(f"http://a.test/{path}").allowed
    )


PATTERN = st.text("/ab*$%é?=.~", max_size=7).map("/{}".format)
PATH = st.text("/ab$é?=.~;", max_size=9) | st.sampled_from(
    ["a%2Fb", "%61b", "%C3%A9", "%c3%a9a", "%3F"]
)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.booleans(), PATTERN), max_size=6), PATH)
def test_protego_and_the_line_that_is_named_agree(lines, path):
    """The verdict, which Protego gives, is the one that the longest matching line would give."""
    body = "User-agent: *\n" + "\n".join(
        f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in lines
    )
    found, url = rules(body), f"http://a.test/{path}"
    decision = found.decide(url)
    assert decision.allowed is found.explain(url).allowed
    assert decision.allowed or decision.line is not None


@given(st.binary(max_size=300))
def test_reading_gives_patterns_in_their_final_form(body):
    """Comparable patterns are a fixed point: reading them again changes nothing."""
    first = read_robots_txt(b"User-agent: *\nDisallow: /" + body, "x")
    again = "User-agent: *\n" + "\n".join(
        f"{'Allow' if rule.allow else 'Disallow'}: {rule.pattern}" for rule in first.rules
    )
    second = read_robots_txt(again.encode(), "x")
    assert [rule.pattern for rule in second.rules] == [rule.pattern for rule in first.rules]
