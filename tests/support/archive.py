"""Whether archive, catalog, export and frontier of a job directory tell the same story."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import closing
from typing import TYPE_CHECKING, Any

from warcio.archiveiterator import ArchiveIterator

from crawler.config import Config
from crawler.reading import Kept, Reprocess, read_query
from crawler.store import PageQuery, all_pages, read_record
from crawler.store.catalog import Catalog
from tests.support.shell import project_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.store import PageRow

Records = dict[str, dict[str, tuple[Any, bytes]]]


def read_archive(jobdir: Path) -> Records:
    """Return (record, payload) by kind and URL; every digest is verified.

    Raises:
        AssertionError: A URL has two records of one kind, robots.txt apart.
    """
    found: Records = defaultdict(dict)
    for path in sorted((jobdir / "warc").glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                url = record.rec_headers.get_header("WARC-Target-URI")
                again = url in found[record.rec_type] and not str(url).endswith("/robots.txt")
                assert not again or url is None, f"{url} has two records: {record.rec_type}"
                found[record.rec_type][url] = (record, record.raw_stream.read())
    return found


def read_rows(jobdir: Path) -> dict[str, PageRow]:
    """Return every row of the catalog by its URL."""
    with closing(Catalog.open(str(jobdir / "catalog.sqlite"), read_only=True)) as catalog:
        return {row.url: row for row in all_pages(catalog, PageQuery(limit=1000))}


def archive_faults(jobdir: Path, outcomes: dict[str, str]) -> Iterator[str]:
    """Say where the stores of a finished crawl differ.

    Args:
        jobdir: Its job directory.
        outcomes: Of every fetched URL, by the frontier.
    """
    rows, lines = read_rows(jobdir), (jobdir / "pages.jsonl").read_bytes()
    ends = {url: row.outcome for url, row in rows.items()}
    if differing := ends.items() ^ outcomes.items():
        yield f"{len(differing)} rows differ from the frontier, such as {min(differing)}"
    begins = Counter(row.text_offset for row in rows.values() if row.text_offset is not None)
    count = lines.count(b"\n")
    if len(begins) != count or max(begins.values(), default=1) > 1:
        yield f"{count} lines, but rows point to {len(begins)} places"
    for row in rows.values():
        yield from _row_faults(jobdir, row, lines)
    with_both = [row for row in rows.values() if row.text_offset is not None and row.warc_file]
    with_both.sort(key=lambda row: (len(str(row.warc_file)), row.warc_file, row.warc_offset))
    offsets = [row.text_offset or 0 for row in with_both]
    if offsets != sorted(offsets):
        yield "lines and archive are in different orders"
    records = read_archive(jobdir)
    kept = {*records["response"], *records["revisit"]}
    archived = {url for url, row in rows.items() if row.warc_file is not None}
    extra = {url for url in kept - archived if not url.endswith("/robots.txt")}
    if extra or archived - kept:
        yield f"{len(extra)} records without a row, {len(archived - kept)} rows without a record"


def reprocess_faults(jobdir: Path) -> list[str]:
    """Say where the lines made again from the archive differ from those of the crawl."""
    faults: list[str] = []
    with Kept(jobdir, Config.read(project_settings())) as kept:
        run = Reprocess(kept, read_query({}), warn=faults.append, tick=lambda _: None)
        made = b"".join(run.lines())
        run.count_unarchived()
        if made != kept.lines.read_bytes():
            faults.append(f"lines made again differ: {run.tally}")
    return faults


def _row_faults(jobdir: Path, row: PageRow, lines: bytes) -> Iterator[str]:
    if row.text_offset is not None and row.text_length is not None:
        line = lines[row.text_offset : row.text_offset + row.text_length]
        if not (line.startswith(b'{"url":"%s"' % row.url.encode()) and line.endswith(b"}\n")):
            yield f"the row of {row.url} points to another line"
    if row.warc_file is not None and row.warc_offset is not None and row.warc_length is not None:
        record = read_record(jobdir / "warc" / row.warc_file, row.warc_offset, row.warc_length)
        if record.fields["warc-target-uri"] != row.url or record.status != row.status_code:
            yield f"the row of {row.url} points to another record"
