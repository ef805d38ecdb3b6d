"""What a crawl knows of one URL, and why it treats it as it does.

Reads a job directory, also while the crawl runs: then it says what the last commits have.
"""

from __future__ import annotations

import struct
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from crawler.admission import Admission
from crawler.charter import Charter
from crawler.clock import iso_utc
from crawler.errors import ConfigError, StoreError
from crawler.frontier import Entry, RocksEngine, Table
from crawler.frontier.seen import CODES
from crawler.frontier.snapshot import read_host
from crawler.ledger import Ledger
from crawler.lookout import FrontierRows
from crawler.model import Allow, Deny, Outcome, Reason, Wait
from crawler.politeness import Robots
from crawler.stores import CATALOG
from crawler.traps import REVOCABLE, Traps
from crawler.urls import Canonicalizer, UrlOptions, fingerprint, host_hash, host_key
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
    from crawler.traps import Assessment

STORE = "frontier"
_TRIES = 3  # a running crawl may remove a file while its store is being opened
_MOST_ROWS = 1_000_000  # of a queue that are looked through
_ROWS_AT_ONCE = 10_000
_MOST_STEPS = 20  # of the way from a seed
_MOMENT = struct.Struct(">d")


@dataclass(slots=True)
class Explanation:
    """What is known of a URL.

    Attributes:
        asked: As it was given.
        url: Normalised, as it is sent.
        key: By which it is compared.
        state: ``unknown``, ``queued``, ``waiting``, ``outcome/NAME`` or ``rejected/NAME``: the
            names of the stats.
        verdict: What becomes of it, in one sentence.
        facts: Name and text, in the order in which one would tell them.
    """

    asked: str
    url: str
    key: str
    state: str = "unknown"
    verdict: str = ""
    facts: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, text: str | None) -> None:
        """Add a fact, if there is something to say."""
        if text:
            self.facts.append((name, text))

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "asked": self.asked,
            "url": self.url,
            "key": self.key,
            "state": self.state,
            "verdict": self.verdict,
            "facts": [{"name": name, "text": text} for name, text in self.facts],
        }


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
    for name, text in _spelling(asked, found, config.urls):
        found.add(name, text)
    engine = _open(directory / STORE)
    with closing(engine):
        _Reader(directory, engine, config, rng, now).tell(found)
    return found


def _open(store: Path) -> RocksEngine:
    if not store.is_dir():
        raise StoreError(
            f"{store.parent} holds no crawl: there is no {store}; name one with -s JOBDIR=PATH"
        )
    for _ in range(_TRIES - 1):
        try:
            return RocksEngine(store, read_only=True)
        except StoreError:
            continue
    return RocksEngine(store, read_only=True)


def _spelling(asked: str, found: Explanation, options: UrlOptions) -> Iterator[tuple[str, str]]:
    """Say which rules made the URL that is sent, and the key that is compared, what they are."""
    plain = Canonicalizer(
        UrlOptions(drop_tracking=False, drop_session_ids=False, drop_empty_parameters=False)
    ).normalize(asked)
    if plain is not None and plain != asked:
        yield "normal form", f"{asked} is written {plain} (RFC 3986 §6.2.2, WHATWG URL)"
    for switch in fields(UrlOptions):
        if getattr(options, switch.name) is not True:
            continue
        off: dict[str, Any] = {switch.name: False}
        without = Canonicalizer(replace(options, **off))
        other = without.normalize(asked)
        name = f"URLS_{switch.name.upper()}"
        if other is not None and other != found.url:
            yield "left out", f"{name}: {other} is sent as {found.url}"
        elif without.key(found.url) != found.key:
            yield "compared", f"{name}: as {found.key}"


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
        found.add("alike", _of_pattern(self._traps.assess(found.url)))
        found.add("robots.txt", self._rules(found.url))
        found.add("host", _clock(host, self._config, self._now))

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
            found.verdict = f"It is never fetched: {self._why(state, found.url, host)}."
        else:
            self._on_its_way(found, mark, host)

    def _on_its_way(self, found: Explanation, mark: Fingerprint, host: Host | None) -> None:
        waiting = self._engine.get_many(Table.WAITING, [mark])[0]
        if waiting is not None:
            due = _MOMENT.unpack_from(waiting)[0]
            found.state = "waiting"
            found.verdict = f"It is tried again, not before {iso_utc(due)}."
            _of_entry(found, Entry.decode(waiting[_MOMENT.size :]))
            return
        found.state = "queued"
        ahead, entry = self._find_queued(found.url, mark)
        when = host.clock if host is not None else self._now
        found.verdict = (
            f"It will be fetched: {ahead:,} URLs of its origin go first, and its host may be "
            f"asked {'now' if when <= self._now else f'from {iso_utc(when)} on'}."
        )
        if entry is not None:
            _of_entry(found, entry)

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
                return f"depth, more than {options.max_depth} links from a seed"
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

    def _of_catalog(self, found: Explanation, mark: Fingerprint) -> None:
        place = self._config.store.catalog_url or str(self._directory / CATALOG)
        if not self._config.store.catalog:
            return
        from crawler.store.catalog import Catalog  # SQLAlchemy takes a while to import

        try:
            with closing(Catalog.open(place, read_only=True)) as catalog:
                row = catalog.page(mark)
                if row is not None:
                    _of_row(found, row, catalog)
                    found.add("way", " ← ".join(self._way(row, catalog)))
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


def _of_entry(found: Explanation, entry: Entry) -> None:
    found.add(
        "found", f"at depth {entry.depth}" + (f", by {entry.referrer}" if entry.referrer else "")
    )
    found.add("priority", f"{entry.priority} (0 goes first, 255 last)")
    tries = entry.tries + entry.throttles
    found.add("tries", f"{entry.tries} failed, {entry.throttles} throttled" if tries else None)
    found.add("redirects", f"{entry.redirects} hops led here" if entry.redirects else None)


def _of_row(found: Explanation, row: PageRow, catalog: Catalog) -> None:
    visits = catalog.history(row.url_hash, limit=100)
    status = f"status {row.status_code}" if row.status_code is not None else "no answer"
    found.add("visited", f"{iso_utc(row.fetched_at)}, {status}, {len(visits)} visit(s)")
    found.add("first seen", iso_utc(row.first_seen_at) if row.first_seen_at is not None else None)
    found.add("cause", row.cause)
    found.add("found", f"at depth {row.depth}")
    found.add("redirects to", row.redirect_to)
    if row.duplicate_of is not None:
        distance = row.duplicate_distance or 0
        near = f"; the fingerprints differ in {distance} of 64 bits" if distance else ""
        found.add("duplicate of", row.duplicate_of + near)
    found.add("directives", ", ".join(row.robots))
    if row.warc_file is not None:
        found.add("archived", f"{row.warc_file} at {row.warc_offset}, {row.warc_length} bytes")
    if row.text_offset is not None:
        found.add("line", f"pages.jsonl at {row.text_offset}, {row.text_length} bytes")
    found.add("next visit", iso_utc(row.next_visit_at) if row.next_visit_at is not None else None)


def _of_pattern(known: Assessment) -> str:
    """Say what came of URLs that are alike, and which parameters change nothing."""
    figures = known.figures.get(known.pattern) or known.figures.get(known.parent)
    told = [known.pattern]
    if figures is not None:
        told.append(", ".join(f"{name} {count:,}" for name, count in figures.items() if count))
    names = [name for name, about in known.parameters.items() if about["irrelevant"]]
    if names:
        told.append(f"irrelevant: {', '.join(names)}")
    return "; ".join(told)


def _clock(host: Host | None, config: Config, now: float) -> str:
    """Say when a host may be asked, and how much of its budget is used."""
    if host is None:
        return "nothing is known of it"
    delay = max(config.frontier.delay, host.asked_delay)
    when = "now" if host.clock <= now else f"from {iso_utc(host.clock)} on"
    blocked = f", blocked until {iso_utc(host.blocked_until)}" if host.blocked_until > now else ""
    budget = config.frontier.host_budget
    used = f"{host.used:,} of {budget:,} pages used" if budget else f"{host.used:,} pages"
    return f"{host.key}: may be asked {when}{blocked}; delay {delay:g} s; {used}"


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
        case Reason.ADDRESS:
            return "its host has an address that may not be reached (SAFETY_ALLOWED_NETWORKS)"
        case _:
            return "see docs/output.md"
