"""What is kept of a crawl: files in the job directory, and finished ones elsewhere. No Scrapy here.

Every output grows by whole records and is cut back to its last committed length at the next
start, so that a crash leaves no half line and nothing twice (see :mod:`crawler.commit`). What does
not grow any more may go to an object store: :mod:`~crawler.store.uploads` has the queue,
:mod:`~crawler.store.objects` the place, :mod:`~crawler.store.archive` reads from both.
"""

from crawler.store.archive import ArchiveReader
from crawler.store.cdxj import Indexed, surt
from crawler.store.growing import check_committed
from crawler.store.http_message import Exchange, payload_digest
from crawler.store.jsonl import JsonLines, Line, to_json
from crawler.store.lock import JobLock, sync_directory
from crawler.store.objects import ObjectOptions, ObjectStore, masked
from crawler.store.options import StoreOptions
from crawler.store.pages import (
    DomainRow,
    Found,
    PageQuery,
    PageReader,
    PageRow,
    PageWriter,
    VisitRow,
    all_pages,
)
from crawler.store.records import page_record
from crawler.store.uploads import Pending, Retry, Uploaded, Uploader
from crawler.store.warc import Location, Revisited, WarcWriter
from crawler.store.warc_reading import Record, read_record

__all__ = [
    "ArchiveReader",
    "DomainRow",
    "Exchange",
    "Found",
    "Indexed",
    "JobLock",
    "JsonLines",
    "Line",
    "Location",
    "ObjectOptions",
    "ObjectStore",
    "PageQuery",
    "PageReader",
    "PageRow",
    "PageWriter",
    "Pending",
    "Record",
    "Retry",
    "Revisited",
    "StoreOptions",
    "Uploaded",
    "Uploader",
    "VisitRow",
    "WarcWriter",
    "all_pages",
    "check_committed",
    "masked",
    "page_record",
    "payload_digest",
    "read_record",
    "surt",
    "sync_directory",
    "to_json",
]
