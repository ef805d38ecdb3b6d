"""Where a run begins: the corpora of the tests, what earlier runs found, and words to try."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import brotli

from crawler.frontier.entry import Entry
from crawler.model import Fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
FOUND = CORPUS / "fuzz"

_PAGE = b"""utf-8
<!doctype html><html lang=en><head><title>T</title><base href=/b/><meta charset=utf-8>
<meta name=robots content="noindex"><link rel=canonical href=/c><link rel=next href=n>
<meta http-equiv=refresh content="0;url=/r"></head><body><h1>H</h1><nav><a href=/>x</a></nav>
<p>one two three four five six <b><i>seven</b></i> <a rel=nofollow href="?q=%e9">y</a>
<table><tr><td>z<svg><a href=/s>s</a></svg><template><a href=/t></template><!-- c -->
<noscript><iframe src=/f></noscript><script>var x</script><select><option>o</select></body>"""
_HEADERS = (
    b"text/html; charset=utf-8",
    b'text/html;charset="x", */*, text/plain',
    b"120",
    b"Wed, 21 Oct 2015 07:28:00 GMT",
    b"Sunday, 06-Nov-94 08:49:37 GMT",
    b"Sun Nov  6 08:49:37 1994",
    b"noindex, googlebot: nofollow",
    b"unavailable_after: 25 Jun 2030 15:00:00 PST",
    b"5; url='/next'",
    b'</c>; rel="canonical", <n?a,b>; rel=next; title*=UTF-8\'\'x; anchor="#"',
    b"\xc3\xa9/\xe9?\xff",
)
_RECORD = (
    b"WARC/1.1\r\nWARC-Type: response\r\nContent-Type: application/http; msgtype=response\r\n"
    b"Content-Length: 42\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/x\r\n\r\nbody\r\n\r\n"
)


def seeds(target: str) -> Iterator[bytes]:
    """Yield the inputs that a run begins with; those that earlier runs found are not among them."""
    yield from _SEEDS[target]()


def found(target: str) -> list[Path]:
    """Return the files of inputs that earlier runs found."""
    folder = FOUND / target
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _json(name: str) -> Any:
    return json.loads((CORPUS / name).read_text("utf-8"))


def _robots() -> Iterator[bytes]:
    for case in _json("robots/decisions.json"):
        path = case["rows"][0][1].partition("//")[2].partition("/")[2]
        yield f"{path}\n{case['file']}".encode()


def _url() -> Iterator[bytes]:
    for line in (CORPUS / "urls/resolution.jsonl").read_text("utf-8").splitlines():
        _, base, href, _ = json.loads(line)
        yield f"{base or ''}\n{href}".encode("utf-8", "surrogatepass")


def _html() -> Iterator[bytes]:
    yield _PAGE
    yield from (_PAGE[place : place + 200] for place in range(0, len(_PAGE), 100))
    yield from _charset()


def _charset() -> Iterator[bytes]:
    for header, page, bom, encoding, _ in _json("charset/rows.json"):
        body = bytes.fromhex(bom or "") + (page or "").encode()
        yield f"{header or ''}\n".encode() + body + f"<p>{encoding}".encode() + bytes(range(256))


def _lists(name: str) -> Callable[[], Iterator[bytes]]:
    def read() -> Iterator[bytes]:
        for row in _json(f"sitemaps/{name}.json"):
            yield b"utf-8\n" + row[2].encode("utf-8", "surrogatepass")
            yield b"\n" + gzip.compress(row[2].encode("utf-8", "surrogatepass"), 9, mtime=0)

    return read


def _headers() -> Iterator[bytes]:
    yield from _HEADERS
    yield from (row[0].encode() for row in _json("sitemaps/dates.json"))


def _codings() -> Iterator[bytes]:
    text = b"<p>some text</p>" * 20
    yield b"gzip\n" + gzip.compress(text, mtime=0)
    yield b"gzip, gzip\n" + gzip.compress(gzip.compress(text, mtime=0) * 2, mtime=0)
    yield b"deflate\n" + zlib.compress(text)
    yield b"br\n" + brotli.compress(text)
    yield b"br\n" + brotli.compress(bytes(2**20))
    yield b"gzip\n" + gzip.compress(bytes(2**20), mtime=0)
    yield b"zstd\n\x28\xb5\x2f\xfd\x04\x58\x19\x00\x00abc\x9c\x2d\x2f\x1d"


def _types() -> Iterator[bytes]:
    yield b"text/html\n" + _PAGE
    yield b"text/plain; charset=utf-16\n" + "# Title\n\ntext".encode("utf-16")
    yield b"\n%PDF-1.4\n"
    for name in ("sitemaps", "feeds"):
        yield from (b"text/xml\n" + row[2].encode() for row in _json(f"sitemaps/{name}.json"))


def _texts() -> Iterator[bytes]:
    yield "One two, three's \u00e9\u0301 \u4e2d\u6587 \u0e44\u0e17\u0e22 \U0001f600 3.14".encode()
    yield "\u1100\u1161\u11a8 \ufdfa \u0130\u00df \u200d\u0301\u0301".encode()


def _rows() -> Iterator[bytes]:
    entry = Entry(
        "http://a.test/x", Fingerprint(bytes(16)), referrer="http://a.test/", payload=b"x"
    )
    yield entry.encode()
    yield b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    yield b'[[1.5, 0.0, 0.0, 1.0, 2, 0, 0], {"http://a.test": 3}]'
    yield (
        b'{"discovered": 2, "fetches": 1, "hosts": 1, "done": {"stored": 1}, '
        b'"rejected": {"robots": 1}, "sequence": 9}'
    )


def _warc() -> Iterator[bytes]:
    yield _RECORD
    yield gzip.compress(_RECORD, mtime=0)


_SEEDS: dict[str, Callable[[], Iterator[bytes]]] = {
    "robots": _robots,
    "url": _url,
    "html": _html,
    "sitemap": _lists("sitemaps"),
    "feed": _lists("feeds"),
    "headers": _headers,
    "charset": _charset,
    "codings": _codings,
    "warc": _warc,
    "types": _types,
    "texts": _texts,
    "rows": _rows,
}

WORDS: dict[str, str] = {
    "robots": "User-agent: Disallow: Allow: Crawl-delay: Sitemap: * $ % %2F # examplebot \ufeff",
    "url": "http:// https:// // /../ %2e %zz ? # ; @ :80 [::1] xn-- www. index.html &amp; =",
    "html": "<a href= <base <meta http-equiv=refresh content= charset= <svg> <math> <template> "
    "<table> <select> <p> <b> <font <form> <!-- --> <![CDATA[ ]]> <script> </ > &#x <li> rel=",
    "sitemap": "<urlset> <url> <loc> </loc> <lastmod> <sitemapindex> <![CDATA[ ]]> &amp; <!DOCTYPE "
    "[ ]> xml:base= <?xml ?> <!-- --> <!ENTITY http:// \x1f\x8b",
    "feed": "<rss> <item> <link> <guid <entry> <feed> rel= href= rdf:about= <![CDATA[ ]]> { } [ ] "
    '"version": "https://jsonfeed.org/version/1.1" "items": "url": "date_published": \\u 1e9',
    "headers": 'text/html ; charset= , " \\ rel= canonical < > anchor= noindex url= GMT Sun Nov '
    "unavailable_after: 1994 +0100 T00:00:00Z",
    "charset": "utf-8 utf-16 charset= <meta <?xml encoding= shift_jis gb18030 iso-2022-jp",
    "codings": "gzip deflate br zstd , \x1f\x8b\x08 \x28\xb5\x2f\xfd",
    "warc": "WARC/1.1 Content-Length: Content-Type: application/http HTTP/1.1 WARC-Type: \r\n\r\n",
    "types": "text/html text/plain text/xml application/rss+xml <rss <urlset <html http:// %PDF- {",
    "texts": "\u0301 \u200d \ufdfa \u1100 \u00df \u0130 ' _ - .",
    "rows": 'http:// A _ - = [[ ]] { } "done" "stored" 1e999 null -1 9999999999999999999999',
}
"""Words that a run strings together, by target, parted by blanks."""
