"""HTTP messages as the archive has them: heads that fit the bodies they stand before."""

from __future__ import annotations

import re
from base64 import b32encode
from dataclasses import dataclass
from hashlib import sha1
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ONE_LINE = bytes.maketrans(b"\r\n\0", b"   ")
"""Translates what would end a line early to spaces."""
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
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


def payload_digest(*parts: bytes) -> str:
    """Return the SHA-1 of the parts in base32, as replay tools compare it."""
    state = sha1(usedforsecurity=False)
    for part in parts:
        state.update(part)
    return b32encode(state.digest()).decode()


def response_head(exchange: Exchange) -> bytes:
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
    return b"\r\n".join([line.translate(ONE_LINE) for line in (start, *lines)]) + b"\r\n\r\n"


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


def request_parts(sent: bytes) -> tuple[bytes, bytes]:
    """Return head and body of a request; the head with CRLF at every line end."""
    start, headers, body = split_head(sent)
    return _message(start, headers), body


def split_head(data: bytes) -> tuple[bytes, list[tuple[bytes, bytes]], bytes]:
    """Return start line, headers and body of a message, whatever ends its lines."""
    blank = _BLANK_LINE.search(data)
    head, body = (data[: blank.start()], data[blank.end() :]) if blank else (data, b"")
    start, *lines = re.split(rb"\r?\n", head)
    pairs = (line.partition(b":")[::2] for line in lines)
    return start, [(name.strip(), value.strip()) for name, value in pairs], body
