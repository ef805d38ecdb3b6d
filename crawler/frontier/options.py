"""Bounds and pace of the frontier, as plain values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FrontierOptions:
    """What :class:`~crawler.frontier.Frontier` obeys; 0 means no limit where it says so."""

    delay: float = 1.0
    """Seconds between the end of a transfer and the next request to the same host."""

    host_budget: int = 10_000
    """Distinct page URLs fetched per host, retries not counted; 0 = no limit."""

    max_depth: int = 0
    """Link distance from a seed; 0 = no limit."""

    max_redirects: int = 5
    """Hops of one redirect chain."""

    max_pages: int = 0
    """Pages stored in the whole crawl, never exceeded; 0 = no limit."""

    max_fetches: int = 0
    """Page URLs fetched in the whole crawl, retries not counted; 0 = no limit."""

    aging: float = 10.0
    """Seconds of waiting that outweigh one level of priority, so that no host starves."""

    buffer: int = 100_000
    """Queued URLs held in memory, over all hosts, about 300 bytes each; a few more where
    there are more hosts than that. The rest stays in the engine."""

    seen: str = "exact"
    """``exact``: the store decides what is known; ``approximate``: a Bloom filter does."""

    seen_capacity: int = 1_000_000
    """Approximate: keys of the first layer; further layers double."""

    seen_error: float = 0.001
    """Approximate: most of the new URLs that are taken for known, over all layers."""
