"""The embedded engine: RocksDB, one database per job directory.

Chosen by measurement (docs/decisions/0003-rocksdb.md): writes that stay flat at millions of
URLs, a log that survives a power cut without an fsync per page. The binding is one module
deep: nothing else imports it.

Durability: a batch is atomic at once and survives a kill of the process; it survives
a power cut after :meth:`RocksEngine.sync`, which syncs the write-ahead log.

A new database is made under another name and then renamed, so that what bears the final name is
always whole: a kill in between leaves nothing that the next start could mistake for a
damaged crawl, and opening never makes a new database where one should be.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from typing import TYPE_CHECKING

from rocksdict import (
    AccessType,
    BlockBasedOptions,
    Cache,
    DBCompressionType,
    Options,
    Rdict,
    ReadOptions,
    WriteBatch,
    WriteOptions,
)

from crawler.errors import StoreError
from crawler.frontier.engine import FORMAT, Batch, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_CACHE_BYTES = 32 * 2**20  # blocks of all tables but the seen set
_MEMTABLE_BYTES = 16 * 2**20  # of each table,
_MEMTABLES_BYTES = 48 * 2**20  # and of all together
_WAL_BYTES = 128 * 2**20
_SEEN_BLOCK_BYTES = 1024
_MEMTABLE_FILTER = 0.02  # of a memtable's bytes: about 10 bits a key
_FILTER_BITS = 10  # per key: a look-up of an unknown key costs no read
_VERSION = b"format"
_FAILED_FLUSHES = "rocksdb.background-errors"
_READ_ONLY = AccessType.read_only(error_if_log_file_exist=False)
_STALL = "Write stall"
_WAIT = 0.01  # s
_MOST_WAITS = 500
_NOT_WRITABLE = ("Read-only file system", "Permission denied")


class RocksEngine:
    """Ordered tables as RocksDB column families."""

    def __init__(
        self,
        path: Path,
        *,
        verify: Callable[[RocksEngine], None] | None = None,
        read_only: bool = False,
    ) -> None:
        """Open the database at ``path``, or make it.

        Args:
            path: Its directory.
            verify: Given the database before anything in it can change; what it raises is
                passed on. Opening for writes deletes files that the MANIFEST does not name,
                which makes a damage that could be repaired final.
            read_only: Never write; the database must exist.

        Raises:
            StoreError: It is damaged, of another format, or no database of ours.
        """
        self._path = path
        self.damage: str | None = None
        self._broken = False
        self._is_open = False
        if not path.exists() and not read_only:
            self._make()
        self._open(_READ_ONLY)
        self._check_format()
        try:
            if verify is not None:
                verify(self)
        finally:
            if not read_only:
                self.close()
        if not read_only:
            self._open(AccessType.read_write())

    def _make(self) -> None:
        """Make an empty database; it has its name only when it is complete."""
        unfinished = self._path.with_name(self._path.name + ".new")
        try:
            shutil.rmtree(unfinished, ignore_errors=True)
            tables = {table.value: _options(None, table=table) for table in Table}
            made = Rdict(str(unfinished), _options(None, create=True), tables)
            made.get_column_family(Table.META.value)[_VERSION] = FORMAT
            made.flush_wal(True)
            made.close()
            del made
            unfinished.rename(self._path)
        except Exception as error:
            raise StoreError(f"{self._path} cannot be made: {_line(error)}") from error

    def _open(self, access: AccessType) -> None:
        cache = Cache(_CACHE_BYTES)
        tables = {table.value: _options(cache, table=table) for table in Table}
        try:
            self._db: Rdict = Rdict(str(self._path), _options(cache), tables, access)
        except Exception as error:
            raise StoreError(
                f"{self._path} cannot be opened: {_line(error)}; {_remedy(error)}"
            ) from error
        self._tables = {table: self._db.get_column_family(table.value) for table in Table}
        self._handles = {table: self._db.get_column_family_handle(table.value) for table in Table}
        self._is_open = True

    def _check_format(self) -> None:
        found = self._tables[Table.META].get(_VERSION)
        if found != FORMAT:
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
        try:
            return list(self._table(table).get(list(keys)))  # type: ignore[arg-type]
        except Exception as error:
            raise self._unreadable(error) from error

    def scan(
        self, table: Table, *, prefix: bytes = b"", after: bytes = b"", limit: int = 0
    ) -> list[tuple[bytes, bytes]]:
        """Return rows in key order: keys that start with ``prefix`` and are > ``after``."""
        options = ReadOptions()
        end = _end_of(prefix)
        if end is not None:
            options.set_iterate_upper_bound(end)
        rows = self._table(table).iter(options)
        rows.seek(max(prefix, after))
        found: list[tuple[bytes, bytes]] = []
        while rows.valid() and not (limit and len(found) == limit):
            key = rows.key()
            if key != after:
                found.append((key, rows.value()))
            rows.next()
        try:
            rows.status()  # a damaged block ends the rows as their last one does
        except Exception as error:
            raise self._unreadable(error) from error
        return found

    def _table(self, table: Table) -> Rdict:
        try:
            return self._tables[table]
        except KeyError:
            raise StoreError(f"{self._path} is closed, or could not be opened again") from None

    def _unreadable(self, error: Exception) -> StoreError:
        self.damage = f"{self._path} cannot be read: {_line(error)}; {_remedy(error)}"
        return StoreError(self.damage)

    def write(self, batch: Batch) -> None:
        """Apply the batch, all of it or nothing.

        Raises:
            StoreError: It could not be written, as on a full disk. RocksDB then refuses all
                writes until it is opened again, which the next call does. Reads go on.
        """
        if self.damage is not None:  # whoever asked may have stopped half-way
            raise StoreError(self.damage)
        if self._broken:
            self._reopen()
        self._guarded(lambda: self._write(batch))

    def _write(self, batch: Batch) -> None:
        """Wait while RocksDB is behind with its files, but not for a flush that failed.

        RocksDB's own wait has no end then: a full disk would hold the whole process.
        """
        for _ in range(_MOST_WAITS):
            try:
                self._db.write(self._rows(batch), _at_once())
            except Exception as error:
                if _STALL not in str(error) or self._flush_failed():
                    raise
                time.sleep(_WAIT)  # noqa: TID251 -- as RocksDB would
            else:
                return
        self._db.write(self._rows(batch), _at_once())

    def _rows(self, batch: Batch) -> WriteBatch:
        rows = WriteBatch(raw_mode=True)
        for table, changes in batch.tables.items():
            handle = self._handles[table]
            for key, value in changes.items():
                if value is None:
                    rows.delete(key, handle)
                else:
                    rows.put(key, value, handle)
        return rows

    def _flush_failed(self) -> bool:
        return bool(self._db.property_int_value(_FAILED_FLUSHES))

    def sync(self) -> None:
        """Sync the write-ahead log.

        Raises:
            StoreError: It could not be synced; the last batch has to be written again.
        """
        self._guarded(lambda: self._db.flush_wal(True))

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            self._broken = _STALL not in str(error) or self._flush_failed()
            raise StoreError(f"{self._path} cannot be written: {_line(error)}") from error

    def _reopen(self) -> None:
        """Open the database again after an error; while that fails too, it can at least be read."""
        self.close()
        try:
            self._open(AccessType.read_write())
        except StoreError:
            self._open(_READ_ONLY)
            raise
        self._broken = False

    def close(self) -> None:
        """Close the database; idempotent. Its lock goes with the last reference to it."""
        if not self._is_open:
            return
        self._is_open = False
        self._tables.clear()
        self._handles.clear()
        with contextlib.suppress(Exception):  # a full disk: what was synced is in the log
            self._db.close()


def _at_once() -> WriteOptions:
    """Have a write fail where RocksDB would wait."""
    options = WriteOptions()
    options.no_slowdown = True
    return options


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


def _remedy(error: Exception) -> str:
    if "No space left" in str(error):
        return "make room on the disk, then run the same command again"
    if any(reason in str(error) for reason in _NOT_WRITABLE):  # it opens nothing without a log
        return "RocksDB must write there even to read: copy the job directory to where it can"
    return "restore the job directory from a copy, or start anew with another JOBDIR"


def _options(cache: Cache | None, *, create: bool = False, table: Table | None = None) -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(create)
    options.create_missing_column_families(create)
    options.set_write_buffer_size(_MEMTABLE_BYTES)
    options.set_db_write_buffer_size(_MEMTABLES_BYTES)
    options.set_max_total_wal_size(_WAL_BYTES)
    options.set_keep_log_file_num(2)
    blocks = BlockBasedOptions()
    if table is Table.SEEN:  # random keys: nothing to compress, and each look-up reads a block
        options.set_compression_type(DBCompressionType.none())
        blocks.set_block_size(_SEEN_BLOCK_BYTES)
        options.set_memtable_whole_key_filtering(True)  # most keys asked for are not in memory
        options.set_memtable_prefix_bloom_ratio(_MEMTABLE_FILTER)
    else:
        options.set_compression_type(DBCompressionType.lz4())
    if table is Table.SEEN:  # hardly a block is asked for twice: keeping it costs more than reading
        blocks.disable_cache()
    elif cache is not None:
        blocks.set_block_cache(cache)
    if table is not Table.QUEUE:  # its rows are scanned, never looked up
        blocks.set_bloom_filter(_FILTER_BITS, block_based=False)
    options.set_block_based_table_factory(blocks)
    return options


def _end_of(prefix: bytes) -> bytes | None:
    """Return the first key after all keys with a prefix; None when there is no such key."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else None
