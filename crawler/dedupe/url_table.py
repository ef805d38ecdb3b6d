"""URLs by row number, without a Python object for each."""

from __future__ import annotations

from array import array

MAX_ROWS = 2**32 - 1


class UrlTable:
    """Append-only list of URLs, shared by the indexes of one crawl.

    Rows are numbered from 0 in the order of addition, so a smaller row is an older page.

    Cost:
        8 bytes and the UTF-8 length of the URL a row.

    Invariants:
        A row, once given out, means the same URL for ever.
    """

    __slots__ = ("_ends", "_text")

    def __init__(self) -> None:
        self._text = bytearray()
        self._ends = array("Q", [0])

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, row: int) -> str:
        return self._bytes(row).decode("utf-8", "surrogatepass")

    def _bytes(self, row: int) -> bytes:
        return bytes(self._text[self._ends[row] : self._ends[row + 1]])

    def add(self, url: str) -> int:
        """Return the row of a URL; one that was just added keeps its row."""
        data = url.encode("utf-8", "surrogatepass")
        last = len(self) - 1
        if last >= 0 and self._bytes(last) == data:
            return last
        if last + 1 >= MAX_ROWS:
            raise OverflowError("the table of indexed URLs is full: 4,294,967,295 rows")
        self._text += data
        self._ends.append(len(self._text))
        return last + 1

    @property
    def size_bytes(self) -> int:
        """Bytes in use, without what the buffers hold in reserve."""
        return len(self._text) + 8 * len(self._ends)
