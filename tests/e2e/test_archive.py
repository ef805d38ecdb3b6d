"""What a crawl keeps beside its lines: the bytes that were sent, and a row of every URL."""

from __future__ import annotations

import gzip
import subprocess
import sys
from hashlib import sha256

import pytest

from crawler.model import Outcome
from crawler.store import read_record
from tests.support.archive import archive_faults, read_archive, read_rows
from tests.support.crawl import crawl, options
from tests.support.exchange import Answer, Request, not_found, redirect
from tests.support.server import LocalWeb

pytestmark = pytest.mark.e2e

_TEXT = "".join(f"<p>Sentence number {n} of a page about archives.</p>" for n in range(40))
_BINARY = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20
_ROBOTS = b"User-agent: *\nDisallow: /private/\n"
_PAGES = {
    "/": "".join(
        f'<a href="{path}">x</a>'
        for path in ("/copy", "/first", "/packed", "/moved", "/gone", "/image", "/odd", "/cut")
    ),
    "/first": f"<title>First</title>{_TEXT}",
    "/copy": f"<title>First</title>{_TEXT}",
    "/packed": f"<title>Packed</title>{_TEXT[::-1]}",
    "/new": "<title>New place</title><p>Here it is now, what was elsewhere before.</p>",
}


def _site(request: Request) -> Answer:
    """Every kind of answer that is kept in a way of its own."""
    path = request.path
    if path == "/robots.txt":
        return Answer(body=_ROBOTS, content_type="text/plain")
    if path == "/moved":
        return redirect("/new")
    if path == "/image":
        return Answer(body=_BINARY, content_type="image/png")
    if path == "/odd":
        return Answer(body=b"<p>\xff\xfe odd \x00 bytes", headers=[("X-One", "1"), ("X-One", "2")])
    if path == "/cut":
        return Answer(body=b"<p>some text that never ends", length=5000, close=True)
    if path not in _PAGES:
        return not_found()
    packed = path == "/packed"
    return Answer(body=_PAGES[path].encode(), gzip=packed, chunked=path == "/first")


@pytest.fixture(scope="module")
def archived(tmp_path_factory):
    """A finished crawl of the site: its job directory, the address of the site, its records."""
    jobdir = tmp_path_factory.mktemp("archive") / "job"
    with LocalWeb(_site) as web:
        base = web.url("")
        crawl(
            [base + "/", base + "/first"],
            *options(POLITENESS_DELAY=0, BACKOFF_RETRIES=0),
            jobdir=jobdir,
        ).check()
    return jobdir, base, read_archive(jobdir)


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/", 200, _PAGES["/"].encode()),
        ("/first", 200, _PAGES["/first"].encode()),
        ("/packed", 200, gzip.compress(_PAGES["/packed"].encode(), compresslevel=1, mtime=0)),
        ("/moved", 301, b"moved\n"),
        ("/gone", 404, not_found().body),
        ("/image", 200, _BINARY),
        ("/odd", 200, b"<p>\xff\xfe odd \x00 bytes"),
        ("/cut", 200, b"<p>some text that never ends"),
        ("/robots.txt", 200, _ROBOTS),
    ],
)
def test_each_answer_is_kept_as_it_was_sent(archived, path, status, body):
    """The record of every answer, robots.txt included, has the bytes that went over the wire."""
    _, base, records = archived
    record, payload = records["response"][base + path]
    assert int(record.http_headers.get_statuscode()) == status
    assert payload == body


def test_requests_and_what_is_known_of_them_are_kept(archived):
    """Beside each response stand the request that was sent and how its URL was found."""
    _, base, records = archived
    assert set(records["request"]) == {*records["response"], *records["revisit"]}
    request, _ = records["request"][base + "/gone"]
    assert request.http_headers.protocol == "GET"
    assert request.http_headers.get_header("Host") == base.removeprefix("http://")
    assert request.http_headers.get_header("User-Agent").startswith("crawler/")
    fields = records["metadata"][base + "/gone"][1].decode()
    assert fields == f"outcome: gone\r\ndepth: 1\r\nvia: {base}/\r\n"


def test_repeated_headers_stay_repeated(archived):
    """Headers of one name are kept one by one."""
    _, base, records = archived
    record, _ = records["response"][base + "/odd"]
    assert [value for name, value in record.http_headers.headers if name == "X-One"] == ["1", "2"]


def test_a_packed_body_keeps_the_header_that_says_so(archived):
    """A reader that honours Content-Encoding unpacks the record to what the page says."""
    _, base, records = archived
    record, payload = records["response"][base + "/packed"]
    assert record.http_headers.get_header("Content-Encoding") == "gzip"
    assert gzip.decompress(payload) == _PAGES["/packed"].encode()


def test_a_body_that_was_cut_is_marked(archived):
    """A transfer that ended before its body is no whole record (WARC 1.1 §5.13)."""
    _, base, records = archived
    cut, whole = (records["response"][base + path][0] for path in ("/cut", "/first"))
    assert cut.rec_headers.get_header("WARC-Truncated") == "disconnect"
    assert whole.rec_headers.get_header("WARC-Truncated") is None


def test_the_same_bytes_are_kept_once(archived):
    """A copy becomes a record that refers to the first one (WARC 1.1 §6.7)."""
    _, base, records = archived
    (url,) = records["revisit"]
    first = ({base + "/first", base + "/copy"} - {url}).pop()
    copy, payload = records["revisit"][url]
    original, _ = records["response"][first]
    assert payload == b""
    refers = copy.rec_headers.get_header
    assert refers("WARC-Refers-To") == original.rec_headers.get_header("WARC-Record-ID")
    assert refers("WARC-Refers-To-Date") == original.rec_headers.get_header("WARC-Date")
    assert refers("WARC-Refers-To-Target-URI") == first


def test_every_fetched_url_has_a_row(archived):
    """The catalog says of each URL how it ended, and where its bytes and its line are."""
    jobdir, base, _ = archived
    rows = read_rows(jobdir)
    ends = {url.removeprefix(base): row.outcome for url, row in rows.items()}
    stored, copies = Outcome.STORED.value, {ends["/first"], ends["/copy"]}
    assert copies == {stored, Outcome.DUPLICATE_EXACT.value}
    del ends["/first"], ends["/copy"]
    assert ends == {
        "/": stored, "/packed": stored, "/new": stored, "/odd": stored, "/cut": stored,
        "/moved": "redirected", "/gone": "gone", "/image": "skipped_type",
    }  # fmt: skip
    assert rows[base + "/moved"].redirect_to == base + "/new"
    assert (rows[base + "/new"].referrer, rows[base + "/new"].redirects) == (base + "/moved", 1)
    assert rows[base + "/gone"].status_code == 404
    assert rows[base + "/image"].content_type == "image/png"
    packed = rows[base + "/packed"]
    assert packed.content_hash == sha256(_PAGES["/packed"].encode()).digest()
    assert (packed.title, packed.body_bytes) == ("Packed", len(_PAGES["/packed"]))


def test_a_row_leads_to_its_bytes_and_its_line(archived):
    """Offsets in the rows are those of the record and of the line, and nothing is left over."""
    jobdir, base, records = archived
    rows = read_rows(jobdir)
    assert list(archive_faults(jobdir, {url: row.outcome for url, row in rows.items()})) == []
    row = rows[base + "/odd"]
    record = read_record(jobdir / "warc" / row.warc_file, row.warc_offset, row.warc_length)
    assert record.body == records["response"][base + "/odd"][1]


def test_the_archive_passes_the_reference_check(archived):
    """``warcio check`` finds no fault in any digest, with its own command."""
    jobdir, _, _ = archived
    files = [str(path) for path in sorted((jobdir / "warc").glob("*.warc.gz"))]
    check = [sys.executable, "-m", "warcio.cli", "check", *files]
    subprocess.run(check, check=True, capture_output=True, timeout=60)


def test_a_row_of_a_url_without_an_answer_says_why(tmp_path):
    """A server that cannot be reached leaves a row with the cause, and no record."""
    with LocalWeb(_site) as web:
        base = web.url("")
    crawl([base + "/"], *options(ROBOTS_ENABLED=0, BACKOFF_RETRIES=0), jobdir=tmp_path / "job")
    row = read_rows(tmp_path / "job")[base + "/"]
    assert (row.outcome, row.status_code, row.warc_file) == ("failed_network", None, None)
    assert "refused" in row.cause.lower()


def test_stores_can_be_switched_off(tmp_path):
    """Without archive and catalog a crawl leaves its lines alone."""
    with LocalWeb(_site) as web:
        off = options(STORE_WARC_ENABLED=0, STORE_CATALOG_ENABLED=0, POLITENESS_DELAY=0)
        result = crawl([web.url("/first")], *off, jobdir=tmp_path / "job").check()
    assert len(result.lines) == 1
    assert not [name for name in ("warc", "catalog.sqlite") if (tmp_path / "job" / name).exists()]
