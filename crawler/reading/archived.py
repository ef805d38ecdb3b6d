"""What was received, read back from the archive of a crawl."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from crawler.errors import QueryError, StoreError
from crawler.parsing.codings import CodingError, CutShortError, TooLargeError, decode_page
from crawler.received import Received
from crawler.store import ArchiveReader, ObjectStore
from crawler.store.cdxj import one_line_uri

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from crawler.config import Config
    from crawler.store import Indexed, PageRow, Record, VisitRow

_NEAR = 0.002  # s: the archive cuts times to the millisecond, the catalog rounds them
_RECORD = 64 << 20  # bytes; see ArchiveReader.read
_HEAD = 1 << 20  # bytes of a record beside its body


class Archived:
    """The archive of a job directory, and of the object store where its files have gone.

    Args:
        directory: Of the segments.
        config: Of the crawl: the object store, and the bound of a body.
        visits: URL and time → the visits of that URL before that time, newest first.

    Raises:
        StoreError: There is no archive, or the object store cannot be used.
    """

    def __init__(
        self,
        directory: Path,
        config: Config,
        visits: Callable[[str, float], Sequence[VisitRow]],
    ) -> None:
        if not any(directory.glob("*.warc.gz")):
            raise StoreError(
                f"{directory} has no archive: the crawl runs with STORE_WARC_ENABLED=false, or has "
                "not fetched anything yet; what was not kept can only be fetched again"
            )
        objects = config.objects
        store = (
            ObjectStore.open(objects.url, options=objects.driver, read_only=True)
            if objects.url
            else None
        )
        self._reader = ArchiveReader(directory, store)
        self._directory = directory
        self._visits = visits
        self._most_bytes = config.most_bytes

    def captures(self) -> Iterator[Indexed]:
        """Yield what the archive has, in the order in which it was written."""
        return self._reader.captures()

    def record(self, row: PageRow) -> Record:
        """Return what was received for a page.

        Raises:
            QueryError: Nothing of it was archived.
            StoreError: It is not where the row says.
        """
        if row.warc_file is None or row.warc_offset is None or row.warc_length is None:
            raise QueryError(
                f"{row.url}: nothing of it is in the archive: there was no answer (its outcome is "
                f"{row.outcome}), or it was not to be kept (STORE_WARC_ENABLED, STORE_OTHER_TYPES)"
            )
        return self._read(row.url, row.warc_file, row.warc_offset, row.warc_length)

    def body(self, record: Record) -> tuple[bytes, bool]:
        """Return the bytes of a page, content codings undone, and whether they end too early.

        Raises:
            QueryError: They are not what their Content-Encoding says.
            StoreError: They are those of another page, whose record is not there.
        """
        payload = self._original(record).body if record.kind == "revisit" else record.body
        codings = b",".join(headers_of(record, "Content-Encoding"))
        said = b",".join(headers_of(record, "Content-Type"))
        cut = record.fields.get("warc-truncated") == "disconnect"
        if not payload:
            return payload, cut
        try:
            return decode_page(payload, codings, said, limit=self._most_bytes), cut
        except CutShortError as error:
            if error.so_far:
                return error.so_far, True
            problem: Exception = error
        except (CodingError, TooLargeError) as error:
            problem = error
        raise QueryError(
            f"{record.fields.get('warc-target-uri')}: its body does not unpack: {problem}"
        )

    def received(self, row: PageRow) -> Received:
        """Return the answer to a page's URL as it was received.

        Raises:
            QueryError: There is none, or it does not unpack.
            StoreError: The archive is damaged.
        """
        record = self.record(row)
        body, cut = self.body(record)
        return Received(
            url=row.url,
            status=record.status,
            headers=lambda name: headers_of(record, name),
            body=body,
            at=_seconds(record.fields.get("warc-date", "")),  # cut, as that of the line
            depth=row.depth,
            referrer=row.referrer,
            interrupted=cut,
            listed=row.outcome == "listed",
        )

    def _read(self, url: str, file: str, offset: int, length: int) -> Record:
        limit = max(_RECORD, self._most_bytes + _HEAD)
        record = self._reader.read(file, offset, length, limit=limit)
        if record.fields.get("warc-target-uri") != one_line_uri(url):
            raise StoreError(
                f"{self._directory / file} at {offset}: is not the record of {url}: archive and "
                "catalog are of different crawls, or one of them was changed"
            )
        return record

    def _original(self, record: Record) -> Record:
        """Return the record that has the body of a revisit. Spec: WARC 1.1 §6.7.2."""
        field = record.fields.get
        url, date = field("warc-refers-to-target-uri", ""), field("warc-refers-to-date", "")
        for place in self._places(url, _seconds(date)):
            original = self._read(url, *place)
            if field("warc-refers-to") in (None, original.fields.get("warc-record-id")):
                return original
        raise StoreError(
            f"{field('warc-target-uri')}: has the bytes of {url} at {date}, which are not in the "
            "archive; restore its files from a copy"
        )

    def _places(self, url: str, at: float) -> Iterator[tuple[str, int, int]]:
        for visit in self._visits(url, at + _NEAR):
            if visit.visited_at < at - _NEAR:
                return
            if visit.warc_file is not None:
                assert visit.warc_offset is not None  # the three come together
                assert visit.warc_length is not None
                yield visit.warc_file, visit.warc_offset, visit.warc_length


def headers_of(record: Record, name: str) -> Sequence[bytes]:
    """Return the values of the headers with a name, in their order."""
    key = name.lower().encode()
    return [value for found, value in record.headers if found.lower() == key]


def _seconds(date: str) -> float:
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        raise StoreError(f"{date!r} is no time of a WARC record; restore the file") from None
