"""Content codings undone in bounded memory: gzip, deflate, br, zstd, and chains of them."""

from __future__ import annotations

import re
import sys
import zlib
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
_MAX_MEMBERS = 100  # each costs a copy of what follows it
_PAGES = frozenset({b"text/html", b"application/xhtml+xml"})
_HEAD = 256  # bytes that are looked at to tell text from what is packed
_LEAST_TEXT = 16  # bytes: fewer that happen to be UTF-8 prove nothing
_NO_TEXT = bytes({*range(0x20)} - {0x09, 0x0A, 0x0C, 0x0D})
_BOM = b"\xef\xbb\xbf"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPED = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18(....)", re.DOTALL)  # RFC 8878 §3.1.2
_MAX_WINDOW = 23  # binary logarithm: 8 MiB, as RFC 9659 has it for Content-Encoding


class CodingError(Exception):
    """The body is not what its Content-Encoding says."""

    so_far = b""


class CutShortError(CodingError):
    """The body ends too early; ``so_far`` is what could be undone, if that is the original."""

    def __init__(self, so_far: bytes) -> None:
        super().__init__("cut short")
        self.so_far = so_far


class TooLargeError(Exception):
    """The body grows beyond the limit; ``so_far`` is what fits, if that is the original."""

    def __init__(self, message: str, so_far: bytes = b"") -> None:
        super().__init__(message)
        self.so_far = so_far


def decode(body: bytes, header: bytes, *, limit: int) -> bytes:
    """Undo the codings named by a Content-Encoding header, last one first.

    Servers that name a coding and do not apply it, or apply another one, are common: a body
    without the magic of gzip or zstd is returned as it is, and so is plain text under the
    name of deflate or br, which have no magic; what begins like gzip or zstd is undone as such
    under any of these names. Unknown codings are left alone: what follows sees bytes that are
    no text. An empty body is empty in every coding.

    Args:
        body: As received.
        header: Value of Content-Encoding; several are separated by commas.
        limit: Most bytes after each step; 0 = no limit.

    Raises:
        CutShortError: The body begins like its coding, and ends too early.
        CodingError: The body begins like its coding, and is corrupt.
        TooLargeError: It grows beyond ``limit``.

    Spec: RFC 9110 §8.4.1, RFC 1952 (gzip), RFC 1950 (deflate), RFC 7932 (br), RFC 8878 and
    RFC 9659 (zstd).
    """
    names = [name.strip().lower() for name in header.split(b",") if name.strip()]
    if len(names) > _MAX_CODINGS:
        raise CodingError(f"{len(names)} content codings, at most {_MAX_CODINGS} are undone")
    for left, name in sorted(enumerate(names), reverse=True):
        undo = _CODINGS.get(name)
        if undo is not None and body:
            try:
                body = (_known_by_magic(body) or undo)(body, limit or _NO_LIMIT)
            except CutShortError as error:
                raise CutShortError(b"" if left else error.so_far) from error
            except TooLargeError as error:
                raise TooLargeError(str(error), b"" if left else error.so_far) from error
    return body


def decode_page(body: bytes, codings: bytes, content_type: bytes, *, limit: int) -> bytes:
    """Undo the codings that are named, and one with a magic that is not where the type says page.

    Proxies pack what is packed, and servers pack and do not say so; no archive is meant.

    Args:
        body: As received.
        codings: Value of Content-Encoding.
        content_type: Value of Content-Type.
        limit: As for `decode`, which also says what is raised.
    """
    body = decode(body, codings, limit=limit)
    if is_packed(body) and content_type.partition(b";")[0].strip().lower() in _PAGES:
        return decode(body, b"gzip", limit=limit)
    return body


def is_packed(body: bytes) -> bool:
    """Whether a body begins like gzip or zstd (RFC 1952 §2.3.1, RFC 8878 §3.1)."""
    return _known_by_magic(body) is not None


def _known_by_magic(body: bytes) -> Callable[[bytes, int], bytes] | None:
    if body.startswith(b"\x1f\x8b\x08"):
        return _gunzip
    if body.startswith(_ZSTD_MAGIC) or _ZSTD_SKIPPED.match(body):
        return _unzstd
    return None


def _is_markup(body: bytes) -> bool:
    """Whether a body is plain markup: nothing that is packed begins so and has text alone."""
    head = body[:_HEAD].removeprefix(_BOM).lstrip()
    return head.startswith(b"<") and _has_no_control(head)


def _is_text(body: bytes) -> bool:
    """Whether a body that does not decode is plain UTF-8 text under a name that is not its own."""
    head = body[:_HEAD]
    if len(head) < _LEAST_TEXT or not _has_no_control(head):
        return False
    text = head.decode("utf-8", "ignore")  # a character may be cut in two at the end
    return len(head) - len(text.encode()) < 4  # noqa: PLR2004 -- bytes of a character


def _has_no_control(head: bytes) -> bool:
    return len(head) == len(head.translate(None, _NO_TEXT))


def _gunzip(body: bytes, limit: int) -> bytes:
    """Undo gzip; several members follow each other, trailing garbage is ignored."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    parts: list[bytes] = []
    rest = body
    while rest.startswith(b"\x1f\x8b"):
        if len(parts) == _MAX_MEMBERS:
            raise CodingError(f"more than {_MAX_MEMBERS} gzip members")
        try:
            part, rest = _inflate(rest, 31, limit)
        except CutShortError as error:
            raise CutShortError(b"".join([*parts, error.so_far])) from error
        except TooLargeError as error:
            raise TooLargeError(str(error), b"".join([*parts, error.so_far])) from error
        limit -= len(part)
        parts.append(part)
    return b"".join(parts)


def _deflate(body: bytes, limit: int) -> bytes:
    """Undo deflate: zlib as the RFC says, or raw as some servers send it."""
    try:
        return _inflate(body, 15, limit)[0]
    except CutShortError:
        raise
    except CodingError:
        return _inflate(body, -15, limit)[0]


def _inflate(body: bytes, window: int, limit: int) -> tuple[bytes, bytes]:
    engine = zlib.decompressobj(window)
    try:
        out = engine.decompress(body, limit + 1)
    except zlib.error as error:
        raise CodingError(f"corrupt: {error}") from error
    if len(out) > limit:
        raise TooLargeError(f"unpacks to more than {limit} bytes", out[:limit])
    if not engine.eof:
        raise CutShortError(out)
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
            so_far = b"".join(parts)[:limit]
            raise TooLargeError(f"unpacks to more than {limit} bytes", so_far)
        if not part and engine.can_accept_more_data() and not engine.is_finished():
            raise CutShortError(b"".join(parts))
        data = b""
    return b"".join(parts)


def _unless_text(undo: Callable[[bytes, int], bytes]) -> Callable[[bytes, int], bytes]:
    """Let a coding without a magic leave alone what is plain text."""

    def undone(body: bytes, limit: int) -> bytes:
        if _is_markup(body):
            return body
        try:
            return undo(body, limit)
        except CodingError:
            if _is_text(body):
                return body
            raise

    return undone


def _unzstd(body: bytes, limit: int) -> bytes:
    """Undo zstd; several frames follow each other, trailing garbage is ignored."""
    parts: list[bytes] = []
    rest = _without_skipped(body)
    while rest.startswith(_ZSTD_MAGIC):
        if len(parts) == _MAX_MEMBERS:
            raise CodingError(f"more than {_MAX_MEMBERS} zstd frames")
        engine = zstd.ZstdDecompressor(options=_ZSTD)
        try:
            part = engine.decompress(rest, limit + 1)
        except zstd.ZstdError as error:
            raise CodingError(f"corrupt: {error}") from error
        limit -= len(part)
        parts.append(part)
        if limit < 0:
            raise TooLargeError("unpacks to more than the limit", b"".join(parts)[:limit])
        if not engine.eof:
            raise CutShortError(b"".join(parts))
        rest = _without_skipped(engine.unused_data)
    return b"".join(parts) if parts else body


def _without_skipped(rest: bytes) -> bytes:
    """Drop the skippable frames in front, in which tools keep notes of their own."""
    at = 0
    while found := _ZSTD_SKIPPED.match(rest, at):
        at = found.end() + int.from_bytes(found[1], "little")
    return rest[at:]


_ZSTD = {int(zstd.DecompressionParameter.window_log_max): _MAX_WINDOW}
_CODINGS: dict[bytes, Callable[[bytes, int], bytes]] = {
    b"gzip": _gunzip,
    b"x-gzip": _gunzip,
    b"deflate": _unless_text(_deflate),
    b"br": _unless_text(_unbrotli),
    b"zstd": _unzstd,
}
