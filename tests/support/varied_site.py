"""A site with a page of every kind that parsing and the duplicate stages treat differently."""

from __future__ import annotations

import gzip
import zlib

import brotli

from tests.support.exchange import Answer, Request, not_found, plain, redirect
from tests.support.prose import Prose, anchors, document, paragraphs

_PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
_FRENCH = "<title>Été</title><p>" + "Où est le château déjà aperçu au loin. " * 30
_JAPANESE = "<title>文字</title><p>" + "これは日本語の文章です。" * 40
_FEED = (
    "<rss version='2.0'><channel><title>f</title><item><link>/own/9</link></item></channel></rss>"
)
PATHS = (
    *(f"/same/{n}" for n in range(4)),
    *(f"/near/{n}" for n in range(4)),
    *(f"/own/{n}" for n in range(4)),
    *("/french", "/japanese", "/wide", "/gzip", "/deflate", "/br", "/unsaid", "/broken", "/half"),
    *("/moved", "/refresh", "/gone", "/image", "/empty-1", "/empty-2", "/plain", "/feed", "/cut"),
    *("/headers", "/formula", "/hostile", "/odd?b=2&a=1&utm_source=x"),
)


def varied_site(request: Request) -> Answer:
    """Serve the same paths on every host; some pages are the same, or nearly, on all of them."""
    path = request.path.partition("?")[0]
    special = _SPECIAL.get(path)
    if path == "/robots.txt":
        return plain("User-agent: *\nDisallow: /private\n")
    if path == "/":
        return Answer(body=_page(f"home {request.name}", *PATHS))
    if special is not None:
        return special
    kind, _, number = path.strip("/").partition("/")
    if kind == "same":
        return Answer(body=_page(f"same {number}"), gzip=number == "1", chunked=number == "2")
    if kind == "near":
        return Answer(body=_page("near", last=f"Nothing but {number} of {request.name} differs."))
    return Answer(body=_page(f"{request.name} {path}")) if kind == "own" else not_found()


def _page(seed: str, *links: str, last: str = "") -> bytes:
    prose = Prose(seed)
    title, body = prose.title(), paragraphs(prose, 4, 60)
    return document(title, f"{body}<p>{last}</p>", links=anchors(list(links)))


def _packed(name: str, body: bytes) -> Answer:
    return Answer(body=body, headers={"Content-Encoding": name})


_DEFLATED = zlib.compress(_page("deflated"))
_SPECIAL = {
    "/french": Answer(
        body=_FRENCH.encode("windows-1252"), content_type="text/html; charset=iso-8859-1"
    ),
    "/japanese": Answer(
        body=b'<meta charset="shift_jis">' + _JAPANESE.encode("shift_jis"), content_type="text/html"
    ),
    "/wide": Answer(body=b"\xff\xfe" + _FRENCH.encode("utf-16-le"), content_type="text/html"),
    "/gzip": _packed("gzip", gzip.compress(_page("zipped"), mtime=0)),
    "/deflate": _packed("deflate", _DEFLATED),
    "/br": _packed("br", brotli.compress(_page("brotli"))),
    "/unsaid": _packed("gzip", _page("not packed at all")),
    "/broken": _packed("deflate", b"\xff" * 400),
    "/half": _packed("gzip", gzip.compress(_page("half of it"), mtime=0)[:-200]),
    "/moved": redirect("/own/7"),
    "/refresh": Answer(body=_page("refreshed"), headers={"Refresh": "0; url=/own/8"}),
    "/image": Answer(body=_PNG, content_type="image/png"),
    "/empty-1": Answer(body=b"<img src=1>"),
    "/empty-2": Answer(body=b"<img src=2>"),
    "/plain": plain("Plain words, one after the other, and no markup at all. " * 20),
    "/feed": Answer(body=_FEED.encode(), content_type="application/rss+xml"),
    "/cut": Answer(body=_page("cut")[:900], length=9000, close=True),
    "/headers": Answer(
        body=_page("headers"),
        headers=[
            ("X-Robots-Tag", "noarchive"),
            ("X-Robots-Tag", "nofollow"),
            ("ETag", '"one"'),
            ("Last-Modified", "Thu, 22 Sep 2022 12:36:46 GMT"),
            ("Link", '</own/6>; rel="canonical"'),
        ],
    ),
    "/formula": Answer(body=_page("formula").replace(b"<title>", b"<title>=cmd|' /C calc'!A0 ")),
    "/hostile": Answer(
        body="<title>\x1b]0;owned\x07\x9b31m\u202etxt</title><p>".encode()
        + "A text that \x1b[2J\x9b2J clears the screen of who looks at it. ".encode() * 20
    ),
    "/odd": Answer(body=b"<p>\xff\xfe odd \x00 bytes"),
}
