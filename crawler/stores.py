"""The stores of a job directory beside the frontier and the lines: archive and catalog."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler import __version__
from crawler.errors import StoreError
from crawler.outbox import Outbox, catalog_sign
from crawler.store import ArchiveReader, ObjectStore, Uploader, WarcWriter, sync_directory
from crawler.uploading import Uploading, crawl_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from crawler.commit import GroupCommit
    from crawler.frontier import Engine, Frontier
    from crawler.model import Fingerprint
    from crawler.store import ObjectOptions, PageRow, Record, StoreOptions
    from crawler.store.catalog import Catalog

PAGES = "pages.jsonl"
ARCHIVE = "warc"
"""Folder of the archive in the job directory."""
CATALOG = "catalog.sqlite"
_CATALOG_REMEDY = (
    "restore it, copy the old one there (docs/catalog.md), go on without one "
    "(-s STORE_CATALOG_ENABLED=false), or start anew with another JOBDIR"
)
_NAME = "web"  # what the archive's files begin with


class Stores:
    """Opens what the options ask for.

    Args:
        directory: The job directory.
        options: Which stores.
        objects: Where finished files go.
    """

    def __init__(
        self, directory: Path, options: StoreOptions, objects: ObjectOptions | None = None
    ) -> None:
        self._directory = directory
        self._options = options
        self._objects = objects if objects is not None and objects.url else None
        self._catalog: Catalog | None = None
        self._reader = ArchiveReader(directory / ARCHIVE, None)

    def verify(self, engine: Engine) -> None:
        """Look whether the catalog is this crawl's; nothing is changed.

        Raises:
            StoreError: It has not what this crawl has brought there, or is out of reach.
        """
        sign = catalog_sign(engine)
        if sign is None or not self._options.catalog:
            return
        from crawler.store.catalog import Catalog  # SQLAlchemy takes a while to import

        place = self._catalog_place
        if sign.beside and not self._options.catalog_url and not Path(place).exists():
            raise StoreError(f"{place} is missing; {_CATALOG_REMEDY}")
        with closing(Catalog.open(place, read_only=True)) as catalog:
            if catalog.page(sign.url_hash) is None:
                raise StoreError(
                    f"the catalog {catalog.database.name} has not the pages that this crawl has "
                    f"put into it: it is another crawl's, or damaged; {_CATALOG_REMEDY}"
                )

    @property
    def _catalog_place(self) -> str:
        return self._options.catalog_url or str(self._directory / CATALOG)

    def outbox(self, engine: Engine, frontier: Frontier, commits: GroupCommit) -> Outbox | None:
        """Open the catalog as part of every commit; what an earlier run left gets there now.

        Raises:
            StoreError: The database cannot be used.
        """
        if not self._options.catalog:
            return None
        from crawler.store.catalog import Catalog  # SQLAlchemy takes a while to import

        self._catalog = Catalog.open(self._catalog_place)
        beside = not self._options.catalog_url
        outbox = Outbox(engine, frontier, self._catalog, beside=beside)
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

    def uploads(
        self,
        engine: Engine,
        frontier: Frontier,
        commits: GroupCommit,
        random: Random,
        now: Callable[[], float],
    ) -> Uploading | None:
        """Open the object store, as part of every commit.

        Args:
            engine: Knows what is uploaded, and which crawl this is.
            frontier: Its batches record it.
            commits: Know the files.
            random: Draws the waits after failures.
            now: Crawl time; called from another thread.

        Raises:
            StoreError: It cannot be used, or belongs to another crawl.
        """
        options = self._objects
        if options is None:
            return None
        store = ObjectStore.open(options.url, options=options.driver)
        store.claim(crawl_id(engine, frontier, random))
        self._reader = ArchiveReader(self._directory / ARCHIVE, store)
        uploader = Uploader(store, random=random, now=now, keep_local=options.keep_local)
        uploader.start()
        uploading = Uploading(
            self._directory,
            f"{ARCHIVE}/",
            uploader,
            engine,
            frontier,
            commits,
            keep_local=options.keep_local,
        )
        commits.add_sink(uploading)
        return uploading

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
        return self._reader.read(row.warc_file, row.warc_offset, row.warc_length)
