"""What is kept of a crawl beside its lines, as plain values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Which stores a crawl fills, and where they are."""

    warc: bool = True
    """Keep every answer as it was received."""

    segment: int = 2**30
    """Bytes at which a file of the archive is full and the next one begins."""

    other_types: bool = True
    """Keep the bytes of types for which there is no parser, too."""

    catalog: bool = True
    """Keep a row of every URL that was fetched."""

    catalog_url: str = ""
    """Database of the rows; empty: SQLite in the job directory."""
