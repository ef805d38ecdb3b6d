"""The archive: every answer as it was received, in WARC 1.1 segments that survive a crash.

A directory holds ``NAME-00000.warc.gz``, ``NAME-00001.warc.gz`` and so on, each with its
index ``NAME-00000.cdxj`` beside it. Each record is a gzip member of its own, so that one is
read without the others. A body that came packed is not packed again.

Spec: WARC 1.1 (ISO 28500:2017), §5 named fields, §6 record types, annex D on gzip members.
"""

from __future__ import annotations

import contextlib
import re
import zlib
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from isal import isal_zlib

from crawler.clock import iso_utc
from crawler.errors import StoreError
from crawler.store.cdxj import Capture, index_line, mime_of, one_line_uri
from crawler.store.growing import Growing
from crawler.store.http_message import (
    ONE_LINE,
    Exchange,
    payload_digest,
    request_parts,
    response_head,
)
from crawler.store.lock import sync_directory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from random import Random

_LEVEL = 2  # ISA-L: a fifth of the time of zlib's level 1, and smaller
_HELD = 8 << 20  # bytes of records that wait in memory before they go to disk early
_RESPONSE = "application/http;msgtype=response"
_REQUEST = "application/http;msgtype=request"
_FIELDS = "application/warc-fields"
_REVISIT = "http://netpreserve.org/warc/1.1/revisit/"


class Location(NamedTuple):
    """Where a record lies, and what it is called."""

    file: str  # name within the directory
    offset: int
    length: int  # of the gzip member, bytes
    record_id: str  # "<urn:uuid:...>"
    digest: str = "-"  # of the payload, as payload_digest() has it


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
        self._sealed: list[Growing] = []  # full, but not yet on disk
        self._number = self._newest(committed)
        try:
            self._remove_later()
        except OSError as error:
            raise StoreError(f"{directory}: {error.strerror or error}") from error
        self._warc, self._index = (
            Growing(path, committed.get(path.name)) for path in self._paths()
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
            response_head(exchange),
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
            self._append("request", date, target, _REQUEST, *request_parts(exchange.request))
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
            self._warc, self._index = map(Growing, self._paths())
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
    return b"".join(row.translate(ONE_LINE) + b"\r\n" for row in rows)
