"""What follows from an answer: for the URL, and for its host.

Three kinds of bad news are kept apart, because they say different things:

* **throttled** (429, 503): about *us*, nothing about the page. The whole host rests: for its
  Retry-After, or for a wait that doubles with each throttle in a row. The URL stays, and is tried
  many times before it ends as ``failed_throttled``.
* **broken** (other 5xx, unknown statuses, 408, 425, no usable answer): perhaps about the page,
  perhaps about the host. The URL is tried a few more times at growing distances; after a few
  breakdowns in a row, whichever URLs they hit, the host rests as well.
* **final** (other 4xx, too large, undecodable, address not allowed): trying again is no use.

The two counters of a host (throttles and breakdowns in a row) and the two of a URL come in with
the `Attempt` and go out, updated, with the `Verdict`: this module keeps no state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import TYPE_CHECKING

from crawler.errors import ConfigError
from crawler.model import Outcome

if TYPE_CHECKING:
    import random

_THROTTLES = frozenset({429, 503})
_GONE = frozenset({404, 410})
_TRY_AGAIN = frozenset({408, 425})  # RFC 9110 §15.5.9, RFC 8470 §5.2
_MAX_EXPONENT = 60


class Trouble(Enum):
    """Why there is no usable answer, although or because no status says so."""

    NETWORK = "network"  # refused, reset, truncated, not HTTP
    TIMEOUT = "timeout"
    DNS = "dns"
    TLS = "tls"
    SIZE = "size"  # larger than the limit, packed or unpacked
    CONTENT = "content"  # does not decode as its headers say
    ADDRESS = "address"  # resolved to an address that is not allowed


_FINAL_TROUBLE = {
    Trouble.SIZE: Outcome.FAILED_SIZE,
    Trouble.CONTENT: Outcome.FAILED_CONTENT,
    Trouble.ADDRESS: Outcome.FAILED_ADDRESS,
}


@dataclass(frozen=True, slots=True)
class BackoffOptions:
    """How patiently a crawl tries again. Waits in seconds.

    Args:
        base: first rest of a throttled host, at least `factor` times its normal delay.
        retry_base: wait of a URL before its second try after a breakdown.
        factor: growth of every wait, above 1.
        cap: longest wait of our own making.
        retry_after_cap: longest wait that a server may ask for.
        jitter: a wait is lengthened by up to this share of itself, never shortened.
        max_retries: tries after the first one for a broken URL.
        max_throttles: throttled tries of one URL before it is given up.
        patience: breakdowns of a host in a row that do not yet make it rest.
    """

    base: float = 1.0
    retry_base: float = 2.0
    factor: float = 2.0
    cap: float = 3600.0
    retry_after_cap: float = 86_400.0
    jitter: float = 0.25
    max_retries: int = 2
    max_throttles: int = 12
    patience: int = 3

    def __post_init__(self) -> None:
        waits = (self.base, self.retry_base, self.cap, self.retry_after_cap)
        if not all(math.isfinite(wait) and wait > 0 for wait in waits):
            raise ConfigError(f"back-off waits {waits} must be finite and above 0 seconds")
        if not (1 < self.factor < 1000 and 0 <= self.jitter <= 1):  # noqa: PLR2004
            raise ConfigError(f"back-off factor {self.factor} must be in 1..1000, jitter in 0..1")
        if min(self.max_retries, self.max_throttles, self.patience) < 0:
            raise ConfigError("numbers of back-off tries must not be negative")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer, or the lack of one, with what is known of the URL and the host before it.

    Args:
        status: HTTP status, None if none came.
        trouble: what spoiled the answer, None if nothing did.
        retry_after: seconds, see `parse_retry_after`; None if absent or unreadable.
        delay: the host's normal delay, seconds.
        tries: broken tries of this URL so far.
        throttled: throttled tries of this URL so far.
        host_throttles: throttles of the host in a row so far.
        host_failures: breakdowns of the host in a row so far.
    """

    status: int | None = None
    trouble: Trouble | None = None
    retry_after: float | None = None
    delay: float = 0.0
    tries: int = 0
    throttled: int = 0
    host_throttles: int = 0
    host_failures: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with the URL and with its host; times are crawl-clock seconds.

    The URL: with an `outcome` it is done; with `retry_at` it goes back, not before that time; with
    neither it has an answer to work on (2xx, 3xx). The host: nothing is sent to it before
    `blocked_until`; None leaves it as it is. The four counters replace those of the `Attempt`.
    """

    outcome: Outcome | None = None
    retry_at: float | None = None
    blocked_until: float | None = None
    tries: int = 0
    throttled: int = 0
    host_throttles: int = 0
    host_failures: int = 0


_FINE = Verdict()


class Backoff:
    """Judges attempts; stateless but for the injected random numbers.

    Invariants: no wait is shorter than the host's delay or than its Retry-After up to the
    cap; every URL ends after at most ``max_retries + max_throttles + 1`` bad tries.
    """

    __slots__ = ("_options", "_rng")

    def __init__(self, options: BackoffOptions, rng: random.Random) -> None:
        self._options = options
        self._rng = rng

    def judge(self, attempt: Attempt, now: float) -> Verdict:
        """Return what follows from an attempt that ended at `now`.

        The status decides first; a spoiled body matters only where a body is wanted (2xx).

        Spec: RFC 9110 §10.2.3 and §15, RFC 6585 §4.
        """
        status, trouble = attempt.status, attempt.trouble
        if status is None or (200 <= status < 300 and trouble is not None):  # noqa: PLR2004
            return self._spoiled(attempt, now)
        if 200 <= status < 400:  # noqa: PLR2004
            return self._answered(attempt, now)
        if status in _THROTTLES:
            return self._throttled(attempt, now)
        if status in _TRY_AGAIN:
            return self._broken(attempt, now, Outcome.REFUSED)
        if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
            outcome = Outcome.GONE if status in _GONE else Outcome.REFUSED
            return Verdict(outcome=outcome, blocked_until=self._asked(attempt, now))
        return self._broken(attempt, now, Outcome.FAILED_SERVER)

    def _answered(self, attempt: Attempt, now: float) -> Verdict:
        """Let a 2xx or 3xx pass; a redirect may ask to wait before the next request."""
        if attempt.retry_after is None or (attempt.status or 0) < HTTPStatus.MULTIPLE_CHOICES:
            return _FINE
        return Verdict(blocked_until=self._asked(attempt, now))

    def _spoiled(self, attempt: Attempt, now: float) -> Verdict:
        outcome = _FINAL_TROUBLE.get(attempt.trouble) if attempt.trouble else None
        if outcome is None:
            return self._broken(attempt, now, Outcome.FAILED_NETWORK)
        if outcome is Outcome.FAILED_ADDRESS:  # nothing was sent: it says nothing of the host
            return Verdict(outcome, None, None, 0, 0, attempt.host_throttles, attempt.host_failures)
        return Verdict(outcome)

    def _throttled(self, attempt: Attempt, now: float) -> Verdict:
        options = self._options
        first = max(options.base, options.factor * attempt.delay)
        wait = max(self._wait(first, attempt.host_throttles), self._asked_seconds(attempt))
        throttled = attempt.throttled + 1
        over = throttled > options.max_throttles
        until = now + max(wait, attempt.delay)
        return Verdict(
            outcome=Outcome.FAILED_THROTTLED if over else None,
            retry_at=None if over else until,
            blocked_until=until,
            tries=attempt.tries,
            throttled=throttled,
            host_throttles=attempt.host_throttles + 1,
            host_failures=0,
        )

    def _broken(self, attempt: Attempt, now: float, outcome: Outcome) -> Verdict:
        options = self._options
        tries = attempt.tries + 1
        over = tries > options.max_retries
        first = max(options.retry_base, options.factor * attempt.delay)
        wait = max(self._wait(first, attempt.tries), self._asked_seconds(attempt))
        return Verdict(
            outcome=outcome if over else None,
            retry_at=None if over else now + max(wait, attempt.delay),
            blocked_until=self._rest(attempt, now),
            tries=tries,
            throttled=attempt.throttled,
            host_throttles=attempt.host_throttles,
            host_failures=attempt.host_failures + 1,
        )

    def _rest(self, attempt: Attempt, now: float) -> float | None:
        """Return until when a host rests that broke down several times in a row."""
        beyond = attempt.host_failures - self._options.patience
        asked = self._asked(attempt, now)
        if beyond < 0:
            return asked
        first = max(self._options.base, self._options.factor * attempt.delay)
        rest = now + max(self._wait(first, beyond), attempt.delay)
        return rest if asked is None else max(asked, rest)

    def _wait(self, first: float, steps: int) -> float:
        """Return the wait after `steps` earlier ones: exponential, capped, lengthened a little."""
        options = self._options
        grown = first * options.factor ** min(steps, _MAX_EXPONENT)
        return min(grown * (1.0 + options.jitter * self._rng.random()), options.cap)

    def _asked_seconds(self, attempt: Attempt) -> float:
        return min(attempt.retry_after or 0.0, self._options.retry_after_cap)

    def _asked(self, attempt: Attempt, now: float) -> float | None:
        seconds = self._asked_seconds(attempt)
        return now + seconds if seconds > 0 else None
