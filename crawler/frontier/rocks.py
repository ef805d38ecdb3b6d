"""The embedded engine: RocksDB, one database per job directory.

Chosen by measurement (docs/decisions/0003-rocksdb.md): writes that stay flat at millions of
URLs, a log that survives a power cut without an fsync per page. The binding is one module
deep: nothing else imports it.

Durability: a batch is atomic at once and survives a kill of the process; it survives
a power cut after :meth:`RocksEngine.sync`, which syncs the write-ahead log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocksdict import (
    BlockBasedOptions,
    Cache,
    DBCompressionType,
    Options,
    Rdict,
    ReadOptions,
    WriteBatch,
)

from crawler.errors import StoreError
from crawler.frontier.engine import FORMAT, Batch, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_CACHE_BYTES = 64 * 2**20  # blocks of all tables
_MEMTABLE_BYTES = 16 * 2**20  # of each table
_WAL_BYTES = 128 * 2**20
_FILTER_BITS = 10  # per key: a look-up of an unknown key costs no read
_VERSION = b"format"


class RocksEngine:
    """Ordered tables as RocksDB column families."""

    def __init__(self, path: Path) -> None:
        """Open the database at ``path``, or make it.

        Raises:
            StoreError: It is damaged, of another format, or no database of ours.
        """
        self._path = path
        self._broken = False
        fresh = not path.exists()
        self._open()
        self._check_format(fresh=fresh)

    def _open(self) -> None:
        cache = Cache(_CACHE_BYTES)
        try:
            self._db: Rdict = Rdict(
                str(self._path),
                _options(cache),
                {table.value: _options(cache) for table in Table},
            )
        except Exception as error:
            raise StoreError(
                f"{self._path} cannot be opened: {error}; restore it from a copy, or start anew "
                "with another JOBDIR"
            ) from error
        self._tables = {table: self._db.get_column_family(table.value) for table in Table}
        self._handles = {table: self._db.get_column_family_handle(table.value) for table in Table}

    def _check_format(self, *, fresh: bool) -> None:
        found = self._tables[Table.META].get(_VERSION)
        if found is None and fresh:
            batch = Batch()
            batch.put(Table.META, _VERSION, FORMAT)
            self.write(batch)
            self.sync()
        elif found != FORMAT:
            self.close()
            what = f"format {found.decode(errors='replace')}" if found else "no format mark"
            raise StoreError(
                f"{self._path} has {what}, this version reads format {FORMAT.decode()}: use the "
                "version that wrote it, or start anew with another JOBDIR"
            )

    def get_many(self, table: Table, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of each key in order, None where there is none."""
        if not keys:
            return []
        return list(self._tables[table].get(list(keys)))  # type: ignore[arg-type]

    def scan(
        self, table: Table, *, prefix: bytes = b"", after: bytes = b"", limit: int = 0
    ) -> list[tuple[bytes, bytes]]:
        """Return rows in key order: keys that start with ``prefix`` and are > ``after``."""
        options = ReadOptions()
        end = _end_of(prefix)
        if end is not None:
            options.set_iterate_upper_bound(end)
        rows = self._tables[table].iter(options)
        rows.seek(max(prefix, after))
        found: list[tuple[bytes, bytes]] = []
        while rows.valid() and not (limit and len(found) == limit):
            key = rows.key()
            if key != after:
                found.append((key, rows.value()))
            rows.next()
        return found

    def write(self, batch: Batch) -> None:
        """Apply the batch, all of it or nothing.

        Raises:
            StoreError: It could not be written, as on a full disk. RocksDB then refuses all
                writes until it is opened again, which the next call does.
        """
        if self._broken:
            self.close()
            self._open()
            self._broken = False
        rows = WriteBatch(raw_mode=True)
        for table, changes in batch.tables.items():
            handle = self._handles[table]
            for key, value in changes.items():
                if value is None:
                    rows.delete(key, handle)
                else:
                    rows.put(key, value, handle)
        self._guarded(lambda: self._db.write(rows))

    def sync(self) -> None:
        """Sync the write-ahead log.

        Raises:
            StoreError: It could not be synced.
        """
        self._guarded(lambda: self._db.flush_wal(True))

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            self._broken = True
            raise StoreError(f"{self._path} cannot be written: {error}") from error

    def close(self) -> None:
        """Close the database. Its lock goes with the last reference to it."""
        self._tables.clear()
        self._handles.clear()
        self._db.close()


def _options(cache: Cache) -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.create_missing_column_families(True)
    options.set_write_buffer_size(_MEMTABLE_BYTES)
    options.set_max_total_wal_size(_WAL_BYTES)
    options.set_compression_type(DBCompressionType.lz4())
    options.set_keep_log_file_num(2)
    blocks = BlockBasedOptions()
    blocks.set_block_cache(cache)
    blocks.set_bloom_filter(_FILTER_BITS, block_based=False)
    options.set_block_based_table_factory(blocks)
    return options


def _end_of(prefix: bytes) -> bytes | None:
    """Return the first key after all keys with a prefix; None when there is no such key."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else None
