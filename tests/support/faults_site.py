"""A catalogue of faults: one path for each thing that goes wrong with pages on the web."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from tests.support.exchange import (
    Answer,
    Fault,
    Request,
    chunks,
    in_turn,
    not_found,
    plain,
    redirect,
)
from tests.support.prose import Prose, anchors, document, paragraphs

_MIB = 1 << 20


def faults_site(**options: Any) -> FaultsSite:
    """Build a :class:`FaultsSite`."""
    return FaultsSite(**options)


class FaultsSite:
    """A home page that links every fault, and ``/good/1`` to ``/good/4``, which have none.

    ``CATALOGUE`` says what each path does; ``only`` picks some of them for the home page.

    Args:
        only: The paths that home links; all by default.
        retry_after_s: The Retry-After of ``/503-then-ok`` and ``/429-then-ok``.
        oversize_bytes: Size of ``/oversize``.
        bomb_bytes: Unpacked size of ``/gzip-bomb``.
        slow_s: Seconds before ``/slow`` answers.
        private: URL that ``/to-private-address`` redirects to.
    """

    good = tuple(f"/good/{n}" for n in range(1, 5))

    def __init__(
        self,
        *,
        only: list[str] | None = None,
        retry_after_s: int = 1,
        oversize_bytes: int = 12 * _MIB,
        bomb_bytes: int = 64 * _MIB,
        slow_s: float = 0.5,
        private: str = "http://10.255.255.1/",
        seed: int = 0,
    ) -> None:
        self.linked = list(CATALOGUE) if only is None else list(only)
        self.retry_after = {"Retry-After": str(retry_after_s)}
        self.oversize_bytes = oversize_bytes
        self.bomb_bytes = bomb_bytes
        self.slow_s = slow_s
        self.private = private
        self._seed = seed

    def __call__(self, request: Request) -> Answer:
        """Serve one page, or one fault."""
        path = request.path.partition("?")[0]
        if path == "/robots.txt":
            return plain("User-agent: *\nDisallow: /private/\n")
        if path == "/":
            return Answer(body=self.page(request, [*self.good, *self.linked]))
        if path in self.good or path.startswith("/private/"):
            return Answer(body=self.page(request, ["/"]))
        if path.startswith("/hops/"):
            return self._hop(request, path)
        make = CATALOGUE.get(path)
        return make(self, request) if make else not_found()

    def page(self, request: Request, links: list[str]) -> bytes:
        """Return a good page with text of its own."""
        prose = Prose(f"{self._seed} {request.name} {request.path}")
        return document(prose.title(), paragraphs(prose, 3, 50), links=anchors(links))

    def _hop(self, request: Request, path: str) -> Answer:
        """Serve ``/hops/N``: N redirects before a page."""
        left = int(path.removeprefix("/hops/") or "0")
        good = Answer(body=self.page(request, ["/"]))
        return redirect(f"/hops/{left - 1}", 302) if left > 0 else good


_Make = Callable[[FaultsSite, Request], Answer]


def _page(site: FaultsSite, request: Request, **more: Any) -> Answer:
    return Answer(body=site.page(request, ["/"]), **more)


def _status(status: int) -> _Make:
    return lambda site, request: _page(site, request, status=status)


def _fault(fault: Fault) -> _Make:
    return lambda site, request: _page(site, request, fault=fault)


def _then_ok(status: int, times: int = 2) -> _Make:
    """Answer ``status`` with Retry-After this often, then a page."""

    def make(site: FaultsSite, request: Request) -> Answer:
        bad = _page(site, request, status=status, headers=site.retry_after)
        return in_turn(request, *[bad] * times, _page(site, request))

    return make


def _always(status: int) -> _Make:
    return lambda site, request: _page(site, request, status=status, headers=site.retry_after)


def _to(location: str, status: int = 301) -> _Make:
    return lambda _site, _request: redirect(location, status)


def _of_type(content_type: str, body: bytes | None = None) -> _Make:
    def make(site: FaultsSite, request: Request) -> Answer:
        return Answer(body=body or site.page(request, ["/"]), content_type=content_type)

    return make


def _encoded(encoding: str, pack: Callable[[bytes], bytes]) -> _Make:
    """Answer with a body that ``pack`` made, labelled with a content encoding."""

    def make(site: FaultsSite, request: Request) -> Answer:
        body = pack(site.page(request, ["/"]))
        return Answer(body=body, headers={"Content-Encoding": encoding})

    return make


def _bomb(site: FaultsSite, _request: Request) -> Answer:
    return Answer(body=_zeros(site.bomb_bytes), headers={"Content-Encoding": "gzip"})


@lru_cache(maxsize=2)
def _zeros(size: int) -> bytes:
    """Pack ``size`` spaces, a mebibyte at a time, so that only the packed form is ever whole."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(b" " * _MIB) for _ in range(size // _MIB)]
    return b"".join([*parts, packer.flush()])


def _big(site: FaultsSite, request: Request, **more: Any) -> Answer:
    body = site.page(request, ["/"])
    return Answer(body=body.ljust(site.oversize_bytes), **more)


def _wrong_length(delta: int) -> _Make:
    def make(site: FaultsSite, request: Request) -> Answer:
        body = site.page(request, ["/"])
        return Answer(body=body, length=len(body) + delta, close=True)

    return make


def _raw(data: bytes) -> _Make:
    return lambda _site, _request: Answer(raw=data)


_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_PAGE = b"\r\n<p>text</p>"

CATALOGUE: Mapping[str, _Make] = {
    # statuses
    "/500": _status(500),
    "/502": _status(502),
    "/503": _always(503),
    "/429": _always(429),
    "/503-then-ok": _then_ok(503),
    "/429-then-ok": _then_ok(429),
    "/500-then-ok": _then_ok(500, times=1),
    "/404": _status(404),
    "/410": _status(410),
    "/401": _status(401),
    "/403": _status(403),
    "/451": _status(451),
    "/204": lambda _site, _request: Answer(204),
    "/299": _status(299),
    "/999": _status(999),
    # time
    "/hang": _fault(Fault.HANG),
    "/hang-headers": _fault(Fault.HANG_HEADERS),
    "/hang-body": _fault(Fault.HANG_BODY),
    "/drip": lambda site, request: _page(site, request, drip=20),
    "/slow": lambda site, request: _page(site, request, delay_s=site.slow_s),
    # broken transfers
    "/reset": _fault(Fault.RESET),
    "/reset-body": _fault(Fault.RESET_BODY),
    "/close": _fault(Fault.CLOSE),
    "/truncated": _fault(Fault.TRUNCATE),
    "/truncated-chunks": lambda s, r: _page(s, r, fault=Fault.TRUNCATE, chunked=True),
    "/length-too-long": _wrong_length(+100),
    "/length-too-short": _wrong_length(-100),
    "/not-http": _raw(b"SSH-2.0-nothing\r\n"),
    "/bad-chunk": _raw(_OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n<p>text</p>\r\n0\r\n\r\n"),
    "/two-lengths": _raw(_OK + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\n<p>t"),
    "/crumbs": _raw(_OK + b"Transfer-Encoding: chunked\r\n\r\n" + chunks(b"<p>crumb" * 5_000, 1)),
    "/honest-chunks": _raw(
        _OK + b"Transfer-Encoding: chunked\r\n\r\n" + chunks(b"<p>text" * 1_000, 1)
    ),
    # sizes
    "/oversize": _big,
    "/oversize-chunked": lambda site, request: _big(site, request, chunked=True),
    "/endless": _fault(Fault.ENDLESS),
    "/endless-headers": _fault(Fault.ENDLESS_HEADERS),
    "/many-headers": _raw(_OK + b"X: y\r\n" * 20_000 + _PAGE),
    "/long-header": _raw(_OK + b"X: " + b"y" * _MIB + b"\r\n" + _PAGE),
    "/large-headers": _raw(
        _OK + b"".join(b"X: %s\r\n" % (b"y" * 9_000) for _ in range(50)) + _PAGE
    ),
    "/interim-answers": _raw(b"HTTP/1.1 102 Wait\r\n\r\n" * 20_000 + _OK + _PAGE),
    "/honest-headers": _raw(_OK + b"X: %s\r\n" % (b"y" * 30_000) + b"Y: z\r\n" * 300 + _PAGE),
    "/gzip-bomb": _bomb,
    # encodings
    "/bad-gzip": _encoded("gzip", lambda body: b"\x1f\x8b\x08\x00" + body),
    "/not-gzip": _encoded("gzip", lambda body: body),
    "/cut-gzip": _encoded("gzip", lambda body: gzip.compress(body)[:-40]),
    "/unknown-encoding": _encoded("x-own", lambda body: body),
    # redirects
    "/redirect-loop": _to("/redirect-loop"),
    "/redirect-ring": _to("/redirect-ring-2"),
    "/redirect-ring-2": _to("/redirect-ring"),
    "/chain-4": _to("/hops/3"),
    "/chain-7": _to("/hops/6"),
    "/to-private": _to("/private/behind", 302),
    "/to-private-address": lambda site, _request: redirect(site.private, 302),
    "/to-file": _to("file:///etc/hostname", 302),
    "/to-nowhere": _to("", 302),
    "/to-garbage": _to("http://[", 302),
    "/no-location": lambda site, request: _page(site, request, status=302),
    # content
    "/image.png": _of_type("image/png", b"\x89PNG\r\n\x1a\n" + bytes(range(256))),
    "/paper.pdf": _of_type("application/pdf", b"%PDF-1.4\n%" + bytes(range(128, 256))),
    "/data.json": _of_type("application/json", b'{"a": ["/not/a/link"]}'),
    "/no-type": _of_type(""),
    "/bad-type": _of_type("text/html;;; charset="),
    "/bad-charset": _of_type("text/html; charset=x-none"),
    "/broken-bytes": _of_type(
        "text/html; charset=utf-8", b"<title>\xff\xfe</title><p>\xc3\x28 \x00 \xed\xa0\x80</p>"
    ),
    "/empty": lambda _site, _request: Answer(),
    "/deep": _of_type("text/html", b"<div>" * 20_000 + b'<a href="/good/1">deep</a>'),
}
