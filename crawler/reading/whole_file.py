"""A file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from crawler.errors import StoreError
from crawler.store import sync_directory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: Path, *, outside: Path) -> Iterator[BinaryIO]:
    """Give a file to write, which takes its name when the block ends well.

    Until then, and for ever if it ends otherwise, what has that name stays as it is. A pipe or
    device is written to as it is.

    Args:
        path: Where it will be; what is there is replaced.
        outside: A directory that it may not be in.

    Raises:
        StoreError: It cannot be written there.
    """
    target = path.resolve()
    if outside.resolve() in target.parents:
        raise StoreError(f"-o {path}: the job directory is the crawl's own; name a file elsewhere")
    if target.is_dir():
        raise StoreError(f"-o {path}: is a directory; name a file in it")
    try:
        with _open(target) as file:
            yield file
    except OSError as error:
        raise StoreError(
            f"-o {path}: cannot be written: {error.strerror or error}; name another file, or "
            "make room"
        ) from error


@contextlib.contextmanager
def _open(target: Path) -> Iterator[BinaryIO]:
    if target.exists() and not target.is_file():
        with target.open("wb") as device:
            yield device
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
        sync_directory(target.parent)
    finally:
        part.unlink(missing_ok=True)
