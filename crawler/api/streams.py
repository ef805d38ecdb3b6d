"""Large answers in bounded memory: lists as JSON lines, bodies piece by piece."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson
from fastapi import Response

from crawler.api.documents import page_entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.types import Receive, Scope, Send

    from crawler.store.pages import Found, PageQuery, PageReader

ROWS_AT_ONCE = 200
_PIECE = 256 << 10  # bytes


def page_lines(
    catalog: PageReader, query: PageQuery, first: Found, most: int | None
) -> Iterator[bytes]:
    """Yield the pages of a query as JSON lines, some hundred at a time.

    Args:
        catalog: Where further answers come from.
        query: What ``first`` answers.
        first: The first answer.
        most: Lines in all; None for no limit. ``first`` has no more than that.
    """
    found, sent = first, 0
    while found.rows:
        yield b"".join(
            orjson.dumps(page_entry(row), option=orjson.OPT_APPEND_NEWLINE) for row in found.rows
        )
        sent += len(found.rows)
        at_once = ROWS_AT_ONCE if most is None else min(ROWS_AT_ONCE, most - sent)
        if found.cursor is None or at_once <= 0:
            return
        found = catalog.pages(replace(query, limit=at_once, cursor=found.cursor))


class Flow:
    """How many bytes of bodies are on their way to clients. Safe in threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Count ``size`` bytes in, unless that would be too many; one body alone always goes."""
        with self._lock:
            if self._bytes and self._bytes + size > self._most:
                return False
            self._bytes += size
            return True

    def give_back(self, size: int) -> None:
        """Count bytes out that were taken."""
        with self._lock:
            self._bytes -= size


class BodyResponse(Response):
    """Sends a body in pieces, as fast as the client takes them, and gives its bytes back."""

    def __init__(self, content: bytes, headers: Mapping[str, str], flow: Flow) -> None:
        self._content = memoryview(content)
        self._flow = flow
        super().__init__(headers={**headers, "Content-Length": str(len(content))})

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send the answer."""
        kind = "http.response.body"
        try:
            await send(
                {
                    "type": "http.response.start",
                    "status": self.status_code,
                    "headers": self.raw_headers,
                }
            )
            for at in range(0, len(self._content), _PIECE):
                piece = bytes(self._content[at : at + _PIECE])
                await send({"type": kind, "body": piece, "more_body": True})
            await send({"type": kind, "body": b"", "more_body": False})
        finally:
            self._flow.give_back(len(self._content))
