"""What may object to a URL by what came of others like it; the frontier asks and obeys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from crawler.frontier.entry import Entry
    from crawler.model import Discovery, Reason


class Guard(Protocol):
    """Judges URLs when they are found and when they would go; its reasons may cease to hold."""

    def admit(self, url: str, found: Discovery) -> Reason | int:
        """Return why a new URL is rejected, or the priority with which it is queued."""
        ...

    def recheck(self, entry: Entry) -> Reason | None:
        """Return why a queued URL is rejected now; asked just before its first fetch."""
        ...

    def reconsiders(self, url: str, reason: Reason) -> bool:
        """Whether a URL that was rejected for this reason would not be now."""
        ...
