"""The index beside the archive: where in which file the capture of a URL lies.

One line a capture, in the order of the crawl: ``<SURT key> <14-digit time> <JSON>``. Replay
tools search sorted lines: ``LC_ALL=C sort *.cdxj`` makes one index of all segments. The keys
are those that pywb looks up, so that its search finds what was crawled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes

import orjson

from crawler.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_URL = re.compile(
    rb"(?i:(https?))://(?:[^/?#@]*@)?(\[[^\]/?#]*\]|[^:/?#]*):?([^/?#]*)([^?#]*)\??([^#]*)"
)
_DEFAULT_PORTS = {b"http": b"80", b"https": b"443"}
_WWW = re.compile(rb"www\d*\.")
_SAFE = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_PRINTABLE = bytes(range(0x21, 0x7F))
_UNSAFE = re.compile(rb"[^!-~]|[%#]")
_UNESCAPINGS = 8  # of one URL; each costs a pass, and only an attack nests deeper

# each takes out the last identifier that stands at the end of a parameter
_QUERY_SESSIONS = tuple(
    re.compile(rb"(.*)" + pattern + rb"(?:&(.*))?$")
    for pattern in (
        rb"jsessionid=[0-9a-z]{32}",
        rb"phpsessid=[0-9a-z]{32}",
        rb"sid=[0-9a-z]{32}",
        rb"aspsessionid[a-z]{8}=[a-z]{24}",
        rb"cfid=[^&]+&cftoken=[^&]+",
    )
)
_HINTS = (b"sid=", b"sessionid", b"sessid=", b"cftoken=")
_PATH_SESSIONS = (
    re.compile(rb"^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$"),
    re.compile(rb"^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$"),
)


class Capture(NamedTuple):
    """What a line of the index says of one record."""

    url: str
    date: str  # ISO 8601 in UTC, as in the record
    mime: str
    status: int
    digest: str  # base32 of the payload's SHA-1, or "-"
    filename: str
    offset: int
    length: int


def index_line(capture: Capture) -> bytes:
    """Return the line of a capture, with its line end. All JSON values are strings.

    Spec: CDXJ as pywb reads it; field names of its cdxj-indexer.
    """
    url = one_line_uri(capture.url)
    timestamp = "".join(filter(str.isdigit, capture.date))[:14]
    fields = {
        "url": url,
        "mime": capture.mime,
        "status": str(capture.status),
        "digest": capture.digest,
        "length": str(capture.length),
        "offset": str(capture.offset),
        "filename": capture.filename,
    }
    key = f"{surt(url)} {timestamp} ".encode()
    return key + orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


class Indexed(NamedTuple):
    """Where an index says that a record is, and of what."""

    url: str
    file: str
    offset: int
    length: int


def read_index(lines: Iterable[bytes], where: str) -> Iterator[Indexed]:
    """Yield the captures of lines that :func:`index_line` wrote, in the order of the archive.

    A line that is not whole ends them: a crawl may be writing.

    Args:
        lines: With their line ends.
        where: Names them in messages.

    Raises:
        StoreError: A line is no capture.
    """
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            return
        try:
            fields = orjson.loads(line.split(b" ", 2)[2])
            yield Indexed(
                fields["url"], fields["filename"], int(fields["offset"]), int(fields["length"])
            )
        except (ValueError, KeyError, IndexError, TypeError):
            raise StoreError(
                f"{where}, line {number}: is no capture of ours; restore the file from a copy"
            ) from None


def mime_of(headers: Sequence[tuple[bytes, bytes]]) -> str:
    """Return the media type that the headers name, without parameters; else ``unk``."""
    for name, value in headers:
        if name.lower() == b"content-type":
            mime = value.partition(b";")[0].strip().lower().decode("latin-1")
            return mime[:100] or "unk"
    return "unk"


def one_line_uri(url: str) -> str:
    """Return the URL; escaped, should it have what would end the line that it stands in."""
    if url.isascii() and url.isprintable() and " " not in url:
        return url
    return quote_from_bytes(url.encode("utf-8", "surrogatepass"), safe=_PRINTABLE)


def surt(url: str) -> str:
    """Return the sort-friendly form under which replay tools look a URL up.

    Host labels reversed and without ``www.``; scheme, user, default port, fragment, session
    identifiers, repeated and trailing slashes gone; lower case; parameters sorted.

    Args:
        url: An absolute http(s) URL, of any spelling.

    Returns:
        ASCII without white space, such as ``com,example)/a?b=1``; what is no http(s) URL
        comes back escaped and otherwise as it is.

    Spec: Sort-friendly URI Reordering Transform with the Wayback rules, as pywb has them.
    Deviation: at most 8 layers of percent-encoding are undone, because each costs a pass.
    """
    raw = url.strip().encode("utf-8", "surrogatepass")
    match = _URL.match(raw)
    if match is None:
        return _escape(raw).decode()
    scheme, host, port, path, query = match.groups()
    key = _host(host) + _port(scheme, port) + b")" + _path(path)
    query = _query(query)
    return (key + b"?" + query if query else key).decode()


def _port(scheme: bytes, port: bytes) -> bytes:
    return b"" if not port or port == _DEFAULT_PORTS[scheme.lower()] else b":" + _escape(port)


def _host(host: bytes) -> bytes:
    if host.startswith(b"[") and host.endswith(b"]"):
        return _escape(host[1:-1]).lower()
    host = _escape(_ascii(_unescape(host))).lower().strip(b".").replace(b"..", b".")
    www = _WWW.match(host)
    labels = host[www.end() :] if www else host
    return b",".join(reversed(labels.split(b".")))


def _ascii(host: bytes) -> bytes:
    if host.isascii():
        return host
    try:
        return host.decode("utf-8", "ignore").encode("idna")
    except UnicodeError:
        return host


def _path(path: bytes) -> bytes:
    path = _unescape(path)
    if b"//" in path or b"/." in path:
        path = _without_dots(path)
    path = _escape(path).lower()
    if b".aspx" in path:
        for pattern in _PATH_SESSIONS:
            path = pattern.sub(rb"\1\2", path)
    return (path[:-1] if path.endswith(b"/") else path) or b"/"


def _without_dots(path: bytes) -> bytes:
    """Resolve dot segments, drop empty ones; a ``..`` with nothing before it stays."""
    kept: list[bytes] = []
    for segment in path.split(b"/")[1:]:
        if segment == b".." and kept:
            kept.pop()
        elif segment != b".":
            kept.append(segment)
    return b"/" + b"/".join([*filter(None, kept[:-1]), *kept[-1:]])


def _query(query: bytes) -> bytes:
    if not query:
        return query
    query = _escape(_unescape(query)).lower()
    if any(hint in query for hint in _HINTS):
        query = _without_sessions(query)
    if b"&" not in query:
        return query
    arguments = sorted(query.split(b"&"), key=_name_and_value)
    return b"&".join(arguments)


def _name_and_value(argument: bytes) -> list[bytes]:
    return argument.split(b"=", 1)


def _without_sessions(query: bytes) -> bytes:
    for pattern in _QUERY_SESSIONS:
        match = pattern.match(query)
        if match:
            query = match[1] + (match[2] or b"")
    return query


def _unescape(text: bytes) -> bytes:
    for _ in range(_UNESCAPINGS):
        if b"%" not in text:
            break
        text, before = unquote_to_bytes(text), text
        if text == before:
            break
    return text


def _escape(text: bytes) -> bytes:
    """Escape what is no printable ASCII, and ``%`` and ``#``."""
    return quote_from_bytes(text, safe=_SAFE).encode() if _UNSAFE.search(text) else text
