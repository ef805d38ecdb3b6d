"""The object store: finished files of a crawl in a bucket, or wherever fsspec reaches.

Any URL that fsspec can write to will do: ``s3://bucket/prefix``, ``file:///mnt/archive``,
``memory://``. Nothing is cached, so that every answer is what the store says now.
"""

from __future__ import annotations

import contextlib
import logging
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from crawler.errors import OutOfReachError, StoreError
from crawler.store.transfer import LOCAL, S3, Transfer

if TYPE_CHECKING:
    from pathlib import Path

    from fsspec import AbstractFileSystem

logger = logging.getLogger(__name__)

OWNER = ".crawl"
"""Object that names the crawl to which a prefix belongs."""

_PART = 16 << 20
_NAME = re.compile(r"[^/\\\0]+(?:/[^/\\\0]+)*")
_SECRET = re.compile(r"key|secret|token|password|credential", re.IGNORECASE)
_SHORTEST_SECRET = 4  # characters; masking a shorter one would garble the message
_PATIENCE = {
    "connect_timeout": 10,
    "read_timeout": 60,
    "retries": {"mode": "standard", "total_max_attempts": 2},  # the uploader has its own
}


@dataclass(frozen=True, slots=True)
class ObjectOptions:
    """Where finished files go.

    Attributes:
        url: Of the bucket and prefix; empty for nowhere.
        driver: Options of the fsspec driver.
        keep_local: Whether the local file stays when its object is safe.
    """

    url: str = ""
    driver: Mapping[str, Any] = field(default_factory=dict)
    keep_local: bool = True


_NOT_THERE = (FileNotFoundError, NotADirectoryError)


class ObjectStore:
    """A place below a URL, with files under names.

    May be used from several threads. All errors of the driver come as :class:`StoreError`.
    """

    def __init__(self, files: AbstractFileSystem, root: str, url: str, transfer: Transfer) -> None:
        self.url = masked(url).rstrip("/")
        """Fit to be shown: without credentials."""
        self._files = files
        self._root = root.rstrip("/")
        self._transfer = transfer
        self._secrets: tuple[str, ...] = ()

    @classmethod
    def open(
        cls,
        url: str,
        *,
        options: Mapping[str, Any],
        part_bytes: int = _PART,
        read_only: bool = False,
    ) -> Self:
        """Connect, and try whether files can be written and read.

        Args:
            url: ``protocol://place/prefix``.
            read_only: Try nothing, and write nothing: it is only read.
            options: Of the driver, such as ``{"endpoint_url": "http://localhost:9000"}``.
                Credentials that are not in them are taken from the environment.
            part_bytes: Size of the parts of a large file; S3 takes 5 MiB and more.

        Raises:
            StoreError: There is no such place, or it may not be used; says what to do.
        """
        protocol = _protocol_of(url)
        secrets = tuple(_secrets_in(options))
        try:
            files, root = _connect(protocol, url, options)
            store = cls(files, root, url, Transfer(files, protocol, part_bytes))
            store._secrets = secrets
            if not read_only:
                store._probe()
        except Exception as error:
            said = _without(secrets, str(error) or type(error).__name__)
            raise StoreError(
                f"STORE_OBJECTS={masked(url)} cannot be used: {said}; {_remedy(error, protocol)}"
            ) from error
        return store

    def put(self, path: Path, name: str) -> int:
        """Upload a file, whole or not at all, and see that it arrived; return its size.

        An object that is this very file already is left as it is, another one is replaced.

        Args:
            path: The local file; it must not change meanwhile.
            name: What it will be called, below the URL.

        Raises:
            StoreError: It could not be uploaded; the object is as it was.
        """
        target = self._target(name)
        with self._edge(name):
            if not self._transfer.may_have_arrived(path, target):
                self._transfer.send(path, target)
                if not self._transfer.arrived(path, target):
                    raise OSError("what arrived is not what was sent")
            return path.stat().st_size

    def exists(self, name: str) -> int | None:
        """Return the size of an object in bytes; None when there is none.

        Raises:
            StoreError: The store does not say.
        """
        target = self._target(name)
        with self._edge(name):
            try:
                info = self._files.info(target)
            except _NOT_THERE:
                return None
            return int(info["size"]) if info["type"] == "file" else None

    def read(self, name: str, offset: int, length: int) -> bytes:
        """Return so many bytes of an object; fewer where it ends.

        Raises:
            StoreError: There is no such object.
            OutOfReachError: It cannot be read now.
        """
        target = self._target(name)
        if offset < 0 or length < 0:
            raise StoreError(f"{self.url}/{name}: no range of {length} bytes at {offset}")
        if length == 0:
            return b""
        with self._edge(name):
            try:
                data: bytes = self._files.cat_file(target, start=offset, end=offset + length)
            except OSError:
                size = self.exists(name)
                if size is None or offset < size:
                    raise
                return b""  # S3 refuses a range that begins at the end
            return data

    def claim(self, owner: str) -> None:
        """Make the place one crawl's own, so that no two overwrite each other's files.

        Args:
            owner: What tells this crawl from all others, at every start the same.

        Raises:
            StoreError: It is another crawl's already.
        """
        size = self.exists(OWNER)
        if size is None:
            with self._edge(OWNER):
                self._transfer.write(owner.encode(), self._target(OWNER))
            return
        other = self.read(OWNER, 0, size).decode("utf-8", "replace")
        if other != owner:
            raise StoreError(
                f"STORE_OBJECTS={self.url} has the files of another crawl ({other}); give each "
                f"crawl a prefix of its own, or remove {OWNER} there if that crawl is over"
            )

    def close(self) -> None:
        """Let connections go; what is asked for later makes new ones."""
        connection = getattr(self._files, "_s3creator", None)
        if connection is not None:
            self._files.close_session(self._files.loop, connection)

    def _probe(self) -> None:
        name, said = f".probe-{uuid.uuid4()}", b"may files be written here?"
        target = self._target(name)
        self._transfer.write(said, target)
        if self._files.cat_file(target, start=0, end=len(said)) != said:
            raise StoreError("what was written is not what is read")
        try:
            self._files.rm_file(target)
        except PermissionError:
            logger.warning("%s may not be removed; files can be stored all the same", target)

    def _target(self, name: str) -> str:
        return f"{self._root}/{checked_name(name)}"

    @contextlib.contextmanager
    def _edge(self, name: str) -> Iterator[None]:
        """Turn whatever a driver raises into an error of ours."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:
            said = _without(self._secrets, str(error) or type(error).__name__)
            kind = StoreError if isinstance(error, _NOT_THERE) else OutOfReachError
            raise kind(f"{self.url}/{name}: {said}") from error


def checked_name(name: str) -> str:
    """Return a name that leads nowhere but below the place it is looked up in.

    Raises:
        StoreError: It is empty, absolute, or has a part that leads up.
    """
    if not _NAME.fullmatch(name) or not {".", ".."}.isdisjoint(name.split("/")):
        raise StoreError(f"{name!r} is no name of a file here: expected such as web-00000.warc.gz")
    return name


def masked(url: str) -> str:
    """Return a URL without user, password and query, fit to be shown."""
    scheme, separator, rest = url.partition("://")
    place, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    host = place.rpartition("@")[2]
    return f"{scheme}{separator}{'***@' if '@' in place else ''}{host}{slash}{path}"


def _protocol_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        protocol = parts.scheme
    except ValueError:
        protocol = ""
    if not protocol or "://" not in url or "::" in url:
        raise StoreError(
            f"STORE_OBJECTS={masked(url)}: expected a URL such as s3://bucket/prefix or "
            "file:///folder, and no chain of them"
        )
    if protocol in S3 and "@" in parts.netloc:
        raise StoreError(
            f"STORE_OBJECTS={masked(url)}: credentials do not belong into the URL; put them into "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment"
        )
    return protocol


def _connect(protocol: str, url: str, options: Mapping[str, Any]) -> tuple[AbstractFileSystem, str]:
    from fsspec.core import url_to_fs  # 70 ms, which a crawl without a store need not wait

    given = {**options, "skip_instance_cache": True, "use_listings_cache": False}
    if protocol in S3:
        given["config_kwargs"] = _PATIENCE | dict(options.get("config_kwargs", {}))
    files, root = url_to_fs(url, **given)
    if protocol in LOCAL:
        files.makedirs(root, exist_ok=True)
    return files, root


def _remedy(error: Exception, protocol: str) -> str:
    """Return what helps against an error at the start."""
    if isinstance(error, ImportError):
        return f"the driver is missing: {_driver(protocol)}"
    if isinstance(error, PermissionError) or "Credentials" in type(error).__name__:
        return (
            "check the credentials, and that they may put, get and delete objects"
            if protocol in S3
            else "check who may write there"
        )
    if isinstance(error, FileNotFoundError) and protocol in S3:
        return "make the bucket first, or correct its name"
    return (
        "check the URL, STORE_OBJECTS_OPTIONS, and AWS_ENDPOINT_URL if it is not Amazon's"
        if protocol in S3
        else "check the URL and STORE_OBJECTS_OPTIONS"
    )


def _driver(protocol: str) -> str:
    """Return the command that installs a driver; that of S3 has the version of fsspec."""
    from fsspec import __version__ as version

    return f"pip install s3fs=={version}" if protocol in S3 else "install what it names"


def _secrets_in(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from _secrets_in(value)
        elif isinstance(value, str) and _SECRET.search(name) and len(value) >= _SHORTEST_SECRET:
            yield value


def _without(secrets: tuple[str, ...], text: str) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    return text
