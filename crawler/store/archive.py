"""Reading of an archive whose segments are here, or in the object store, or in both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.errors import StoreError
from crawler.store.cdxj import read_index
from crawler.store.objects import checked_name
from crawler.store.warc_reading import MOST_READ, check_place, read_range, unpack_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.store.cdxj import Indexed
    from crawler.store.objects import ObjectStore
    from crawler.store.warc_reading import Record

_SEGMENT = re.compile(r"(.+)-(\d{5,9})\.(?:warc\.gz|cdxj)", re.ASCII)
_BLOCK = 4 << 20  # bytes of an index that are asked for at a time


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

    def captures(self) -> Iterator[Indexed]:
        """Yield what the indexes have, in the order in which the archive was written.

        Raises:
            StoreError: There is no archive, or a part of its index cannot be had.
        """
        last, name = max(map(_number, self._directory.iterdir()), default=(-1, ""))
        if last < 0:
            raise StoreError(f"{self._directory}: has no segment of an archive")
        for number in range(last + 1):
            file = f"{name}-{number:05d}.cdxj"
            if number < last or (self._directory / file).exists():  # the newest may have none yet
                yield from read_index(self._index(file), str(self._directory / file))

    def _index(self, file: str) -> Iterator[bytes]:
        """Yield the lines of an index that is here, or else in the object store."""
        try:
            with (self._directory / file).open("rb") as lines:
                yield from lines
        except FileNotFoundError:
            if self._store is None:
                raise StoreError(
                    f"{self._directory / file} is missing, and there is no object store to look "
                    "in; set STORE_OBJECTS to where it was uploaded"
                ) from None
            yield from _lines(self._store, file)
        except OSError as error:
            raise StoreError(f"{self._directory / file}: cannot be read: {error}") from error

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


def _lines(store: ObjectStore, file: str) -> Iterator[bytes]:
    rest, offset = b"", 0
    while block := store.read(file, offset, _BLOCK):
        offset += len(block)
        *lines, rest = (rest + block).splitlines(keepends=True)
        yield from lines
    if rest:
        yield rest


def _number(path: Path) -> tuple[int, str]:
    match = _SEGMENT.fullmatch(path.name)
    return (int(match[2]), match[1]) if match else (-1, "")
