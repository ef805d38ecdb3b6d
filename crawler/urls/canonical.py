"""From a link as written to the URL that is sent, and on to the key that is compared.

Links are resolved the way browsers do it (the WHATWG rules, by ada-url) and then brought to
the normal form of RFC 3986. Nearly all links of real pages are plain: no escapes, no dot
segments, a lower-case host. For those the answer is a concatenation, and one regular
expression proves it; only the others pay for the full parser. Both ways give the same
answer, which the tests hold to.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import NamedTuple

from crawler.urls.options import ParameterFilter, UrlOptions
from crawler.urls.parser import encode_href, mend_spelling, parse_http

RULES_VERSION = 2
"""Raised when the same options would give another URL or key for the same link."""

LONGEST_HREF = 65_536  # characters, of a link and of what becomes of it; more is data in disguise
MOST_PARAMETERS = 512  # a query with more is compared as written: sorting it is not worth it

# Characters that stand for themselves everywhere in a path, or in a query (RFC 3986 §3.3,
# §3.4; the WHATWG query set escapes the apostrophe).
_PATH = r"A-Za-z0-9._~!$&'()*+,;=:@/\-"
_QUERY = r"A-Za-z0-9._~!$&()*+,;=:@/?\-"
_PLAIN_HREF = re.compile(
    r"((https?://(?:(?!xn--)[a-z0-9_-]{1,63}\.){1,3}[a-z]{2,24}(?=/)"  # 2: absolute
    r"|(?=/(?!/))"  # on this host
    r"|(?=[A-Za-z0-9_][\w.~!$&'()*+,;=@-]*(?:[/?#]|\Z)))"  # beside this page
    rf"[{_PATH}]{{0,4096}}(?:\?[{_QUERY}]{{0,4096}})?)"  # longer ones: the parser's checks
    r"(?:#.*)?",
    re.DOTALL | re.ASCII,
).fullmatch
_PLAIN_DIRECTORY = re.compile(rf"https?://[^/]+[{_PATH}]{{0,4096}}/").fullmatch

_OTHER_SCHEME = ("javascript:", "mailto:", "data:", "tel:")

# Never behind a dot segment: taking it away there would change the path.
_PATH_SESSION = re.compile(r"(?<!/\.)(?<!/\.\.);(?:jsessionid|phpsessid)=[^;/]*", re.IGNORECASE)
_COOKIELESS = re.compile(  # session ids that ASP.NET puts into paths where it may set no cookies
    r"/(?:\([ASF]\([0-9A-Za-z_-]{12,128}\)\)|\((?:[ASF]\([0-9A-Za-z_-]{12,128}\)){2,3}\))(?=/)"
)
_SLASHES = re.compile("/{2,}")
_INDEX_FILES = frozenset(
    {"index.html", "index.htm", "index.php", "default.asp", "default.aspx", "default.htm"}
)


class _Base(NamedTuple):
    """A base URL, taken apart once for all links of its page."""

    given: str
    url: str | None  # parsed, not rewritten; None: not http(s), only absolute links resolve
    origin: str  # scheme://host[:port]
    directory: str  # up to the last slash of the path; "" when it is not plain
    own: str | None  # where a link to "#top" leads


_NO_BASE = _Base("", None, "", "", None)


class Canonicalizer:
    """Resolves and normalises links, and gives the key by which URLs are compared.

    Invariants: ``normalize`` and ``key`` are idempotent; every answer is ASCII; nothing
    that a page can contain raises. Cost: about a microsecond for a plain link, about ten
    for one that needs the parser, linear in its length. Keeps the last base only, so one
    instance serves a whole crawl; not to be shared between threads.
    """

    __slots__ = ("_base", "_filter", "_options", "_rewrites_host", "_rewrites_path")

    def __init__(self, options: UrlOptions = UrlOptions()) -> None:  # noqa: B008 -- frozen
        self._options = options
        self._filter = ParameterFilter(options)
        self._rewrites_host = options.https_upgrade or options.strip_www
        self._rewrites_path = (
            options.collapse_slashes or options.drop_index or options.strip_trailing_slash
        )
        self._base = _NO_BASE

    @property
    def rules(self) -> str:
        """Name of these rules, ``version:8 hex digits``: a store made by others needs a rebuild."""
        return f"{RULES_VERSION}:{blake2b(repr(self._options).encode(), digest_size=4).hexdigest()}"

    def resolve(self, base: str, href: str, encoding: str = "utf-8") -> str | None:
        """Return the absolute URL to send for ``href`` found on a page with this base.

        Args:
            base: the page's base URL; one that is not http(s) leaves relative links without
                an answer.
            href: the attribute as written, entities decoded.
            encoding: of the page; used for raw non-ASCII in the query only.

        Returns:
            None when the link leads to no http(s) URL with a possible host name.

        Spec: WHATWG URL §4.4 (resolution; its query state takes the page's encoding),
            RFC 3986 §6.2.2 and §6.2.3 (normal form).
        """
        if base != self._base.given:
            self._base = self._read_base(base)
        plain = _PLAIN_HREF(href)
        if plain is None or "/." in plain[1]:
            return self._resolve_odd(self._base, href, encoding)
        link = plain[1]
        if plain[2]:
            return self._rewrite(link)
        before = self._base.origin if link[0] == "/" else self._base.directory
        if before:
            return self._rewrite(before + link)
        return self._resolve_odd(self._base, href, encoding)

    def resolve_whole(self, base: str, href: str) -> str | None:
        """Resolve like `resolve`, and keep session ids, trackers and the host as written.

        For the answer of a server that insists on them: it redirects from the URL that was sent
        to one that `resolve` would take for the same.
        """
        if len(href) > LONGEST_HREF:
            return None
        url = parse_http(base, href if href.isascii() else encode_href(href, "utf-8"))
        return mend_spelling(url) if url is not None else None

    def normalize(self, url: str) -> str | None:
        """Return the absolute ``url`` in the form that is sent; None as for ``resolve``."""
        plain = _PLAIN_HREF(url)
        if plain is not None and plain[2] and "/." not in plain[1]:
            return self._rewrite(plain[1])
        return self._resolve_odd(_NO_BASE, url, "utf-8")

    def key(self, url: str) -> str:
        """Return the comparison key of a normalised URL: often ``url`` itself.

        In a query ``%20`` and ``+`` are one (both are how a form writes a space), and the
        toggles marked (key) in :class:`UrlOptions` apply.
        """
        if "/(" in url and self._options.drop_session_ids:
            path, mark, query = url.partition("?")
            url = _COOKIELESS.sub("", path) + mark + query
        if "?" not in url and not self._rewrites_path:
            return url
        path, mark, query = url.partition("?")
        if self._rewrites_path:
            path = self._key_path(path)
        if not query:
            return path
        query = query.replace("%20", "+")
        if self._options.sort_parameters and "&" in query:
            query = _sorted_query(query)
        return path + mark + query

    def _read_base(self, given: str) -> _Base:
        url = parse_http(None, given) if len(given) <= LONGEST_HREF else None
        if url is None:
            return _NO_BASE._replace(given=given)
        path = url.partition("?")[0]
        origin = path[: path.index("/", 8)]
        directory = path[: path.rindex("/") + 1]
        if not _PLAIN_DIRECTORY(directory):
            directory = ""
        return _Base(given, url, origin, directory, self._finish(url))

    def _resolve_odd(self, base: _Base, href: str, encoding: str) -> str | None:
        """Resolve any link at all with the full parser."""
        if href[:1] == "#":
            return base.own
        if len(href) > LONGEST_HREF or href.startswith(_OTHER_SCHEME):
            return None
        if not href.isascii():
            href = encode_href(href, encoding)
        url = parse_http(base.url, href)
        return None if url is None else self._finish(url)

    def _finish(self, url: str) -> str | None:
        url = mend_spelling(url)
        if len(url) > LONGEST_HREF:
            return None
        url = self._rewrite(url)  # another scheme may be longer
        return url if len(url) <= LONGEST_HREF else None

    def _rewrite(self, url: str) -> str:
        """Apply what may change in the URL that is sent."""
        if "?" in url:
            path, _, query = url.partition("?")
            query = self._without_noise(query)
            url = f"{path}?{query}" if query else path
        if ";" in url and self._options.drop_session_ids:
            path, mark, query = url.partition("?")
            url = _PATH_SESSION.sub("", path) + mark + query
        return self._rewrite_host(url) if self._rewrites_host else url

    def _without_noise(self, query: str) -> str:
        if query.count("&") > MOST_PARAMETERS:
            return query
        noise = self._filter.is_noise
        return "&".join([piece for piece in query.split("&") if not noise(piece)])

    def _rewrite_host(self, url: str) -> str:
        scheme, _, rest = url.partition("://")
        host, slash, tail = rest.partition("/")
        if self._options.strip_www:
            while host.startswith("www.") and "." in host[4:]:
                host = host[4:]
        if self._options.https_upgrade and (":" not in host or host.endswith("]")):
            scheme = "https"
        return f"{scheme}://{host}{slash}{tail}"

    def _key_path(self, url: str) -> str:
        start = url.find("/", 8)
        if start < 0:
            return url
        root, path = url[:start], url[start:]
        if self._options.collapse_slashes:
            path = _SLASHES.sub("/", path)
        before = ""
        while before != path:
            before = path
            if self._options.strip_trailing_slash:
                path = path.rstrip("/") or "/"
            head, slash, name = path.rpartition("/")
            if self._options.drop_index and name.lower() in _INDEX_FILES:
                path = head + slash
        return root + path


def _sorted_query(query: str) -> str:
    if query.count("&") > MOST_PARAMETERS:
        return query
    return "&".join(sorted(query.split("&"), key=_name))


def _name(piece: str) -> str:
    return piece.partition("=")[0]
