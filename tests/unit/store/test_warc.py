"""The archive: other readers read it back exactly, and a crash leaves what was committed."""

from __future__ import annotations

import errno
import gzip
import json
import os
import zlib
from argparse import Namespace
from random import Random
from typing import TYPE_CHECKING

import fastwarc
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from crawler.errors import StoreError
from crawler.store import Exchange, Record, Revisited, WarcWriter, growing, read_record, surt, warc
from crawler.store.cdxj import Capture, index_line

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://www.example.com/a?b=1"
AT = 1_796_119_200.125  # 2026-12-01T10:00:00.125Z
HTML = b"<html><title>T</title>" + b"<p>some words of a page</p>" * 200
PACKED = gzip.compress(HTML, mtime=0)
REQUEST = b"GET /a?b=1 HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: x\r\n\r\n"


def _exchange(**changes) -> Exchange:
    fields = {
        "url": URL, "started_at": AT, "status": 200, "reason": b"OK", "body": HTML,
        "headers": [(b"Content-Type", b"text/html; charset=utf-8"), (b"Server", b"s")],
    }  # fmt: skip
    return Exchange(**(fields | changes))


def _open(directory: Path, committed: dict[str, int] | None = None, **changes) -> WarcWriter:
    options = {"limit": 1 << 30, "random": Random(7), "info": [("software", "crawler/0")]}
    return WarcWriter(directory, "web", committed=committed or {}, **(options | changes))


def _write(directory: Path, *exchanges: Exchange, **options) -> list[warc.Location]:
    writer = _open(directory, **options)
    places = [writer.response(exchange) for exchange in exchanges]
    writer.sync()
    writer.close()
    return places


def _read(directory: Path, place: warc.Location) -> Record:
    return read_record(directory / place.file, place.offset, place.length)


def _all(path: Path) -> list[tuple[str, dict[str, str], object, bytes]]:
    """Every record as the reference reader has it: kind, fields, HTTP head, raw payload."""
    found = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file, verify_http=True, check_digests="raise"):
            fields = {name.lower(): value for name, value in record.rec_headers.headers}
            payload = record.raw_stream.read()
            found.append((record.rec_type, fields, record.http_headers, payload))
    return found


def _kinds(path: Path) -> list[str]:
    return [kind for kind, *_ in _all(path)]


def _index(directory: Path) -> list[tuple[str, str, dict[str, str]]]:
    lines = []
    for path in sorted(directory.glob("*.cdxj")):
        for line in path.read_text().splitlines():
            key, timestamp, fields = line.split(" ", 2)
            lines.append((key, timestamp, json.loads(fields)))
    return lines


def _assert_readers_agree(path: Path) -> None:
    """The checker of warcio and the digests that FastWARC computes find no fault."""
    checker = Checker(Namespace(inputs=[str(path)], verbose=False))
    checker.process_all()
    assert checker.exit_value == 0
    with path.open("rb") as file:
        for record in fastwarc.ArchiveIterator(file, parse_http=False):
            assert record.verify_block_digest()
            record.parse_http()
            if record.headers.get("WARC-Type") == "response":
                assert record.verify_payload_digest()


# what a record says


def test_a_response_has_the_named_fields(tmp_path):
    """Every field that the standard asks of a response is there (WARC 1.1 §5, §6.3)."""
    (place,) = _write(tmp_path, _exchange(ip="192.0.2.7"))
    fields = _read(tmp_path, place).fields
    assert fields["warc-type"] == "response"
    assert fields["warc-record-id"] == place.record_id
    assert fields["warc-date"] == "2026-12-01T10:00:00.125Z"
    assert fields["warc-target-uri"] == URL
    assert fields["warc-ip-address"] == "192.0.2.7"
    assert fields["content-type"] == "application/http;msgtype=response"
    assert fields["warc-payload-digest"].startswith("sha1:")
    assert fields["warc-block-digest"] != fields["warc-payload-digest"]


def test_the_answer_comes_back_as_it_was_received(tmp_path):
    """Status, headers with their order and repetition, and body are those that were given."""
    headers = [(b"Set-Cookie", b"a=1"), (b"X", "ä".encode("latin-1")), (b"Set-Cookie", b"b=2")]
    (place,) = _write(tmp_path, _exchange(status=404, headers=headers, body=b"\r\n\r\n\x00\xff"))
    record = _read(tmp_path, place)
    assert (record.kind, record.status, record.body) == ("response", 404, b"\r\n\r\n\x00\xff")
    assert list(record.headers) == headers


def test_a_segment_begins_with_what_made_it(tmp_path):
    """The head names the file and the software (WARC 1.1 §6.2)."""
    _write(tmp_path, _exchange())
    kind, fields, _, block = _all(tmp_path / "web-00000.warc.gz")[0]
    assert (kind, block) == ("warcinfo", b"software: crawler/0\r\n")
    assert fields["warc-filename"] == "web-00000.warc.gz"
    assert fields["content-type"] == "application/warc-fields"


def test_other_readers_accept_every_kind_of_record(tmp_path):
    """Both readers find all records in their order, and all digests right."""
    writer = _open(tmp_path)
    first = writer.response(_exchange(request=REQUEST))
    seen = Revisited(URL, AT, first.record_id)
    writer.response(_exchange(started_at=AT + 1, request=REQUEST), revisit_of=seen)
    writer.response(_exchange(status=304, body=b""), revisit_of=seen)
    writer.metadata(URL, AT, [("via", "http://a/"), ("hops", "2\r\nx: y")], about=first.record_id)
    writer.response(_exchange(status=204, reason=b"", headers=[], body=b""))
    writer.response(
        _exchange(body=PACKED, headers=[(b"Content-Encoding", b"gzip")], content_encoded=True)
    )
    writer.sync()
    writer.close()
    path = tmp_path / "web-00000.warc.gz"
    _assert_readers_agree(path)
    kinds = ["warcinfo", "response", "request", "revisit", "request", "revisit", "metadata"]
    kinds += ["response", "response"]
    assert _kinds(path) == kinds
    with path.open("rb") as file:
        assert [r.headers["WARC-Type"] for r in fastwarc.ArchiveIterator(file)] == kinds


def test_a_request_is_told_with_its_response(tmp_path):
    """The request follows, points at its response, and has CRLF line ends (RFC 9112 §2.1)."""
    sent = b"GET / HTTP/1.1\nHost: a\n\n"
    (place,) = _write(tmp_path, _exchange(request=sent))
    kind, fields, http, payload = _all(tmp_path / place.file)[2]
    assert (kind, payload) == ("request", b"")
    assert fields["warc-concurrent-to"] == place.record_id
    assert fields["content-type"] == "application/http;msgtype=request"
    assert int(fields["content-length"]) == len(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert http.get_header("host") == "a"


def test_an_exact_duplicate_leaves_its_body_out(tmp_path):
    """Its digest and the earlier capture are named, the headers kept (WARC 1.1 §6.7.2)."""
    writer = _open(tmp_path)
    first = writer.response(_exchange())
    other = _exchange(url="http://example.com/copy", started_at=AT + 9)
    place = writer.response(other, revisit_of=Revisited(URL, AT, first.record_id))
    writer.sync()
    record, earlier = _read(tmp_path, place), _read(tmp_path, first)
    assert (record.kind, record.status, record.body) == ("revisit", 200, b"")
    assert record.headers == earlier.headers
    fields = record.fields
    assert fields["warc-profile"].endswith("/warc/1.1/revisit/identical-payload-digest")
    assert fields["warc-payload-digest"] == earlier.fields["warc-payload-digest"]
    assert fields["warc-refers-to-target-uri"] == URL
    assert fields["warc-refers-to-date"] == earlier.fields["warc-date"]
    assert fields["warc-refers-to"] == first.record_id
    assert fields["warc-truncated"] == "length"
    writer.close()


def test_not_modified_refers_to_the_earlier_capture(tmp_path):
    """A 304 is a revisit by the server's word, with no digest of its own (WARC 1.1 §6.7.3)."""
    writer = _open(tmp_path)
    answer = _exchange(status=304, headers=[(b"Content-Length", b"500")], body=b"")
    record_at = writer.response(answer, revisit_of=Revisited(URL, AT))
    writer.sync()
    record = _read(tmp_path, record_at)
    assert record.fields["warc-profile"].endswith("/warc/1.1/revisit/server-not-modified")
    assert "warc-payload-digest" not in record.fields
    assert "warc-refers-to" not in record.fields
    assert record.headers == [(b"Content-Length", b"500")]  # of what was not sent: RFC 9110 §8.6
    assert _index(tmp_path)[0][2]["digest"] == "-"
    writer.close()


def test_a_packed_body_is_not_packed_again(tmp_path):
    """It lies in the file byte for byte, and a reader unpacks it to the page."""
    coded = [(b"Content-Encoding", b"gzip")]
    (place,) = _write(tmp_path, _exchange(headers=coded, body=PACKED, content_encoded=True))
    assert PACKED in (tmp_path / place.file).read_bytes()
    with (tmp_path / place.file).open("rb") as file:
        pages = [r.content_stream().read() for r in ArchiveIterator(file)]
    assert pages[1] == HTML


def test_a_plain_body_is_packed(tmp_path):
    """A record of repeated text is much smaller than the text."""
    (place,) = _write(tmp_path, _exchange())
    assert place.length < len(HTML) / 4


SIZE = b"%d" % len(HTML)
AGREE = {
    "chunked": ([(b"Transfer-Encoding", b"chunked")],
                [(b"X-Crawl-Transfer-Encoding", b"chunked"), (b"Content-Length", SIZE)]),
    "both": ([(b"Content-Length", b"7"), (b"Transfer-Encoding", b"chunked")],
             [(b"X-Crawl-Content-Length", b"7"), (b"X-Crawl-Transfer-Encoding", b"chunked"),
              (b"Content-Length", SIZE)]),
    "right length": ([(b"content-length", SIZE)], [(b"content-length", SIZE)]),
    "wrong length": ([(b"content-length", b"1")],
                     [(b"X-Crawl-content-length", b"1"), (b"Content-Length", SIZE)]),
    "no length": ([(b"Connection", b"close")], [(b"Connection", b"close")]),
    "unpacked": ([(b"Content-Encoding", b"gzip"), (b"Content-Length", b"90")],
                 [(b"X-Crawl-Content-Encoding", b"gzip"), (b"X-Crawl-Content-Length", b"90"),
                  (b"Content-Length", SIZE)]),
}  # fmt: skip


@pytest.mark.parametrize(("received", "stored"), AGREE.values(), ids=AGREE)
def test_stored_headers_and_stored_bytes_agree(tmp_path, received, stored):
    """What no longer describes the body is renamed; the length is right (RFC 9112 §6)."""
    (place,) = _write(tmp_path, _exchange(headers=received))
    record = _read(tmp_path, place)
    assert list(record.headers) == stored
    assert record.body == HTML
    _assert_readers_agree(tmp_path / place.file)


def test_a_chunked_and_packed_answer_replays_exactly(tmp_path):
    """A reader that follows the stored headers gets the page, not chunks or packed bytes."""
    received = [(b"Transfer-Encoding", b"chunked"), (b"Content-Encoding", b"gzip")]
    page = b"<a href='/x'>x</a>" * 3
    body = gzip.compress(page)
    (place,) = _write(tmp_path, _exchange(headers=received, body=body, content_encoded=True))
    with (tmp_path / place.file).open("rb") as file:
        found = fastwarc.ArchiveIterator(file, auto_decode="all")
        assert [r.reader.read() for r in found if r.is_http] == [page]
    for _, _, http, payload in _all(tmp_path / place.file)[1:]:
        assert http.get_header("content-length") == str(len(payload)) == str(len(body))
    with (tmp_path / place.file).open("rb") as file:
        assert [r.content_stream().read() for r in ArchiveIterator(file)][1] == page


@pytest.mark.parametrize("method", [b"HEAD", b"GET"])
def test_only_an_answer_to_head_may_state_another_length(tmp_path, method):
    """The length then is of what GET would send (RFC 9110 §8.6)."""
    stated = [(b"Content-Length", b"99")]
    request = method + b" / HTTP/1.1\r\n\r\n"
    (place,) = _write(tmp_path, _exchange(headers=stated, body=b"", request=request))
    assert (list(_read(tmp_path, place).headers) == stated) is (method == b"HEAD")


@pytest.mark.parametrize(
    ("changes", "start"),
    [
        ({"reason": b""}, b"HTTP/1.1 200 \r\n"),
        ({"reason": b"Not\r\nX: y"}, b"HTTP/1.1 200 Not  X: y\r\n"),
        ({"version": "HTTP/1.0"}, b"HTTP/1.0 200 OK\r\n"),
        ({"version": "h2"}, b"HTTP/1.1 200 OK\r\n"),
        ({"status": 7}, b"HTTP/1.1 007 OK\r\n"),
    ],
    ids=["no reason", "reason of two lines", "old", "http 2", "short status"],
)
def test_the_status_line_is_one_that_readers_know(tmp_path, changes, start):
    """Version, three digits, a space even without a phrase (RFC 9112 §4)."""
    (place,) = _write(tmp_path, _exchange(**changes))
    member = (tmp_path / place.file).read_bytes()[place.offset :]
    assert gzip.decompress(member[: place.length]).partition(b"\r\n\r\n")[2].startswith(start)
    _assert_readers_agree(tmp_path / place.file)


@pytest.mark.parametrize("where", ["url", "header name", "header value", "info", "request"])
def test_nothing_hostile_starts_a_line_of_its_own(tmp_path, where):
    """A line end in a value would let a server write fields of the record."""
    evil = "x\r\nEvil: 1\r\n\r\n"
    changes = {
        "url": {"url": f"http://a/{evil}"},
        "header name": {"headers": [(evil.encode(), b"v")]},
        "header value": {"headers": [(b"n", evil.encode())]},
        "info": {},
        "request": {"request": b"GET / HTTP/1.1\r\nA: b\rEvil: 1\r\n\r\n"},
    }[where]
    info = [("software", evil)] if where == "info" else []
    _write(tmp_path, _exchange(**changes), info=info)
    for _, fields, http, _ in _all(tmp_path / "web-00000.warc.gz"):
        assert "evil" not in fields
        assert http is None or http.get_header("evil") is None
    assert len(_index(tmp_path)) == 1


TOKEN = st.text("abcXYZ-_09", min_size=1, max_size=12).map(str.encode)
VALUE = st.binary(max_size=30).map(lambda v: v.translate(None, b"\r\n\0").strip())
HEADERS = st.lists(st.tuples(TOKEN, VALUE), max_size=8)
EXCHANGES = st.builds(
    Exchange,
    url=st.just(URL) | st.text(max_size=20).map("http://a.example/{}".format),
    started_at=st.floats(0, 4e9),
    status=st.integers(100, 999),
    headers=HEADERS,
    body=st.binary(max_size=300),
    reason=st.binary(max_size=10),
    request=st.sampled_from([b"", REQUEST, b"GET /\n\nbody"]),
    content_encoded=st.booleans(),
)


@settings(max_examples=60)
@given(st.lists(EXCHANGES, min_size=1, max_size=4), st.integers(1, 3000))
def test_any_exchange_comes_back(tmp_path_factory, exchanges, limit):
    """Whatever was received is read back the same, by us and by the reference reader."""
    directory = tmp_path_factory.mktemp("warc")
    places = _write(directory, *exchanges, limit=limit)
    for exchange, place in zip(exchanges, places, strict=True):
        record = _read(directory, place)
        assert (record.status, record.body) == (exchange.status, exchange.body)
        names = [name.lower() for name, _ in exchange.headers]
        if not {b"content-length", b"transfer-encoding", b"content-encoding"} & set(names):
            assert list(record.headers) == exchange.headers
    responses = [
        payload
        for path in sorted(directory.glob("*.warc.gz"))
        for kind, _, _, payload in _all(path)
        if kind == "response"
    ]
    assert responses == [exchange.body for exchange in exchanges]


def test_the_same_source_of_numbers_gives_the_same_bytes(tmp_path):
    """No clock and no global random number goes into a file."""
    for name in ("a", "b"):
        tmp_path.joinpath(name).mkdir()
        _write(tmp_path / name, _exchange(), _exchange(request=REQUEST))
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["web-00000.cdxj", "web-00000.warc.gz"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_identifiers_are_version_4_uuids_and_differ(tmp_path):
    """A record is named once in the world (WARC 1.1 §5.2, RFC 9562 §5.4)."""
    places = _write(tmp_path, _exchange(), _exchange())
    first, second = (place.record_id for place in places)
    assert first != second
    assert first.startswith("<urn:uuid:")
    assert first[24] == "4"


# segments


def test_a_full_segment_is_followed_by_another(tmp_path):
    """Each begins with its own head; together they hold every record once."""
    exchanges = [_exchange(url=f"http://a.example/{n}") for n in range(5)]
    places = _write(tmp_path, *exchanges, limit=700)
    segments = sorted(path.name for path in tmp_path.glob("*.warc.gz"))
    assert segments == [f"web-{n:05d}.warc.gz" for n in range(len(segments))]
    assert len(segments) > 1
    assert sorted({place.file for place in places}) == segments
    for name in segments:
        assert _kinds(tmp_path / name)[0] == "warcinfo"
        _assert_readers_agree(tmp_path / name)
    urls = [_read(tmp_path, place).fields["warc-target-uri"] for place in places]
    assert urls == [exchange.url for exchange in exchanges]


def test_request_and_response_stay_in_one_segment(tmp_path):
    """A pair is not torn apart, however full the segment is."""
    _write(tmp_path, *[_exchange(request=REQUEST)] * 3, limit=1)
    for path in tmp_path.glob("*.warc.gz"):
        assert _kinds(path) == ["warcinfo", "response", "request"]


def test_sync_tells_the_length_of_every_file_that_changed(tmp_path):
    """A segment that was filled since the last commit is told too, and only once."""
    writer = _open(tmp_path, limit=1)
    writer.response(_exchange())
    writer.response(_exchange())
    lengths = writer.sync()
    assert lengths == {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert len(lengths) == 4
    assert sorted(writer.sync()) == ["web-00001.cdxj", "web-00001.warc.gz"]
    writer.close()


def test_full_segments_are_closed(tmp_path):
    """A long crawl does not run out of file descriptors."""
    writer = _open(tmp_path, limit=1)
    writer.response(_exchange())
    writer.sync()
    first = (writer._warc, writer._index)
    writer.response(_exchange())
    writer.sync()
    assert [file._file for file in first] == [-1, -1]
    writer.close()


def test_nothing_is_on_disk_before_the_first_record_is_synced(tmp_path):
    """A crawl that fetched nothing leaves no empty archive; records wait for the commit."""
    writer = _open(tmp_path)
    assert writer.sync() == {"web-00000.warc.gz": 0, "web-00000.cdxj": 0}
    writer.response(_exchange())
    assert not list(tmp_path.iterdir())
    writer.close()


def test_too_much_to_hold_is_written_early(tmp_path, monkeypatch):
    """Memory stays bounded between commits; the next start would still cut what was written."""
    monkeypatch.setattr(warc, "_HELD", 2000)
    writer = _open(tmp_path)
    for _ in range(20):
        writer.response(_exchange(body=os.urandom(500), content_encoded=True))
        assert writer._warc.held_bytes <= 2000
    assert (tmp_path / "web-00000.warc.gz").stat().st_size > 8000
    writer.close()
    _open(tmp_path).close()
    assert not list(tmp_path.iterdir())


def test_opening_cuts_what_was_not_committed(tmp_path):
    """After a crash the archive goes on at the commit: half records and later files go."""
    (tmp_path / "web-00000.txt").write_text("not ours")
    (tmp_path / "webs-00009.warc.gz").write_text("not ours")
    writer = _open(tmp_path, limit=1500)
    writer.response(_exchange())
    committed = writer.sync()
    for n in range(8):
        writer.response(_exchange(url=f"http://lost.example/{n}"))
    writer.sync()
    writer.close()
    assert len(list(tmp_path.glob("web-*.warc.gz"))) > 1
    (place,) = _write(
        tmp_path, _exchange(url="http://kept.example/"), committed=committed, random=Random(8)
    )
    assert place.offset == committed["web-00000.warc.gz"]
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "web-00000.cdxj", "web-00000.txt", "web-00000.warc.gz", "webs-00009.warc.gz"
    ]  # fmt: skip
    assert _kinds(tmp_path / place.file) == ["warcinfo", "response", "response"]
    urls = [fields["url"] for _, _, fields in _index(tmp_path)]
    assert urls == [URL, "http://kept.example/"]


def test_full_segments_are_left_alone(tmp_path):
    """They are complete, and may have been moved to another place meanwhile."""
    writer = _open(tmp_path, limit=1)
    committed = {}
    for _ in range(3):
        writer.response(_exchange())
        committed |= writer.sync()
    writer.close()
    (tmp_path / "web-00000.warc.gz").unlink()
    before = (tmp_path / "web-00001.warc.gz").read_bytes()
    (place,) = _write(tmp_path, _exchange(), committed=committed, limit=1, random=Random(8))
    assert place.file == "web-00003.warc.gz"
    assert (tmp_path / "web-00001.warc.gz").read_bytes() == before


@pytest.mark.parametrize("suffix", ["warc.gz", "cdxj"])
@pytest.mark.parametrize("left", [None, 5], ids=["gone", "short"])
def test_a_file_shorter_than_committed_is_refused(tmp_path, suffix, left):
    """Records that were promised are missing: the message names file, sizes and remedy."""
    writer = _open(tmp_path)
    writer.response(_exchange())
    committed = writer.sync()
    writer.close()
    path = tmp_path / f"web-00000.{suffix}"
    data = path.read_bytes()
    path.unlink()
    if left:
        path.write_bytes(data[:left])
    with pytest.raises(StoreError) as caught:
        _open(tmp_path, committed)
    found = f"has {left} bytes" if left else "is missing"
    for part in (f"{path} {found}, but {committed[path.name]} bytes were", "JOBDIR"):
        assert part in str(caught.value)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    """The message has the path and the system's reason."""
    with pytest.raises(StoreError, match=r"none.*No such file"):
        _open(tmp_path / "none")


def test_other_outputs_in_the_commit_are_passed_over(tmp_path):
    """The commit names the files of all outputs; none of them may become a segment."""
    others = {"pages.jsonl": 10, "web-00007.warc": 9, "web-7.cdxj": 9, "xweb-00007.cdxj": 9}
    assert _write(tmp_path, _exchange(), committed=others)[0].file == "web-00000.warc.gz"


FAILING = ["pwrite", "fsync", "open"]


@pytest.mark.parametrize("call", FAILING)
@pytest.mark.parametrize("at", range(4))
def test_a_full_disk_loses_nothing(tmp_path, monkeypatch, call, at):
    """The sync fails with the path, the files are as before, and a later sync writes all."""
    writer = _open(tmp_path, limit=1 if call == "open" else 1 << 30)
    writer.response(_exchange())
    committed = writer.sync()
    before = {name: (tmp_path / name).read_bytes() for name in committed}
    writer.response(_exchange(url="http://held.example/", request=REQUEST))
    real, calls = getattr(os, call), iter(range(100))

    def full(*arguments, **options):
        if next(calls) < at:
            return real(*arguments, **options)
        if call == "pwrite":
            real(arguments[0], arguments[1][:10], arguments[2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        if at < 2:
            with pytest.raises(OSError, match=r"No space left.*web-0000\d\."):
                writer.sync()
            if at == 0:
                assert {name: (tmp_path / name).read_bytes() for name in committed} == before
    lengths = writer.sync()
    writer.close()
    assert lengths.items() <= {p.name: p.stat().st_size for p in tmp_path.iterdir()}.items()
    last = max(lengths)
    assert _kinds(tmp_path / last)[-2:] == ["response", "request"]
    assert _index(tmp_path)[-1][2]["url"] == "http://held.example/"
    for path in tmp_path.glob("*.warc.gz"):
        _assert_readers_agree(path)


def test_the_name_of_a_new_file_is_made_durable(tmp_path, monkeypatch):
    """Its folder is synced after the file has its bytes, once a file (fsync(2))."""
    sizes = []
    monkeypatch.setattr(
        growing,
        "sync_directory",
        lambda d: sizes.append(sum(p.stat().st_size for p in d.iterdir())),
    )
    writer = _open(tmp_path)
    for _ in range(3):
        writer.response(_exchange())
        lengths = writer.sync()
        assert len(sizes) == 2
    assert 0 < sizes[0] < sizes[1] < sum(lengths.values())
    writer.close()


STEPS = st.lists(st.sampled_from(["page", "page", "sync", "commit", "crash"]), max_size=25)


@settings(max_examples=40)
@given(STEPS, st.sampled_from([1, 900, 1 << 30]))
def test_any_history_leaves_exactly_what_was_committed(tmp_path_factory, steps, limit):
    """However syncs, commits and crashes follow each other, no record is lost or twice."""
    directory = tmp_path_factory.mktemp("warc")
    committed: dict[str, int] = {}
    kept: list[str] = []
    new: list[str] = []
    writer = _open(directory, limit=limit, random=Random(0))
    for number, step in enumerate([*steps, "commit", "crash"]):
        if step == "page":
            new.append(f"http://a.example/{number}")
            writer.response(_exchange(url=new[-1]))
        elif step == "sync":
            writer.sync()
        elif step == "commit":
            committed |= writer.sync()
            kept, new = kept + new, []
        else:
            writer.close()
            writer = _open(directory, committed, limit=limit, random=Random(number))
            new = []
    writer.close()
    assert [fields["url"] for _, _, fields in _index(directory)] == kept
    targets = [
        fields["warc-target-uri"]
        for path in sorted(directory.glob("*.warc.gz"))
        for kind, fields, _, _ in _all(path)
        if kind == "response"
    ]
    assert targets == kept


# the index


def test_the_index_leads_to_the_record(tmp_path):
    """Each line has key, time and all that a replay tool needs to find the capture."""
    writer = _open(tmp_path, limit=1)
    first = writer.response(_exchange(request=REQUEST))
    writer.response(_exchange(started_at=AT + 60), revisit_of=Revisited(URL, AT))
    writer.metadata(URL, AT, [], about=first.record_id)
    writer.sync()
    writer.close()
    lines = _index(tmp_path)
    assert [(key, timestamp) for key, timestamp, _ in lines] == [
        ("com,example)/a?b=1", "20261201100000"),
        ("com,example)/a?b=1", "20261201100100"),
    ]
    assert [fields["mime"] for *_, fields in lines] == ["text/html", "warc/revisit"]
    for *_, fields in lines:
        place = (tmp_path / fields["filename"], int(fields["offset"]), int(fields["length"]))
        record = read_record(*place)
        assert (fields["url"], fields["status"]) == (URL, "200")
        assert record.fields["warc-payload-digest"] == f"sha1:{fields['digest']}"
    assert lines[0][2]["digest"] == lines[1][2]["digest"]


@pytest.mark.parametrize(
    ("headers", "mime"),
    [
        ([], "unk"),
        ([(b"content-type", b" Text/HTML ; charset=x")], "text/html"),
        ([(b"Content-Type", b"")], "unk"),
        ([(b"Content-Type", b"\xff\"'")], "ÿ\"'"),
        ([(b"Content-Type", b"a/" + b"b" * 999)], "a/" + "b" * 98),
    ],
    ids=["none", "parameters", "empty", "binary", "long"],
)
def test_the_media_type_of_a_line(tmp_path, headers, mime):
    """Without parameters, in lower case, bounded; ``unk`` where there is none."""
    _write(tmp_path, _exchange(headers=headers))
    assert _index(tmp_path)[0][2]["mime"] == mime


SURT = {
    "host": ("http://example.com", "com,example)/"),
    "www": ("https://WWW2.Example.com/A/B/?", "com,example)/a/b"),
    "www is the domain": ("http://www.com/", "com)/"),
    "not www": ("http://www-1.a.com/", "com,a,www-1)/"),
    "root dot": ("http://example.com./", "com,example)/"),
    "address": ("http://1.2.3.4:80/", "4,3,2,1)/"),
    "address of 6": ("http://[2001:DB8::1]:8080/a", "2001:db8::1:8080)/a"),
    "international": ("http://m\u00fcnchen.de/", "de,xn--mnchen-3ya)/"),
    "already in ascii": ("http://xn--mnchen-3ya.de/", "de,xn--mnchen-3ya)/"),
    "port": ("http://example.com:8080/a", "com,example:8080)/a"),
    "default port": ("https://a.com:443/", "com,a)/"),
    "default port of another": ("http://a.com:443/", "com,a:443)/"),
    "user": ("http://u:p@a.com/", "com,a)/"),
    "trailing slash": ("http://a.com/x/", "com,a)/x"),
    "slashes": ("http://a.com/a//b", "com,a)/a/b"),
    "dots": ("http://a.com/a/./b/../c", "com,a)/a/c"),
    "fragment": ("http://a.com/a#b?c", "com,a)/a"),
    "escapes": ("http://a.com/%7Ea/%2f?x=%2F&&b", "com,a)/~a?&b&x=/"),
    "escaped escape": ("http://a.com/%2525", "com,a)/%25"),
    "utf-8": ("http://a.com/\u00dc?q=\u00dc", "com,a)/%c3%9c?q=%c3%9c"),
    "plus and space": ("http://a.com/?q=a+b%20c", "com,a)/?q=a+b%20c"),
    "order": ("http://a.com/?b=1&A=2&a=1&c&c=", "com,a)/?a=1&a=2&b=1&c&c="),
    "two marks": ("http://a.com/?x=1?y=2", "com,a)/?x=1?y=2"),
    "session": (f"http://a.com/a?PHPSESSID={'0aB1' * 8}&x=1", "com,a)/a?x=1"),
    "no session": ("http://a.com/a?sid=1&x=1", "com,a)/a?sid=1&x=1"),
    "cold fusion": ("http://a.com/?a=1&CFID=3&CFTOKEN=4", "com,a)/?&a=1"),
    "session in path": ("http://a.com/(S(abcdefghijklmnopqrstuvwx))/x.aspx", "com,a)/x.aspx"),
    "scheme in upper case": ("HTTPS://a.com:443/", "com,a)/"),
}


@pytest.mark.parametrize(("url", "key"), SURT.values(), ids=SURT)
def test_surt_is_the_key_that_replay_tools_look_up(url, key):
    """Rows as version 0.3.1 of the ``surt`` package, which pywb uses, answers them."""
    assert surt(url) == key


@given(st.text(max_size=60).map("http://{}".format) | st.text(max_size=60))
def test_surt_never_raises_and_is_one_word(url):
    """Whatever the URL, the key is printable ASCII without a space: the line stays a line."""
    key = surt(url)
    assert key.isascii()
    assert " " not in key
    assert key.isprintable()


@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_any_capture_is_one_line_of_the_index(url, mime, filename):
    """Key, time and one JSON object, in that order, whatever stands in the fields (CDXJ)."""
    assume(not any("\ud800" <= char <= "\udfff" for char in mime + filename))
    line = index_line(Capture(url, "2024-01-01T00:00:00Z", mime, 200, "-", filename, 1, 2))
    assert line.count(b"\n") == 1
    _, timestamp, fields = line.decode().split(" ", 2)
    assert timestamp == "20240101000000"
    assert json.loads(fields)["mime"] == mime


def test_surt_of_a_deeply_escaped_url_takes_bounded_passes():
    """An attack on the index ends after a few passes; the key then keeps an escape."""
    assert "%25" in surt("http://a.com/" + "%25" + "25" * 1000)


# reading


def test_reading_is_bounded(tmp_path):
    """A record that unpacks to more than the limit is refused, not read."""
    (place,) = _write(tmp_path, _exchange(body=b"\0" * 1_000_000))
    assert place.length < 5000
    with pytest.raises(StoreError, match="more than 5000 bytes"):
        read_record(tmp_path / place.file, place.offset, place.length, limit=5000)


@pytest.mark.parametrize(
    ("offset", "length"),
    [(-1, 9), (0, 0), (0, -5), (0, 1 << 40), (1 << 70, 9), (1 << 20, 9), (1, 200), (0, 20)],
)
def test_a_place_without_a_record_is_told(tmp_path, offset, length):
    """A wrong place ends in one kind of error, with path and offset."""
    _write(tmp_path, _exchange())
    with pytest.raises(StoreError, match=rf"web-00000.warc.gz at {offset}"):
        read_record(tmp_path / "web-00000.warc.gz", offset, length)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"WARC/1.1\r\nContent-Length: 5\r\n\r\nabc",
        b"WARC/1.1\r\nContent-Length: -1\r\n\r\nabc",
        b"WARC/1.1\r\nContent-Length: 1_0\r\n\r\n" + b"a" * 20,
        b"WARC/1.1\r\nContent-Length: " + b"9" * 9999 + b"\r\n\r\n",
        b"WARC/1.1\r\n\r\nabc",
    ],
    ids=["empty", "http", "short", "negative", "odd", "huge", "no length"],
)
def test_what_is_no_whole_record_is_told(tmp_path, text):
    """A damaged record is not passed on as if it were whole."""
    path = tmp_path / "x.warc.gz"
    path.write_bytes(gzip.compress(text))
    with pytest.raises(StoreError, match="no whole WARC record"):
        read_record(path, 0, path.stat().st_size)


def test_records_of_others_are_read_too(tmp_path):
    """Bare LF, no reason phrase and older versions come from other writers."""
    block = b"HTTP/1.0 200\nA: b\n\nbody"
    head = b"WARC/1.0\nWARC-Type: response\nContent-Type: application/http; msgtype=response\n"
    path = tmp_path / "x.warc.gz"
    path.write_bytes(gzip.compress(head + b"Content-Length: %d\n\n" % len(block) + block))
    record = read_record(path, 0, path.stat().st_size)
    assert (record.status, list(record.headers), record.body) == (200, [(b"A", b"b")], b"body")


@given(st.binary(max_size=200), st.booleans())
def test_reading_ends_in_a_record_or_in_a_told_error(tmp_path_factory, data, packed):
    """No content of a file raises anything else."""
    path = tmp_path_factory.mktemp("warc") / "x.warc.gz"
    data = b"WARC/1.1\r\nContent-Type: application/http\r\n" + data
    path.write_bytes(zlib.compress(data, wbits=31) if packed else data)
    try:
        read_record(path, 0, path.stat().st_size)
    except StoreError as error:
        assert str(path) in str(error)  # noqa: PT017
