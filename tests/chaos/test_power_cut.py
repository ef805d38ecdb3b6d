"""What a power cut leaves: of every file what was synced, and any part of what was not.

A cut cannot be had here, so it is imitated from what the syncs promise: what a file held at its
last sync is there; of what was written later any part may be missing, or be noise. RocksDB
syncs an SST file before its MANIFEST names it, and the MANIFEST at each change, so those are
taken as they are; a file that the MANIFEST does not name yet may be anything.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from crawler.clock import SystemClock
from crawler.commit import GroupCommit, committed_lengths
from crawler.frontier import Frontier, FrontierOptions, RocksEngine, rocks
from crawler.frontier.engine import Table
from crawler.inspection import inspect
from crawler.model import Allow, Discovery, Outcome
from crawler.store import JsonLines
from tests.support.archive import read_archive, read_rows
from tests.support.books import read_books
from tests.support.crawl import crawl, options, start_crawl
from tests.support.server import LocalWeb

HOSTS, PAGES, GROUP = 5, 60, 7


def url_of(number):
    return f"http://h{number % HOSTS}.test/{number}"


class SmallCrawl:
    """A crawl of ``HOSTS`` x ``PAGES`` URLs without a network: frontier, outputs, commits."""

    def __init__(self, folder, now):
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.engine = RocksEngine(folder / "frontier")
        self.frontier = Frontier(
            self.engine, FrontierOptions(delay=0.0), admit=lambda _: None, key=str, now=now
        )
        self.commits = GroupCommit(self.engine, self.frontier, interval=1e9, pages=10**9, now=now)
        committed = committed_lengths(self.engine).get("pages.jsonl", 0)
        self.lines = JsonLines(folder / "pages.jsonl", committed=committed)
        self.commits.add_output(self.lines)
        self.frontier.add(Discovery([url_of(number) for number in range(HOSTS)]), now)

    def step(self, now):
        """Fetch one page, which links the next of its host; return its URL, None at the end."""
        lease = self.frontier.next(now, lambda url, origin: Allow())
        if lease is None:
            return None
        number = int(lease.url.rpartition("/")[2])
        found = [url_of(number + HOSTS)] if number + HOSTS < HOSTS * PAGES else []
        self.lines.write({"url": lease.url, "text": "word " * 50})
        self.frontier.done(lease, Outcome.STORED, now, found=[Discovery(found)])
        return lease.url

    def finish(self, now):
        while self.step(now) is not None:
            now += 1.0
        self.commits.close(now)


class Disk:
    """Knows of each file that only grows how much of it was synced, and when."""

    def __init__(self, folder):
        self.folder = folder
        self.synced = {}

    def note(self):
        """Take everything that is written as synced."""
        files = [self.folder / "pages.jsonl", *(self.folder / "frontier").glob("*.log")]
        self.synced = {file.name: file.stat().st_size for file in files}

    def note_lines(self):
        self.synced["pages.jsonl"] = (self.folder / "pages.jsonl").stat().st_size

    def cut(self, target, rng):
        """Leave in ``target`` what a power cut at this moment might have left."""
        shutil.copytree(self.folder, target)
        for file in [target / "pages.jsonl", *(target / "frontier").glob("*.log")]:
            self._lose(file, rng)

    def _lose(self, file, rng):
        size, safe = file.stat().st_size, self.synced.get(file.name, 0)
        if size <= safe:
            return
        os.truncate(file, rng.randint(safe, size))
        lost = file.stat().st_size - safe
        if lost and rng.random() < 0.5:  # the length was written, some of the content was not
            at = safe + rng.randrange(lost)
            with file.open("r+b") as stream:
                stream.seek(at)
                stream.write(bytes(min(4096, safe + lost - at)))


@pytest.fixture
def small_tables(monkeypatch):
    """Let RocksDB flush and rotate its files all the time, as a large crawl does."""
    monkeypatch.setattr(rocks, "_MEMTABLE_BYTES", 16 * 1024)
    monkeypatch.setattr(rocks, "_WAL_BYTES", 64 * 1024)


def check_and_finish(folder, promised, now):
    """Verify what a cut left, then crawl to the end: each page once, and all of them."""
    found = inspect(folder, rows=True, now=now)
    assert found.faults == []
    rest = SmallCrawl(folder, now)
    try:
        committed = rest.frontier.counts.stored
        assert committed >= promised, "something that was promised is gone"
    finally:
        rest.finish(now + 10.0)
    books = read_books(folder, [url_of(number) for number in range(HOSTS * PAGES)])
    assert books.faults == []
    assert sorted(books.lines) == sorted(url_of(number) for number in range(HOSTS * PAGES))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_lost_behind_the_last_sync_the_rest_goes_on(tmp_path, small_tables, seed):
    """At every step of a commit the power may go: what was promised before is there, the books
    balance, and the crawl goes on to the same end.
    """
    rng = random.Random(seed)
    now = 1_000_000.0
    running = SmallCrawl(tmp_path / "job", now)
    disk = Disk(tmp_path / "job")
    running.commits.commit(now)
    disk.note()
    promised, cuts = 0, 0

    def maybe_cut():
        nonlocal cuts
        if rng.random() < 0.04:
            cuts += 1
            target = tmp_path / f"cut-{cuts}"
            disk.cut(target, rng)
            check_and_finish(target, promised, now)
            shutil.rmtree(target)

    sync, write, sync_log = running.lines.sync, running.engine.write, running.engine.sync

    def lines_synced():
        length = sync()
        disk.note_lines()
        maybe_cut()
        return length

    def written(batch):
        write(batch)
        maybe_cut()

    def log_synced():
        sync_log()
        disk.note()
        maybe_cut()

    running.lines.sync, running.engine.write = lines_synced, written
    running.engine.sync = log_synced
    while running.step(now) is not None:
        now += 1.0
        if rng.random() < 1 / GROUP:
            assert running.commits.commit(now)
            promised = running.frontier.counts.stored
        maybe_cut()
    running.commits.close(now)
    assert cuts > 3


@pytest.mark.parametrize("seed", range(4))
def test_noise_in_the_middle_of_the_log_ends_it_there(tmp_path, seed):
    """Blocks of the log may reach the disk out of order: what stands behind the first bad
    record is as if it had never been written, and the rows before it are whole.
    """
    rng = random.Random(seed)
    job = tmp_path / "job"
    running = SmallCrawl(job, 0.0)
    for number in range(100):
        running.step(float(number))
        if number % GROUP == 0:
            running.commits.commit(float(number))
    target = tmp_path / "cut"
    shutil.copytree(job, target)
    running.commits.close(200.0)
    log = max((target / "frontier").glob("*.log"), key=lambda file: file.name)
    data = bytearray(log.read_bytes())
    at = rng.randrange(len(data) // 4, len(data))
    data[at : at + 512] = rng.randbytes(len(data[at : at + 512]))
    log.write_bytes(data)
    check_and_finish(target, 0, 1000.0)


def test_a_first_start_that_was_cut_short_is_a_first_start(tmp_path):
    """A database that was being made when the power went is no damaged crawl."""
    job = tmp_path / "job"
    (job / "frontier.new").mkdir(parents=True)
    (job / "frontier.new/CURRENT").write_bytes(b"MANIF")
    (job / "pages.jsonl").touch()
    running = SmallCrawl(job, 0.0)
    running.finish(1.0)
    assert running.frontier.counts.stored == HOSTS * PAGES
    assert not (job / "frontier.new").exists()


def name_of(number):
    return str(Path(f"/proc/self/fd/{number}").readlink())


def test_the_names_of_new_files_are_synced(tmp_path, monkeypatch):
    """A file's own sync does not cover its name: directories are synced before anything in
    them is promised (fsync(2)).
    """
    from crawler.directory import prepare_directory
    from crawler.store import lock

    synced = []
    monkeypatch.setattr(lock.os, "fsync", lambda number: synced.append(name_of(number)))
    job = tmp_path / "crawls/web"
    prepare_directory(job)
    assert synced == [str(tmp_path / "crawls"), str(tmp_path)]
    JsonLines(job / "pages.jsonl", committed=0).close()
    assert synced[2:] == [str(job)]


@pytest.mark.e2e
@pytest.mark.slow
def test_copies_of_a_running_crawl_go_on(tmp_path):
    """A copy taken file by file while the crawl writes, its log cut anywhere behind what was
    synced when the copying began, reopens, has all of that, and ends like the original.
    """
    rng = random.Random(3)
    site = {"hosts": 6, "pages_per_host": 15, "links": 5, "kb": 2, "cross": 0.0}
    settings = options(POLITENESS_DELAY=0.1, FRONTIER_COMMIT_INTERVAL=0.1)
    with LocalWeb("tests.support.sites:uniform_site", site, hosts=6) as web:
        expected = {
            web.url(f"/page/{n}" if n else "/", host=host) for host in range(6) for n in range(15)
        }
        with start_crawl(web.urls, *settings, jobdir=tmp_path / "job") as running:
            copies = []
            while running.process.poll() is None and len(copies) < 2:
                time.sleep(0.2)
                lines = tmp_path / "job/pages.jsonl"
                if lines.exists() and lines.stat().st_size:
                    copies.append(copy_slowly(tmp_path / "job", tmp_path / f"copy-{len(copies)}"))
            running.wait(60).check()
        assert copies
        for job, before in copies:
            with (job / "pages.jsonl").open("ab") as stream:
                stream.write(b'{"url": "half a li'[: rng.randrange(18)])
            assert inspect(job, rows=True, now=SystemClock().now()).faults == []
            assert len(read_books(job, []).lines) >= before
            result = crawl(web.urls, *settings, jobdir=job).check()
            assert sorted(result.urls) == sorted(expected)
            assert {*read_rows(job)} == expected
            assert {*read_archive(job)["response"]} >= expected


def copy_slowly(job, target):
    """Copy file by file; return the copy, and how many pages were committed before.

    The log goes first and the lines last: so each file is at most as stale as a cut would
    leave it, and the files are of different moments.
    """
    before = (job / "pages.jsonl").read_bytes().count(b"\n")
    time.sleep(0.3)  # lines on disk are committed at the latest with the next group
    for _ in range(50):
        shutil.rmtree(target, ignore_errors=True)
        try:
            shutil.copytree(job / "frontier", target / "frontier")
        except shutil.Error:
            continue  # RocksDB removed a file meanwhile
        break
    time.sleep(0.05)
    shutil.copytree(job / "warc", target / "warc")
    with (  # a database that is written to is copied as SQLite wants it
        closing(sqlite3.connect(job / "catalog.sqlite")) as catalog,
        closing(sqlite3.connect(target / "catalog.sqlite")) as copy,
    ):
        catalog.backup(copy)
    shutil.copy(job / "pages.jsonl", target / "pages.jsonl")
    return target, before


def test_the_table_of_a_store_that_is_read_stops_at_a_damaged_block(tmp_path):
    """A block whose checksum is wrong ends in an error that names the file, never in fewer rows."""
    from crawler.errors import StoreError
    from crawler.frontier import Batch

    engine = RocksEngine(tmp_path / "frontier")
    batch = Batch()
    for number in range(3000):
        batch.put(Table.HOST, f"h{number}".encode(), random.Random(number).randbytes(50))
    engine.write(batch)
    engine.sync()
    engine.close()
    RocksEngine(tmp_path / "frontier").close()  # what was in the log goes to an SST file
    file = max((tmp_path / "frontier").glob("*.sst"), key=lambda one: one.stat().st_size)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    damaged = RocksEngine(tmp_path / "frontier")
    with pytest.raises(StoreError, match=r"\.sst"):
        damaged.scan(Table.HOST)
    with pytest.raises(StoreError, match=r"\.sst"):
        damaged.get_many(Table.HOST, [f"h{number}".encode() for number in range(3000)])
    damaged.close()
