"""The bytes of a page as its server sent them, found in the archive.

A record may be a *revisit*: it says that the content is that of an earlier record and leaves
the body out. Then the body is that of another record whose row has the same hash of the
content: an earlier visit of the same URL, the URL that the revisit names, or the page that
this one repeats.
"""

from __future__ import annotations

import logging
import re
import threading
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from crawler.api.library import Absent, Library
from crawler.errors import OutOfReachError, StoreError
from crawler.store import Record
from crawler.store.cdxj import one_line_uri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.store.pages import PageRow, VisitRow

logger = logging.getLogger(__name__)

LARGEST = 64 << 20
"""Most bytes of a body, packed or unpacked."""

_MOST_RECORDS = 8  # looked at for one body
_MOST_VISITS = 100  # of one URL
_SEGMENT = re.compile(r"[\w-][\w.-]{0,200}\.warc\.gz", re.ASCII).fullmatch
_MEDIA_TYPE = re.compile(
    rb"([\w!#$&^.+-]{1,127}/[\w!#$&^.+-]{1,127})[ \t]*(?:;(.*))?", re.ASCII | re.DOTALL
).fullmatch
_CHARSET = re.compile(
    rb"(?:^|;)[ \t]*charset=\"?([\w.:+-]{1,40})\"?[ \t]*(?:;|$)", re.ASCII | re.IGNORECASE
).search
_CODING = re.compile(rb"[\w, -]{1,100}", re.ASCII).fullmatch
_UNKNOWN = "application/octet-stream"


class Body(NamedTuple):
    """A body, and what may safely be said of it in headers."""

    content: bytes
    content_type: str
    coding: str | None  # that ``content`` still has


class Place(NamedTuple):
    """Where a record lies, and which URL it must be of."""

    url: str
    file: str
    offset: int
    length: int


class Bodies:
    """Finds bodies, a bounded number at a time."""

    def __init__(self, library: Library, *, at_a_time: int = 4) -> None:
        self._library = library
        self._turns = threading.BoundedSemaphore(at_a_time)

    def find(self, row: PageRow, *, decoded: bool) -> Body | Absent:
        """Return the body of a page.

        Args:
            row: Of the page.
            decoded: Whether content codings are undone, as a client of the site does it.

        Raises:
            OutOfReachError: It is in an object store that does not answer now.
        """
        with self._turns:
            record = self._response(row)
            if isinstance(record, Absent):
                return record
            codings = b",".join(_values(record, b"content-encoding"))
            if not codings or not record.body:
                return Body(record.body, _content_type(record), None)
            if not decoded:
                return Body(record.body, _UNKNOWN, _coding(codings))
            return self._decode(record, codings)

    def _decode(self, record: Record, codings: bytes) -> Body | Absent:
        try:
            content = self._library.decode(record.body, codings)
        except StoreError as error:
            return Absent(f"{error}; as=received gives the bytes as they came")
        return Body(content, _content_type(record), None)

    def _response(self, row: PageRow) -> Record | Absent:
        """Return the record that holds the body of a page, be it another one's."""
        own = self._own(row)
        if isinstance(own, Record) and own.kind == "response":
            return own
        named = own.fields.get("warc-refers-to-target-uri") if isinstance(own, Record) else None
        for place in islice(self._same_content(row, named), _MOST_RECORDS):
            record = self._read(place)
            if isinstance(record, Record) and record.kind == "response":
                return record
        if isinstance(own, Absent):
            return own
        return Absent("its record refers to an earlier one with the same body, which is not there")

    def _own(self, row: PageRow) -> Record | Absent:
        place = _place(row.url, row)
        if place is None:
            return Absent(f"nothing was archived of it: it ended as {row.outcome}")
        return self._read(place)

    def _same_content(self, row: PageRow, named: str | None) -> Iterator[Place]:
        """Yield where records of the same content are said to be, the nearest first."""
        if row.content_hash is None:
            return
        yield from self._visits(row.url, row.url_hash, row.content_hash)
        for url in filter(None, (row.duplicate_of, named)):
            other = self._library.by_url(url)
            if other is not None:
                yield from self._visits(other.url, other.url_hash, row.content_hash)

    def _visits(self, url: str, url_hash: bytes, content_hash: bytes) -> Iterator[Place]:
        for visit in self._library.catalog.history(url_hash, limit=_MOST_VISITS):
            place = _place(url, visit)
            if place is not None and visit.content_hash == content_hash:
                yield place

    def _read(self, place: Place) -> Record | Absent:
        if not _SEGMENT(place.file):
            return Absent("the catalog names no segment of the archive for it")
        gone = Absent(f"its record is not in {place.file}: the file was moved, changed or cut")
        try:
            record = self._library.archive.read(
                place.file, place.offset, place.length, limit=LARGEST
            )
        except OutOfReachError:
            raise
        except StoreError as error:
            logger.info("%s: %s", place.url, error)
            return gone
        if record.kind not in ("response", "revisit"):
            return gone
        return record if record.fields.get("warc-target-uri") == one_line_uri(place.url) else gone


def _place(url: str, row: PageRow | VisitRow) -> Place | None:
    if row.warc_file is None or row.warc_offset is None or row.warc_length is None:
        return None
    return Place(url, row.warc_file, row.warc_offset, row.warc_length)


def _values(record: Record, name: bytes) -> list[bytes]:
    return [value for key, value in record.headers if key.lower() == name]


def _content_type(record: Record) -> str:
    """Return the media type, and the charset where it is plain; neither can carry more.

    multipart is not repeated: browsers look into it for further headers.
    """
    for value in reversed(_values(record, b"content-type")):
        found = _MEDIA_TYPE(value)
        if found and not found[1].lower().startswith(b"multipart/"):
            charset = _CHARSET(found[2] or b"")
            tail = f"; charset={charset[1].decode()}" if charset else ""
            return found[1].decode().lower() + tail
    return _UNKNOWN


def _coding(codings: bytes) -> str:
    return codings.decode() if _CODING(codings) else "unknown"
