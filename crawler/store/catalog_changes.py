"""What a group of visits changes in a catalog, worked out before anything is written."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from crawler.store.catalog_rows import page_values, visit_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawler.store.catalog_rows import Values
    from crawler.store.pages import PageRow


class Known(NamedTuple):
    """What the catalog has of a page; times in milliseconds."""

    domain: str
    fetched_at: int
    first_seen_at: int
    content_hash: bytes | None


class Changes:
    """Of pages, their histories and their domains.

    Visits are taken in the order of their times. One that is as old as what is known of its
    page, or older, changes nothing of the page but the time when it was first seen.

    Attributes:
        pages: Rows that are new, or replace what is known; in the order of their keys.
        visits: One row a visit, also of those that the history may have already.
        earlier: ``url_hash`` → when a known page was in fact first seen.
        domains: Rows to add to what is known of the domains, in the order of their names.
        added: Pages that are new.
    """

    def __init__(self, rows: Iterable[PageRow], known: Mapping[bytes, Known]) -> None:
        self._before = known
        self._known = dict(known)
        self._pages: dict[bytes, Values] = {}
        self.visits: list[Values] = []
        self.earlier: dict[bytes, int] = {}
        for values in sorted(map(page_values, rows), key=itemgetter("url_hash", "fetched_at")):
            self._visit(values)
        self.pages = list(self._pages.values())
        self.added = len(self._known) - len(known)
        self.domains = self._domains()

    def _visit(self, values: Values) -> None:
        key, at = values["url_hash"], values["fetched_at"]
        known = self._known.get(key)
        changed = known is None or known.content_hash != values["content_hash"]
        self.visits.append(visit_values(values, changed=changed))
        if known is not None and at <= known.fetched_at:
            if at < known.first_seen_at:
                self.earlier[key] = at
                self._known[key] = known._replace(first_seen_at=at)
            return
        values["first_seen_at"] = at if known is None else known.first_seen_at
        self._pages[key] = values
        self._known[key] = Known(
            values["domain"], at, values["first_seen_at"], values["content_hash"]
        )

    def _domains(self) -> list[Values]:
        found: dict[str, Values] = {}
        for key, values in self._pages.items():
            domain, before = values["domain"], self._before.get(key)
            row = _row_of(found, domain, values["fetched_at"])
            row["last_fetched_at"] = max(row["last_fetched_at"], values["fetched_at"])
            if before is None or before.domain != domain:
                row["pages"] += 1
            if before is not None and before.domain != domain:
                _row_of(found, before.domain, before.fetched_at)["pages"] -= 1
        return [found[domain] for domain in sorted(found)]


def _row_of(found: dict[str, Values], domain: str, at: int) -> Values:
    return found.setdefault(domain, {"domain": domain, "pages": 0, "last_fetched_at": at})
