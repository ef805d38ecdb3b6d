"""Which pages say the same: verdicts before a page's links are followed.

::

    text ──▶ content_hash ──▶ ExactIndex ──▶ the first page with this very text
      └────▶ fingerprint  ──▶ NearIndex  ──▶ the closest page with nearly this text

Two pages are **exact** duplicates if their texts agree but for white space; the whole crawl
is compared. They are **near**-duplicates if the fingerprints of their texts differ in few
of 64 bits: in how few depends on the length of the text (``options.THRESHOLDS``), and across
sites the demand is stricter, because chance finds something in any large crowd. Text too
short to mean anything is left alone: the empty text has no duplicates at all (a page
without text goes by its ``body_hash``), less than 25 tokens no near ones.

A page is asked about first and added only if it is no duplicate, so an index holds one
representative of each cluster: the page that was fetched first. **A page is never a
duplicate of itself**, however often it is fetched: an answer that would name the page
asking is no answer. When a page's text changes or it is gone, ``discard`` takes out what it
no longer says.

The indexes live in memory, about 120 bytes a page beside its URL and 400 a site, and are
rebuilt at start: the caller writes each addition in the same batch as the page and hands
the rows back to ``Indexes.load``. No text, URL or site makes them raise.
"""

from crawler.dedupe.exact import EMPTY_HASH, ExactIndex, body_hash, content_hash
from crawler.dedupe.indexes import Indexes, IndexRow
from crawler.dedupe.near_index import Match, NearIndex
from crawler.dedupe.options import DedupeOptions, threshold
from crawler.dedupe.simhash import (
    Fingerprinter,
    make_fingerprinter,
    parse_signature,
)
from crawler.dedupe.url_table import UrlTable
from crawler.dedupe.verdicts import Verdicts

__all__ = [
    "EMPTY_HASH",
    "DedupeOptions",
    "ExactIndex",
    "Fingerprinter",
    "IndexRow",
    "Indexes",
    "Match",
    "NearIndex",
    "UrlTable",
    "Verdicts",
    "body_hash",
    "content_hash",
    "make_fingerprinter",
    "parse_signature",
    "threshold",
]
