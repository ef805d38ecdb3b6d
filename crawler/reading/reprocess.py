"""Makes the lines of a crawl again, from its archive, with the code and settings of today.

The archive is walked in the order in which it was written, which is the order of the lines and,
all but for pages that were in flight together, that of the verdicts. The catalog says which of
its records count, and what was known of their URLs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.dedupe import Verdicts
from crawler.errors import QueryError, StoreError
from crawler.reading.comparison import Tally
from crawler.reading.filters import matches
from crawler.reading.making import PageMaker
from crawler.received import USABLE
from crawler.store import page_record, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.reading.kept import Kept
    from crawler.store import Indexed, PageQuery, PageRow

_AT_ONCE = 200  # rows of one look-up
_BLOCK = 1 << 20


class _Place(NamedTuple):
    """Where in the archive a record is; later ones are greater."""

    segment: tuple[int, str]
    offset: int


class Reprocess:
    """One run over the archive of a job directory.

    Every page passes the duplicate stages, whatever is asked for, because its verdict depends on
    all pages before it.

    Memory: the indexes that find duplicates, as in a crawl (about 120 bytes a page beside its
    URL), one page, and the rows of one look-up.

    Args:
        kept: The job directory.
        query: Which lines are wanted.
        warn: Is told about each record that cannot be read.
        tick: Is called after each URL.
    """

    def __init__(
        self,
        kept: Kept,
        query: PageQuery,
        *,
        warn: Callable[[str], None],
        tick: Callable[[Reprocess], None],
    ) -> None:
        self.tally = Tally()
        """What has differed so far."""
        self.urls = 0
        """How many URLs have been looked at."""
        self.pages = 0
        """How many of them were pages, and were parsed."""
        self._kept = kept
        self._query = query
        self._warn = warn
        self._tick = tick
        self._verdicts = Verdicts(kept.config.dedupe)
        self._maker = PageMaker(kept)
        self._early: dict[bytes, bytes | None] = {}

    def lines(self) -> Iterator[bytes]:
        """Yield the lines that are wanted, each with its line end, in the order of the archive.

        Raises:
            StoreError: Catalog or archive are not there, or of another crawl.
        """
        with self._maker:
            for row, originals in self._rows():
                line = self._line(row, originals)
                self.urls += 1
                self._tick(self)
                if matches(self._query, row):
                    self.tally.note(row, self._kept.line(row), line)
                    if line is not None:
                        yield line

    def count_unarchived(self) -> None:
        """Note how many lines were not met; after a run in which all were wanted."""
        if not self._kept.lines.exists():
            return
        with self._kept.lines.open("rb") as file:
            count = sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))
        self.tally.unarchived = max(0, count - self.tally.lines)

    def _rows(self) -> Iterator[tuple[PageRow, dict[bytes, PageRow]]]:
        """Yield the rows of all records that count, each with those of pages it may repeat."""
        part: list[Indexed] = []
        for indexed in self._kept.archive.captures():
            part.append(indexed)
            if len(part) == _AT_ONCE:
                yield from self._rows_of(part)
                part.clear()
        yield from self._rows_of(part)

    def _rows_of(self, part: list[Indexed]) -> Iterator[tuple[PageRow, dict[bytes, PageRow]]]:
        kept = self._kept
        marks = [kept.mark(one.url) for one in part]
        rows = kept.catalog.pages_of(marks)
        copies = {kept.mark(row.duplicate_of) for row in rows.values() if row.duplicate_of}
        originals = kept.catalog.pages_of(copies) if copies else {}
        for mark, indexed in zip(marks, part, strict=True):
            row = rows.get(mark)
            # a robots.txt has none; a record that was not committed, or of an earlier visit,
            # is not the one that it names
            if row is not None and _place(row) == _Place(_segment(indexed.file), indexed.offset):
                yield row, originals

    def _line(self, row: PageRow, originals: dict[bytes, PageRow]) -> bytes | None:
        """Return the line of a page, after that of the page which it repeated in the crawl.

        Of two pages that were in flight together the one whose verdict came later may have ended
        earlier. After a crash it may have, too: the first was fetched again.
        """
        if row.url_hash in self._early:
            return self._early.pop(row.url_hash)
        if row.duplicate_of is not None:
            first = originals.get(self._kept.mark(row.duplicate_of))
            if first is not None and first.url_hash not in self._early and _is_later(first, row):
                self._early[first.url_hash] = self._made(first)
        return self._made(row)

    def _made(self, row: PageRow) -> bytes | None:
        if row.status_code not in USABLE:
            return None
        try:
            received = self._kept.archive.received(row)
        except QueryError:  # its body does not unpack; it did not in the crawl, either
            return None
        except StoreError as error:
            self.tally.unreadable += 1
            self._warn(str(error))
            return None
        page = self._maker.page(received)
        if page is None:
            return None
        self.pages += 1
        if self._verdicts.verdict(page) is not None:
            return None
        self._verdicts.keep(page)
        return to_json(page_record(page)) + b"\n"


def _segment(name: str) -> tuple[int, str]:
    """Return what sorts the files of an archive by age: numbers grow beyond five digits."""
    return len(name), name


def _place(row: PageRow) -> _Place | None:
    if row.warc_file is None or row.warc_offset is None:
        return None
    return _Place(_segment(row.warc_file), row.warc_offset)


def _is_later(one: PageRow, other: PageRow) -> bool:
    places = _place(one), _place(other)
    return places[0] is not None and places[1] is not None and places[0] > places[1]
