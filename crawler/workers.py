"""Has documents parsed in processes of their own, each within a time; the event loop goes on.

Threads of a pool wait for the processes, one each. A process that dies, takes too long or says
too much is ended, its document is an error, and the next document gets a new one. It is handed
neither our environment nor anything else but the document, and what it answers is read as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from crawler.parsing.types import Extract
from crawler.parsing.worker import LENGTH, READY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.parsing.types import Document

_SOFT = 0.8  # of the time: then a parser is asked to come to an end
_START = 60.0  # seconds for a process to begin, on a busy machine
_DOCUMENTS = 200  # of one process: what its libraries do not free is freed with it
_MOST_ANSWER = 64 * 2**20  # bytes; a page has a tenth of it at most
_PASSED_ON = ("LANG", "LC_ALL", "PATH", "SYSTEMROOT")
KILLED = "parser ended"
"""How the error of a document begins whose process was ended, or ended itself."""
_FIELDS = {"title": str, "lang": str, "text": str, "charset": str, "error": str, "truncated": bool}
_LISTS = ("headings", "hrefs")


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """Bounds of parsing apart.

    Attributes:
        processes: at most at a time; they are started when there is something to parse.
        timeout: seconds for a document.
        memory: bytes of a process.
    """

    processes: int = 2
    timeout: float = 10.0
    memory: int = 512 * 2**20


class Worker:
    """One process; used by one thread at a time."""

    def __init__(self, options: WorkerOptions) -> None:
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._served = 0

    def parse(self, module: str, document: Document) -> Extract:
        """Return what the type of a module makes of a document, or why nothing came of it."""
        late = threading.Event()
        try:
            process = self._running(late)
            with _deadline(process, self._options.timeout, late):
                self._ask(process, module, document)
                return _extract(_answer(process))
        except (OSError, ValueError, RecursionError) as error:
            code = self.close()
            if late.is_set():
                return Extract(error=f"{KILLED} after {self._options.timeout:g} s")
            return Extract(error=f"{KILLED} with exit code {code}: {error}")

    def close(self) -> int | None:
        """End the process and return its exit code, None if there is none; idempotent."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        code = process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):  # what it was not told any more
                _pipe(pipe).close()
        return code

    def _running(self, late: threading.Event) -> subprocess.Popen[bytes]:
        """Return the process, ready for a document; a new one if there is none any more."""
        ended = self._process is not None and self._process.poll() is not None
        if self._process is None or ended or self._served >= _DOCUMENTS:
            self.close()
            self._process, self._served = self._start(), 0
            with _deadline(self._process, _START, late):
                if _pipe(self._process.stdout).read(len(READY)) != READY:
                    raise ValueError("it did not start")
        self._served += 1
        return self._process

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(str(Path(one).absolute()) for one in sys.path)
        return subprocess.Popen(  # noqa: S603 -- our own module, by our own interpreter
            [sys.executable, "-m", "crawler.parsing.worker", str(self._options.memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )

    def _ask(self, process: subprocess.Popen[bytes], module: str, document: Document) -> None:
        request = {
            "module": module,
            "url": document.url,
            "media": document.media,
            "charset": document.charset,
            "options": asdict(document.options),
            "seconds": self._options.timeout * _SOFT,
            "size": len(document.body),
        }
        head = json.dumps(request).encode()
        pipe = _pipe(process.stdin)
        pipe.write(LENGTH.pack(len(head)) + head + document.body)
        pipe.flush()


class Workers:
    """The processes of a crawl. Close it, or they live until their next document would be due."""

    def __init__(self, options: WorkerOptions) -> None:
        self._threads = ThreadPoolExecutor(options.processes, "parsing")
        self._workers = [Worker(options) for _ in range(options.processes)]
        self._free = list(self._workers)  # as many as threads, so that none waits for one

    async def parse(self, module: str, document: Document) -> Extract:
        """Return what the type of a module makes of a document; see :meth:`Worker.parse`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._parse, module, document)

    def _parse(self, module: str, document: Document) -> Extract:
        worker = self._free.pop()
        try:
            return worker.parse(module, document)
        finally:
            self._free.append(worker)

    def close(self) -> None:
        """End all processes; what they work on is lost."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.close()


@contextlib.contextmanager
def _deadline(
    process: subprocess.Popen[bytes], seconds: float, late: threading.Event
) -> Iterator[None]:
    """End a process, and note that, unless what is done here is done in time."""

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # both are pipes
    return stream


def _answer(process: subprocess.Popen[bytes]) -> object:
    pipe = _pipe(process.stdout)
    head = pipe.read(LENGTH.size)
    size = LENGTH.unpack(head)[0] if len(head) == LENGTH.size else 0
    if not 0 < size <= _MOST_ANSWER:
        raise ValueError(f"an answer of {size} bytes")
    answer: object = json.loads(pipe.read(size))
    return answer


def _extract(answer: object) -> Extract:
    """Take plain values of the right types, and nothing else, from what a process says.

    Raises:
        ValueError: They are not.
    """
    if not isinstance(answer, dict):
        raise ValueError("no mapping")  # noqa: TRY004 -- a bad value like the others
    found = Extract()
    for name, kind in _FIELDS.items():
        value = answer.get(name)
        if value is not None:
            if not isinstance(value, kind):
                raise ValueError(name)
            setattr(found, name, value)
    for name in _LISTS:
        setattr(found, name, [one for one in answer.get(name, ()) if isinstance(one, str)])
    return found
