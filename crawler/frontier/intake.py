"""What becomes of URLs when they are found: known, rejected with a reason, or queued."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from crawler.frontier.entry import Entry
from crawler.model import Reason
from crawler.urls import fingerprint, host_key

if TYPE_CHECKING:
    from crawler.frontier.counts import Counts
    from crawler.frontier.guard import Guard
    from crawler.frontier.hosts import Host
    from crawler.frontier.options import FrontierOptions
    from crawler.frontier.seen import SeenSet, State
    from crawler.model import Discovery, Fingerprint, HostKey

Admission = Callable[[str], Reason | None]
Key = Callable[[str], str]


class Intake:
    """Enters new URLs in the books: the seen set, the counts and the queues.

    Invariant: a known URL is never taken again, unless it was rejected for the way it was found
    and is found in a better one, or what the guard had against it has ceased to hold.

    Args:
        options: Bounds.
        seen: Which URLs are known.
        counts: Of the crawl.
        admit: Asked once per new URL, from the URL alone: why it is never to be fetched.
        key: URL → comparison key.
        guard: Asked about each new URL that was admitted; None objects to nothing.
        host: Returns the host of a key.
        enqueue: Queues a URL at its host.
    """

    def __init__(
        self,
        options: FrontierOptions,
        seen: SeenSet,
        counts: Counts,
        *,
        admit: Admission,
        key: Key,
        guard: Guard | None,
        host: Callable[[HostKey], Host],
        enqueue: Callable[[Entry, Host], None],
    ) -> None:
        self._options = options
        self._seen = seen
        self._counts = counts
        self._admit = admit
        self._key = key
        self._guard = guard
        self._host = host
        self._enqueue = enqueue

    def take_all(self, found: Discovery) -> list[Host]:
        """Take the URLs that are new; return the host of each that was queued."""
        keys = [host_key(url) for url in found.urls]
        marks = [
            fingerprint(key, self._key(url) + found.variant)
            for key, url in zip(keys, found.urls, strict=True)
        ]
        known = self._seen.known(marks)
        reached: list[Host] = []
        for url, key, mark in zip(found.urls, keys, marks, strict=True):
            if mark in known and not self._second_chance(url, known[mark], found):
                continue
            taken = self._take(url, key, mark, found)
            if isinstance(taken, Reason):
                known[mark] = taken
            else:
                known[mark] = None
                reached.append(taken)
        return reached

    def retake(self, found: Discovery, reason: Reason) -> Host | None:
        """Take one URL that was rejected as if it were new; return its host if it was queued."""
        self._take_back(reason)
        (url,) = found.urls
        key = host_key(url)
        taken = self._take(url, key, fingerprint(key, self._key(url)), found)
        return None if isinstance(taken, Reason) else taken

    def is_used_up(self, host: Host) -> bool:
        """Whether a host has had as many first fetches as it may have."""
        return 0 < self._options.host_budget <= host.used

    def _take_back(self, reason: Reason) -> None:
        """Undo in the books that a URL was rejected."""
        self._counts.rejected[reason] -= 1
        self._counts.discovered -= 1

    def _second_chance(self, url: str, state: State, found: Discovery) -> bool:
        """Whether a URL that was rejected is to be looked at anew, having been found again."""
        if not isinstance(state, Reason):
            return False
        better = (
            (state is Reason.DEPTH and not self._too_deep(found))
            or (state is Reason.REDIRECTS and found.redirects <= self._options.max_redirects)
            or (self._guard is not None and self._guard.reconsiders(url, state))
        )
        if better:
            self._take_back(state)
        return better

    def _take(self, url: str, key: HostKey, mark: Fingerprint, found: Discovery) -> Host | Reason:
        """Enter a new URL in the books; return its host if it was queued, or why it was not."""
        self._counts.discovered += 1
        verdict = self._verdict(url, found)
        if not isinstance(verdict, Reason):
            host = self._host(key)
            if not self.is_used_up(host):
                self._seen.set(mark, None)
                self._enqueue(_entry(url, mark, found, priority=verdict), host)
                return host
            verdict = Reason.HOST_BUDGET
        self._seen.set(mark, verdict)
        self._counts.rejected[verdict] += 1
        return verdict

    def _verdict(self, url: str, found: Discovery) -> Reason | int:
        """Return why a URL is rejected, or the priority with which it may be queued."""
        reason = self._admit(url) or self._refuse(found)
        if reason is not None:
            return reason
        if self._guard is None or found.payload:
            return found.priority
        return self._guard.admit(url, found)

    def _too_deep(self, found: Discovery) -> bool:
        return 0 < self._options.max_depth < found.depth

    def _refuse(self, found: Discovery) -> Reason | None:
        if self._too_deep(found):
            return Reason.DEPTH
        return Reason.REDIRECTS if found.redirects > self._options.max_redirects else None


def _entry(url: str, mark: Fingerprint, found: Discovery, *, priority: int) -> Entry:
    return Entry(
        url=url,
        fingerprint=mark,
        priority=priority,
        depth=found.depth,
        referrer=found.referrer,
        redirects=found.redirects,
        copies=found.copies,
        payload=found.payload,
    )
