"""A crawl that is stopped, refused, or given a job directory that is not as it was left."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time

import pytest

from crawler.commit import committed_lengths
from crawler.frontier import Batch, RocksEngine
from crawler.frontier.engine import Table
from crawler.store.catalog import Catalog
from tests.support.books import read_books
from tests.support.crawl import crawl, options, start_crawl
from tests.support.server import LocalWeb

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

HOSTS, PAGES = 3, 12
SETTINGS = options(POLITENESS_DELAY=0.1, FRONTIER_COMMIT_INTERVAL=0.2)
TRACES = ("LOG", "LOCK", "lock", "rocksdict-config.json")  # of the attempt, without content


@pytest.fixture(scope="module")
def web():
    site = {"hosts": HOSTS, "pages_per_host": PAGES, "links": 5, "kb": 2, "cross": 0.0}
    with LocalWeb("tests.support.sites:uniform_site", site, hosts=HOSTS) as web:
        yield web


@pytest.fixture(scope="module")
def begun(web, tmp_path_factory):
    """A job directory of a crawl that was stopped half-way; to be copied."""
    jobdir = tmp_path_factory.mktemp("begun") / "job"
    result = crawl(web.urls, "-a", "max_pages=18", *SETTINGS, jobdir=jobdir).check()
    assert len(result.lines) == 18
    return jobdir


def every_page(web):
    paths = ["/", *(f"/page/{n}" for n in range(1, PAGES))]
    return {web.url(path, host=host) for host in range(HOSTS) for path in paths}


def stop(running, number):
    lines, limit = running.jobdir / "pages.jsonl", time.monotonic() + 20
    while not (lines.exists() and lines.stat().st_size) and time.monotonic() < limit:
        time.sleep(0.01)
    running.process.send_signal(number)


STOPS = {
    "SIGINT": ((), signal.SIGINT),
    "SIGTERM": ((), signal.SIGTERM),
    "max_pages": (("-a", "max_pages=7"), None),
    "CLOSESPIDER_PAGECOUNT": (options(CLOSESPIDER_PAGECOUNT=9), None),
    "CLOSESPIDER_ITEMCOUNT": (options(CLOSESPIDER_ITEMCOUNT=5), None),
    "CLOSESPIDER_TIMEOUT": (options(CLOSESPIDER_TIMEOUT=1), None),
}


@pytest.mark.parametrize(("arguments", "number"), STOPS.values(), ids=STOPS)
def test_a_stop_leaves_no_lease_and_no_torn_line(web, tmp_path, arguments, number):
    """The stopped crawl ends well, its books balance with nothing leased, its lines are whole;
    the same command without the bound fetches the rest, and no page twice.
    """
    before = len(web.log())
    jobdir = tmp_path / "job"
    with start_crawl(web.urls, *SETTINGS, *arguments, jobdir=jobdir) as running:
        if number is not None:
            stop(running, number)
        first = running.wait(30)
    books = read_books(jobdir, every_page(web))
    assert first.exit_code == 0, first.stderr[-3000:]
    assert first.stats["frontier/leased"] == 0
    assert books.faults == []
    assert books.lines == first.urls
    assert 0 < len(books.lines) < HOSTS * PAGES
    second = crawl(web.urls, *SETTINGS, jobdir=jobdir).check()
    assert sorted(second.urls) == sorted(every_page(web))
    assert second.lines[: len(first.lines)] == first.lines
    asked = [(hit.host, hit.path) for hit in web.log()[before:] if hit.path != "/robots.txt"]
    assert sorted(asked) == sorted(set(asked))


def test_a_second_process_is_refused_with_the_first_ones_pid(web, tmp_path):
    """Two crawls never share a job directory: the second ends with exit code 2 and says who
    has it; the first does not notice.
    """
    jobdir = tmp_path / "job"
    with start_crawl(web.urls, *SETTINGS, jobdir=jobdir) as running:
        limit = time.monotonic() + 20
        while not (jobdir / "lock").exists() and time.monotonic() < limit:
            time.sleep(0.01)
        time.sleep(0.2)
        second = crawl(web.urls, *SETTINGS, jobdir=jobdir)
        first = running.wait(30)
    assert second.exit_code == 2
    assert f"in use by process {running.process.pid}:" in second.stderr
    assert sorted(first.check().urls) == sorted(every_page(web))


def newest(folder, pattern):
    return max(folder.glob(pattern), key=lambda file: file.name)


def flip(file, share):
    """Change bytes at a share of the file's length."""
    data = bytearray(file.read_bytes())
    at = int(len(data) * share)
    data[at : at + 4] = bytes(byte ^ 0xFF for byte in data[at : at + 4])
    file.write_bytes(data)


def cut(file, share):
    os.truncate(file, int(file.stat().st_size * share))


def keep_one_line(job):
    lines = (job / "pages.jsonl").read_bytes().splitlines(keepends=True)
    (job / "pages.jsonl").write_bytes(lines[0])


def largest_sst(job):
    return max((job / "frontier").glob("*.sst"), key=lambda file: file.stat().st_size)


def other_format(job):
    engine = RocksEngine(job / "frontier")
    batch = Batch()
    batch.put(Table.META, b"format", b"0")
    engine.write(batch)
    engine.sync()
    engine.close()


def other_catalog(job):
    (job / "catalog.sqlite").unlink()
    Catalog.open(str(job / "catalog.sqlite")).close()


DAMAGES = {
    "the store is missing": (lambda job: shutil.rmtree(job / "frontier"), "no frontier"),
    "the store is empty": (
        lambda job: [file.unlink() for file in (job / "frontier").iterdir()],
        "cannot be opened",
    ),
    "CURRENT is missing": (lambda job: (job / "frontier/CURRENT").unlink(), "cannot be opened"),
    "CURRENT is damaged": (
        lambda job: (job / "frontier/CURRENT").write_bytes(b"x"),
        "CURRENT",
    ),
    "MANIFEST is empty": (lambda job: cut(newest(job / "frontier", "MANIFEST*"), 0), "MANIFEST"),
    "MANIFEST is cut early": (
        lambda job: cut(newest(job / "frontier", "MANIFEST*"), 0.1),
        "cannot be opened",
    ),
    "MANIFEST is cut late": (
        lambda job: cut(newest(job / "frontier", "MANIFEST*"), 0.9),
        "is damaged or an old copy",
    ),
    "MANIFEST is damaged": (
        lambda job: flip(newest(job / "frontier", "MANIFEST*"), 0.5),
        "MANIFEST|is damaged or an old copy",  # a length that leads beyond the end cuts it
    ),
    "an SST file is missing": (lambda job: largest_sst(job).unlink(), ".sst"),
    "an SST file is cut": (lambda job: cut(largest_sst(job), 0.5), ".sst"),
    "pages.jsonl is cut": (keep_one_line, "pages.jsonl has"),
    "pages.jsonl is missing": (
        lambda job: (job / "pages.jsonl").unlink(),
        "pages.jsonl is missing",
    ),
    "store and lines are missing": (
        lambda job: (shutil.rmtree(job / "frontier"), (job / "pages.jsonl").unlink()),
        "warc and catalog.sqlite and committed but no frontier",
    ),
    "the catalog is missing": (lambda job: (job / "catalog.sqlite").unlink(), "sqlite is missing"),
    "the catalog is another crawl's": (other_catalog, "has not the pages that this crawl has"),
    "another format": (other_format, "format 0"),
    "another database": (
        lambda job: (shutil.rmtree(job / "frontier"), (job / "frontier").write_text("mine\n")),
        "cannot be opened",
    ),
}


@pytest.mark.parametrize(("damage", "said"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_job_directory_is_refused_in_one_line(web, begun, tmp_path, damage, said):
    """Exit code 2, one line that names the file and the remedy, nothing fetched, and nothing
    changed: a copy may yet repair it. Never a silent fresh start.
    """
    jobdir = tmp_path / "job"
    shutil.copytree(begun, jobdir)
    damage(jobdir)
    before, requests = contents(jobdir), len(web.log())
    result = crawl(web.urls, *SETTINGS, jobdir=jobdir)
    assert result.exit_code == 2, result.stderr[-2000:]
    errors = [line for line in result.stderr.splitlines() if "error:" in line]
    assert len(errors) == 1
    assert re.search(said, errors[0])
    assert str(jobdir) in errors[0]
    assert "another" in errors[0], "no remedy is named"
    assert "Traceback" not in result.stderr
    after = contents(jobdir)
    if damage in READABLE:  # RocksDB rewrites its log when it opens; no row is lost by it
        before, after = (without_store(files) for files in (before, after))
    assert after == before
    assert len(web.log()) == requests


READABLE = (
    keep_one_line,
    other_format,
    other_catalog,
    *(DAMAGES[f"{name} is missing"][0] for name in ("pages.jsonl", "the catalog")),
)


def without_store(files):
    return {name: data for name, data in files.items() if not name.startswith("frontier/")}


def contents(folder):
    """Return what every file holds, but for those that only tell of the attempt."""
    files = (file for file in folder.rglob("*") if file.is_file())
    kept = (file for file in files if not file.name.startswith(TRACES))
    return {str(file.relative_to(folder)): file.read_bytes() for file in kept}


def test_a_block_that_cannot_be_read_ends_the_crawl(web, tmp_path):
    """A damage that shows only while the crawl runs ends it: exit code 1, the file named, and
    nothing committed on top of what could not be read.
    """
    jobdir = tmp_path / "job"
    crawl(web.urls, "-a", "max_pages=18", *SETTINGS, jobdir=jobdir).check()
    for _ in range(2):
        engine = RocksEngine(jobdir / "frontier")  # what is in the log goes to SST files
        files = engine._db.live_files()
        engine.close()
    seen = [file["name"].lstrip("/") for file in files if len(file["start_key"]) == 16]
    for name in seen:
        flip(jobdir / "frontier" / name, 0.1)
    lines = (jobdir / "pages.jsonl").read_bytes()
    with start_crawl(web.urls, *SETTINGS, jobdir=jobdir) as running:
        result = running.wait(30)
    assert result.exit_code == 1
    assert f"The crawl ends: {jobdir / 'frontier'} cannot be read: " in result.stderr
    assert seen[0] in result.stderr
    assert result.stats["finish_reason"] == "store_damaged"
    assert result.stats["frontier/fetches"] >= 18
    assert committed_lengths_of(jobdir) == len(lines)


def committed_lengths_of(jobdir):
    engine = RocksEngine(jobdir / "frontier")
    try:
        return committed_lengths(engine)["pages.jsonl"]
    finally:
        engine.close()
