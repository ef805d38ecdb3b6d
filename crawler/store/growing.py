"""A file of the archive: appended to in memory, and on disk by whole appends."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crawler.errors import StoreError
from crawler.store.lock import sync_directory

if TYPE_CHECKING:
    from pathlib import Path


def check_committed(path: Path, committed: int) -> None:
    """See that a file has at least its committed length in bytes.

    Raises:
        StoreError: It is shorter, or missing.
        OSError: It cannot be looked at.
    """
    there = path.exists()
    size = path.stat().st_size if there else 0
    if size >= committed:
        return
    found = f"has {size:,} bytes" if there else "is missing"
    raise StoreError(
        f"{path} {found}, but {committed:,} bytes were committed: it was changed, cut or removed "
        "by something else; restore it, or start anew with another JOBDIR"
    )


class Growing:
    """A file that is appended to in memory, and on disk by whole appends."""

    def __init__(self, path: Path, committed: int | None = None) -> None:
        """Open a committed file and cut it; a new one (None) appears at its first sync."""
        self.path = path
        self.length = self._on_disk = committed or 0
        self.held_bytes = 0
        self._held: list[bytes] = []
        self._file = -1
        self._named = committed is not None
        if committed is not None:
            self._reopen(committed)

    def _reopen(self, committed: int) -> None:
        try:
            check_committed(self.path, committed)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            os.ftruncate(self._file, committed)
        except OSError as error:
            reason = error.strerror or error
            raise StoreError(f"{self.path}: cannot be written: {reason}") from error

    def append(self, data: bytes) -> int:
        """Hold ``data`` and return the offset it will have."""
        offset = self.length
        self._held.append(data)
        self.held_bytes += len(data)
        self.length += len(data)
        return offset

    def sync(self) -> int:
        """Bring all that is held to disk and return the length of the file."""
        if not self._held:
            return self._on_disk
        try:
            self._write(b"".join(self._held))
        except OSError as error:
            if self._file >= 0:
                os.ftruncate(self._file, self._on_disk)
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        self._held.clear()
        self.held_bytes = 0
        self._on_disk = self.length
        return self._on_disk

    def _write(self, data: bytes) -> None:
        if self._file < 0:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        written = 0
        while written < len(data):
            written += os.pwrite(self._file, data[written:], self._on_disk + written)
        os.fsync(self._file)
        if not self._named:
            sync_directory(self.path.parent)
            self._named = True

    def close(self) -> None:
        """Close the file; idempotent."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
