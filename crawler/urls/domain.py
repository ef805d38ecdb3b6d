"""A registrable domain as a person writes it, who may have a host or a URL in mind."""

from __future__ import annotations

import re

from crawler.urls.canonical import Canonicalizer
from crawler.urls.host import host_of, is_ip_literal
from crawler.urls.scope import site_of

_OF_URLS = frozenset(":/?#@\\")
_PORT = re.compile(r"[^/?#@\\]+:\d*", re.ASCII)


def read_domain(text: str) -> str:
    """Return a registrable domain in its normal form: lower case, other scripts in Punycode.

    An IP address is a domain of its own; IPv6 is written with or without brackets.

    Raises:
        ValueError: It is none; says what is expected and, where it can, which domain is meant.
    """
    name = text.strip().rstrip(".")
    if is_ip_literal(name) and ":" in name:
        name = f"[{name.strip('[]')}]"
    url = Canonicalizer().normalize(name if "://" in name else f"http://{name}/") if name else None
    if url is None:
        raise ValueError("expected a registrable domain, such as example.com")
    host = host_of(url)
    problem = _problem(name, host)
    if problem:
        raise ValueError(f"expected a registrable domain{problem}: {site_of(host)}")
    return host


def _problem(name: str, host: str) -> str | None:
    if not name.endswith("]") and _OF_URLS.intersection(name):
        return ", without a port" if _PORT.fullmatch(name) else ", without scheme and path"
    return None if site_of(host) == host else ", and no host below it"
