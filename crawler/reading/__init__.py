"""Reads what a crawl has kept: rows of the catalog, lines, and the bytes in the archive.

::

    filters ──▶ catalog ──rows──┬──▶ list, show
                                ├──lines──▶ records ──writers──▶ JSON lines, CSV, Parquet
                                └──archive──▶ reprocess ──▶ lines again, and what differs

Nothing here changes a job directory, and all of it works while a crawl runs: the catalog has
committed pages only, and leads to their lines and bytes. What is written elsewhere is there
whole or not at all (``whole_file``). Bytes of the web reach a terminal through ``screen`` only.
"""

from crawler.reading.comparison import Tally
from crawler.reading.filters import read_limit, read_query
from crawler.reading.kept import Kept
from crawler.reading.options import FILTERS, add_actions
from crawler.reading.records import COLUMNS, joined
from crawler.reading.reprocess import Reprocess
from crawler.reading.screen import Screen, pipe_may_close
from crawler.reading.views import chosen
from crawler.reading.whole_file import whole_file
from crawler.reading.writers import FORMATS, check_lines_name, format_of

__all__ = [
    "COLUMNS",
    "FILTERS",
    "FORMATS",
    "Kept",
    "Reprocess",
    "Screen",
    "Tally",
    "add_actions",
    "check_lines_name",
    "chosen",
    "format_of",
    "joined",
    "pipe_may_close",
    "read_limit",
    "read_query",
    "whole_file",
]
