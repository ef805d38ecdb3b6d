"""What is known of a URL, each fact in words and as values, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from crawler.clock import iso_utc
from crawler.numbers import counted
from crawler.urls import Canonicalizer, UrlOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.config import Config
    from crawler.frontier import Entry, Host
    from crawler.model import Discovery
    from crawler.store import PageRow
    from crawler.traps import Assessment


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
        details: The same as values, by the name of the fact; times in UTC.
    """

    asked: str
    url: str
    key: str
    state: str = "unknown"
    verdict: str = ""
    facts: list[tuple[str, str]] = field(default_factory=list)
    details: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, name: str, text: str | None, **values: Any) -> None:  # noqa: ANN401 -- for JSON
        """Add a fact, if there is something to say; and its values."""
        if text:
            self.facts.append((name, text))
        if values:
            self.details[name] = values

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "asked": self.asked,
            "url": self.url,
            "key": self.key,
            "state": self.state,
            "verdict": self.verdict,
            "details": self.details,
            "facts": [{"name": name, "text": text} for name, text in self.facts],
        }


def spelling(asked: str, found: Explanation, options: UrlOptions) -> Iterator[tuple[str, str]]:
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


def tell_entry(found: Explanation, entry: Entry) -> None:
    """Tell how a URL was found that is on its way, and how often it was tried."""
    tell_finding(found, entry.depth, entry.referrer, entry.redirects)
    found.add("priority", f"{entry.priority} (0 goes first, 255 last)", value=entry.priority)
    tries = entry.tries + entry.throttles
    text = f"{entry.tries} failed, {entry.throttles} throttled" if tries else None
    found.add("tries", text, failed=entry.tries, throttled=entry.throttles)


def tell_finding(found: Explanation, depth: int, referrer: str | None, redirects: int) -> None:
    """Tell how a URL was found."""
    by = f", by {referrer}" if referrer else ""
    hops = f", {counted(redirects, 'hop')} of a redirect led here" if redirects else ""
    text = f"at depth {depth}{by}{hops}"
    found.add("found", text, depth=depth, referrer=referrer, redirects=redirects)


def tell_kept(found: Explanation, kept: Discovery | None, *, seed: bool) -> None:
    """Tell how a rejected URL was found; only those that may be queued again are kept."""
    if kept is not None:
        tell_finding(found, kept.depth, kept.referrer, kept.redirects)
    elif seed:
        found.add("found", "a seed", depth=0, referrer=None, redirects=0)
    else:
        found.add("found", "not kept of rejected URLs")


def tell_row(found: Explanation, row: PageRow, visits: int) -> None:
    """Tell what the catalog has of a URL."""
    status = f"status {row.status_code}" if row.status_code is not None else "no answer"
    found.add(
        "visited",
        f"{iso_utc(row.fetched_at)}, {status}, {counted(visits, 'visit')}",
        at=iso_utc(row.fetched_at),
        status=row.status_code,
        visits=visits,
        first_at=_moment(row.first_seen_at),
        next_at=_moment(row.next_visit_at),
        cause=row.cause,
        directives=list(row.robots),
        redirect_to=row.redirect_to,
    )
    found.add("first seen", _moment(row.first_seen_at))
    found.add("cause", row.cause)
    tell_finding(found, row.depth, row.referrer, row.redirects)
    found.add("redirects to", row.redirect_to)
    if row.duplicate_of is not None:
        bits = row.duplicate_distance or 0
        near = f"; the fingerprints differ in {counted(bits, 'bit')} of 64" if bits else ""
        found.add("duplicate of", row.duplicate_of + near, url=row.duplicate_of, bits=bits)
    found.add("directives", ", ".join(row.robots))
    _tell_places(found, row)
    found.add("next visit", _moment(row.next_visit_at))


def _tell_places(found: Explanation, row: PageRow) -> None:
    """Tell where bytes and line are."""
    if row.warc_file is not None:
        found.add(
            "archived",
            f"{row.warc_file} at {row.warc_offset}, {row.warc_length} bytes",
            file=row.warc_file,
            offset=row.warc_offset,
            length=row.warc_length,
        )
    if row.text_offset is not None:
        found.add(
            "line",
            f"pages.jsonl at {row.text_offset}, {row.text_length} bytes",
            offset=row.text_offset,
            length=row.text_length,
        )


def tell_likes(found: Explanation, known: Assessment) -> None:
    """Tell what came of URLs that are alike, and which parameters change nothing."""
    figures = known.figures.get(known.pattern) or known.figures.get(known.parent)
    told = [known.pattern]
    if figures is not None:
        told.append(", ".join(f"{name} {count:,}" for name, count in figures.items() if count))
    names = [name for name, about in known.parameters.items() if about["irrelevant"]]
    if names:
        told.append(f"irrelevant: {', '.join(names)}")
    found.add(
        "alike",
        "; ".join(told),
        pattern=known.pattern,
        parent=known.parent,
        figures=known.figures,
        irrelevant=names,
    )


def tell_host(found: Explanation, host: Host | None, config: Config, now: float) -> None:
    """Tell when a host may be asked, and how much of its budget is used.

    Delay and budget are no part of what a crawl keeps: they are those of the settings at hand.
    """
    if host is None:
        found.add("host", "nothing is known of it")
        return
    delay = max(config.frontier.delay, host.asked_delay)
    when = "now" if host.clock <= now else f"from {iso_utc(host.clock)} on"
    blocked = f", blocked until {iso_utc(host.blocked_until)}" if host.blocked_until > now else ""
    budget = config.frontier.host_budget
    limit = f" of {budget:,} pages" if budget else ""
    used = f"{host.used:,}{limit} used" if limit else f"{counted(host.used, 'page')} used"
    asked = " (its robots.txt asks for it)" if host.asked_delay >= delay > 0 else ""
    found.add(
        "host",
        f"{host.key}: may be asked {when}{blocked}; by the settings of this command: "
        f"delay {delay:g} s{asked}, {used}",
        key=host.key,
        may_be_asked_at=iso_utc(max(host.clock, now)),
        blocked_until=iso_utc(host.blocked_until) if host.blocked_until > now else None,
        asked_delay=host.asked_delay,
        used=host.used,
        throttles=host.throttles,
        failures=host.failures,
    )


def _moment(at: float | None) -> str | None:
    return iso_utc(at) if at is not None else None
