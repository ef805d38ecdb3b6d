"""What is kept of a crawl: files in the job directory. No Scrapy here.

Every output grows by whole records and is cut back to its last committed length at the next
start, so that a crash leaves no half line and nothing twice (see :mod:`crawler.commit`).
"""

from crawler.store.jsonl import JsonLines
from crawler.store.lock import JobLock, sync_directory
from crawler.store.records import page_record

__all__ = ["JobLock", "JsonLines", "page_record", "sync_directory"]
