"""The read API over the wire: what it answers, what it refuses, what it keeps from browsers."""

from __future__ import annotations

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from urllib.parse import quote

import pytest

from crawler.store.pages import PageRow
from tests.support.archived import SEED, START, Archived, example_site, hash_of, html
from tests.support.live_api import live_api

pytestmark = pytest.mark.slow

TOKEN = "a-token-of-some-length"
LINES = {"Accept": "application/x-ndjson"}


@pytest.fixture(scope="module")
def archived(tmp_path_factory):
    with Archived(tmp_path_factory.mktemp("job")) as archived:
        example_site(archived)
        yield archived


@pytest.fixture(scope="module")
def api(archived):
    with live_api(archived.directory) as client:
        yield client


def at(url: str, part: str = "") -> str:
    return f"/api/v1/pages/{hash_of(url).hex()}{part}"


def urls(answer) -> list[str]:
    assert answer.status == 200, answer.text
    return [page["url"] for page in answer.json["pages"]]


# --- listings ------------------------------------------------------------------------------


def test_pages_come_in_the_order_of_their_visits(api, archived):
    """Oldest first, or newest first; all of them."""
    assert urls(api.get("/api/v1/pages")) == list(archived.rows)
    assert urls(api.get("/api/v1/pages?order=desc")) == list(archived.rows)[::-1]


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_cursors_lead_through_all_pages_once(api, archived, order):
    """Whatever the size of an answer, following the cursor gives every page once."""
    seen, cursor = [], ""
    while cursor is not None:
        answer = api.get(f"/api/v1/pages?limit=2&order={order}" + (cursor and f"&cursor={cursor}"))
        seen += urls(answer)
        cursor = answer.json["cursor"]
    assert sorted(seen) == sorted(archived.rows)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("domain=Example.ORG", ["gone", "dead"]),
        ("domain=example.net", []),
        ("status=404", ["gone"]),
        ("outcome=redirected", ["old", "older"]),
        ("type=TEXT/HTML&domain=example.org", ["gone"]),
        ("since=2026-12-01T10:00:08Z", ["gone", "dead"]),
        ("since=2026-12-01T11:00:08%2B01:00", ["gone", "dead"]),
        ("since=2026-12-01T11:00:08+01:00", ["gone", "dead"]),
        (f"since={START + 8}&until={START + 9}", ["gone"]),
        ("outcome=duplicate_near&status=200&domain=example.com&type=text/html", ["nearly"]),
    ],
)
def test_conditions_narrow_the_list(api, query, names):
    """All conditions hold at once."""
    assert [url.rpartition("/")[2] for url in urls(api.get(f"/api/v1/pages?{query}"))] == names


@pytest.mark.parametrize("ask", [("", LINES), ("&format=ndjson", {})], ids=["header", "parameter"])
def test_lines_have_what_the_list_has(api, ask):
    """A JSON object a line, all that match unless there is a limit."""
    query, headers = ask
    answer = api.get(f"/api/v1/pages?order=desc{query}", headers)
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    assert answer.headers["Transfer-Encoding"] == "chunked"
    pages = api.get("/api/v1/pages?order=desc").json["pages"]
    assert [json.loads(line) for line in answer.body.splitlines()] == pages
    assert len(api.get(f"/api/v1/pages?limit=3{query}", headers).body.splitlines()) == 3


def test_a_page_has_the_fields_of_its_row(api, archived):
    """Names are those of the catalog, but ``bytes``; times ISO, hashes hexadecimal."""
    page = api.get("/api/v1/pages?limit=1").json["pages"][0]
    names = [field.name for field in fields(PageRow)]
    assert list(page) == ["bytes" if name == "body_bytes" else name for name in names]
    row = archived.rows[SEED]
    assert page["url_hash"] == row.url_hash.hex()
    assert page["fetched_at"] == page["first_seen_at"] == "2026-12-01T10:00:01.000Z"
    assert page["content_hash"] == row.content_hash.hex()
    assert page["text_hash"] == row.text_hash.hex()
    assert page["simhash"] == "fedcba9876543210"
    assert page["bytes"] == row.body_bytes


def test_domains_are_listed_with_their_pages(api):
    """In the order of their names, and on from a name."""
    first = api.get("/api/v1/domains?limit=1").json
    assert first["domains"] == [
        {"domain": "example.com", "pages": 7, "last_fetched_at": "2026-12-01T10:00:07.000Z"}
    ]
    second = api.get(f"/api/v1/domains?limit=1&after={first['after']}").json
    assert [one["domain"] for one in second["domains"]] == ["example.org"]
    assert second["after"] is None


# --- one page ------------------------------------------------------------------------------


def test_a_page_is_shown_with_what_led_to_it(api):
    """Its row, the redirects, headings and links; the text has an address of its own."""
    page = api.get(at(f"{SEED}new")).json
    assert [hop["url"] for hop in page["redirect_chain"]] == [f"{SEED}old", f"{SEED}older"]
    assert (page["headings"], page["outlinks"], page["truncated"]) == (["New"], [f"{SEED}b"], False)
    dead = api.get(at("https://example.org/dead")).json
    assert (dead["headings"], dead["outlinks"], dead["truncated"]) == (None, None, None)
    assert dead["cause"] == "refused"


@pytest.mark.parametrize(
    "spelling",
    [f"{SEED}new", "HTTPS://EXAMPLE.com:443/new", f"{SEED}new#top", f"{SEED}new?utm_source=x"],
)
def test_a_url_is_found_in_any_spelling(api, spelling):
    """What the crawl takes for one URL is one here."""
    answer = api.get(f"/api/v1/pages/lookup?url={quote(spelling, safe='')}")
    assert answer.json == api.get(at(f"{SEED}new")).json


def test_the_text_is_plain_text(api):
    """Of a page, and of its exact copy; UTF-8, and nothing a browser would take for HTML."""
    answer = api.get(at(SEED, "/text"))
    assert answer.text == "Welcome to the example, which has some words."
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert api.get(at(f"{SEED}copy", "/text")).body == answer.body


def test_the_body_is_what_the_site_sent(api):
    """Byte for byte, content coding undone; of a copy, that of its original."""
    body = html("Example", "Welcome to the example, which has some words.")
    assert api.get(at(SEED, "/raw")).body == body
    assert api.get(at(f"{SEED}copy", "/raw")).body == body
    assert api.get(at(f"{SEED}b", "/raw")).body == html("B", "packed")


def test_the_body_as_it_was_received_is_undone_by_nobody(api):
    """No client is told of a coding that it would undo."""
    answer = api.get(at(f"{SEED}b", "/raw?as=received"))
    assert answer.body.startswith(b"\x1f\x8b")
    assert answer.headers["X-Archived-Content-Encoding"] == "gzip"
    assert answer.headers["Content-Encoding"] is None


def test_no_browser_runs_what_was_crawled(api):
    """A body is a download without a name of its own, in a sandbox, and of a fixed type."""
    headers = api.get(at(SEED, "/raw")).headers
    assert headers["Content-Disposition"] == f'attachment; filename="{hash_of(SEED).hex()}.bin"'
    assert headers["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("target", ["/api/v1/pages", at(SEED, "/raw"), at(SEED, "/text"), "/nope"])
def test_every_answer_is_inert(api, target):
    """Sandboxed, of no guessed type, and not for the pages of other sites."""
    headers = api.get(target, {"Origin": "https://evil.example"}).headers
    assert headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Access-Control-Allow-Origin"] is None


def test_visits_are_listed_newest_first(tmp_path):
    """With what changed, and on from a time."""
    with Archived(tmp_path) as archived:
        for body in (b"1", b"1", b"2"):
            archived.page(SEED, body)
        with live_api(tmp_path) as api:
            first = api.get(at(SEED, "/history?limit=2")).json
            second = api.get(at(SEED, f"/history?limit=2&before={first['before']}")).json
    assert [visit["changed"] for visit in first["visits"]] == [True, False]
    assert [visit["visited_at"] for visit in second["visits"]] == ["2026-12-01T10:00:01.000Z"]
    assert (first["before"], second["before"]) == ("2026-12-01T10:00:02.000Z", None)


# --- refusals ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "status", "parameter", "message"),
    [
        ("/api/v1/pages?limit=0", 422, "limit", "limit='0': input should be greater"),
        ("/api/v1/pages?limit=1001", 422, "limit", "1000"),
        ("/api/v1/pages?limit=ten", 422, "limit", "valid integer"),
        ("/api/v1/pages?limit=1&limit=2", 422, "limit", "given 2 times"),
        ("/api/v1/pages?cursor=AAAA", 422, "cursor", "expected `cursor` of an answer"),
        ("/api/v1/pages?cursor=%FF", 422, "cursor", "expected `cursor` of an answer"),
        ("/api/v1/pages?since=yesterday", 422, "since", "expected ISO 8601"),
        ("/api/v1/pages?domain=http://a/", 422, "domain", "expected a registrable domain"),
        ("/api/v1/pages?domain=127.0.0.1:80", 422, "domain", "without a port: 127.0.0.1"),
        ("/api/v1/pages?domain=www.a.test", 422, "domain", "no host below it: a.test"),
        ("/api/v1/pages?type=html", 422, "type", "such as text/html"),
        ("/api/v1/pages?outcome=ok", 422, "outcome", "'stored'"),
        ("/api/v1/pages?order=up", 422, "order", "'asc' or 'desc'"),
        ("/api/v1/pages?page=2", 422, "page", "unknown parameter 'page'; there are: cursor"),
        ("/api/v1/pages/abc", 422, "url_hash", "expected 32 hexadecimal digits"),
        ("/api/v1/pages/" + "0" * 32, 404, "url_hash", "no URL with url_hash 0000"),
        ("/api/v1/pages/lookup", 422, "url", "url is missing"),
        ("/api/v1/pages/lookup?url=ftp://a/", 422, "url", "expected an absolute http"),
        ("/api/v1/pages/lookup?url=http://a.example/", 404, "url", "was never fetched"),
        ("/api/v1/domains?after=%00", 422, "after", "NUL"),
        (at(SEED, "/raw?as=is"), 422, "as", "'decoded' or 'received'"),
        (at("https://example.org/dead", "/raw"), 404, "url_hash", "ended as failed_network"),
        (at(f"{SEED}nearly", "/text"), 404, "url_hash", f"nearly that of {SEED}"),
        ("/healthz?verbose=1", 422, "verbose", "there are: none"),
        ("/api/v2/pages", 404, "path", "/docs lists those there are"),
        ("/api/v1/pages/", 404, "path", "no such resource"),
    ],
)
def test_what_is_wrong_is_named(api, target, status, parameter, message):
    """One form for every error: the parameter, its value, what is expected."""
    answer = api.get(target)
    error = answer.json["error"]
    assert (answer.status, error["parameter"]) == (status, parameter)
    assert message in error["message"]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "FROB"])
def test_nothing_can_be_changed(api, method):
    """Only GET is answered."""
    for target in ("/api/v1/pages", at(SEED), at(SEED, "/raw"), "/healthz"):
        answer = api.get(target, method=method)
        assert (answer.status, answer.headers["Allow"]) == (405, "GET")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "10.0.0.1", "[::2]:80", ""])
def test_a_name_of_another_machine_is_refused(api, host):
    """A web page whose name was made to resolve to this machine reads nothing (rebinding)."""
    answer = api.get("/api/v1/pages", {"Host": host})
    assert (answer.status, answer.json["error"]["parameter"]) == (400, "Host")


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:80", "LOCALHOST"])
def test_names_of_this_machine_are_served(api, host):
    """With a port or without."""
    assert api.get("/healthz", {"Host": host}).status == 200


def test_with_a_token_every_request_has_to_carry_it(archived):
    """Whatever is asked for; a wrong one is none."""
    with live_api(archived.directory, TOKEN) as api:
        for target in ("/healthz", "/docs", "/openapi.json", "/api/v1/pages", "/nope"):
            for value in (None, TOKEN, "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Basic {TOKEN}"):
                answer = api.get(target, {"Authorization": value} if value else {})
                assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
            right = {"Authorization": f"bearer {TOKEN}", "Host": "crawl.example"}
            assert api.get(target, right).status == (404 if target == "/nope" else 200)


def test_a_catalog_out_of_reach_is_503(tmp_path):
    """It is no fault of the request, and over when the catalog is back."""
    with Archived(tmp_path) as archived:
        archived.page(SEED, b"1")
    catalog = tmp_path / "catalog.sqlite"
    with live_api(tmp_path) as api:
        assert api.get("/healthz").json == {"status": "ok"}
        catalog.rename(tmp_path / "away")
        for target in ("/healthz", "/api/v1/pages", "/api/v1/pages?format=ndjson", at(SEED)):
            answer = api.get(target)
            assert (answer.status, answer.json["error"]["parameter"]) == (503, None)
            assert str(tmp_path) not in answer.text
        (tmp_path / "away").rename(catalog)
        assert api.get("/healthz").status == 200


# --- for people, for programs ------------------------------------------------------------


def test_the_page_for_people_needs_no_network(api):
    """It lists every endpoint and parameter, and loads and runs nothing."""
    answer = api.get("/docs")
    description = api.get("/openapi.json").json
    for path, methods in description["paths"].items():
        assert f"GET {path}<" in answer.text
        assert all(
            f">{one['name']}<" in answer.text for one in methods["get"].get("parameters", [])
        )
    assert "script" not in answer.headers["Content-Security-Policy"]
    assert "<script" not in answer.text
    assert "https://" not in answer.text.replace("https://example.com/", "")
    assert "`" not in answer.text, "code is marked by HTML"
    assert "<code>url_hash</code>" in answer.text
    assert api.get("/").body == answer.body


# --- load --------------------------------------------------------------------------------


def test_many_readers_beside_a_writer_see_no_error(tmp_path):
    """50 readers at a time over a catalog that grows: every answer is whole and in order."""
    with Archived(tmp_path) as archived, live_api(tmp_path) as api:
        example_site(archived)
        row, ended = archived.rows[SEED], threading.Event()

        def write():
            n = 0
            while not ended.is_set():
                n += 1
                new = [f"{SEED}{n}/{m}" for m in range(20)]
                archived.write(
                    *(replace(row, url=url, url_hash=hash_of(url), fetched_at=START + 100 + n)
                      for url in new)
                )  # fmt: skip
            return n

        def read(number):
            targets = [
                "/api/v1/pages?limit=50&order=desc", "/api/v1/pages?limit=50&status=200",
                at(SEED), at(SEED, "/raw"), at(f"{SEED}copy", "/text"), at(SEED, "/history"),
                "/api/v1/domains", "/api/v1/pages?format=ndjson&limit=300",
            ]  # fmt: skip
            return [api.get(targets[(number + n) % len(targets)]).status for n in range(8)]

        with ThreadPoolExecutor(51) as threads:
            writing = threads.submit(write)
            statuses = list(threads.map(read, range(50)))
            ended.set()
            assert writing.result() > 0
        assert statuses == [[200] * 8] * 50


def test_bodies_that_nobody_takes_are_let_go(tmp_path):
    """Bodies under way are bounded; who takes nothing of one is left, and others are served."""
    body = b"\0" * (24 << 20)  # more than the buffers between server and client
    with Archived(tmp_path) as archived:
        archived.page(SEED, body)
    with (
        live_api(tmp_path, patience=2.0, in_flight=len(body)) as api,
        _ask(api.port, at(SEED, "/raw")) as idle,
    ):
        assert idle.recv(8) == b"HTTP/1.1"
        assert api.get(at(SEED, "/raw")).status == 503
        assert api.get("/healthz").status == 200
        until = time.monotonic() + 30
        while (answer := api.get(at(SEED, "/raw"))).status != 200:
            assert answer.status == 503
            assert time.monotonic() < until
        assert answer.body == body


def _ask(port: int, target: str) -> socket.socket:
    one = socket.create_connection(("127.0.0.1", port))
    one.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return one
