"""The archive: every answer as it was received, in WARC 1.1 segments that survive a crash.

A directory holds ``NAME-00000.warc.gz``, ``NAME-00001.warc.gz`` and so on, each with its
index ``NAME-00000.cdxj`` beside it. Each record is a gzip member of its own, so that one is
read without the others. A body that came packed is not packed again.

Spec: WARC 1.1 (ISO 28500:2017), §5 named fields, §6 record types, annex D on gzip members.
"""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from base64 import b32encode
from dataclasses import dataclass
from hashlib import sha1
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from isal import isal_zlib

from crawler.clock import iso_utc
from crawler.errors import StoreError
from crawler.store.cdxj import Capture, index_line, mime_of, one_line_uri
from crawler.store.lock import sync_directory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from random import Random

_LEVEL = 2  # ISA-L: a fifth of the time of zlib's level 1, and smaller
_HELD = 8 << 20  # bytes of records that wait in memory before they go to disk early
MOST_READ = 64 << 20
"""Bytes of a record that are read, packed or unpacked, unless asked otherwise."""

_RESPONSE = "application/http;msgtype=response"
_REQUEST = "application/http;msgtype=request"
_FIELDS = "application/warc-fields"
_REVISIT = "http://netpreserve.org/warc/1.1/revisit/"
_ONE_LINE = bytes.maketrans(b"\r\n\0", b"   ")
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/\S+ +(\d{3,9})(?: (.*))?")
_CODINGS = (b"content-encoding", b"content-length", b"transfer-encoding")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer, the body without transfer coding.

    Attributes:
        url: What was asked for; a normalised URL.
        started_at: Crawl-clock seconds.
        status: As in the status line.
        headers: Of the answer, in their order, repeated ones included.
        body: As received: still packed if ``content_encoded``.
        reason: Phrase of the status line; often empty.
        version: ``HTTP/1.0`` or ``HTTP/1.1``; any other is written as the latter, because
            readers know no other head than that.
        request: Request line, headers and blank line as sent; empty when not known.
        content_encoded: Whether the body still has the codings its headers name.
        ip: Address of the server.
        interrupted: Whether the transfer ended before the body did.
    """

    url: str
    started_at: float
    status: int
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes
    reason: bytes = b""
    version: str = "HTTP/1.1"
    request: bytes = b""
    content_encoded: bool = False
    ip: str | None = None
    interrupted: bool = False


class Location(NamedTuple):
    """Where a record lies, and what it is called."""

    file: str  # name within the directory
    offset: int
    length: int  # of the gzip member, bytes
    record_id: str  # "<urn:uuid:...>"
    digest: str = "-"  # of the payload, as payload_digest() has it


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it was read back.

    Attributes:
        kind: ``response``, ``revisit``, ``request``, ``metadata`` or ``warcinfo``.
        fields: The named fields, by lower-case name; of a repeated one the last.
        status: Of the answer; 0 for what is none.
        headers: Of the HTTP message, in their order; empty for what is none.
        body: As received, with its content codings; the whole block for what is no HTTP.
    """

    kind: str
    fields: Mapping[str, str]
    status: int
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes


class Revisited(NamedTuple):
    """The earlier record that holds the content."""

    url: str
    started_at: float  # exactly as it was given with the earlier exchange
    record_id: str | None = None


class WarcWriter:
    """Appends exchanges to the segments of one archive.

    Records are held by :meth:`response` and on disk after :meth:`sync`. Only the newest
    segment grows. Opening cuts it, and its index, to the length that was committed last,
    and removes segments that were begun after that.

    Cost: 0.045 ms of CPU a response, 0.04 more for its request, and 0.05 to compress 20 KB of a
    body that did not come packed. Memory: at most some 8 MiB of records, unless the disk is full.
    """

    def __init__(
        self,
        directory: Path,
        name: str,
        *,
        committed: Mapping[str, int],
        limit: int,
        random: Random,
        info: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Open the archive ``name`` in ``directory``, which exists.

        Args:
            directory: Where the segments are.
            name: What their names begin with.
            committed: File name → length in bytes at the last commit; names of other
                outputs in it are passed over.
            limit: Size in bytes at which a segment is full; the last record may exceed it.
            random: Source of the record identifiers.
            info: Fields of the record at the head of each segment: software, format.

        Raises:
            StoreError: A committed file is shorter than that, or cannot be opened.
        """
        self._directory = directory
        self._name = name
        self._limit = limit
        self._random = random
        self._info = tuple(info)
        self._sealed: list[_Growing] = []  # full, but not yet on disk
        self._number = self._newest(committed)
        try:
            self._remove_later()
        except OSError as error:
            raise StoreError(f"{directory}: {error.strerror or error}") from error
        self._warc, self._index = (
            _Growing(path, committed.get(path.name)) for path in self._paths()
        )

    def response(self, exchange: Exchange, *, revisit_of: Revisited | None = None) -> Location:
        """Append what was received, then the request if it is known.

        Args:
            exchange: What was sent and received.
            revisit_of: The earlier record with the same content; the body is then left out.
                With status 304 it is what the server says is unchanged.

        Returns:
            Where the response, or the revisit that stands for it, will be.

        Spec: WARC 1.1 §6.3, §6.4, §6.7.
        """
        date = iso_utc(exchange.started_at)
        self._begin(date)
        target = _target(exchange)
        digest = (
            "-"
            if revisit_of and exchange.status == HTTPStatus.NOT_MODIFIED
            else payload_digest(exchange.body)
        )
        location = self._append(
            "revisit" if revisit_of else "response",
            date,
            target + _payload_fields(digest, revisit_of) + _truncation(exchange),
            _RESPONSE,
            _head(exchange),
            b"" if revisit_of else exchange.body,
            packed=exchange.content_encoded and not revisit_of,
        )
        capture = Capture(
            url=exchange.url,
            date=date,
            mime="warc/revisit" if revisit_of else mime_of(exchange.headers),
            status=exchange.status,
            digest=digest,
            filename=location.file,
            offset=location.offset,
            length=location.length,
        )
        self._index.append(index_line(capture))
        if exchange.request:
            target += f"WARC-Concurrent-To: {location.record_id}\r\n"
            self._append("request", date, target, _REQUEST, *_request(exchange.request))
        self._relieve()
        return location._replace(digest=digest)

    def metadata(
        self, url: str, at: float, fields: Iterable[tuple[str, str]], *, about: str
    ) -> Location:
        """Append what is known of an exchange beside its bytes: via, hops, times.

        Args:
            url: Of the exchange.
            at: Crawl-clock seconds.
            fields: Name and value; line ends in them become spaces.
            about: ``record_id`` of its response.

        Spec: WARC 1.1 §6.6.
        """
        date = iso_utc(at)
        self._begin(date)
        named = f"WARC-Target-URI: {one_line_uri(url)}\r\nWARC-Concurrent-To: {about}\r\n"
        return self._append("metadata", date, named, _FIELDS, _lines(fields))

    def sync(self) -> dict[str, int]:
        """Bring every record to disk; return file name → length for all that changed.

        The newest segment and its index are always among them.

        Raises:
            OSError: The disk is full or gone. What cannot be written is still held, and each
                file is as it was, or has all that it should.
        """
        files = [*self._sealed, self._warc, self._index]
        lengths = {file.path.name: file.sync() for file in files}
        for file in self._sealed:
            file.close()
        self._sealed.clear()
        return lengths

    def close(self) -> None:
        """Close the files; records written since the last sync are cut at the next start."""
        for file in (*self._sealed, self._warc, self._index):
            file.close()

    def _paths(self) -> tuple[Path, Path]:
        stem = f"{self._name}-{self._number:05d}"
        return self._directory / f"{stem}.warc.gz", self._directory / f"{stem}.cdxj"

    def _number_of(self, filename: str) -> int:
        """Return the number of a segment's file; -1 for a file that is none of ours."""
        pattern = rf"{re.escape(self._name)}-(\d{{5,9}})\.(?:warc\.gz|cdxj)"
        match = re.fullmatch(pattern, filename, re.ASCII)
        return int(match[1]) if match else -1

    def _newest(self, committed: Mapping[str, int]) -> int:
        return max(map(self._number_of, committed), default=-1)

    def _remove_later(self) -> None:
        later = [p for p in self._directory.iterdir() if self._number_of(p.name) > self._number]
        for path in later:
            path.unlink()
        if later:
            sync_directory(self._directory)
        self._number = max(self._number, 0)

    def _begin(self, date: str) -> None:
        """Make sure that there is a segment with room, and its head."""
        if self._warc.length >= self._limit:
            self._sealed += (self._warc, self._index)
            self._number += 1
            self._warc, self._index = map(_Growing, self._paths())
        if not self._warc.length:
            named = f"WARC-Filename: {self._warc.path.name}\r\n"
            self._append("warcinfo", date, named, _FIELDS, _lines(self._info))

    def _append(
        self,
        kind: str,
        date: str,
        fields: str,
        content_type: str,
        head: bytes,
        body: bytes = b"",
        *,
        packed: bool = False,
    ) -> Location:
        record_id = f"<urn:uuid:{UUID(int=self._random.getrandbits(128), version=4)}>"
        named = (
            f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {record_id}\r\n"
            f"WARC-Date: {date}\r\n{fields}WARC-Block-Digest: sha1:{payload_digest(head, body)}\r\n"
            f"Content-Type: {content_type}\r\nContent-Length: {len(head) + len(body)}\r\n\r\n"
        )
        record = b"".join((named.encode(), head, body, b"\r\n\r\n"))
        member = (
            zlib.compress(record, 0, zlib.MAX_WBITS | 16)  # as it is
            if packed
            else isal_zlib.compress(record, _LEVEL, zlib.MAX_WBITS | 16)
        )
        return Location(self._warc.path.name, self._warc.append(member), len(member), record_id)

    def _relieve(self) -> None:
        """Write early what has become too much to hold; a full disk shows at the sync."""
        if self._warc.held_bytes > _HELD:
            with contextlib.suppress(OSError):
                self._warc.sync()


class _Growing:
    """A file that is appended to in memory, and on disk by whole appends."""

    def __init__(self, path: Path, committed: int | None = None) -> None:
        """Open a committed file and cut it; a new one (None) appears at its first sync."""
        self.path = path
        self.length = self._on_disk = committed or 0
        self.held_bytes = 0
        self._held: list[bytes] = []
        self._file = -1
        self._named = committed is not None
        if committed is not None:
            self._reopen(committed)

    def _reopen(self, committed: int) -> None:
        try:
            size = self.path.stat().st_size if self.path.exists() else 0
            if size < committed:
                raise StoreError(
                    f"{self.path} has {size} bytes, but {committed} were committed: "
                    "it was changed or cut by something else; restore it, or start anew "
                    "with another JOBDIR"
                )
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            os.ftruncate(self._file, committed)
        except OSError as error:
            reason = error.strerror or error
            raise StoreError(f"{self.path}: cannot be written: {reason}") from error

    def append(self, data: bytes) -> int:
        """Hold ``data`` and return the offset it will have."""
        offset = self.length
        self._held.append(data)
        self.held_bytes += len(data)
        self.length += len(data)
        return offset

    def sync(self) -> int:
        """Bring all that is held to disk and return the length of the file."""
        if not self._held:
            return self._on_disk
        try:
            self._write(b"".join(self._held))
        except OSError as error:
            if self._file >= 0:
                os.ftruncate(self._file, self._on_disk)
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        self._held.clear()
        self.held_bytes = 0
        self._on_disk = self.length
        return self._on_disk

    def _write(self, data: bytes) -> None:
        if self._file < 0:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        written = 0
        while written < len(data):
            written += os.pwrite(self._file, data[written:], self._on_disk + written)
        os.fsync(self._file)
        if not self._named:
            sync_directory(self.path.parent)
            self._named = True

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def payload_digest(*parts: bytes) -> str:
    """Return the SHA-1 of the parts in base32, as replay tools compare it."""
    state = sha1(usedforsecurity=False)
    for part in parts:
        state.update(part)
    return b32encode(state.digest()).decode()


def _target(exchange: Exchange) -> str:
    address = f"WARC-IP-Address: {exchange.ip}\r\n" if exchange.ip else ""
    return f"WARC-Target-URI: {one_line_uri(exchange.url)}\r\n{address}"


def _truncation(exchange: Exchange) -> str:
    """Spec: WARC 1.1 §5.13."""
    return "WARC-Truncated: disconnect\r\n" if exchange.interrupted else ""


def _payload_fields(digest: str, revisit_of: Revisited | None) -> str:
    """Spec: WARC 1.1 §6.7.2 (a left-out body is a truncation), §6.7.3 (304 has no payload)."""
    if revisit_of is None:
        return f"WARC-Payload-Digest: sha1:{digest}\r\n"
    if digest == "-":
        fields = f"WARC-Profile: {_REVISIT}server-not-modified\r\n"
    else:
        fields = (
            f"WARC-Profile: {_REVISIT}identical-payload-digest\r\nWARC-Truncated: length\r\n"
            f"WARC-Payload-Digest: sha1:{digest}\r\n"
        )
    if revisit_of.record_id:
        fields += f"WARC-Refers-To: {revisit_of.record_id}\r\n"
    return fields + (
        f"WARC-Refers-To-Target-URI: {one_line_uri(revisit_of.url)}\r\n"
        f"WARC-Refers-To-Date: {iso_utc(revisit_of.started_at)}\r\n"
    )


def _lines(fields: Iterable[tuple[str, str]]) -> bytes:
    rows = (f"{name}: {value}".encode("utf-8", "replace") for name, value in fields)
    return b"".join(row.translate(_ONE_LINE) + b"\r\n" for row in rows)


def _head(exchange: Exchange) -> bytes:
    """Return status line and headers, such that they fit the body as it is stored."""
    version = "HTTP/1.0" if exchange.version == "HTTP/1.0" else "HTTP/1.1"
    start = b"%s %03d %s" % (version.encode(), exchange.status, exchange.reason)
    headers = list(exchange.headers)
    framed = True
    for at, (name, value) in enumerate(exchange.headers):
        key = name.lower()
        if key in _CODINGS and not _fits(key, value, exchange):
            headers[at] = (b"X-Crawl-" + name, value)
            framed = framed and key == b"content-encoding"
    if not framed:
        headers.append((b"Content-Length", b"%d" % len(exchange.body)))
    return _message(start, headers)


def _message(start: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the head of an HTTP message; what would end a line early becomes a space."""
    lines = [b"%s: %s" % (name, value.strip()) for name, value in headers]
    return b"\r\n".join([line.translate(_ONE_LINE) for line in (start, *lines)]) + b"\r\n\r\n"


def _fits(key: bytes, value: bytes, exchange: Exchange) -> bool:
    """Whether a header that describes the body is true of the body as it is stored.

    One that is not keeps its value under another name, as Common Crawl has it: readers
    that believed it would take a body without chunks for chunks, or cut it.
    """
    if key == b"content-encoding":
        return exchange.content_encoded or not exchange.body
    if key == b"transfer-encoding":
        return False
    bodiless = exchange.status == HTTPStatus.NOT_MODIFIED or exchange.request.startswith(b"HEAD ")
    return (bodiless and not exchange.body) or value.strip() == b"%d" % len(exchange.body)


def _request(sent: bytes) -> tuple[bytes, bytes]:
    """Return head and body of a request; the head with CRLF at every line end."""
    start, headers, body = _split_head(sent)
    return _message(start, headers), body


def read_record(path: Path, offset: int, length: int, *, limit: int = MOST_READ) -> Record:
    """Read one record back.

    Args:
        path: The segment.
        offset: Of the record's gzip member, as its :class:`Location` has it.
        length: Of that member.
        limit: Most bytes that are read, and that they may unpack to.

    Raises:
        StoreError: There is no whole record at that place, or it exceeds the limit.
    """
    where = f"{path} at {offset}"
    check_place(where, offset, length, limit)
    try:
        packed = read_range(path, offset, length)
    except (OSError, ValueError) as error:
        raise StoreError(f"{where}: cannot be read: {error}") from error
    return unpack_record(packed, where, limit=limit)


def check_place(where: str, offset: int, length: int, limit: int) -> None:
    """Refuse a place where no record can be, before anything is read.

    Raises:
        StoreError: It begins before the file, is empty, or longer than the limit.
    """
    if offset < 0 or not 0 < length <= limit:
        raise StoreError(f"{where}: no record of {length} bytes; the limit is {limit}")


def read_range(path: Path, offset: int, length: int) -> bytes:
    """Return so many bytes of a file; fewer where it ends."""
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


def unpack_record(packed: bytes, where: str, *, limit: int = MOST_READ) -> Record:
    """Return the record that a gzip member holds.

    Args:
        packed: The member, whole.
        where: Names the place in errors.
        limit: Most bytes that it may unpack to.

    Raises:
        StoreError: It is no whole record, or exceeds the limit.
    """
    try:
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
        data = unpacker.decompress(packed, limit + 1)
    except zlib.error as error:
        raise StoreError(f"{where}: cannot be read: {error}") from error
    if not unpacker.eof or len(data) > limit:
        raise StoreError(f"{where}: cut short, or more than {limit} bytes")
    record = _parse(data)
    if record is None:
        raise StoreError(f"{where}: is no whole WARC record")
    return record


def _parse(data: bytes) -> Record | None:
    version, named, block = _split_head(data)
    fields = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in named}
    size = fields.get("content-length", "")
    if not version.startswith(b"WARC/1.") or not _is_size(size) or len(block) < int(size):
        return None
    block = block[: int(size)]
    kind = fields.get("warc-type", "")
    if not fields.get("content-type", "").startswith("application/http"):
        return Record(kind, fields, 0, (), block)
    start, headers, body = _split_head(block)
    status = _STATUS.match(start)
    return Record(kind, fields, int(status[1]) if status else 0, headers, body)


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 16  # noqa: PLR2004


def _split_head(data: bytes) -> tuple[bytes, list[tuple[bytes, bytes]], bytes]:
    """Return start line, headers and body of a message, whatever ends its lines."""
    blank = _BLANK_LINE.search(data)
    head, body = (data[: blank.start()], data[blank.end() :]) if blank else (data, b"")
    start, *lines = re.split(rb"\r?\n", head)
    pairs = (line.partition(b":")[::2] for line in lines)
    return start, [(name.strip(), value.strip()) for name, value in pairs], body
