"""Archives in the hands of others: a replay tool shows the pages, a checker finds no fault."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from random import Random

import pytest

from crawler.clock import iso_utc
from crawler.store import Exchange, Revisited, WarcWriter
from tests.support.replay import Replay, ReplayUnavailableError

AT = 1_796_119_200.0
HTML = b"<html><head><title>T</title></head><body>" + b"<p>words</p>" * 300 + b"</body></html>"
BINARY = bytes(range(256)) * 40
TYPE = (b"Content-Type", b"text/html; charset=utf-8")

# name: URL, status, headers, body as received, body as a reader sees it
PAGES = {
    "page": ("http://www.example.com/a?b=1&a=2", 200, [TYPE], HTML, HTML),
    "charset": (
        "https://example.com/latin", 200, [(b"Content-Type", b"text/html; charset=iso-8859-1")],
        "<p>Grüße</p>".encode("latin-1"), "<p>Grüße</p>".encode("latin-1"),
    ),
    "gzip": (
        "http://www.example.com/packed", 200, [TYPE, (b"Content-Encoding", b"gzip")],
        gzip.compress(HTML, mtime=0), HTML,
    ),
    "deflate": (
        "http://www.example.com/deflated", 200, [TYPE, (b"Content-Encoding", b"deflate")],
        zlib.compress(HTML), HTML,
    ),
    "chunked": (
        "http://www.example.com/chunked", 200, [TYPE, (b"Transfer-Encoding", b"chunked")],
        HTML[:500], HTML[:500],
    ),
    "wrong length": (
        "http://www.example.com/length", 200, [TYPE, (b"Content-Length", b"7")], HTML, HTML,
    ),
    "binary": (
        "http://www.example.com/b.bin", 200, [(b"Content-Type", b"application/octet-stream")],
        BINARY, BINARY,
    ),
    "missing": ("http://www.example.com/none", 404, [TYPE], b"<p>not here</p>", b"<p>not here</p>"),
    "port": ("http://example.com:8080/x", 200, [TYPE], b"<p>port</p>", b"<p>port</p>"),
    "escaped": (
        "http://example.com/caf%C3%A9%20x?q=%26", 200, [TYPE], b"<p>coffee</p>", b"<p>coffee</p>",
    ),
    "empty": ("http://www.example.com/empty", 200, [TYPE], b"", b""),
}  # fmt: skip
AGAIN = "again"


def _exchange(name: str, at: float) -> Exchange:
    url, status, headers, body, _ = PAGES[name]
    coded = any(key == b"Content-Encoding" for key, _ in headers)
    request = b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"
    return Exchange(
        url, at, status, headers, body, reason=b"X", content_encoded=coded, request=request
    )


def _time(name: str) -> float:
    return AT + 86_400 if name == AGAIN else AT + list(PAGES).index(name)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Every page once, and the first a second time as a revisit, over several segments."""
    folder = tmp_path_factory.mktemp("archive")
    writer = WarcWriter(folder, "web", committed={}, limit=4000, random=Random(3))
    places = {name: writer.response(_exchange(name, _time(name))) for name in PAGES}
    first = Revisited(PAGES["page"][0], _time("page"), places["page"].record_id)
    writer.response(_exchange("page", _time(AGAIN)), revisit_of=first)
    writer.sync()
    writer.close()
    assert len(list(folder.glob("*.warc.gz"))) > 1
    return folder


@pytest.fixture(scope="module")
def replay(archive, tmp_path_factory):
    try:
        tool = Replay(archive, tmp_path_factory.mktemp("replay"))
    except ReplayUnavailableError as error:
        pytest.skip(str(error))
    with tool:
        yield tool


@pytest.mark.parametrize("name", [*PAGES, AGAIN])
def test_a_page_is_replayed_byte_for_byte(replay, name):
    """The tool finds the capture by our index and shows status and body as they were."""
    url, status, _, _, seen = PAGES["page" if name == AGAIN else name]
    timestamp = "".join(filter(str.isdigit, iso_utc(_time(name))))[:14]
    assert replay.get(timestamp, url) == (status, seen), replay.said()


def test_what_was_not_crawled_is_not_found(replay):
    """An answer comes from the archive, or there is none."""
    assert replay.get("2026", "http://www.example.com/other").status == 404


def test_the_checker_finds_no_fault(archive):
    """``warcio check`` verifies every digest of every segment."""
    segments = sorted(map(str, archive.glob("*.warc.gz")))
    command = [sys.executable, "-m", "warcio.cli", "check", "-v", *segments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    checked = 2 * len(PAGES) + 1  # answer and request of each page, request of the revisit
    assert ran.stdout.count("digest pass") == checked, ran.stdout
