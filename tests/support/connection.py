"""The server's side of one connection: reads requests, plays answers, writes the log.

Time stamps err in one known direction. ``t_start`` is read after the first byte arrived and
``t_end`` before the last write, so a gap seen here is never shorter than the true one: what
is too short here was too short. Two ends are stamped late, by the lag of the event loop
(well under a millisecond on an idle machine): a body larger than the socket's buffer, and a
request that the client abandoned.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
import traceback
from dataclasses import dataclass, replace
from typing import BinaryIO

from tests.support.exchange import Answer, Fault, Request, Site, plain

MAX_HEAD_BYTES = 65_536
ENDLESS_BYTES = 1 << 30  # even the endless end, so that a test cannot fill a machine
_TICK_S = 0.05  # between two pieces of a dripping body
_FOR_EVER = 1e6
_HANGS = (Fault.HANG, Fault.HANG_HEADERS, Fault.HANG_BODY)
_SILENT = (Fault.HANG, Fault.CLOSE, Fault.RESET)
_RESETS = (Fault.RESET, Fault.RESET_BODY)
_ENDLESS = (Fault.ENDLESS, Fault.ENDLESS_HEADERS)
_LOGGED = {
    "accept",
    "accept-encoding",
    "accept-language",
    "authorization",
    "cookie",
    "from",
    "if-modified-since",
    "if-none-match",
    "range",
    "referer",
}


@dataclass(slots=True)
class _Open:
    """A request that is being answered."""

    request: Request
    started_at: float
    keep_alive: bool
    ended_at: float = 0.0
    status: int = 0
    sent: int = 0
    ended: str = "done"


class Web:
    """What all connections share: the site, the counters, the log and the clock."""

    def __init__(self, site: Site, log: BinaryIO) -> None:
        self.site = site
        self.connections: set[Connection] = set()
        self.accepted = 0
        self.idle = asyncio.Event()
        self.idle.set()
        self._log = log
        self._counts: dict[tuple[str, str], int] = {}
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """Seconds since the epoch, never backwards; equal in every process of a machine."""
        return self._offset + time.monotonic()

    def count(self, host: str, path: str) -> int:
        """Return how often this was asked before, and count it."""
        seen = self._counts.get((host, path), 0)
        self._counts[host, path] = seen + 1
        return seen

    def answer(self, request: Request) -> Answer:
        """Ask the site; a site that raises is a 500 whose trace stands on stderr."""
        try:
            return self.site(request)
        except Exception:  # noqa: BLE001  (a fault of the test must not look like silence)
            traceback.print_exc()
            return plain("the test site itself failed\n", 500)

    def record(self, work: _Open, connection: int) -> None:
        """Append one line; unbuffered, so that it can be read while the server runs."""
        request = work.request
        line = {
            "host": request.host,
            "path": request.path,
            "method": request.method,
            "status": work.status,
            "t_start": work.started_at,
            "t_end": work.ended_at,
            "connection": connection,
            "sent": work.sent,
            "ended": work.ended,
            "user_agent": request.headers.get("user-agent", ""),
            "headers": {k: v for k, v in request.headers.items() if k in _LOGGED},
        }
        self._log.write(json.dumps(line).encode() + b"\n")


class Connection(asyncio.Protocol):
    """One client connection: reads requests one after another and plays the answers."""

    def __init__(self, web: Web, scheme: str) -> None:
        self._web = web
        self._scheme = scheme
        self._buffer = b""
        self._first_at = 0.0
        self._work: _Open | None = None
        self._task: asyncio.Task[None] | None = None
        self._drained = asyncio.Event()
        self._finish_when_drained = False
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=0)  # "drained" then means: handed over whole
        self._drained.set()
        self._web.accepted += 1
        self._number = self._web.accepted
        self._web.connections.add(self)
        self._web.idle.clear()

    def data_received(self, data: bytes) -> None:
        if not self._buffer:
            self._first_at = self._web.now()
        self._buffer += data
        if self._work is None:
            self._advance()

    def pause_writing(self) -> None:
        self._drained.clear()

    def resume_writing(self) -> None:
        self._drained.set()
        if self._finish_when_drained and self._work is not None:
            self._finish_when_drained = False
            self._work.ended_at = self._web.now()
            self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        self._web.connections.discard(self)
        if self._task is not None:
            self._task.cancel()
        if self._work is not None:
            work, self._work = self._work, None
            work.ended = "left" if work.ended == "done" else work.ended
            work.ended_at = self._web.now()
            self._web.record(work, self._number)
        if not self._web.connections:
            self._web.idle.set()

    def stop(self) -> None:
        """Break the connection, because the server stops."""
        if self._work is not None and self._work.ended == "done":
            self._work.ended = "stopped"
        self._transport.abort()

    def _advance(self) -> None:
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            if len(self._buffer) > MAX_HEAD_BYTES:
                self._transport.abort()
            return
        request, length, keep_alive = self._read_head(head)
        if len(rest) < length:
            return  # the body of a POST is still on its way
        self._buffer = rest[length:]
        request = replace(request, count=self._web.count(request.host, request.path))
        self._work = _Open(request, self._first_at, keep_alive)
        self._first_at = self._web.now()  # for what follows in the same segment
        self._play(self._work, self._web.answer(request))

    def _read_head(self, head: bytes) -> tuple[Request, int, bool]:
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, version, *_ = [*first.split(" "), "", "", ""]
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        host = headers.get("host", "").lower() or self._transport.get_extra_info("sockname")[0]
        wish = headers.get("connection", "").lower()
        keep_alive = wish != "close" if version != "HTTP/1.0" else wish == "keep-alive"
        length = headers.get("content-length", "0")
        size = min(int(length), MAX_HEAD_BYTES) if length.isdigit() else 0
        return Request(host, path, method, headers, 0, self._scheme), size, keep_alive

    def _play(self, work: _Open, answer: Answer) -> None:
        work.keep_alive = work.keep_alive and not (answer.close or answer.fault)
        if not answer.plain:
            self._task = asyncio.get_running_loop().create_task(self._play_slowly(work, answer))
            return
        head, body = self._render(work, answer)
        work.sent, work.ended_at = len(head) + len(body), self._web.now()
        self._transport.write(head + body)
        if self._transport.get_write_buffer_size():
            self._finish_when_drained = True
        else:
            self._finish()

    def _render(self, work: _Open, answer: Answer) -> tuple[bytes, bytes]:
        work.status = answer.status
        accepts = "gzip" in work.request.headers.get("accept-encoding", "")
        head, body = answer.render(accepts_gzip=accepts, keep_alive=work.keep_alive)
        return head, b"" if work.request.method == "HEAD" else body

    def _finish(self) -> None:
        work, self._work = self._work, None
        if work is None:
            return
        self._web.record(work, self._number)
        if not work.keep_alive:
            self._transport.close()
        elif self._buffer:
            self._advance()

    async def _play_slowly(self, work: _Open, answer: Answer) -> None:
        await asyncio.sleep(answer.delay_s)
        work.ended = answer.fault.value if answer.fault else work.ended
        work.ended_at = self._web.now()
        await self._perform(work, answer)
        if answer.fault in _HANGS:
            await asyncio.sleep(answer.hang_s or _FOR_EVER)  # cancelled when the client leaves
            work.ended_at = self._web.now()
        self._task = None
        if answer.fault in _RESETS:
            self._reset()
        self._finish()

    async def _perform(self, work: _Open, answer: Answer) -> None:
        """Write what the client gets to see before the end."""
        if answer.raw is not None:
            work.status, work.keep_alive = _status_of(answer.raw), False
            await self._write(work, answer.raw, answer.drip)
        elif answer.fault in _ENDLESS:
            await self._write_endlessly(work, answer)
        elif answer.fault not in _SILENT:
            head, body = self._render(work, answer)
            if answer.fault is not None:
                body = b"" if answer.fault is Fault.HANG_HEADERS else body[: len(body) // 2]
            if answer.drip:
                await self._write(work, head)
                await self._write(work, body, answer.drip)
            else:
                await self._write(work, head + body)

    async def _write_endlessly(self, work: _Open, answer: Answer) -> None:
        head, body = self._render(work, answer)
        if answer.fault is Fault.ENDLESS_HEADERS:
            head, body = head[:-2], b"X-Filler: " + b"x" * 100 + b"\r\n"
        await self._write(work, head)
        piece = (body or b"endless ") * (1 + 65_536 // (len(body) or 8))
        while work.sent < ENDLESS_BYTES:
            await self._write(work, piece, answer.drip)

    async def _write(self, work: _Open, data: bytes, rate: float = 0.0) -> None:
        """Send ``data`` at ``rate`` bytes per second; at once when it is 0."""
        size = max(1, int(rate * _TICK_S)) if rate else max(1, len(data))
        for at in range(0, len(data), size):
            if at:
                await asyncio.sleep(size / rate)
            piece = data[at : at + size]
            work.sent, work.ended_at = work.sent + len(piece), self._web.now()
            self._transport.write(piece)
            if self._transport.get_write_buffer_size():
                await self._drained.wait()
                work.ended_at = self._web.now()

    def _reset(self) -> None:
        raw = self._transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        work, self._work = self._work, None
        if work is not None:
            self._web.record(work, self._number)
        self._transport.abort()


def _status_of(raw: bytes) -> int:
    parts = raw[:64].split(None, 2)
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else 0
