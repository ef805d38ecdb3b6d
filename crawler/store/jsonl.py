"""JSON lines that survive a crash: whole lines only, up to a committed length."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from crawler.errors import StoreError
from crawler.store.growing import check_committed
from crawler.store.lock import sync_directory

if TYPE_CHECKING:
    from pathlib import Path


_CONTROLS = re.compile(rb"\xc2[\x80-\x9f]")
_LINE_ENDS = re.compile(
    rb"\xe2\x80[\xa8\xa9]"
)  # two expressions: together they take four times as long

When = Callable[[Callable[[], None]], None]


def _now(action: Callable[[], None]) -> None:
    action()


@dataclass(slots=True)
class Line:
    """A line and where it begins in its file; None until it was appended."""

    data: bytes
    offset: int | None = None


class JsonLines:
    """One file of JSON objects, one a line, UTF-8.

    Lines are held in memory by :meth:`write` and on disk after :meth:`sync`, whose result is
    the length to commit. Opening cuts the file to the length that was committed last.
    """

    def __init__(self, path: Path, *, committed: int, when: When = _now) -> None:
        """Open ``path`` for appending.

        Args:
            path: The file; created when missing and nothing was committed.
            committed: Its length in bytes at the last commit; what lies beyond is cut off.
            when: Given what appends a line, calls it when the line may be committed.

        Raises:
            StoreError: The file is shorter than that, or cannot be opened.
        """
        self.path = path
        self._when = when
        try:
            check_committed(path, committed)
            new = not path.exists()
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            os.ftruncate(self._file, committed)
            if new:
                sync_directory(path.parent)  # before anything in it is promised
        except OSError as error:
            raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error
        self._on_disk = committed
        self._held: list[bytes] = []
        self.length = committed
        """Bytes written, on disk or not."""

    def write(self, record: dict[str, Any]) -> Line:
        """Append one object. Lone surrogates, which JSON cannot carry, become U+FFFD."""
        line = Line(to_json(record) + b"\n")
        self._when(partial(self._append, line))
        return line

    def _append(self, line: Line) -> None:
        line.offset = self.length
        self._held.append(line.data)
        self.length += len(line.data)

    def sync(self) -> dict[str, int]:
        """Bring every line to disk; return the file's name and its length in bytes.

        Raises:
            OSError: The disk is full or gone. The file is as it was, the lines are still held.
        """
        data = b"".join(self._held)
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(self._file, data[written:], self._on_disk + written)
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._on_disk)
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        self._held.clear()
        self._on_disk += len(data)
        return {self.path.name: self._on_disk}

    def close(self) -> None:
        """Close the file; lines written since the last sync are cut at the next start."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def to_json(value: Any) -> bytes:
    """Return a value as JSON in UTF-8, printable but for blanks, and one line for every reader.

    Lone surrogates become U+FFFD. What JSON lets stand raw, and other programs take for the end
    of a line or for a command to a terminal, is escaped: U+2028, U+2029, DEL and U+0080 to U+009F.

    Spec: RFC 8259 §7; ECMA-48 (the control functions of eight bits).
    """
    try:
        data = orjson.dumps(value)
    except TypeError:
        data = orjson.dumps(_without_surrogates(value))
    if b"\x7f" in data:
        data = data.replace(b"\x7f", b"\\u007f")
    if data.isascii():
        return data
    return _LINE_ENDS.sub(_escape, _CONTROLS.sub(_escape, data))


def _escape(match: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(match[0].decode())


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_without_surrogates(part) for part in value]
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return value
