"""Each site is what its description says: sizes, links, uniqueness, moods and faults."""

from __future__ import annotations

import gzip
import itertools
import re
import zlib
from collections import deque
from hashlib import blake2b

import pytest

from tests.support.exchange import Answer, Fault, Request
from tests.support.faults_site import CATALOGUE
from tests.support.sites import (
    ROBOTS_RULES,
    docs_site,
    faults_site,
    robots_site,
    table_site,
    uniform_site,
)

HOST = "127.1.0.1:8000"


def get(site, path, host=HOST, count=0):
    return site(Request(host, path, count=count))


def links(answer):
    return [m.decode() for m in re.findall(rb'href="([^"]*)"', answer.body)]


def main_words(answer):
    main = re.search(rb"<main>(.*)</main>", answer.body, re.DOTALL)[1].decode()
    return re.findall(r"\w+", re.sub(r"<[^>]*>", " ", main).lower())


def signature(words):
    """Charikar's simhash, 64 bits over three words in a row."""
    votes = [0] * 64
    for three in zip(words, words[1:], words[2:], strict=False):
        value = int.from_bytes(blake2b(" ".join(three).encode(), digest_size=8).digest(), "big")
        for bit in range(64):
            votes[bit] += 1 if value >> bit & 1 else -1
    return sum(1 << bit for bit in range(64) if votes[bit] > 0)


def closest(pages):
    marks = [signature(main_words(page)) for page in pages]
    return min((a ^ b).bit_count() for a, b in itertools.combinations(marks, 2))


def clicks(site, host=HOST, start="/"):
    """Return the answers within reach of home on one host, and how far each is."""
    found, far = {}, {start: 0}
    queue = deque(far)
    while queue:
        path = queue.popleft()
        found[path] = answer = get(site, path, host)
        for link in links(answer):
            if link.startswith("/") and link not in far and not link.startswith("/calendar/"):
                far[link] = far[path] + 1
                queue.append(link)
    return found, far


class TestDocsSite:
    def test_forty_documents_within_three_clicks(self):
        """All 40 documents are reached, none further than three clicks from home."""
        site = docs_site()
        found, far = clicks(site)
        assert len(site.documents) == 40
        assert max(far[path] for path in site.documents) == 3
        assert set(found) == {"/", "/alias", "/old", "/private/secret", *site.documents}

    def test_texts_are_long_and_far_apart(self):
        """Documents, home and calendar have 120 words and are no near duplicates (over 12 bits)."""
        site = docs_site()
        months = [f"/calendar/{2024 + n // 12}/{n % 12 + 1:02}" for n in range(0, 157, 3)]
        pages = [get(site, path) for path in ["/", *site.documents, *months]]
        assert min(len(main_words(page)) for page in pages) >= 120
        assert closest(pages) > 12

    def test_alias_is_a_documents_bytes(self):
        """The alias repeats a document byte for byte."""
        site = docs_site()
        assert site.alias_of in site.documents
        assert get(site, "/alias").body == get(site, site.alias_of).body

    def test_old_redirects_to_a_document(self):
        """/old is a 301 to a document."""
        site = docs_site()
        answer = get(site, "/old")
        assert (answer.status, answer.headers["Location"]) == (301, site.old_of)
        assert site.old_of in site.documents

    def test_private_is_disallowed_and_linked(self):
        """The secret is linked from home and from documents, and robots.txt disallows it."""
        site = docs_site()
        linking = [
            path for path in ["/", *site.documents] if "/private/secret" in links(get(site, path))
        ]
        assert linking[0] == "/"
        assert len(linking) > 1
        assert get(site, "/robots.txt").body.decode() == "User-agent: *\nDisallow: /private/\n"

    @pytest.mark.parametrize(
        ("month", "following"),
        [("2024/01", "2024/02"), ("2024/12", "2025/01"), ("2999/09", "2999/10")],
    )
    def test_calendar_links_the_next_month_only(self, month, following):
        """A month links the next one and nothing else."""
        assert links(get(docs_site(), f"/calendar/{month}")) == [f"/calendar/{following}"]

    @pytest.mark.parametrize("path", ["/docs/41", "/calendar/2024/13", "/calendar/x", "/x"])
    def test_nothing_else_is_there(self, path):
        """Other paths are 404."""
        assert get(docs_site(), path).status == 404

    def test_deterministic_and_different_by_host_and_seed(self):
        """Same seed and host: same bytes, whatever the port; otherwise other texts."""
        page = get(docs_site(), "/docs/01").body
        assert get(docs_site(), "/docs/01", host="127.1.0.1:9").body == page
        assert get(docs_site(), "/docs/01", host="127.1.0.2:8000").body != page
        assert get(docs_site(seed=1), "/docs/01").body != page


class TestRobotsSite:
    def test_home_links_eight_pages_and_a_private_one(self):
        """Nine links, and the pages are there."""
        site = robots_site()
        assert links(get(site, "/")) == [*site.pages, "/private/1"]
        assert all(get(site, path).status == 200 for path in [*site.pages, "/private/1"])

    @pytest.mark.parametrize("status", [403, 404, 410, 429, 500, 503])
    def test_status(self, status):
        """A status comes with rules that forbid all, which must not be read."""
        answer = get(robots_site(behaviour=str(status), retry_after="7"), "/robots.txt")
        assert answer.status == status
        assert answer.headers == {"Retry-After": "7"}
        assert b"Disallow: /\n" in answer.body

    def test_then_ok(self):
        """Bad twice, then the rules."""
        site = robots_site(behaviour="503_then_ok")
        assert [get(site, "/robots.txt", count=n).status for n in range(4)] == [503, 503, 200, 200]

    @pytest.mark.parametrize(
        ("mood", "hops"), [("redirect", 1), ("redirect_chain", 5), ("redirect_long", 9)]
    )
    def test_redirects_arrive(self, mood, hops):
        """A chain of redirects ends with the rules after that many hops."""
        site, path, seen = robots_site(behaviour=mood), "/robots.txt", 0
        while (answer := get(site, path)).status == 301:
            path, seen = answer.headers["Location"], seen + 1
        assert (seen, answer.body.decode()) == (hops, ROBOTS_RULES)

    def test_redirect_away_keeps_the_port(self):
        """Another host is named with the port that was asked for."""
        answer = get(robots_site(behaviour="redirect_away", other="127.1.0.2"), "/robots.txt")
        assert answer.headers["Location"] == "http://127.1.0.2:8000/robots.txt"

    def test_redirect_loop(self):
        """The loop points at itself."""
        answer = get(robots_site(behaviour="redirect_loop"), "/robots.txt")
        assert answer.headers["Location"] == "/robots.txt"

    @pytest.mark.parametrize(
        ("mood", "fault"),
        [("hang", Fault.HANG), ("hang_body", Fault.HANG_BODY), ("reset", Fault.RESET),
         ("close", Fault.CLOSE), ("endless", Fault.ENDLESS)],
    )  # fmt: skip
    def test_faults(self, mood, fault):
        """Moods that break the transfer."""
        assert get(robots_site(behaviour=mood), "/robots.txt").fault is fault

    def test_huge(self):
        """600 KiB, rules first, and a rule that forbids the pages beyond 500 KiB only."""
        body = get(robots_site(behaviour="huge"), "/robots.txt").body
        assert body.startswith(ROBOTS_RULES.encode())
        assert len(body) > 600 * 1024
        assert b"/page/" not in body[: 500 * 1024]
        assert b"Disallow: /page/" in body

    def test_behaviour_per_host(self):
        """Hosts can have moods of their own."""
        site = robots_site(behaviours={"127.1.0.2": "404"})
        assert get(site, "/robots.txt").status == 200
        assert get(site, "/robots.txt", host="127.1.0.2:1").status == 404

    def test_crawl_delay(self):
        """The asked delay stands in the rules."""
        answer = get(robots_site(behaviour="crawl_delay", crawl_delay_s=2.5), "/robots.txt")
        assert answer.body.endswith(b"Crawl-delay: 2.5\n")

    def test_unknown_mood_is_an_error(self):
        """A misspelt mood fails instead of serving something."""
        with pytest.raises(KeyError):
            get(robots_site(behaviour="tired"), "/robots.txt")


class TestUniformSite:
    @pytest.fixture
    def site(self):
        return uniform_site(hosts=3, pages_per_host=60)

    def test_every_page_is_reached(self, site):
        """Following links within the host from home reaches all pages, and no dead end."""
        found, _ = clicks(site, host=f"{site.hosts[1]}:8000")
        assert len(found) == 60
        assert all(answer.status == 200 for answer in found.values())

    def test_size_and_links(self, site):
        """Pages are about 20 KiB with 40 links, some of which lead to other hosts."""
        pages = [get(site, f"/page/{n}") for n in range(1, 59)]
        assert all(20_000 <= len(page.body) <= 21_500 for page in pages)
        assert {len(links(page)) for page in pages} == {40}
        away = [link for page in pages for link in links(page) if link.startswith("http")]
        assert 0.02 < len(away) / (40 * len(pages)) < 0.2
        assert {link.split("/")[2] for link in away} == {f"{host}:8000" for host in site.hosts}

    def test_pages_are_far_apart(self, site):
        """No two pages of the web are near duplicates (over 12 bits)."""
        hosts = [f"{host}:8000" for host in site.hosts]
        pages = [get(site, f"/page/{n}", host=host) for host in hosts for n in range(1, 5)]
        assert closest(pages) > 12

    def test_same_bytes_again(self):
        """The same arguments give the same bytes, kept or rendered anew."""
        kept, fresh = uniform_site(hosts=2, keep=10), uniform_site(hosts=2)
        assert get(kept, "/page/3").body == get(fresh, "/page/3").body
        assert get(kept, "/page/3") is get(kept, "/page/3")

    @pytest.mark.parametrize("path", ["/page/60", "/page/0", "/page/x", "/x", "/page/-1", "/60"])
    def test_nothing_else_is_there(self, site, path):
        """Other paths are 404."""
        assert get(site, path).status == 404

    def test_small_pages(self):
        """Few pages, few links and a small size are possible."""
        site = uniform_site(hosts=1, pages_per_host=2, links=4, kb=2)
        assert len(get(site, "/").body) < 4000
        assert len(links(get(site, "/"))) == 4


class TestFaultsSite:
    def test_home_links_every_fault(self):
        """Home leads to all of the catalogue, or to what was picked."""
        assert set(links(get(faults_site(), "/"))) == {*CATALOGUE, *faults_site().good}
        assert links(get(faults_site(only=["/404"]), "/"))[-1] == "/404"

    @pytest.mark.parametrize("path", CATALOGUE)
    def test_every_fault_can_be_rendered(self, path):
        """Each entry answers, and its head and body can be written down."""
        answer = get(faults_site(oversize_bytes=5000, bomb_bytes=1 << 20), path)
        head, _ = answer.render()
        assert head.endswith(b"\r\n\r\n")

    def test_then_ok(self):
        """Two times 503 with Retry-After, then a page."""
        site = faults_site(retry_after_s=3)
        answers = [get(site, "/503-then-ok", count=n) for n in range(3)]
        assert [answer.status for answer in answers] == [503, 503, 200]
        assert answers[0].headers == {"Retry-After": "3"}

    @pytest.mark.parametrize(("path", "hops"), [("/chain-4", 4), ("/chain-7", 7)])
    def test_chains(self, path, hops):
        """A chain has that many redirects before its page."""
        seen = 0
        while (answer := get(faults_site(), path)).status in (301, 302):
            path, seen = answer.headers["Location"], seen + 1
        assert (seen, answer.status) == (hops, 200)

    def test_bomb(self):
        """The bomb is small on the wire and large unpacked."""
        answer = get(faults_site(bomb_bytes=8 << 20), "/gzip-bomb")
        assert len(answer.body) < 20_000
        assert len(gzip.decompress(answer.body)) == 8 << 20

    @pytest.mark.parametrize("path", ["/bad-gzip", "/not-gzip", "/cut-gzip"])
    def test_broken_gzip(self, path):
        """What claims to be gzip is not, or not to its end."""
        answer = get(faults_site(), path)
        assert answer.headers == {"Content-Encoding": "gzip"}
        with pytest.raises((EOFError, gzip.BadGzipFile, zlib.error)):
            gzip.decompress(answer.body)

    def test_oversize(self):
        """The large page has exactly the size asked for."""
        assert len(get(faults_site(oversize_bytes=70_000), "/oversize").body) == 70_000


class TestTableSite:
    def test_fields_sequences_and_wildcards(self):
        """Texts, fields, lists in turn and wildcards are served as written."""
        site = table_site(hosts={
            "a.test": {
                "/": [{"status": 503}, "up again"],
                "/to": {"status": 302, "headers": {"Location": "http://b.test:{port}/"}},
                "/reset": {"fault": "reset"},
                "/bytes": {"body_b64": "/w==", "raw_b64": "AA=="},
                "/*": "rest of {host}",
            },
            "*": {"/x?y=1": {"raw": "junk"}},
        })  # fmt: skip
        assert [get(site, "/", "a.test:1", n).status for n in range(2)] == [503, 200]
        assert get(site, "/", "a.test:1", 5).body == b"up again"
        assert get(site, "/to", "a.test:81").headers == [("Location", "http://b.test:81/")]
        assert get(site, "/reset", "a.test:1").fault is Fault.RESET
        assert (get(site, "/bytes", "a.test").body, get(site, "/bytes", "a.test").raw) == (
            b"\xff",
            b"\0",
        )
        assert get(site, "/else", "a.test").body == b"rest of a.test"
        assert get(site, "/x?y=1", "b.test") == Answer(raw=b"junk")
        assert get(site, "/x", "b.test").status == 404
