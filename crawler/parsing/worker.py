"""The process in which documents of isolated types are parsed.

``python -m crawler.parsing.worker BYTES`` reads requests from standard input and writes answers
to standard output, one at a time; both are a length of four bytes and JSON, and behind a request
comes the body. It is not trusted more than the documents it reads: an answer is plain values, and
who asked checks them.

Its memory is limited once, its CPU time anew for each document: so the process ends even if
whoever started it is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import struct
import sys
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from crawler.parsing.page import ParsingOptions
from crawler.parsing.reading import run_parser
from crawler.parsing.types import Document, Extract, load_type

if TYPE_CHECKING:
    from typing import BinaryIO

LENGTH = struct.Struct(">I")
READY = b"ready\n"
"""What the process says first; the time of a document does not include its start."""
_CPU_SPARE = 2  # seconds: beyond the time of a document, before the system ends the process
_OPEN_FILES = 64
_OPTIONS = {one.name for one in fields(ParsingOptions)}


class NoResolver:
    """What an isolated type has for a resolver: references are resolved by who asked."""

    def resolve(self, base: str, href: str, encoding: str = "utf-8") -> str | None:  # noqa: ARG002
        """Return None."""
        return None


class Timer:
    """Tells a parser that its time is up; it is asked between the parts of a document."""

    def __init__(self) -> None:
        self.expired = False
        signal.signal(signal.SIGALRM, self._expire)

    def start(self, seconds: float) -> None:
        """Begin anew."""
        self.expired = False
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def is_expired(self) -> bool:
        """Whether the time is up."""
        return self.expired

    def _expire(self, *_: object) -> None:
        self.expired = True


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Answer requests until there are no more."""
    timer = Timer()
    target.write(READY)
    target.flush()
    while head := source.read(LENGTH.size):
        request = json.loads(source.read(LENGTH.unpack(head)[0]))
        body = source.read(request["size"])
        limit_cpu(request["seconds"])
        timer.start(request["seconds"])
        answer = json.dumps(asdict(parse(request, body, timer))).encode()
        target.write(LENGTH.pack(len(answer)) + answer)
        target.flush()


def parse(request: dict[str, Any], body: bytes, timer: Timer) -> Extract:
    """Parse one body with the type that the request names; what is raised becomes an error."""
    options = {name: value for name, value in request["options"].items() if name in _OPTIONS}
    document = Document(
        body=body,
        url=request["url"],
        resolver=NoResolver(),
        media=request["media"],
        charset=request["charset"],
        options=ParsingOptions(**options),
        expired=timer.is_expired,
    )
    try:
        found = run_parser(load_type(request["module"]), document)
    except (ImportError, AttributeError, TypeError) as error:
        return Extract(error=f"{type(error).__name__}: {error}")
    if isinstance(found, Extract):
        return found
    return Extract(error=f"{request['module']}: an isolated type gives an Extract")


def limit(memory: int) -> None:
    """Bound what this process may take for itself: bytes of memory, files, none written."""
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
    ):
        with contextlib.suppress(ValueError, OSError):  # the system has a lower limit already
            resource.setrlimit(what, (most, most))


def limit_cpu(seconds: float) -> None:
    """Let the system end this process when it works longer than so from now on."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime + seconds) + _CPU_SPARE
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def main(arguments: list[str]) -> int:
    """Serve on the standard streams; what libraries print goes nowhere."""
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the crawl, which ends this
    limit(int(arguments[0]))
    serve(sys.stdin.buffer, target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
