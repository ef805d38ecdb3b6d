"""Content codings undone in bounded memory: gzip, deflate, br, zstd, and chains of them."""

from __future__ import annotations

import sys
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

import brotli

if TYPE_CHECKING:
    from collections.abc import Callable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_CHUNK = 1 << 20
_NO_LIMIT = 1 << 40
_MAX_CODINGS = 3
_MAX_MEMBERS = 1000


class CodingError(Exception):
    """The body is not what its Content-Encoding says."""


class TooLargeError(Exception):
    """The body grows beyond the limit."""


def decode(body: bytes, header: bytes, *, limit: int) -> bytes:
    """Undo the codings named by a Content-Encoding header, last one first.

    A body that does not begin like its coding is returned as it is: servers that name a
    coding and do not apply it are common. Unknown codings are left alone, too: what follows
    sees bytes that are no text. An empty list of codings changes nothing.

    Args:
        body: As received.
        header: Value of Content-Encoding; several are separated by commas.
        limit: Most bytes after each step; 0 = no limit.

    Raises:
        CodingError: The body begins like its coding, and is corrupt or cut short.
        TooLargeError: It grows beyond ``limit``.

    Spec: RFC 9110 §8.4.1, RFC 1952 (gzip), RFC 1950 (deflate), RFC 7932 (br), RFC 8878 (zstd).
    """
    names = [name.strip().lower() for name in header.split(b",") if name.strip()]
    if len(names) > _MAX_CODINGS:
        raise CodingError(f"{len(names)} content codings, at most {_MAX_CODINGS} are undone")
    for name in reversed(names):
        undo = _CODINGS.get(name)
        if undo is not None:
            body = undo(body, limit or _NO_LIMIT)
    return body


def _gunzip(body: bytes, limit: int) -> bytes:
    """Undo gzip; several members follow each other, trailing garbage is ignored."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    parts: list[bytes] = []
    rest = body
    while rest.startswith(b"\x1f\x8b") and len(parts) < _MAX_MEMBERS:
        part, rest = _inflate(rest, 31, limit)
        limit -= len(part)
        parts.append(part)
    return b"".join(parts)


def _deflate(body: bytes, limit: int) -> bytes:
    """Undo deflate: zlib as the RFC says, or raw as some servers send it."""
    try:
        return _inflate(body, 15, limit)[0]
    except CodingError:
        return _inflate(body, -15, limit)[0]


def _inflate(body: bytes, window: int, limit: int) -> tuple[bytes, bytes]:
    engine = zlib.decompressobj(window)
    try:
        out = engine.decompress(body, limit + 1)
    except zlib.error as error:
        raise CodingError(f"corrupt: {error}") from error
    if len(out) > limit:
        raise TooLargeError(f"unpacks to more than {limit} bytes")
    if not engine.eof:
        raise CodingError("cut short")
    return out, engine.unused_data


def _unbrotli(body: bytes, limit: int) -> bytes:
    engine = brotli.Decompressor()
    parts: list[bytes] = []
    size, data = 0, body
    while not engine.is_finished():
        try:
            part = engine.process(data, output_buffer_limit=_CHUNK)
        except brotli.error as error:
            raise CodingError(f"corrupt: {error}") from error
        parts.append(part)
        size += len(part)
        if size > limit:
            raise TooLargeError(f"unpacks to more than {limit} bytes")
        if not part and engine.can_accept_more_data():
            raise CodingError("cut short")
        data = b""
    return b"".join(parts)


def _unzstd(body: bytes, limit: int) -> bytes:
    if not body.startswith(b"\x28\xb5\x2f\xfd"):
        return body
    try:
        with zstd.ZstdFile(BytesIO(body)) as file:
            out = file.read(limit + 1)
    except (zstd.ZstdError, EOFError) as error:
        raise CodingError(f"corrupt or cut short: {error}") from error
    if len(out) > limit:
        raise TooLargeError(f"unpacks to more than {limit} bytes")
    return out


_CODINGS: dict[bytes, Callable[[bytes, int], bytes]] = {
    b"gzip": _gunzip,
    b"x-gzip": _gunzip,
    b"deflate": _deflate,
    b"br": _unbrotli,
    b"zstd": _unzstd,
}
