"""What an answer, or none, means for its URL and its host: from Scrapy's terms to the stages'."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadTimeoutError,
)
from scrapy.http import Response

from crawler.model import Outcome
from crawler.politeness import (
    Attempt,
    Backoff,
    Effort,
    RobotsAnswer,
    Trouble,
    Verdict,
    parse_retry_after,
)
from crawler.urls import host_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from twisted.python.failure import Failure

    from crawler.commit import GroupCommit
    from crawler.frontier import Frontier, Host
    from crawler.frontier.entry import Entry
    from crawler.visits import Visit


INTERRUPTED = "dataloss"
"""Scrapy's flag on a response whose body is not all that was announced."""
STOPPED = "download_stopped"
"""Scrapy's flag on a response whose transfer we have ended, because enough has come."""
KEEP_INTERRUPTED = {"download_fail_on_dataloss": False}
"""The ``request.meta`` of those who want such a body if no try brings a better one."""


_CPU_PER_BYTE = 3e-9  # seconds that receiving takes: 50 ms for 16 MiB
_CPU_OF_TOO_MUCH = 0.05  # seconds: about as much, when an answer was given up as too large


class Consequences:
    """Has answers judged, makes hosts rest, and notes with the visit what its URL is to do."""

    def __init__(
        self,
        frontier: Frontier,
        backoff: Backoff,
        commits: GroupCommit,
        *,
        now: Callable[[], float],
        retry_after_cap: float,
        cpu_burst: float,
    ) -> None:
        self._frontier = frontier
        self._backoff = backoff
        self._commits = commits
        self._now = now
        self._retry_after_cap = retry_after_cap
        self._effort = Effort(cpu_burst)

    def judge(
        self,
        visit: Visit,
        *,
        status: int | None = None,
        trouble: Trouble | None = None,
        retry_after: bytes | None = None,
    ) -> None:
        """Draw the consequences of an answer for its host, and note those for its URL."""
        # by its key: after a robots.txt the host may have left memory, and be another object now
        host = self._frontier.host(visit.lease.host.key)
        verdict = self._judge(host, visit.lease.entry, status, trouble, retry_after)
        visit.outcome, visit.retry_at = verdict.outcome, verdict.retry_at
        visit.tries, visit.throttles = verdict.tries, verdict.throttled

    def charge(self, visit: Visit) -> None:
        """Make a host rest whose answers cost more than its share of our time."""
        response = visit.answer.response if visit.answer is not None else None
        received = response.body if response is not None else b""
        cost = visit.cost + len(received) * _CPU_PER_BYTE
        thrown_away = response is not None and not received and INTERRUPTED in response.flags
        if thrown_away or visit.outcome is Outcome.FAILED_SIZE:
            cost += _CPU_OF_TOO_MUCH
        now, key = self._now(), visit.lease.host.key
        rest = self._effort.rest(key, cost, now)
        if rest:
            self._frontier.block(self._frontier.host(key), now + rest, now)

    def judge_download(self, url: str, status: int, retry_after: bytes | None) -> None:
        """Draw the consequences for its host of an answer that belongs to no visit."""
        self._judge(self._frontier.host(host_key(url)), None, status, None, retry_after)

    def robots_answer(self, result: Response | Failure) -> RobotsAnswer:
        """Return what came of a fetch of robots.txt."""
        if not isinstance(result, Response):
            return RobotsAnswer(None, error=trouble_of(result.value).value)
        header = result.headers.get
        location = header("Location")
        return RobotsAnswer(
            result.status,
            body=result.body,
            location=location_text(location) if location else None,
            retry_after=self._retry_after(header("Retry-After")),
        )

    def _judge(
        self,
        host: Host,
        entry: Entry | None,
        status: int | None,
        trouble: Trouble | None,
        retry_after: bytes | None,
    ) -> Verdict:
        now = self._now()
        verdict = self._backoff.judge(
            Attempt(
                status=status,
                trouble=trouble,
                retry_after=self._retry_after(retry_after),
                delay=self._frontier.host_delay(host),
                tries=entry.tries if entry is not None else 0,
                throttled=entry.throttles if entry is not None else 0,
                host_throttles=host.throttles,
                host_failures=host.failures,
            ),
            now,
        )
        host.throttles, host.failures = verdict.host_throttles, verdict.host_failures
        if verdict.blocked_until is not None:
            self._frontier.block(host, verdict.blocked_until, now)
            self._commits.soon = True  # a crash must not shorten what the server asked for
        return verdict

    def _retry_after(self, value: bytes | None) -> float | None:
        return parse_retry_after(value, self._now(), self._retry_after_cap) if value else None


def keeps_interrupted(request: Request) -> bool:
    """Whether a body that is cut short on every try is better than none for this request."""
    return request.meta.get("download_fail_on_dataloss") is False


def trouble_of(exception: BaseException | None) -> Trouble:
    """Name what kept an answer from coming."""
    if isinstance(exception, CannotResolveHostError):
        return Trouble.DNS
    if isinstance(exception, DownloadTimeoutError):
        return Trouble.TIMEOUT
    if isinstance(exception, DownloadCancelledError):
        return Trouble.SIZE
    if "ssl" in type(exception).__module__.lower() or "certificate" in str(exception).lower():
        return Trouble.TLS
    return Trouble.NETWORK


def location_text(value: bytes) -> str:
    """Return a Location header as text: UTF-8, or else with each odd byte percent-encoded.

    Spec: RFC 3986 §2.5; Fetch §4.4 (location URL).
    """
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "".join(chr(b) if b < 0x80 else f"%{b:02X}" for b in value)  # noqa: PLR2004
