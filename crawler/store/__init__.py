"""What is kept of a crawl: files in the job directory. No Scrapy here.

Every output grows by whole records and is cut back to its last committed length at the next
start, so that a crash leaves no half line and nothing twice (see :mod:`crawler.commit`).
"""

from crawler.store.cdxj import surt
from crawler.store.jsonl import JsonLines
from crawler.store.lock import JobLock, sync_directory
from crawler.store.records import page_record
from crawler.store.warc import Exchange, Location, Record, Revisited, WarcWriter, read_record

__all__ = [
    "Exchange",
    "JobLock",
    "JsonLines",
    "Location",
    "Record",
    "Revisited",
    "WarcWriter",
    "page_record",
    "read_record",
    "surt",
    "sync_directory",
]
