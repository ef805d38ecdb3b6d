"""The life of a robots.txt, one state machine per origin; see the package for the diagram.

It fetches nothing: `Robots.check` says what is to be fetched, `Robots.record` is told what came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.model import Deny, Fetch, Wait
from crawler.politeness.copies import Copies
from crawler.politeness.gates import ALLOW, PENDING, State
from crawler.politeness.site import Site, packed_copy, restored

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from crawler.model import Gate, Origin
    from crawler.politeness.gates import RobotsAnswer, RobotsOptions
    from crawler.politeness.rules import RobotsRules
    from crawler.politeness.site import Plain

_MAX_EXPONENT = 60
_JITTER = 0.25
_PATH = "/robots.txt"
_TOO_MANY_REQUESTS = 429
_NOT_MODIFIED = 304


class Robots:
    """Answers, for each URL, whether robots.txt lets it go now.

    Invariants: no URL passes without an answer of its own origin's file that is at most
    ``max_age`` old, or older only while refreshing fails; an unreachable file is permission
    for nothing; what a redirect target says counts for the origin that was asked, not for the
    target's own. Nothing raises.

    Cost: `check` is one dictionary look-up and one `RobotsRules.decide`. Memory: about 0.3 KB
    an origin and its name (more while a redirect is followed), and the bounded `Copies`.
    """

    __slots__ = ("_copies", "_options", "_recall", "_resolve", "_rng", "_sites")

    def __init__(
        self,
        options: RobotsOptions,
        rng: random.Random,
        resolve: Callable[[str, str], str | None],
        recall: Callable[[Origin], Mapping[str, object] | None] | None = None,
    ) -> None:
        """Start knowing nothing.

        Args:
            options: see `RobotsOptions`.
            rng: for the jitter of retries.
            resolve: (base URL, Location) to an absolute http(s) URL, or None if there is none.
            recall: gives back what `dump` gave for an origin; asked when memory has it not.
        """
        self._options = options
        self._rng = rng
        self._resolve = resolve
        self._recall = recall
        self._sites: dict[Origin, Site] = {}
        self._copies = Copies(options.token, options.max_bytes, self._recalled_copy)

    def check(self, url: str, origin: Origin, now: float) -> Gate:
        """Say whether `url` of `origin` may be fetched at `now`, or what must come first."""
        if not self._options.enabled:
            return ALLOW
        site = self._sites.get(origin) or self._recalled(origin)
        if site is None:
            return Fetch(origin + _PATH)
        if site.fetching:
            return PENDING
        if not site.answered_at <= now < site.until:
            return _next_fetch(site, origin)
        if site.has_copy:
            return self._decide(site, url, origin)
        if site.state is State.ALLOW_ALL or site.state is State.OUTAGE_ALLOW:
            return ALLOW
        return Wait(site.until)

    def started(self, origin: Origin) -> None:
        """Note that the fetch was handed out: until it is recorded, `check` says Pending."""
        self._known(origin).fetching = True

    def abandoned(self, origin: Origin) -> None:
        """Note that the fetch will never be recorded: it is due again, from the first hop."""
        site = self._known(origin)
        site.fetching = False
        site.hops = ()

    def record(self, origin: Origin, answer: RobotsAnswer, now: float) -> None:
        """Take the answer to the last Fetch of `origin`; the status decides before the body.

        Spec: RFC 9309 §2.3.1.1 (2xx), §2.3.1.2 (3xx), §2.3.1.3 (4xx), §2.3.1.4 (all else).
        Deviation (RFC 9309 §2.3.1.3): 429 counts as unreachable, because it says "not now" and
        not "there is none".
        """
        site = self._known(origin)
        site.fetching = False
        site.answered_at = now
        site.status = status = answer.status
        kind = 0 if status is None or status == _TOO_MANY_REQUESTS else status // 100
        if kind == 2 and answer.error is None:  # noqa: PLR2004 - 2xx
            self._take_rules(site, origin, answer.body, now)
        elif status == _NOT_MODIFIED and site.has_copy:
            self._good(site, State.RULES, now)
        elif kind == 3:  # noqa: PLR2004 - 3xx
            self._redirected(site, origin, answer, now)
        elif kind == 4:  # noqa: PLR2004 - 4xx
            self._allow_all(site, origin, now)
        else:
            self._unreachable(site, answer.retry_after, now)

    def crawl_delay(self, origin: Origin) -> float | None:
        """Return the seconds the site asks for between requests, capped; None if it does not."""
        site = self._find(origin)
        if site is None or site.delay is None or not self._options.enabled:
            return None
        return min(site.delay, self._options.crawl_delay_cap)

    def rules(self, origin: Origin) -> RobotsRules | None:
        """Return the rules that apply, None where no copy applies."""
        site = self._find(origin)
        return self._copies.rules(origin) if site and site.has_copy else None

    def sitemaps(self, origin: Origin) -> tuple[str, ...]:
        """Return the sitemap values of the copy as written; they may be relative."""
        rules = self.rules(origin)
        return () if rules is None else rules.sitemaps

    def state(self, origin: Origin) -> str:
        """Return the name of the origin's state, one of `State`, for explain and stats."""
        site = self._find(origin) or Site()
        return (State.FETCHING if site.fetching else site.state).value

    def status(self, origin: Origin) -> int | None:
        """Return the HTTP status of the last answer, None if there was none."""
        return (self._find(origin) or Site()).status

    def copied_at(self, origin: Origin) -> float | None:
        """Return when the copy in use was last known to be current (crawl-clock seconds)."""
        return (self._find(origin) or Site()).copied_at

    def next_try_at(self, origin: Origin) -> float | None:
        """Return when robots.txt is due next (crawl-clock seconds); None: never asked for yet."""
        return (self._find(origin) or Site()).until or None

    def dump(self, origin: Origin) -> dict[str, Plain]:
        """Return the state as plain values for `load`; empty if nothing is known.

        A fetch under way is not part of it: after a restart it is simply due.
        """
        site = self._sites.get(origin)
        if site is None or site.state is State.UNKNOWN:
            return {}
        return site.plain(self._copies.packed(origin) if site.has_copy else None)

    def load(self, origin: Origin, values: Mapping[str, object]) -> None:
        """Restore what `dump` gave; what cannot be read leaves the origin unknown."""
        options = self._options
        site = restored(values, max(options.unreachable_cap, options.retry_after_cap))
        if site is None:
            return
        if site.has_copy:
            packed = packed_copy(values)
            if packed is None or not self._copies.put_packed(origin, packed):
                return
        if site.state is State.RULES or site.state is State.ALLOW_ALL:
            site.until = min(site.until, site.answered_at + options.max_age)
        self._sites[origin] = site

    def forget(self, origin: Origin) -> None:
        """Drop an origin from memory; the next check recalls it or fetches anew."""
        self._sites.pop(origin, None)
        self._copies.drop(origin)

    def _find(self, origin: Origin) -> Site | None:
        return self._sites.get(origin) or self._recalled(origin)

    def _known(self, origin: Origin) -> Site:
        return self._find(origin) or self._sites.setdefault(origin, Site())

    def _decide(self, site: Site, url: str, origin: Origin) -> Gate:
        rules = self._copies.rules(origin)
        if rules is None:  # evicted, and no store to recall it from
            self._sites[origin] = site = Site()
            return _next_fetch(site, origin)
        decision = rules.decide(url)
        return ALLOW if decision.allowed else Deny(decision.rule, decision.line)

    def _good(self, site: Site, state: State, now: float) -> None:
        site.state = state
        site.until = now + self._options.max_age
        site.copied_at = now if state is State.RULES else None
        site.failures = 0
        site.failed_since = None
        site.hops = ()

    def _take_rules(self, site: Site, origin: Origin, body: bytes, now: float) -> None:
        site.delay = self._copies.put(origin, body).crawl_delay
        self._good(site, State.RULES, now)

    def _allow_all(self, site: Site, origin: Origin, now: float) -> None:
        site.delay = None
        self._copies.drop(origin)
        self._good(site, State.ALLOW_ALL, now)

    def _redirected(self, site: Site, origin: Origin, answer: RobotsAnswer, now: float) -> None:
        """Follow one hop; a loop, or one hop too many, means there is no file (§2.3.1.2)."""
        at = _next_fetch(site, origin).url
        target = self._resolve(at, answer.location) if answer.location else None
        if target is None:
            self._unreachable(site, answer.retry_after, now)
        elif (
            target in {origin + _PATH, *site.hops} or len(site.hops) >= self._options.max_redirects
        ):
            self._allow_all(site, origin, now)
        else:
            site.hops = (*site.hops, target)
            site.until = now  # the next hop is due at once, as far as we are concerned

    def _unreachable(self, site: Site, retry_after: float | None, now: float) -> None:
        """Wait longer each time; a copy goes on applying, no copy means nothing is allowed."""
        site.hops = ()
        site.failed_since = now if site.failed_since is None else site.failed_since
        site.until = now + self._retry_wait(site.failures, retry_after)
        site.failures += 1
        if site.has_copy:
            site.state = State.STALE
        elif self._outage_allows(site.failed_since, now):
            site.state = State.OUTAGE_ALLOW
        else:
            site.state = State.DISALLOW_ALL

    def _outage_allows(self, since: float, now: float) -> bool:
        options = self._options
        return options.long_outage_policy == "allow" and now - since >= options.long_outage

    def _retry_wait(self, failures: int, retry_after: float | None) -> float:
        """Return seconds: our own growing wait, or the server's if that is longer."""
        options = self._options
        grown = options.unreachable_retry * 2.0 ** min(failures, _MAX_EXPONENT)
        own = min(grown * (1.0 + _JITTER * self._rng.random()), options.unreachable_cap)
        return max(own, min(retry_after or 0.0, options.retry_after_cap))

    def _recalled(self, origin: Origin) -> Site | None:
        values = self._recall(origin) if self._recall else None
        if values:
            self.load(origin, values)
        return self._sites.get(origin)

    def _recalled_copy(self, origin: Origin) -> bytes | None:
        values = self._recall(origin) if self._recall else None
        return packed_copy(values) if values else None


def _next_fetch(site: Site, origin: Origin) -> Fetch:
    return Fetch(site.hops[-1] if site.hops else origin + _PATH)
