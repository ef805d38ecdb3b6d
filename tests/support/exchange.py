"""What a local site is asked and what it answers: requests, answers and log entries.

A *site* is any callable ``site(request) -> Answer``. It is synchronous, reads no clock and
may keep state; the server plays the answer onto the wire byte by byte.
"""

from __future__ import annotations

import gzip
import http
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Fault(Enum):
    """How a server misbehaves. Each ends the connection, except where the client must."""

    HANG = "hang"  # the request is read and nothing is ever sent
    HANG_HEADERS = "hang_headers"  # headers are sent whole, then silence
    HANG_BODY = "hang_body"  # headers and half of the body, then silence
    CLOSE = "close"  # FIN before any byte of an answer
    RESET = "reset"  # RST before any byte of an answer
    RESET_BODY = "reset_body"  # headers and half of the body, then RST
    TRUNCATE = "truncate"  # full Content-Length (or chunks), half of the body, then FIN
    ENDLESS = "endless"  # the body is repeated for as long as the client reads
    ENDLESS_HEADERS = "endless_headers"  # header lines for as long as the client reads


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server read it.

    Attributes:
        host: The Host header in lower case, port included; the local address without one.
        path: The request target as sent: path and query.
        headers: Names in lower case; the last of repeated headers.
        count: How often this host and path were asked before; 0 for the first time.
        scheme: ``http`` or ``https``.
    """

    host: str
    path: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    count: int = 0
    scheme: str = "http"

    @property
    def name(self) -> str:
        """Host name without the port."""
        return self.host.rpartition(":")[0] if ":" in self.host else self.host

    @property
    def port(self) -> str:
        """``:port`` as it stands in the Host header, or nothing."""
        return ":" + self.host.rpartition(":")[2] if ":" in self.host else ""


@dataclass(slots=True)
class Answer:
    """What to send back, and how. Not changed once returned: its bytes are kept.

    Attributes:
        headers: Added to the ones the server makes; a mapping, or pairs to repeat a name.
        content_type: The Content-Type sent; empty for none.
        delay_s: Seconds of silence before the first byte.
        drip: Bytes per second of the body; 0 sends it at once.
        gzip: Compress when the client accepts it.
        chunked: Transfer-Encoding: chunked instead of Content-Length.
        length: A Content-Length to claim instead of the true one.
        close: Close the connection after the answer.
        hang_s: Seconds after which a hanging fault closes by itself; 0 for never.
        raw: The exact bytes of the whole answer, then close; everything else but
            ``delay_s`` and ``drip`` is ignored.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = ()
    content_type: str = "text/html; charset=utf-8"
    delay_s: float = 0.0
    drip: float = 0.0
    gzip: bool = False
    chunked: bool = False
    length: int | None = None
    close: bool = False
    fault: Fault | None = None
    hang_s: float = 0.0
    raw: bytes | None = None
    _packed: bytes | None = field(default=None, repr=False, compare=False)

    @property
    def plain(self) -> bool:
        """Whether one write says it all."""
        return not (self.delay_s or self.drip or self.fault or self.raw is not None)

    def render(self, *, accepts_gzip: bool = False, keep_alive: bool = True) -> tuple[bytes, bytes]:
        """Return the head, with its empty line, and the body as they go onto the wire."""
        lines = [f"HTTP/1.1 {self.status} {_PHRASES.get(self.status, 'Unknown')}"]
        pairs = self.headers.items() if isinstance(self.headers, Mapping) else self.headers
        lines += [f"{name}: {value}" for name, value in pairs]
        if self.content_type:
            lines.append(f"Content-Type: {self.content_type}")
        body = self.body
        if self.gzip:
            lines.append("Vary: Accept-Encoding")
            if accepts_gzip:
                body = self._pack()
                lines.append("Content-Encoding: gzip")
        lines += self._framing(body)
        if not keep_alive or self.close or self.fault is not None:
            lines.append("Connection: close")
        head = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n"
        return head, chunks(body) if self.chunked else body

    def _framing(self, body: bytes) -> list[str]:
        if self.fault is Fault.ENDLESS or self.status in (204, 304):
            return []
        if self.chunked:
            return ["Transfer-Encoding: chunked"]
        return [f"Content-Length: {len(body) if self.length is None else self.length}"]

    def _pack(self) -> bytes:
        if self._packed is None:
            self._packed = gzip.compress(self.body, compresslevel=1, mtime=0)
        return self._packed


_PHRASES = {status.value: status.phrase for status in http.HTTPStatus}

Site = Callable[[Request], Answer]


@dataclass(frozen=True, slots=True)
class Hit:
    """One line of the server's request log.

    Attributes:
        host: The host asked for, ``host[:port]``: the key of politeness.
        t_start: Seconds since the epoch when the first byte of the request was seen.
        t_end: Seconds since the epoch when the last byte was handed to the system, or
            when the connection broke.
        connection: Number of the connection, unique within the server's life.
        status: The status sent; 0 when no status line left the server.
        sent: Bytes handed to the system for this answer, head included.
        ended: ``done``; ``left`` (the client went away first); ``stopped`` (the server
            was stopped meanwhile); or the name of the fault that was played.
        headers: A subset of the request's headers, names in lower case.
    """

    host: str
    path: str
    method: str
    status: int
    t_start: float
    t_end: float
    connection: int
    sent: int
    ended: str
    user_agent: str
    headers: dict[str, str]

    @property
    def route(self) -> str:
        """The path without its query."""
        return self.path.partition("?")[0]


def chunks(body: bytes, size: int = 4096) -> bytes:
    """Frame a body as HTTP/1.1 chunks of at most ``size`` bytes, with the last chunk."""
    parts = []
    for at in range(0, len(body), size):
        piece = body[at : at + size]
        parts += [b"%x\r\n" % len(piece), piece, b"\r\n"]
    return b"".join([*parts, b"0\r\n\r\n"])


def in_turn(request: Request, *answers: Answer) -> Answer:
    """Return the answer whose turn it is for this path; the last one repeats."""
    return answers[min(request.count, len(answers) - 1)]


def redirect(location: str, status: int = 301) -> Answer:
    """Answer with a redirect to ``location``, absolute or relative."""
    return Answer(status, b"moved\n", {"Location": location}, content_type="text/plain")


def plain(text: str, status: int = 200, **more: Any) -> Answer:
    """Answer with text/plain; ``more`` are fields of :class:`Answer`."""
    return Answer(status, text.encode(), content_type="text/plain; charset=utf-8", **more)


def not_found() -> Answer:
    """Answer 404 with a short page."""
    return Answer(404, b"<title>Not found</title><p>There is nothing here.</p>")
