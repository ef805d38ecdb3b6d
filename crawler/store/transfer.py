"""How one file gets into a store whole, and how it is known to be the same there.

A bucket shows an object when its upload is complete, never before. Anywhere else the file is
written under a name of its own and then renamed. Either way whoever lists the store finds
the old object, or the new one, or none.
"""

from __future__ import annotations

import contextlib
import os
from hashlib import md5
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.store.lock import sync_directory

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsspec import AbstractFileSystem

S3 = ("s3", "s3a")
LOCAL = ("file", "local")

_MOST_PARTS = 10_000  # of one upload, by the rules of S3
_LARGEST_PART = 5 << 30
_PARTS_AT_ONCE = 2
_BLOCK = 8 << 20  # bytes compared at a time


class Transfer:
    """Moves files into one file system.

    Memory: two parts on their way and as much again in the driver, or a file of less than two
    parts and as much again: 64 MiB with parts of 16 MiB.

    Args:
        files: The driver.
        protocol: The scheme of the store's URL.
        part_bytes: Size of the parts that a large file is sent to a bucket in; at least 5 MiB.
    """

    def __init__(self, files: AbstractFileSystem, protocol: str, part_bytes: int) -> None:
        self._files = files
        self._is_bucket = protocol in S3
        self._is_local = protocol in LOCAL
        self._part_bytes = part_bytes

    def send(self, path: Path, target: str) -> None:
        """Put a local file at ``target``: whole, or not at all."""
        if self._is_bucket:
            self._send_to_bucket(path, target)
        else:
            self._rename_into(target, lambda trial: self._files.put_file(str(path), trial))

    def write(self, data: bytes, target: str) -> None:
        """Put a few bytes at ``target``: all, or none."""
        if self._is_bucket:
            self._files.pipe_file(target, data)
        else:
            self._rename_into(target, lambda trial: self._files.pipe_file(trial, data))

    def arrived(self, path: Path, target: str) -> bool:
        """Whether the object is the file, byte for byte.

        Told by size and ETag; by reading the object where the ETag says nothing, as in buckets
        that encrypt with keys of their own, and in stores that have none.
        """
        try:
            info = self._files.info(target)
        except FileNotFoundError:
            return False
        size = path.stat().st_size
        if info["type"] != "file" or info["size"] != size:
            return False
        etag = str(info.get("ETag", "")).strip('"')
        if etag and etag == etag_of(path, self._part_of(size)):
            return True
        return self._reads_the_same(path, target)

    def may_have_arrived(self, path: Path, target: str) -> bool:
        """Like :meth:`arrived` before an upload, where looking may not be allowed.

        To whoever may not list it, a bucket answers 403 for what is not there.
        """
        try:
            return self.arrived(path, target)
        except PermissionError:
            return False

    def _part_of(self, size: int) -> int:
        return max(self._part_bytes, -(-size // _MOST_PARTS))

    def _send_to_bucket(self, path: Path, target: str) -> None:
        part = self._part_of(path.stat().st_size)
        self._drop_remains(target)
        self._files.put_file(str(path), target, chunksize=part, max_concurrency=_PARTS_AT_ONCE)

    def _drop_remains(self, target: str) -> None:
        """Drop the parts that a killed upload of this very object left: unseen, but paid for.

        Best effort: it may not be allowed, and the upload goes well without it.
        """
        bucket, _, key = target.partition("/")
        with contextlib.suppress(OSError):
            found = self._call("list_multipart_uploads", Bucket=bucket, Prefix=key)
            for upload in found.get("Uploads") or ():
                if upload["Key"] == key:
                    number = upload["UploadId"]
                    self._call("abort_multipart_upload", Bucket=bucket, Key=key, UploadId=number)

    def _call(self, method: str, **arguments: str) -> dict[str, Any]:
        answer: dict[str, Any] = self._files.call_s3(method, **arguments)
        return answer

    def _rename_into(self, target: str, write: Callable[[str], object]) -> None:
        folder, _, name = target.rpartition("/")
        trial = f"{folder}/.{name}.part"
        self._files.makedirs(folder, exist_ok=True)
        write(trial)
        if self._is_local:
            _sync_and_rename(Path(trial), Path(target))
        else:
            self._files.mv(trial, target)

    def _reads_the_same(self, path: Path, target: str) -> bool:
        with path.open("rb") as file:
            at = 0
            while block := file.read(_BLOCK):
                if self._files.cat_file(target, start=at, end=at + len(block)) != block:
                    return False
                at += len(block)
        return True


def _sync_and_rename(trial: Path, target: Path) -> None:
    """Rename such that a power cut leaves no name of a file whose bytes are lost."""
    descriptor = os.open(trial, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    trial.replace(target)
    sync_directory(target.parent)


def etag_of(path: Path, part_bytes: int) -> str:
    """Return the ETag that S3 gives a file: its MD5, or for a large one that of its parts' MD5s.

    Args:
        path: The file.
        part_bytes: Size of its parts; a file of less than two parts is sent in one.

    Spec: Amazon S3 API, Object: ETag.
    """
    size = path.stat().st_size
    if size < min(_LARGEST_PART, 2 * part_bytes):
        return _md5_of(path, 0, size).hex()
    starts = range(0, size, part_bytes)
    digests = b"".join(_md5_of(path, start, part_bytes) for start in starts)
    return f"{md5(digests, usedforsecurity=False).hexdigest()}-{len(starts)}"


def _md5_of(path: Path, start: int, length: int) -> bytes:
    digest = md5(usedforsecurity=False)
    with path.open("rb") as file:
        file.seek(start)
        while length > 0 and (block := file.read(min(length, _BLOCK))):
            digest.update(block)
            length -= len(block)
    return digest.digest()
