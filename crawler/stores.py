"""The stores of a job directory beside the frontier and the lines: archive and catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler import __version__
from crawler.outbox import Outbox
from crawler.store import WarcWriter, read_record, sync_directory

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from crawler.commit import GroupCommit
    from crawler.frontier import Engine, Frontier
    from crawler.model import Fingerprint
    from crawler.store import PageRow, Record, StoreOptions
    from crawler.store.catalog import Catalog

ARCHIVE = "warc"
"""Folder of the archive in the job directory."""
CATALOG = "catalog.sqlite"
_NAME = "web"  # what the archive's files begin with


class Stores:
    """Opens what the options ask for.

    Args:
        directory: The job directory.
        options: Which stores.
    """

    def __init__(self, directory: Path, options: StoreOptions) -> None:
        self._directory = directory
        self._options = options
        self._catalog: Catalog | None = None

    def outbox(self, engine: Engine, frontier: Frontier, commits: GroupCommit) -> Outbox | None:
        """Open the catalog as part of every commit; what an earlier run left gets there now.

        Raises:
            StoreError: The database cannot be used.
        """
        if not self._options.catalog:
            return None
        from crawler.store.catalog import Catalog  # SQLAlchemy takes a while to import

        place = self._options.catalog_url or str(self._directory / CATALOG)
        self._catalog = Catalog.open(place)
        outbox = Outbox(engine, frontier, self._catalog)
        outbox.deliver()
        commits.add_sink(outbox)
        return outbox

    def archive(self, commits: GroupCommit, random: Random, token: str) -> WarcWriter | None:
        """Open the archive as part of every commit, cut to what was committed.

        Args:
            commits: Know the lengths.
            random: Source of record identifiers.
            token: Our name, as robots.txt knows it.

        Raises:
            StoreError: The files cannot be used.
        """
        if not self._options.warc:
            return None
        folder, prefix = self._directory / ARCHIVE, f"{ARCHIVE}/"
        if not folder.exists():
            folder.mkdir()
            sync_directory(self._directory)
        lengths = commits.lengths.items()
        archive = WarcWriter(
            folder,
            _NAME,
            committed={n.removeprefix(prefix): size for n, size in lengths if n.startswith(prefix)},
            limit=self._options.segment,
            random=random,
            info=[
                ("software", f"crawler/{__version__}"),
                ("format", "WARC File Format 1.1"),
                ("http-header-user-agent", token),
            ],
        )
        commits.add_output(archive, prefix)
        return archive

    def find(self, mark: Fingerprint) -> PageRow | None:
        """Return the row of a page in the catalog, None where there is none."""
        return self._catalog.page(mark) if self._catalog is not None else None

    def read(self, row: PageRow) -> Record:
        """Read the record of a page in the archive.

        Raises:
            StoreError: It has none, or it cannot be read.
        """
        assert row.warc_file is not None
        assert row.warc_offset is not None
        assert row.warc_length is not None
        return read_record(
            self._directory / ARCHIVE / row.warc_file, row.warc_offset, row.warc_length
        )
