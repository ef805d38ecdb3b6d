"""Which hosts rest although they have URLs, until when, and why."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from crawler.frontier.hosts import NEVER
from crawler.urls import host_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawler.frontier.entry import Entry
    from crawler.frontier.hosts import Host
    from crawler.model import HostKey


class Cause(Enum):
    """Why a host rests."""

    THROTTLED = "throttled"  # its last answers were 429 or 503
    FAILED = "failed"  # its last answers were no usable ones
    ASKED = "asked"  # another answer had a Retry-After, or its answers cost too much
    RULES = "rules"  # its robots.txt is out of reach
    DELAY = "delay"  # it was asked just now


class Rest(NamedTuple):
    """A host that rests, and the crawl time until which it does."""

    until: float
    host: HostKey
    cause: Cause


def find_rests(
    hosts: Mapping[HostKey, Host], waiting: Iterable[tuple[float, Entry]], now: float
) -> list[Rest]:
    """Return the hosts with URLs that rest now, those first that are due first.

    Args:
        hosts: In memory: all that have queued URLs.
        waiting: URLs that are tried again, each with the time from which on.
        now: Crawl time.
    """
    found = {
        key: Rest(host.ready_at(), key, _cause(host))
        for key, host in hosts.items()
        if not host.busy and now < host.ready_at() < NEVER
    }
    for until, entry in waiting:
        key = host_key(entry.url)
        host = hosts.get(key)
        if host is not None and host.clock >= until:
            rest = Rest(host.clock, key, _cause(host))
        else:
            rest = Rest(until, key, Cause.THROTTLED if entry.throttles else Cause.FAILED)
        if key not in found or rest.until < found[key].until:
            found[key] = rest
    return sorted(rest for rest in found.values() if rest.until > now)


def _cause(host: Host) -> Cause:
    """Say which of a host's times is the latest."""
    if not host.errands and host.ready_at() > host.clock and host.ready_at() != NEVER:
        return Cause.RULES
    if host.next_at > host.blocked_until:
        return Cause.DELAY
    if host.throttles:
        return Cause.THROTTLED
    return Cause.FAILED if host.failures else Cause.ASKED
