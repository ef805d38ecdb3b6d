"""What is not fetched any more, and the few of it that are, to see whether that is still right."""

from __future__ import annotations

from typing import Any


class Trickle:
    """Counts the rejected URLs of one rule, and picks probes among them.

    The first probe is the URL with the number ``every``; while nothing new comes of probes,
    the distance to the next one doubles, up to ``longest``. So an endless trap costs a number
    of probes that grows with the logarithm of what it offers.
    """

    __slots__ = (
        *("every", "example", "interval", "kept", "longest", "rejected", "since", "skipped"),
    )

    def __init__(self, every: int, longest: int = 4096) -> None:
        self.every = self.interval = every
        self.longest = max(every, longest)
        self.skipped = 0  # since the last probe
        self.rejected = 0  # URLs that have not been released; one may be found, and rejected, again
        self.kept = 0  # of these: kept in the store, to be queued if the rule falls
        self.since = 0.0  # crawl time from which on the rule holds; 0 while it does not
        self.example = ""  # a URL that was rejected

    def probe_is_due(self) -> bool:
        """Count a URL that is to be rejected; tell whether it is fetched all the same."""
        self.skipped += 1
        if self.skipped < self.interval:
            return False
        self.skipped, self.interval = 0, min(2 * self.interval, self.longest)
        return True

    def reset(self) -> None:
        """Begin anew: a probe has brought something."""
        self.interval, self.skipped = self.every, 0

    def release(self) -> None:
        """Count down what is queued again: all that was kept."""
        self.rejected, self.kept = self.rejected - self.kept, 0

    def values(self) -> tuple[int, int, int, int, float, str]:
        """Return what :meth:`take` takes."""
        counts = (self.interval, self.skipped, self.rejected, self.kept)
        return (*counts, self.since, self.example)

    def take(self, values: Any) -> None:  # noqa: ANN401 -- read from JSON
        """Go on from :meth:`values`."""
        self.interval, self.skipped, self.rejected, self.kept, self.since, self.example = values
