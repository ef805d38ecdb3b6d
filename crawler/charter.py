"""With what a crawl was begun, as far as it decides which URLs belong to it.

Kept in the store at every start, so that the crawl can be asked about a URL later, by another
process and without its arguments.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from crawler.frontier.engine import Table
from crawler.urls import Scope, host_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.frontier import Engine, Frontier

_NAME = b"charter"
_MOST_SEEDS = 10_000


@dataclass(frozen=True, slots=True)
class Charter:
    """Seeds, scope and patterns.

    Attributes:
        seeds: One seed of each host, the first 10,000 hosts.
        more: How many further hosts the seeds have.
        scope: ``host``, ``site`` or ``any``; None for a spider without a scope.
        allow: Patterns of which one must be found.
        deny: Patterns of which none may be found.
        only_pages: Whether links to other files are not followed.
        max_depth: Links from a seed; 0 = no limit.
    """

    seeds: tuple[str, ...]
    more: int
    scope: str | None
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    only_pages: bool
    max_depth: int

    @classmethod
    def of(
        cls,
        seeds: Sequence[str],
        scope: Scope | None,
        patterns: tuple[Sequence[str], Sequence[str]],
        *,
        only_pages: bool,
        max_depth: int,
    ) -> Self:
        """Return the charter of a crawl that begins now."""
        by_host: dict[str, str] = {}
        for seed in seeds:
            by_host.setdefault(host_key(seed), seed)
        kept = tuple(list(by_host.values())[:_MOST_SEEDS])
        allow, deny = patterns
        return cls(
            seeds=kept,
            more=len(by_host) - len(kept),
            scope=scope.mode if scope is not None else None,
            allow=tuple(allow),
            deny=tuple(deny),
            only_pages=only_pages,
            max_depth=max_depth,
        )

    @classmethod
    def read(cls, engine: Engine) -> Self | None:
        """Return the charter of the last start; None where none was kept."""
        value = engine.get_many(Table.META, [_NAME])[0]
        if value is None:
            return None
        fields: dict[str, Any] = json.loads(value)
        lists = {name: tuple(fields[name]) for name in ("seeds", "allow", "deny")}
        return cls(**{**fields, **lists})

    def keep(self, frontier: Frontier) -> None:
        """Write it with the next batch."""
        frontier.put(Table.META, _NAME, json.dumps(asdict(self)).encode())

    def make_scope(self) -> Scope | None:
        """Return the scope around the seeds."""
        return Scope(self.seeds, self.scope) if self.scope is not None else None  # type: ignore[arg-type] # checked when it was made
