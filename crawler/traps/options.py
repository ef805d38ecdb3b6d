"""How much a site may waste before a pattern of its URLs is stopped."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrapOptions:
    """Bounds and thresholds of :class:`~crawler.traps.Traps`."""

    enabled: bool = True

    patience: int = 24
    """Fetches in a row that bring nothing new until their pattern is stopped."""

    probe_every: int = 16
    """Of the URLs of a stopped pattern the one with this number is fetched all the same, and
    then, while nothing comes of it, one at each doubling of the distance."""

    evidence: int = 8
    """Duplicates that differ in a parameter, until it is taken for irrelevant."""

    kept: int = 10_000
    """URLs kept of a stopped pattern, to be queued when it turns out to bring something."""

    sub_domains: int = 16
    """Sub-domains of one site without anything new that are tried, and four more for each that
    brought something."""
