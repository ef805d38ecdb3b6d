"""Which URLs belong to this crawl: the scope around the seeds, patterns, and plain limits.

All of it is asked once per link, so every answer is a dictionary look-up or a count.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

from tldextract import TLDExtract

from crawler.errors import ConfigError
from crawler.model import Reason
from crawler.urls.host import host_key, is_ip_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ScopeMode = Literal["host", "site", "any"]

_MOST_HOSTS = 65_536  # remembered answers, about 10 MB at the most

# The list that comes with the package: no network, no cache on disk. Private suffixes count,
# so that two users of one hosting service are two sites.
_suffixes = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


@lru_cache(maxsize=16_384)
def site_of(host: str) -> str:
    """Return the registrable domain of a normalised host name (no port).

    An address, a single label and a public suffix are their own site; under a top level
    that the list does not know, the last two labels are the site.

    Spec: the algorithm of publicsuffix.org, default rule ``*``.
    """
    if "." not in host or is_ip_literal(host):
        return host
    found = _suffixes.extract_str(host)
    if found.suffix:
        return found.top_domain_under_public_suffix or host
    return ".".join(host.rsplit(".", 2)[-2:])


class Scope:
    """The part of the web around the seeds that a crawl may enter.

    * ``host``: exactly the seeds' host keys (http and https are one, another port is not).
    * ``site``: the seeds' registrable domains, on the default ports and on those ports that a
      seed of the same site names: a link must not be able to send the crawler from port to
      port of a machine.
    * ``any``: everything.

    Cost: O(1) for a host seen before, about 5 µs for a new one.
    """

    __slots__ = ("_hosts", "_known", "_sites", "mode")

    def __init__(self, seeds: Iterable[str], mode: ScopeMode = "site") -> None:
        if mode not in get_args(ScopeMode):
            raise ConfigError(f"scope {mode!r}: expected one of {', '.join(get_args(ScopeMode))}")
        self.mode: ScopeMode = mode
        self._hosts: set[str] = set()
        self._sites: set[tuple[str, str]] = set()
        self._known: dict[str, bool] = {}
        for seed in seeds:
            self.add(seed)

    def add(self, seed: str) -> None:
        """Widen the scope around one more normalised seed URL."""
        key = host_key(seed)
        self._hosts.add(key)
        site, port = _site_and_port(key)
        self._sites.update({(site, ""), (site, port)})
        self._known.clear()

    def contains(self, url: str) -> bool:
        """Tell whether a normalised URL is inside."""
        if self.mode == "any":
            return True
        key = host_key(url)
        inside = self._known.get(key)
        return self._look_up(key) if inside is None else inside

    def _look_up(self, key: str) -> bool:
        if len(self._known) >= _MOST_HOSTS:
            self._known.clear()
        inside = key in self._hosts or (self.mode == "site" and _site_and_port(key) in self._sites)
        self._known[key] = inside
        return inside


class UrlFilter:
    """Limits and patterns that a URL has to pass before it is queued.

    Limits are looked at first, so that no pattern ever runs over an overlong URL.
    """

    __slots__ = ("_allow", "_deny", "_endings", "_limits")

    def __init__(
        self,
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        *,
        max_length: int = 0,
        max_segments: int = 0,
        max_parameters: int = 0,
        extensions: Iterable[str] = (),
    ) -> None:
        """Compile the patterns; they are searched anywhere in the URL.

        Args:
            allow: at least one must be found; empty allows everything.
            deny: none may be found; stronger than ``allow``.
            max_length: characters of the whole URL; 0 means no limit, here and below.
            max_segments: path segments.
            max_parameters: query parameters.
            extensions: of files that are no pages, such as ``png`` or ``tar.gz``; lower case.

        Raises:
            ConfigError: names the pattern that is no regular expression.
        """
        self._allow = [_compile(pattern, "allow") for pattern in allow]
        self._deny = [_compile(pattern, "deny") for pattern in deny]
        self._limits = (max_length, max_segments, max_parameters)
        self._endings = tuple("." + extension for extension in extensions)

    def verdict(self, url: str) -> Reason | None:
        """Return why a normalised URL is refused, None when it passes.

        Order: a limit, then DENIED, then NOT_ALLOWED, then EXTENSION.
        """
        over = limits_verdict(url, *self._limits)
        if over is not None:
            return over
        if self._deny and _found(self._deny, url):
            return Reason.DENIED
        if self._allow and not _found(self._allow, url):
            return Reason.NOT_ALLOWED
        return Reason.EXTENSION if self._endings and _names_a(self._endings, url) else None


def _names_a(endings: tuple[str, ...], url: str) -> bool:
    """Whether the last segment of the path ends so; its parameters and the query do not count.

    A segment with a colon is a title (``File:Map.png`` of a wiki is a page about the picture).
    """
    path = url.partition("?")[0]
    name = path[path.rfind("/") + 1 :]
    if "." not in name:
        return False
    name = name.partition(";")[0]
    return name.lower().endswith(endings) and ":" not in name and "%3A" not in name


def limits_verdict(
    url: str, max_length: int, max_segments: int, max_parameters: int
) -> Reason | None:
    """Return the first limit that a normalised URL exceeds; a limit of 0 is none.

    Segments are what stands between the slashes of the path; an empty last one does not
    count, empty ones in between do. Parameters are what stands between ``&``.
    """
    if 0 < max_length < len(url):
        return Reason.URL_LENGTH
    if 0 < max_segments < url.count("/") - 2 and _segments(url) > max_segments:
        return Reason.PATH_SEGMENTS
    if max_parameters > 0 and _parameters(url) > max_parameters:
        return Reason.QUERY_PARAMETERS
    return None


def _segments(url: str) -> int:
    path = url.partition("?")[0]
    return path.count("/") - 2 - path.endswith("/")


def _parameters(url: str) -> int:
    start = url.find("?")
    return 0 if start < 0 else url.count("&", start) + 1


def _site_and_port(key: str) -> tuple[str, str]:
    if ":" not in key or key.endswith("]"):
        return site_of(key), ""
    host, _, port = key.rpartition(":")
    return site_of(host), port


def _compile(pattern: str, purpose: str) -> Callable[[str], re.Match[str] | None]:
    try:
        return re.compile(pattern).search
    except (re.error, OverflowError, RecursionError) as error:
        raise ConfigError(
            f"{purpose} pattern {pattern!r} is no regular expression: {error}"
        ) from error


def _found(searches: list[Callable[[str], re.Match[str] | None]], url: str) -> bool:
    return any(search(url) for search in searches)
