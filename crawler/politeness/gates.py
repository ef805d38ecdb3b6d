"""What goes into the robots.txt state machine and what comes out of it: plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from crawler.errors import ConfigError
from crawler.model import Allow, Pending

_DAY = 86_400.0


class State(Enum):
    """What is known of an origin's rules; the names that explain and stats show."""

    UNKNOWN = "unknown"
    FETCHING = "fetching"
    RULES = "rules"  # a copy younger than max_age
    STALE = "stale_rules"  # its refresh failed: the last good copy still applies
    ALLOW_ALL = "allow_all"  # unavailable: there is no robots.txt (4xx, or too many redirects)
    DISALLOW_ALL = "disallow_all"  # unreachable and no copy
    OUTAGE_ALLOW = "outage_allow"  # unreachable for very long, and the policy says allow


@dataclass(frozen=True, slots=True)
class RobotsOptions:
    """How robots.txt files are honoured. Times in seconds.

    Args:
        token: our product token, see `product_token`.
        enabled: False lets everything pass and fetches no robots.txt.
        max_age: age at which a copy is fetched anew; at most a day (RFC 9309 §2.4).
        unreachable_retry: wait before the second try of an unreachable file; doubles.
        unreachable_cap: longest wait of our own making between two tries.
        retry_after_cap: longest wait that a server may ask for by Retry-After.
        long_outage: unreachable for this long is what RFC 9309 §2.3.1.4 calls a long period.
        long_outage_policy: what then applies to an origin without a copy.
        max_redirects: hops followed from the origin's own file (RFC 9309 §2.3.1.2).
        max_bytes: what lies beyond is not read (RFC 9309 §2.5).
        crawl_delay_cap: a longer Crawl-delay counts as this.
    """

    token: str
    enabled: bool = True
    max_age: float = _DAY
    unreachable_retry: float = 5.0
    unreachable_cap: float = 3600.0
    retry_after_cap: float = _DAY
    long_outage: float = 30 * _DAY
    long_outage_policy: Literal["allow", "disallow"] = "disallow"
    max_redirects: int = 5
    max_bytes: int = 512_000
    crawl_delay_cap: float = 60.0

    def __post_init__(self) -> None:
        if not 0 < self.max_age <= _DAY:
            raise ConfigError(f"robots max_age {self.max_age}: above 0, at most 86400 seconds")
        if not 0 < self.unreachable_retry <= self.unreachable_cap < math.inf:
            raise ConfigError(
                f"robots retry wait {self.unreachable_retry}: above 0 seconds, and at most"
                f" its cap {self.unreachable_cap}"
            )
        caps = (self.crawl_delay_cap, self.retry_after_cap, self.long_outage)
        if not all(0 <= cap < math.inf for cap in caps):
            raise ConfigError(f"robots caps {caps}: finite seconds, not negative")
        if self.long_outage_policy not in {"allow", "disallow"}:
            raise ConfigError(f"long_outage_policy {self.long_outage_policy!r}: allow or disallow")
        if self.max_redirects < 0 or self.max_bytes < 1:
            raise ConfigError("robots max_redirects must not be negative, max_bytes at least 1")


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What came of a fetch of robots.txt.

    Args:
        status: HTTP status, None if none came.
        body: content coding removed; may be cut at ``max_bytes``, which is no error.
        location: the Location header as it stands.
        retry_after: seconds, see `parse_retry_after`.
        error: why a 2xx body is not whole (reset, timeout, does not decode).
    """

    status: int | None
    body: bytes = b""
    location: str | None = None
    retry_after: float | None = None
    error: str | None = None


ALLOW = Allow()
PENDING = Pending()
