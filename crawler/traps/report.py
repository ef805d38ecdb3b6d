"""What the traps have stopped, and why, for those who want to know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crawler.model import Reason
from crawler.traps.book import DOMAIN, GROUP, PATTERN, SCOPE_MARK
from crawler.traps.domains import Domain
from crawler.traps.figures import Figures
from crawler.traps.parameters import Group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.traps.book import Rows
    from crawler.traps.options import TrapOptions


@dataclass(frozen=True, slots=True)
class Stop:
    """One rule that has rejected URLs.

    Attributes:
        where: Origin; or ``*.`` and a registrable domain, for a stop of its sub-domains.
        reason: Under which URLs were rejected.
        pattern: What the URLs have in common; of parameters, their script.
        holds: Whether it does so still.
        since: Crawl time from which on it holds; 0 where it does not.
        rejected: URLs that still are, each as often as it was found anew; those that were kept and
            have been queued again are no longer counted.
        kept: Of these, those that are queued again if the rule falls.
        example: One of them.
        figures: What the rule was learned from, by name.
    """

    where: str
    reason: Reason
    pattern: str
    holds: bool
    since: float
    rejected: int
    kept: int
    example: str
    figures: dict[str, Any] = field(default_factory=dict)


def read_stops(rows: Rows, options: TrapOptions) -> Iterator[Stop]:
    """Yield every rule that has rejected a URL in this crawl."""
    for scope, reason, rule in read_rules(rows, options):
        yield _read(scope, reason, rule)


def read_rules(
    rows: Rows, options: TrapOptions
) -> Iterator[tuple[bytes, Reason, Figures | Group | Domain]]:
    """Yield key, reason and row of every rule that has rejected a URL in this crawl."""
    for key, reason in rows.scan(SCOPE_MARK):
        scope = key[len(SCOPE_MARK) :]
        row = rows.get(scope)
        if row is not None:
            yield scope, Reason(reason.decode()), _empty(scope, options).decode(row)


def _empty(scope: bytes, options: TrapOptions) -> Figures | Group | Domain:
    """Return what a row of a rule is read into."""
    if scope.startswith(DOMAIN):
        return Domain(options)
    kind = scope.partition(b"\0")[2][:1]
    assert kind in {PATTERN, GROUP}
    return Figures(options) if kind == PATTERN else Group(options.probe_every)


def _read(scope: bytes, reason: Reason, rule: Figures | Group | Domain) -> Stop:
    if isinstance(rule, Domain):
        where = f"*.{scope[1:].decode()}"
        return _stop(where, reason, "", rule, domain_figures(rule), holds=rule.full)
    origin, _, rest = scope.partition(b"\0")
    where, name = origin.decode(), rest[1:].decode()
    if isinstance(rule, Figures):
        return _stop(where, reason, name, rule, pattern_figures(rule), holds=rule.stopped)
    return _stop(where, reason, name, rule, group_figures(rule), holds=bool(rule.learned))


def _stop(
    where: str,
    reason: Reason,
    pattern: str,
    of: Figures | Group | Domain,
    figures: dict[str, Any],
    *,
    holds: bool,
) -> Stop:
    trickle = of.trickle
    counts = (trickle.rejected, trickle.kept, trickle.example, figures)
    return Stop(where, reason, pattern, holds, trickle.since if holds else 0.0, *counts)


def pattern_figures(figures: Figures) -> dict[str, Any]:
    """Return what came of the fetches of a pattern, by name."""
    names = ("fetched", "stored", "useful", "duplicates", "hollow", "dead", "redirects")
    return {name: getattr(figures, name) for name in names} | {"patience_left": figures.left}


def group_figures(group: Group) -> dict[str, Any]:
    """Return what is known of the parameters of a script, by name."""
    return {
        name: {"irrelevant": known.learned, "same": known.same, "differ": known.differ}
        for name, known in sorted(group.names.items())
    }


def domain_figures(domain: Domain) -> dict[str, Any]:
    """Return what is known of the sub-domains of a site, by name."""
    return {"tried": domain.tried, "useful": domain.useful, "hollow": domain.hollow}
