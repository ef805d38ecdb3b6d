"""Uploads of finished files, beside the crawl: none is lost, and none is waited for.

What is to be uploaded is known from the files themselves: whoever owns them adds each that is
sealed and not recorded as uploaded, at every start anew. So nothing needs to be stored here,
and an upload that was killed is made again.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crawler.errors import StoreError
from crawler.store.objects import checked_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from random import Random

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Retry:
    """How long an upload that failed waits for the next try.

    Attributes:
        first: Seconds after the first failure in a row; doubled with each further one.
        most: Longest wait in seconds.
    """

    first: float = 1.0
    most: float = 120.0

    def wait(self, failures: int, random: Random) -> float:
        """Return seconds to wait: half of them certain, half by lot, so that crawls spread."""
        longest = min(self.most, self.first * 2.0 ** min(failures - 1, 32))
        return longest * (0.5 + random.random() / 2)


class Store(Protocol):
    """Where files are uploaded to; :class:`crawler.store.objects.ObjectStore` is one."""

    url: str

    def put(self, path: Path, name: str) -> int:
        """Upload a file, whole or not at all, and return its size."""
        ...


class Uploaded(NamedTuple):
    """A file that is safe in the store: verified there."""

    name: str
    size: int
    url: str
    path: Path


class Pending(NamedTuple):
    """What is still to be uploaded."""

    files: int
    bytes: int


class _Sealed(NamedTuple):
    path: Path
    name: str
    size: int


class Uploader:
    """A queue of files, uploaded one after the other by one thread.

    A store that is away holds up nothing: files stay where they are, and are tried again,
    ever less often. The log tells when an outage begins and when it is over.

    Args:
        store: Where to.
        random: Draws the waits.
        now: Crawl time, a function that may be called from any thread.
        retry: How failures are answered.
        keep_local: Whether files stay when they are uploaded and recorded.
    """

    def __init__(
        self,
        store: Store,
        *,
        random: Random,
        now: Callable[[], float],
        retry: Retry | None = None,
        keep_local: bool = True,
    ) -> None:
        self._store = store
        self._random = random
        self._now = now
        self._retry = retry or Retry()
        self._keep_local = keep_local
        self._lock = threading.Lock()  # of the queue and what is known by name
        self._queue: deque[_Sealed] = deque()
        self._names: set[str] = set()  # queued or under way
        self._finished: deque[Uploaded] = deque()
        self._failed: set[str] = set()
        self._failures = 0  # in a row
        self._next_at = 0.0
        self._closing = False
        self._abandoned = False
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to upload, in a thread that does not keep the process alive."""
        self._thread = threading.Thread(target=self._work, name="uploads", daemon=True)
        self._thread.start()

    def add(self, path: Path, name: str) -> None:
        """Queue a file that does not change any more; one that is queued already is not again.

        Raises:
            OSError: There is no such file.
            StoreError: No object can have that name.
        """
        sealed = _Sealed(path, checked_name(name), path.stat().st_size)
        with self._lock:
            if name not in self._names:
                self._names.add(name)
                self._queue.append(sealed)
        self._woken.set()

    def finished(self) -> list[Uploaded]:
        """Return what has been uploaded since the last call, for the caller to record."""
        with self._lock:
            done = list(self._finished)
            self._finished.clear()
        return done

    def recorded(self, uploads: Iterable[Uploaded]) -> None:
        """Note that the caller will know these as uploaded whatever happens.

        Only now their local files may go, where they are not to be kept. Twice is once.
        """
        if self._keep_local:
            return
        for upload in uploads:
            try:
                upload.path.unlink(missing_ok=True)
            except OSError as error:
                logger.warning("%s is uploaded, but cannot be removed: %s", upload.path, error)

    @property
    def pending(self) -> Pending:
        """What is queued or under way."""
        with self._lock:
            return Pending(len(self._queue), sum(sealed.size for sealed in self._queue))

    def close(self, timeout: float) -> list[str]:
        """Upload what is left, for so many seconds at most; return the names not uploaded.

        What is due to be tried later is tried at once.
        """
        self._closing = True
        self._next_at = 0.0
        self._woken.set()
        if self._thread is not None:
            self._thread.join(timeout)
        self._abandoned = True
        self._woken.set()
        with self._lock:
            left = [sealed.name for sealed in self._queue]
        if left:
            logger.warning(
                "%d file(s) are not in %s yet (%s%s); they stay in the job directory, "
                "and the next start uploads them.",
                len(left), self._store.url, left[0], ", …" if len(left) > 1 else "",
            )  # fmt: skip
        return left

    def step(self) -> float | None:
        """Try one file if it is time.

        Returns:
            Seconds until the next try, 0 for at once; None when nothing is queued.
        """
        wait = self._next_at - self._now()
        with self._lock:
            sealed = self._queue[0] if self._queue else None
        if sealed is None:
            return None
        if wait > 0:
            return wait
        try:
            size = self._store.put(sealed.path, sealed.name)
        except StoreError as error:
            self._note_failure(sealed, error)
        else:
            self._note_success(sealed, size)
        return max(0.0, self._next_at - self._now()) if self._queue else None

    def _work(self) -> None:
        while not self._abandoned:
            self._woken.clear()
            wait = self.step()
            if wait is None and self._closing:
                break
            if wait != 0 and not self._abandoned:
                self._woken.wait(wait)

    def _note_success(self, sealed: _Sealed, size: int) -> None:
        self._failures = 0
        self._next_at = 0.0
        url = f"{self._store.url}/{sealed.name}"
        with self._lock:
            self._drop(sealed)
            self._finished.append(Uploaded(sealed.name, size, url, sealed.path))
        if self._failed:
            self._failed.discard(sealed.name)
            if not self._failed:
                logger.warning("Uploads to %s go on; what was held up is there.", self._store.url)

    def _note_failure(self, sealed: _Sealed, error: StoreError) -> None:
        """Let the next file have its turn: one that is refused must not hold up the others."""
        if not sealed.path.exists():
            with self._lock:
                self._drop(sealed)
            self._failed.discard(sealed.name)
            logger.error("%s is gone before it was uploaded as %s", sealed.path, sealed.name)
            return
        if not self._failed:
            logger.warning(
                "Uploads fail, nothing is lost: %s. The crawl goes on, files stay in the job "
                "directory and are tried again.", error,
            )  # fmt: skip
        with self._lock:
            self._queue.rotate(-1)
        self._failed.add(sealed.name)
        self._failures += 1
        self._next_at = self._now() + self._retry.wait(self._failures, self._random)

    def _drop(self, sealed: _Sealed) -> None:
        self._queue.remove(sealed)
        self._names.discard(sealed.name)
