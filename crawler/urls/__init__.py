"""URL identity: what is sent, what is compared, whose it is, and whether it belongs here.

One way in: a link as written goes through :meth:`Canonicalizer.resolve` and comes out as a
*normalised URL*, or as None. All else here (and in the stages) takes normalised URLs only and
reads them by slicing::

    href ──resolve──▶ url (sent) ──key──▶ comparison key ──fingerprint──▶ 16 bytes (seen set)
                       │
                       └─ host_key (pacing) · origin (robots.txt) · Scope · UrlFilter

Invariants of a normalised URL: ASCII; scheme http or https; lower-case host that DNS could
hold, without userinfo, root dot and default port; a path; no fragment; every ``%`` begins an
upper-case escape of a character that needs one; no dot segments; no empty query.
Normalising it again changes nothing, whatever the options.

Two spellings with one key are one URL to the crawl. A server that redirects from one spelling
to another of the same key therefore seems to redirect to itself: who follows redirects has to
compare the *sent* URLs before taking the target for a page seen already.
"""

from crawler.urls.canonical import LONGEST_HREF, RULES_VERSION, Canonicalizer
from crawler.urls.domain import read_domain
from crawler.urls.fingerprint import fingerprint, host_hash
from crawler.urls.host import (
    Network,
    address_allowed,
    host_key,
    host_of,
    is_ip_literal,
    may_be_a_site,
    origin,
    parse_networks,
)
from crawler.urls.options import FILE_EXTENSIONS, TRACKING_PARAMETERS, UrlOptions
from crawler.urls.scope import Scope, ScopeMode, UrlFilter, limits_verdict, site_of

__all__ = [
    "FILE_EXTENSIONS",
    "LONGEST_HREF",
    "RULES_VERSION",
    "TRACKING_PARAMETERS",
    "Canonicalizer",
    "Network",
    "Scope",
    "ScopeMode",
    "UrlFilter",
    "UrlOptions",
    "address_allowed",
    "fingerprint",
    "host_hash",
    "host_key",
    "host_of",
    "is_ip_literal",
    "limits_verdict",
    "may_be_a_site",
    "origin",
    "parse_networks",
    "read_domain",
    "site_of",
]
