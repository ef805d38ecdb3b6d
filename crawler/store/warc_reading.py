"""Reading of single records of an archive, wherever their bytes come from."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.errors import StoreError
from crawler.store.http_message import split_head

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MOST_READ = 64 << 20
"""Bytes of a record that are read, packed or unpacked, unless asked otherwise."""
_STATUS = re.compile(rb"HTTP/\S+ +(\d{3,9})(?: (.*))?")


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
    version, named, block = split_head(data)
    fields = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in named}
    size = fields.get("content-length", "")
    if not version.startswith(b"WARC/1.") or not _is_size(size) or len(block) < int(size):
        return None
    block = block[: int(size)]
    kind = fields.get("warc-type", "")
    if not fields.get("content-type", "").startswith("application/http"):
        return Record(kind, fields, 0, (), block)
    start, headers, body = split_head(block)
    status = _STATUS.match(start)
    return Record(kind, fields, int(status[1]) if status else 0, headers, body)


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 16  # noqa: PLR2004
