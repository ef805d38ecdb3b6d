"""Where answers go: a terminal, which is told visible characters only, or a pipe or file."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, BinaryIO

from crawler.printable import printable, printable_json
from crawler.reading.terminal import table
from crawler.store import to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TextIO


class Screen:
    """Standard output or what stands for it.

    Args:
        stream: Text; its bytes go to ``stream.buffer``.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.is_terminal = stream.isatty()

    def line(self, text: str) -> None:
        """Print one line, whatever the text has in it."""
        self._put(printable(text) + "\n")

    def text(self, text: str) -> None:
        """Print a text of several lines; to a pipe or file it goes as it is."""
        self._put((printable(text, layout=True) if self.is_terminal else text) + "\n")

    def json(self, value: Any) -> None:  # noqa: ANN401 -- any JSON value
        """Print a value as one line of JSON."""
        text = to_json(value).decode()
        self._put((printable_json(text) if self.is_terminal else text) + "\n")

    def table(
        self, rows: Iterable[Sequence[str]], widths: Sequence[int], *, ranks: Sequence[int] = ()
    ) -> None:
        """Print rows as they come, on a terminal cut to its width; see :func:`table`."""
        width = shutil.get_terminal_size().columns if self.is_terminal else None
        for line in table(rows, widths, width, ranks=ranks):
            self._put(line + "\n")

    def file(self) -> BinaryIO:
        """Return what takes bytes: as they are, or on a terminal what of them is text."""
        return _Escaped(self) if self.is_terminal else self._stream.buffer  # type: ignore[return-value]

    def _put(self, text: str) -> None:
        self._stream.buffer.write(text.encode("utf-8", "replace"))


class _Escaped:
    """Bytes on their way to a terminal; each write is whole characters."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def write(self, data: bytes) -> int:
        """Print them; those that are no UTF-8 as escapes."""
        self._screen._put(printable(data.decode("utf-8", "backslashreplace"), layout=True))  # noqa: SLF001 -- one of its faces
        return len(data)


@contextlib.contextmanager
def pipe_may_close() -> Iterator[None]:
    """End the block quietly when whoever reads has had enough, as ``head`` has."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
