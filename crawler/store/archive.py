"""Reading of an archive whose segments are here, or in the object store, or in both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.errors import StoreError
from crawler.store.objects import checked_name
from crawler.store.warc import MOST_READ, check_place, read_range, unpack_record

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.store.objects import ObjectStore
    from crawler.store.warc import Record


class ArchiveReader:
    """Reads records of one archive, each by itself. May be used from several threads."""

    def __init__(self, directory: Path, store: ObjectStore | None) -> None:
        """Remember where segments are.

        Args:
            directory: Of the segments that are here.
            store: Has those that are not; None when there is none.
        """
        self._directory = directory
        self._store = store

    def read(self, file: str, offset: int, length: int, *, limit: int = MOST_READ) -> Record:
        """Read the record at a :class:`~crawler.store.warc.Location`.

        The local segment is read where there is one; else that part of the object.

        Args:
            file: Name of the segment.
            offset: Of the record in bytes.
            length: Of the record's gzip member.
            limit: Most bytes that are read, and that they may unpack to.

        Raises:
            StoreError: There is no whole record at that place, or it exceeds the limit.
        """
        where = f"{checked_name(file)} at {offset}"
        check_place(where, offset, length, limit)
        return unpack_record(self._packed(file, offset, length, where), where, limit=limit)

    def _packed(self, file: str, offset: int, length: int, where: str) -> bytes:
        try:
            return read_range(self._directory / file, offset, length)
        except FileNotFoundError:
            if self._store is None:
                raise StoreError(
                    f"{where}: {self._directory} has no such segment, and there is no object "
                    "store to look in; set STORE_OBJECTS to where it was uploaded"
                ) from None
        except OSError as error:
            raise StoreError(f"{where}: cannot be read: {error}") from error
        return self._store.read(file, offset, length)
