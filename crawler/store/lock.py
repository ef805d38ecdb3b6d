"""One process per job directory."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING, Self

from crawler.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path


def sync_directory(directory: Path) -> None:
    """Make the names of the files in a directory survive a power cut.

    A file's own sync does not cover the name under which it is found. Spec: POSIX fsync;
    on Linux a new file's directory has to be synced as well (fsync(2)).
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class JobLock:
    """Holds ``<directory>/lock`` until it is released or the process ends, however it ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, directory: Path) -> Self:
        """Take the lock of a job directory.

        Raises:
            StoreError: Another process has it; its number is named. Or the directory cannot
                be written.
        """
        try:
            descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreError(
                f"JOBDIR {directory} cannot be locked: {error.strerror}; copy it to where it can "
                "be written, and name that with -s JOBDIR=PATH"
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(descriptor, 32).decode(errors="replace").strip()
            os.close(descriptor)
            raise StoreError(
                f"JOBDIR {directory} is in use by process {owner or 'unknown'}: stop that crawl, "
                "or choose another directory with -s JOBDIR=PATH"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        """Give the lock back; idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
