"""The part of URL identity that is no choice: what the standards say a link means.

ada-url parses and resolves by the WHATWG rules; what browsers let pass and RFC 3986 does not
(stray ``%``, raw brackets, lower-case escapes) is brought to one spelling here. A host that
no DNS could hold makes a link unusable: sent on, it would only raise deeper down.
"""

from __future__ import annotations

import re
from typing import Final

from ada_url import idna_to_unicode, join_url, normalize_url
from w3lib.url import safe_url_string

_HOST = re.compile(
    r"(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[[0-9a-f:]+\])(?::[0-9]+)?"
).fullmatch
_LONGEST_HOST = 253  # RFC 1035 §3.1, without the root dot

_ESCAPE = re.compile("%([0-9A-Fa-f]{2})?")
_WRONG_ESCAPE = re.compile(  # lone, lower-case, or of an unreserved character
    "%(?![0-9A-F]{2})|%(?:2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)"
)
_ILLEGAL = re.compile(r'["<>\[\]\\^`{|}]')
_ESCAPED_ILLEGAL = {ord(char): f"%{ord(char):02X}" for char in '"<>[]\\^`{|}'}
_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"


def parse_http(base: str | None, href: str) -> str | None:
    """Parse by the WHATWG rules; without fragment, userinfo and root dot; None: unusable."""
    try:
        url = normalize_url(href) if base is None else join_url(base, href)
    except ValueError:
        return None
    if not url.startswith(("http://", "https://")):
        return None
    url = url.partition("#")[0]
    start = url.index("/", 8)
    root = url[:start]
    scheme, _, authority = root.partition("://")
    if not _HOST(authority):
        mended = _mend_authority(scheme, authority)
        return None if mended is None else f"{scheme}://{mended}{url[start:]}"
    return url if _is_possible_host(authority) else None


def _mend_authority(scheme: str, authority: str) -> str | None:
    """Drop userinfo and root dots, and have what is left parsed again: it may be an address."""
    host = authority.rpartition("@")[2]
    colon = host.rfind(":")  # the one inside an IPv6 address does no harm: it has no dots
    host = host.rstrip(".") if colon < 0 else host[:colon].rstrip(".") + host[colon:]
    try:
        authority = normalize_url(f"{scheme}://{host}/").split("/", 3)[2]
    except ValueError:
        return None
    return authority if _HOST(authority) and _is_possible_host(authority) else None


def _is_possible_host(authority: str) -> bool:
    """Refuse names that DNS cannot hold and Punycode that stands for nothing.

    ada-url looks into ``xn--`` labels only beside non-ASCII ones. Spec: UTS 46 §4.
    """
    if len(authority) > _LONGEST_HOST and len(authority.partition(":")[0]) > _LONGEST_HOST:
        return False
    if "xn--" not in authority:
        return True
    labels = idna_to_unicode(authority.partition(":")[0]).split(".")
    return not any(label.startswith("xn--") for label in labels)


def encode_href(href: str, encoding: str) -> str:
    """Make a link with raw non-ASCII safe to parse: page encoding in its query, no surrogates."""
    href = href.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if encoding.lower().startswith("utf"):  # UTF-16 pages too write their links in UTF-8
        return href
    link, hash_mark, fragment = href.partition("#")
    path, mark, query = link.partition("?")
    if query.isascii():
        return href
    return path + _encode_query(mark + query, encoding) + hash_mark + fragment


def _encode_query(query: str, encoding: str) -> str:
    """Escape ``query`` in the page's encoding; what it cannot hold becomes an escaped ``&#n;``."""
    try:
        held = query.encode(encoding, "xmlcharrefreplace").decode(encoding)
        held = re.sub("&#([0-9]+);", r"%26%23\1%3B", held)  # a raw # cannot be in a query
        return safe_url_string(held, encoding)
    except (LookupError, ValueError):  # an unknown or unsuitable encoding: parse as UTF-8
        return query


def mend_spelling(url: str) -> str:
    """Give every character of path and query its one spelling, in a parsed URL.

    Spec: RFC 3986 §6.2.2.1, §6.2.2.2 (escapes), §2.4 (a lone % is data), §3.3, §3.4 (what
        may stand raw).
    """
    start = url.index("/", 8)
    tail = url[start:]
    if "%" in tail and _WRONG_ESCAPE.search(tail):
        tail = _ESCAPE.sub(_mend_escape, tail)
    if _ILLEGAL.search(tail):
        tail = tail.translate(_ESCAPED_ILLEGAL)
    return url[:start] + tail


def _mend_escape(match: re.Match[str]) -> str:
    return _ESCAPES[match[1]]


def _escapes() -> dict[str | None, str]:
    """Give the normal form of every two hex digits, and of a % without them."""
    table: dict[str | None, str] = {None: "%25"}
    for code in range(256):
        char = chr(code)
        normal = char if char in _UNRESERVED else f"%{code:02X}"
        upper, lower = f"{code:02X}", f"{code:02x}"
        for spelling in (upper, lower, lower[0] + upper[1], upper[0] + lower[1]):
            table[spelling] = normal
    return table


_ESCAPES: Final = _escapes()
