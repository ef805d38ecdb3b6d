"""Hosts that do a crawler harm by time, by size and by what their bytes cost to read."""

from __future__ import annotations

import gzip
from functools import lru_cache
from typing import TYPE_CHECKING

from tests.support.exchange import Answer, Fault, Request, chunks, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MIB = 2**20
_MORE = 1_000  # pages that each host seems to have


def hostile_site(**options: list[str]) -> HostileSite:
    """Build a :class:`HostileSite`."""
    return HostileSite(**options)


class HostileSite:
    """Each host has one way of its own to answer; its home page links hundreds of pages like it.

    Args:
        hosts: Their names; the ways are dealt out in turn.
        ways: Names of :data:`WAYS`; all by default.
    """

    def __init__(self, *, hosts: list[str], ways: list[str] | None = None) -> None:
        names = ways or list(WAYS)
        self._ways = {host: names[n % len(names)] for n, host in enumerate(hosts)}

    def __call__(self, request: Request) -> Answer:
        """Answer in the host's way; robots.txt and home page are harmless, but for one way."""
        way = self._ways[request.name]
        if request.path == "/robots.txt" and way != "hang":
            return plain("User-agent: *\nDisallow:\n")
        if request.path == "/":
            return Answer(body=_home())
        return WAYS[way]()


@lru_cache
def _home() -> bytes:
    return "".join(f"<p>page <a href=/{n}>{n}</a>" for n in range(_MORE)).encode()


@lru_cache
def _drip() -> Answer:
    return Answer(body=b"<p>slow" * 10_000, drip=100)


@lru_cache
def _drip_of_bytes() -> Answer:
    """Send a chunk of one byte at a time, as fast as it goes."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    return Answer(raw=head + chunks(b"<p>x" * (_MIB // 4), 1))


@lru_cache
def _bomb() -> Answer:
    body = gzip.compress(b" " * (64 * _MIB), 9, mtime=0)
    return Answer(body=body, headers={"Content-Encoding": "gzip"})


@lru_cache
def _huge() -> Answer:
    return Answer(body=b"<p>text</p>" * (20 * _MIB // 11), chunked=True)


@lru_cache
def _costly() -> Answer:
    """Return a page that costs much for its size."""
    return Answer(body=b"".join(b'<a href="/x%d">x</a>' % n for n in range(200_000)))


WAYS: Mapping[str, Callable[[], Answer]] = {
    "hang": lambda: Answer(fault=Fault.HANG),
    "hang in the body": lambda: Answer(body=b"<p>text" * 99, fault=Fault.HANG_BODY),
    "drip": _drip,
    "chunks of a byte": _drip_of_bytes,
    "endless": lambda: Answer(fault=Fault.ENDLESS),
    "endless head": lambda: Answer(fault=Fault.ENDLESS_HEADERS),
    "huge": _huge,
    "bomb": _bomb,
    "costly": _costly,
}
