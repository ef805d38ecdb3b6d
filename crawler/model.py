"""Values that travel between the stages: they hold data and no behaviour.

Nothing here imports anything of ours. Units: ``*_at`` are crawl-clock seconds (float since
the epoch), ``*_bytes`` are sizes, ``url`` is an absolute normalised http(s) URL.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, NewType

if TYPE_CHECKING:
    from collections.abc import Sequence

HostKey = NewType("HostKey", str)
"""Pacing key: host name, with ``:port`` unless it is the default of http or https.

http and https on their default ports share one key, because they share one server.
"""

Origin = NewType("Origin", str)
"""``scheme://host[:port]``: the scope of one robots.txt and of one URL queue."""

Fingerprint = NewType("Fingerprint", bytes)
"""Identity of a URL, 16 bytes: 8 of the host key's hash, 8 of the comparison key's."""


class Outcome(Enum):
    """How a fetched URL ended. Closed set; stats count under ``outcome/<value>``."""

    STORED = "stored"  # a unique page: one line in pages.jsonl
    DUPLICATE_EXACT = "duplicate_exact"
    DUPLICATE_NEAR = "duplicate_near"
    REDIRECTED = "redirected"  # its target is a URL of its own
    SKIPPED_TYPE = "skipped_type"  # 200, but no parser for this content type
    GONE = "gone"  # 404, 410
    REFUSED = "refused"  # any other 4xx
    FAILED_THROTTLED = "failed_throttled"  # 429 or 503 on every try
    FAILED_SERVER = "failed_server"  # other 5xx, or an unknown status, on every try
    FAILED_NETWORK = "failed_network"  # no usable answer on every try
    FAILED_SIZE = "failed_size"  # larger than the limit, packed or unpacked
    FAILED_CONTENT = "failed_content"  # the body does not decode as its headers say
    FAILED_ADDRESS = "failed_address"  # resolved to an address that is not allowed
    FAILED_CALLBACK = "failed_callback"  # the spider, a pipeline or a middleware raised
    HANDLED = "handled"  # done by another spider's callback; no page of ours
    DROPPED = "dropped"  # a component ignored the request, or its answer
    LISTED = "listed"  # a sitemap or feed: what it lists is queued


class Reason(Enum):
    """Why a discovered URL is never fetched. Closed set; stats: ``rejected/<value>``."""

    SCOPE = "scope"
    NOT_ALLOWED = "not_allowed"  # no allow= pattern matches
    DENIED = "denied"  # a deny= pattern matches
    DEPTH = "depth"
    URL_LENGTH = "url_length"
    PATH_SEGMENTS = "path_segments"
    QUERY_PARAMETERS = "query_parameters"
    HOST_BUDGET = "host_budget"
    REDIRECTS = "redirects"  # the chain is longer than the limit
    ROBOTS = "robots"  # a rule of robots.txt disallows it
    ADDRESS = "address"  # the host is, or resolves to, an address that may not be reached
    UNREACHABLE = "unreachable"  # its host has no address at all, time after time
    EXTENSION = "extension"  # its path ends as those of files do that are no pages
    TRAP_PATTERN = "trap_pattern"  # URLs like it brought nothing new, time after time
    TRAP_REPEAT = "trap_repeat"  # the same, and its path repeats a folder again and again
    TRAP_GROWTH = "trap_growth"  # the same, and it grows by escaping what is escaped
    TRAP_HOSTS = "trap_hosts"  # too many sub-domains of its site brought nothing new
    PARAMETER = "parameter"  # differs from a fetched URL in parameters that change nothing


class Link(NamedTuple):
    """A hyperlink of a page: where to, and whether the page asks not to follow it."""

    url: str
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class Discovery:
    """URLs that were found together, on their way into the frontier as one batch.

    A page's links are one discovery; so is a seed list, a redirect's target, a request
    of another spider.
    """

    urls: Sequence[str]
    depth: int = 0  # link distance from a seed
    referrer: str | None = None
    priority: int = 0  # 0 (first) to 255
    redirects: int = 0  # hops of the redirect chain that led here
    copies: int = 0  # pages in a row, up to the referrer, that were duplicates
    payload: bytes = b""  # a serialised request of another spider
    variant: str = ""  # tells requests apart that share a comparison key


@dataclass(frozen=True, slots=True)
class Allow:
    """The URL may be fetched now."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The URL is never to be fetched: by a rule of robots.txt, as it stands there at its line,
    or because its host resolves to no address that may be reached.
    """

    rule: str | None = None
    line: int | None = None
    reason: Reason = Reason.ROBOTS


@dataclass(frozen=True, slots=True)
class Fetch:
    """The robots.txt at ``url`` must be fetched first; it may lie on another host."""

    url: str


@dataclass(frozen=True, slots=True)
class Wait:
    """The rules are out of reach: nothing of this origin goes before ``until``."""

    until: float


@dataclass(frozen=True, slots=True)
class Pending:
    """The rules are being fetched."""


Gate = Allow | Deny | Fetch | Wait | Pending
"""What is asked about a URL just before it would go, and answered by the robots rules."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Why a page is not stored: the page it repeats, and how far apart they are."""

    of: str
    kind: Outcome  # DUPLICATE_EXACT or DUPLICATE_NEAR
    distance: int = 0  # bits between the two fingerprints; 0 for exact


@dataclass(frozen=True, slots=True)
class Signature:
    """Fingerprint of a text.

    Attributes:
        value: 64 bits, not negative.
        tokens: How many tokens the text has, as far as it was read.
        algorithm: Tag of the definition that made the value; two signatures are
            comparable only if their tags are equal.
    """

    value: int
    tokens: int
    algorithm: str = "words3-poly-1"

    def __str__(self) -> str:
        """Return ``<algorithm>:<16 hex digits>``, the form in the output."""
        return f"{self.algorithm}:{self.value:016x}"


@dataclass(slots=True)
class Page:
    """A fetched and parsed page on its way to the export; field by field in docs/output.md."""

    url: str
    status: int
    fetched_at: float
    depth: int
    referrer: str | None
    content_type: str
    charset: str
    title: str | None
    lang: str | None
    headings: list[str]
    text: str
    canonical: str | None
    robots: list[str]
    etag: str | None
    last_modified: str | None
    bytes: int
    links: list[Link] = field(default_factory=list)
    body_hash: str | None = None  # 32 hex digits, set where no text tells the page from others
    content_hash: str | None = None  # 32 hex digits, set by the exact-duplicate stage
    simhash: str | None = None  # "<algorithm>:<16 hex digits>", set by the near-duplicate stage
    signature: Signature | None = None  # the simhash as the near index wants it
    duplicate: Duplicate | None = None
    stored: bool = False  # set by the export
    main_text: bool = True  # False: no main text was found and `text` is the full text
    truncated: bool = False  # some of it is missing: cut in transfer, or at a bound of parsing
    interrupted: bool = False  # cut in transfer: no other page is to be found a copy of it
