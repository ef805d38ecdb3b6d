"""What a crawl knows of one URL, and why it treats it as it does.

Reads a job directory, also while the crawl runs: then it says what the last commits have.
"""

from __future__ import annotations

import struct
from contextlib import closing
from typing import TYPE_CHECKING

from crawler.admission import Admission
from crawler.charter import Charter
from crawler.clock import iso_utc
from crawler.directory import store_of
from crawler.errors import ConfigError, StoreError
from crawler.facts import (
    Explanation,
    spelling,
    tell_entry,
    tell_host,
    tell_kept,
    tell_likes,
    tell_row,
)
from crawler.frontier import Entry, RocksEngine, Table
from crawler.frontier.seen import CODES
from crawler.frontier.snapshot import read_host
from crawler.ledger import Ledger
from crawler.lookout import FrontierRows
from crawler.model import Allow, Deny, Outcome, Reason, Wait
from crawler.numbers import counted
from crawler.politeness import Robots
from crawler.stores import CATALOG
from crawler.traps import REVOCABLE, Traps
from crawler.urls import Canonicalizer, fingerprint, host_hash, host_key
from crawler.urls import origin as origin_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

    from crawler.config import Config
    from crawler.frontier import Engine, Host
    from crawler.model import Fingerprint
    from crawler.store import PageRow
    from crawler.store.catalog import Catalog

_TRIES = 3  # a running crawl may remove a file while its store is being opened
_MOST_ROWS = 1_000_000  # of a queue that are looked through
_ROWS_AT_ONCE = 10_000
_MOST_STEPS = 20  # of the way from a seed
_MOST_VISITS = 100
_BY_A_PROBE = (
    "when a probe shows that its like bring something, and in a crawl with TRAPS_ENABLED=false"
)
_UNLESS = {
    **dict.fromkeys(REVOCABLE, _BY_A_PROBE),
    Reason.DEPTH: "when a shorter way to it is found",
    Reason.REDIRECTS: "when it is found through fewer redirects",
}
_MOMENT = struct.Struct(">d")


def explain(directory: Path, asked: str, config: Config, *, now: float, rng: Random) -> Explanation:
    """Say what a crawl knows of a URL, and what it would do with it.

    Args:
        directory: The job directory; the crawl may be running.
        asked: Any spelling of the URL.
        config: The settings with which the crawl runs.
        now: Crawl time.
        rng: For the robots rules, which draw waits from it; nothing is drawn here.

    Raises:
        ConfigError: It is no http(s) URL.
        StoreError: There is no crawl, or its store cannot be read.
    """
    canonicalizer = Canonicalizer(config.urls)
    url = canonicalizer.normalize(asked)
    if url is None:
        raise ConfigError(f"{asked!r} is no http or https URL that could be fetched")
    found = Explanation(asked, url, canonicalizer.key(url))
    for name, text in spelling(asked, found, config.urls):
        found.add(name, text)
    engine = _open(store_of(directory))
    with closing(engine):
        _Reader(directory, engine, config, rng, now).tell(found)
    return found


def _open(store: Path) -> RocksEngine:
    for _ in range(_TRIES - 1):
        try:
            return RocksEngine(store, read_only=True)
        except StoreError:
            continue
    return RocksEngine(store, read_only=True)


class _Reader:
    """Reads one store for one explanation."""

    def __init__(
        self, directory: Path, engine: Engine, config: Config, rng: Random, now: float
    ) -> None:
        self._directory = directory
        self._engine = engine
        self._config = config
        self._now = now
        canonicalizer = Canonicalizer(config.urls)
        self._robots = Robots(config.robots, rng, canonicalizer.resolve, Ledger(engine).robots)
        self._charter = Charter.read(engine)
        self._traps = Traps(config.traps, FrontierRows(engine))

    def tell(self, found: Explanation) -> None:
        """Add everything that is known."""
        key = host_key(found.url)
        host = read_host(self._engine, key)
        marks = [fingerprint(key, found.key), fingerprint(key, f"{found.key} {found.url}")]
        codes = self._engine.get_many(Table.SEEN, marks)
        known = next(((m, c) for m, c in zip(marks, codes, strict=True) if c is not None), None)
        if known is None:
            self._would_be(found, host)
        else:
            self._is(found, known[0], CODES[known[1]], host)
        self._of_catalog(found, known[0] if known is not None else marks[0])
        tell_likes(found, self._traps.assess(found.url))
        found.add("robots.txt", self._rules(found.url), **self._rules_as_values(found.url))
        tell_host(found, host, self._config, self._now)

    def _is(
        self,
        found: Explanation,
        mark: Fingerprint,
        state: Outcome | Reason | None,
        host: Host | None,
    ) -> None:
        if isinstance(state, Outcome):
            found.state = f"outcome/{state.value}"
            found.verdict = "It was fetched, and that is how it ended."
        elif isinstance(state, Reason):
            found.state = f"rejected/{state.value}"
            why, unless = self._why(state, found.url, host), _UNLESS.get(state)
            found.verdict = (
                f"It is never fetched: {why}."
                if unless is None
                else f"It is not fetched now: {why}. It will be {unless}."
            )
            seeds = self._charter.seeds if self._charter is not None else ()
            tell_kept(found, self._traps.kept(found.url), seed=found.url in seeds)
        else:
            self._on_its_way(found, mark, host)

    def _on_its_way(self, found: Explanation, mark: Fingerprint, host: Host | None) -> None:
        waiting = self._engine.get_many(Table.WAITING, [mark])[0]
        if waiting is not None:
            due = _MOMENT.unpack_from(waiting)[0]
            found.state = "waiting"
            found.details["queue"] = {"ahead": None, "due_at": iso_utc(due)}
            found.verdict = f"It is tried again, not before {iso_utc(due)}."
            tell_entry(found, Entry.decode(waiting[_MOMENT.size :]))
            return
        found.state = "queued"
        ahead, entry = self._find_queued(found.url, mark)
        when = max(host.clock if host is not None else self._now, self._now)
        found.details["queue"] = {"ahead": ahead, "due_at": iso_utc(when)}
        found.verdict = (
            f"It will be fetched: {counted(ahead, 'URL of its origin')} go first, and its host may "
            f"be asked {'now' if when <= self._now else f'from {iso_utc(when)} on'}."
        )
        if entry is not None:
            tell_entry(found, entry)

    def _find_queued(self, url: str, mark: Fingerprint) -> tuple[int, Entry | None]:
        """Return how many rows stand before a queued URL, and its own."""
        prefix, after, ahead = host_hash(origin_of(url)), b"", 0
        while ahead < _MOST_ROWS:
            rows = self._engine.scan(
                Table.QUEUE, prefix=prefix, after=after or prefix, limit=_ROWS_AT_ONCE
            )
            for key, row in rows:
                if row.find(mark) >= 0:
                    entry = Entry.decode(row)
                    if entry.fingerprint == mark:
                        return ahead, entry
                ahead += 1
                after = key
            if len(rows) < _ROWS_AT_ONCE:
                break
        return ahead, None

    def _would_be(self, found: Explanation, host: Host | None) -> None:
        """Say what would become of a URL that was never found."""
        reason = self._admission().verdict(found.url)
        budget = self._config.frontier.host_budget
        if reason is None and host is not None and 0 < budget <= host.used:
            reason = Reason.HOST_BUDGET
        answer = self._robots.check(found.url, origin_of(found.url), self._now)
        if reason is None and self._config.traps.enabled:
            reason = self._traps.assess(found.url).reason
        if reason is None and isinstance(answer, Deny):
            reason = Reason.ROBOTS
        if reason is not None:
            why = self._why(reason, found.url, host)
            found.verdict = f"No link to it was found. It would be rejected: {why}."
        elif isinstance(answer, Allow):
            found.verdict = "No link to it was found. It would be fetched."
        elif isinstance(answer, Wait):
            found.verdict = "No link to it was found. It would wait for its robots.txt."
        else:
            found.verdict = "No link to it was found. Its robots.txt would be fetched first."

    def _admission(self) -> Admission:
        charter = self._charter
        if charter is None:
            return Admission((), None, self._config.url_filter((), ()), self._config.networks)
        url_filter = self._config.url_filter(
            charter.allow, charter.deny, only_pages=charter.only_pages
        )
        return Admission(charter.seeds, charter.make_scope(), url_filter, self._config.networks)

    def _why(self, reason: Reason, url: str, host: Host | None) -> str:
        """Return a reason with the rule and the figures behind it."""
        charter, options = self._charter, self._config.frontier
        match reason:
            case Reason.SCOPE if charter is not None:
                return f"scope, it is outside the {charter.scope}s of {_some(charter)}"
            case Reason.DENIED if charter is not None:
                return f"denied, by one of the patterns {' '.join(charter.deny)}"
            case Reason.NOT_ALLOWED if charter is not None:
                return f"not_allowed, none of the patterns {' '.join(charter.allow)} is found in it"
            case Reason.HOST_BUDGET:
                used = host.used if host is not None else 0
                return f"host_budget, {used:,} of FRONTIER_HOST_BUDGET={options.host_budget:,}"
            case Reason.ROBOTS:
                return f"robots, {self._rules(url)}"
            case Reason.DEPTH:
                most = charter.max_depth if charter is not None else options.max_depth
                return f"depth, more than {counted(most, 'link')} from a seed"
            case Reason.REDIRECTS:
                return f"redirects, more than FRONTIER_MAX_REDIRECTS={options.max_redirects}"
            case _:
                return f"{reason.value}, {self._rule(reason, url) or _limits(reason, url)}"

    def _rule(self, reason: Reason, url: str) -> str:
        """Say which rule of the traps stopped a URL; empty when it was another reason."""
        if reason not in REVOCABLE:
            return ""
        rule = self._traps.assess(url).rule
        return rule or "a rule that has fallen since: it is fetched when it is found again"

    def _rules(self, url: str) -> str:
        """Say what robots.txt says of a URL, by which line, and how old the copy is."""
        origin = origin_of(url)
        if not self._config.robots.enabled:
            return "not obeyed: ROBOTS_ENABLED is off"
        answer = self._robots.check(url, origin, self._now)
        state = f"state {self._robots.state(origin)}"
        copied = self._robots.copied_at(origin)
        age = f", copy of {iso_utc(copied)}" if copied is not None else ""
        rules = self._robots.rules(origin)
        decision = rules.decide(url) if rules is not None else None
        if decision is not None and not decision.allowed:
            return f"line {decision.line} ({decision.rule}) forbids it; {state}{age}"
        if decision is not None or isinstance(answer, Allow):
            return f"allows it; {state}{age}"
        due = self._robots.next_try_at(origin)
        again = f", asked for again at {iso_utc(due)}" if due is not None else ""
        return f"not known; {state}{again}"

    def _rules_as_values(self, url: str) -> dict[str, object]:
        """Return what robots.txt says of a URL, for programs."""
        origin, obeyed = origin_of(url), self._config.robots.enabled
        rules = self._robots.rules(origin)
        decision = rules.decide(url) if rules is not None else None
        copied = self._robots.copied_at(origin)
        return {
            "obeyed": obeyed,
            "state": self._robots.state(origin),
            "allowed": decision.allowed if decision is not None else None,
            "line": decision.line if decision is not None else None,
            "rule": decision.rule if decision is not None else None,
            "copied_at": iso_utc(copied) if copied is not None else None,
        }

    def _of_catalog(self, found: Explanation, mark: Fingerprint) -> None:
        place = self._config.store.catalog_url or str(self._directory / CATALOG)
        if not self._config.store.catalog:
            return
        from crawler.store.catalog import Catalog  # SQLAlchemy takes a while to import

        try:
            with closing(Catalog.open(place, read_only=True)) as catalog:
                row = catalog.page(mark)
                if row is not None:
                    tell_row(found, row, len(catalog.history(row.url_hash, limit=_MOST_VISITS)))
                    way = list(self._way(row, catalog))
                    found.add("way", " ← ".join(way), urls=way)
        except StoreError as error:
            found.add("catalog", f"cannot be read: {error}")

    def _way(self, row: PageRow, catalog: Catalog) -> Iterator[str]:
        """Yield the URLs from a page back to its seed."""
        canonicalizer = Canonicalizer(self._config.urls)
        for _ in range(_MOST_STEPS):
            if row.referrer is None:
                return
            yield row.referrer
            mark = fingerprint(host_key(row.referrer), canonicalizer.key(row.referrer))
            before = catalog.page(mark)
            if before is None or before.referrer == row.referrer:
                return
            row = before


def _some(charter: Charter) -> str:
    shown = ", ".join(host_key(seed) for seed in charter.seeds[:3])
    further = len(charter.seeds) - 3 + charter.more
    return f"{shown} and {further:,} more" if further > 0 else shown


def _limits(reason: Reason, url: str) -> str:
    """Return the figure that a limit is compared with."""
    match reason:
        case Reason.URL_LENGTH:
            return f"it has {len(url):,} characters"
        case Reason.PATH_SEGMENTS:
            return f"its path has {url.count('/') - 2:,} segments"
        case Reason.QUERY_PARAMETERS:
            return f"it has {url.count('&') + 1:,} parameters"
        case Reason.EXTENSION:
            return "its path ends as that of a file that is no page (FRONTIER_SKIP_EXTENSIONS)"
        case Reason.UNREACHABLE:
            return "its host does not exist, as look-ups of its name have said time after time"
        case Reason.ADDRESS:
            return "its host has an address that may not be reached (SAFETY_ALLOWED_NETWORKS)"
        case _:
            return "see docs/output.md"
