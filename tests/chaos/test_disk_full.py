"""A full disk: the crawl pauses and says so, nothing is damaged, and it goes on with room.

The small disk is a tmpfs, which takes root to mount.
"""

from __future__ import annotations

import os
import random
import subprocess
import time

import pytest

from crawler.errors import StoreError
from crawler.frontier import Batch, RocksEngine, rocks
from crawler.frontier.engine import Table
from tests.support.books import read_books
from tests.support.crawl import crawl, options, start_crawl
from tests.support.server import LocalWeb

pytestmark = pytest.mark.slow

HOSTS, PAGES = 8, 15
SETTINGS = options(POLITENESS_DELAY=0.02, FRONTIER_COMMIT_INTERVAL=0.2, LOGSTATS_INTERVAL=0.3)


class SmallDisk:
    """A mounted tmpfs whose size can be changed."""

    def __init__(self, path, kib):
        self.path = path
        path.mkdir()
        self._mount("-t", "tmpfs", "-o", f"size={kib}k", "tmpfs")

    def grow(self, kib):
        self._mount("-o", f"remount,size={kib}k")

    def fill(self, *, leave):
        """Take all room but ``leave`` bytes."""
        room = os.statvfs(self.path)
        (self.path / "filler").write_bytes(bytes(max(room.f_bavail * room.f_frsize - leave, 0)))

    def _mount(self, *arguments):
        done = subprocess.run(
            ["mount", *arguments, str(self.path)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"a small disk takes the right to mount a tmpfs: {done.stderr.strip()}")

    def job(self, tmp_path):
        """Return a job directory on this disk whose log is kept on another."""
        (self.path / "job").mkdir()
        (tmp_path / "job").symlink_to(self.path / "job")
        return tmp_path / "job"

    def close(self):
        subprocess.run(["umount", "-l", str(self.path)], check=False, capture_output=True)


@pytest.fixture
def small_disk(tmp_path):
    made = []

    def make(kib):
        made.append(SmallDisk(tmp_path / f"disk-{len(made)}", kib))
        return made[-1]

    yield make
    for disk in made:
        disk.close()


@pytest.fixture(scope="module")
def web():
    site = {"hosts": HOSTS, "pages_per_host": PAGES, "links": 6, "kb": 20, "cross": 0.0}
    with LocalWeb("tests.support.sites:uniform_site", site, hosts=HOSTS) as web:
        yield web


def every_page(web):
    paths = ["/", *(f"/page/{n}" for n in range(1, PAGES))]
    return {web.url(path, host=host) for host in range(HOSTS) for path in paths}


def await_words(running, words):
    limit = time.monotonic() + 30
    while words not in running.said and time.monotonic() < limit:
        assert running.process.poll() is None, running.said[-3000:]
        time.sleep(0.05)
    assert words in running.said, running.said[-3000:]


@pytest.mark.e2e
@pytest.mark.parametrize("lines_elsewhere", [False, True], ids=["lines", "store"])
def test_a_full_disk_pauses_the_crawl_until_there_is_room(
    web, tmp_path, small_disk, lines_elsewhere
):
    """Whether the lines or the store meet the end of the disk: the crawl says that it pauses,
    asks for nothing more, and with room ends as if nothing had been; no page is fetched twice.
    """
    disk = small_disk(1200)
    jobdir, before = disk.job(tmp_path), len(web.log())
    if lines_elsewhere:
        (tmp_path / "pages.jsonl").touch()
        (jobdir / "pages.jsonl").symlink_to(tmp_path / "pages.jsonl")
    with start_crawl(web.urls, *SETTINGS, jobdir=jobdir) as running:
        if lines_elsewhere:
            limit = time.monotonic() + 20
            while len(web.log()) < before + HOSTS and time.monotonic() < limit:
                time.sleep(0.01)
            disk.fill(leave=0)
        await_words(running, "The crawl pauses, nothing is lost")
        assert "No space left on device" in running.said
        time.sleep(1.0)
        paused_at = len(web.log())
        time.sleep(0.8)
        assert len(web.log()) == paused_at
        disk.grow(32 * 1024)
        result = running.wait(60)
    assert "The crawl goes on: what was held is stored." in result.stderr
    assert sorted(result.check().urls) == sorted(every_page(web))
    assert read_books(jobdir, []).faults == []
    asked = [(h.host, h.path) for h in web.log()[before:] if h.path != "/robots.txt"]
    assert len(asked) == len(set(asked))


@pytest.mark.e2e
@pytest.mark.parametrize("end", ["interrupt", "kill"])
def test_a_paused_crawl_can_be_stopped(web, tmp_path, small_disk, end):
    """Ctrl-C ends a crawl that waits for room, with whole lines; that or a kill costs only what
    could not be stored.
    """
    disk = small_disk(1200)
    jobdir = disk.job(tmp_path)
    with start_crawl(web.urls, *SETTINGS, jobdir=jobdir) as running:
        await_words(running, "The crawl pauses, nothing is lost")
        getattr(running, end)()
        if end == "interrupt":
            stopped = running.wait(20)
            assert stopped.exit_code == 0
            assert "could not be stored" in stopped.stderr
            assert "Traceback" not in stopped.stderr
    disk.grow(32 * 1024)
    assert read_books(jobdir, []).faults == []
    result = crawl(web.urls, *SETTINGS, jobdir=jobdir).check()
    assert sorted(result.urls) == sorted(every_page(web))


@pytest.mark.e2e
def test_a_start_on_a_full_disk_says_what_to_do(web, tmp_path, small_disk):
    """Exit code 2 and one line: no room. With room the same command goes on."""
    disk = small_disk(2048)
    jobdir = disk.job(tmp_path)
    with start_crawl(web.urls, "-a", "max_pages=10", *SETTINGS, jobdir=jobdir) as running:
        running.wait(30).check()
    disk.fill(leave=0)
    refused = crawl(web.urls, *SETTINGS, jobdir=jobdir, timeout=20)
    assert refused.exit_code == 2, refused.stderr[-2000:]
    assert "No space left on device" in refused.stderr
    assert "make room" in refused.stderr
    disk.grow(32 * 1024)
    result = crawl(web.urls, *SETTINGS, jobdir=jobdir).check()
    assert sorted(result.urls) == sorted(every_page(web))


def fill_up(store, batch):
    """Write until nothing goes any more; return how many batches were stored, and the next.

    Opening again after an error may free some room, so one failure is not the end.
    """
    for number in range(10_000):
        failures = 0
        one = batch(number)
        while failures < 3:
            try:
                store(one)
            except StoreError as error:
                last = error
                failures += 1
            else:
                break
        else:
            assert "No space left" in str(last)
            return number, one
    raise AssertionError("the disk is never full")


def test_the_store_outlives_a_full_disk_amid_its_own_flush(small_disk, monkeypatch):
    """RocksDB waits for ever when a flush meets a full disk; the engine fails at once instead,
    stays readable, and with room takes the same batch again.
    """
    monkeypatch.setattr(rocks, "_MEMTABLE_BYTES", 256 * 1024)
    disk = small_disk(8 * 1024)
    engine = RocksEngine(disk.path / "frontier")
    rng = random.Random(1)

    def batch(number):
        made = Batch()
        for table in (Table.QUEUE, Table.SEEN):
            made.put(table, b"%08d" % number, rng.randbytes(3000))
        return made

    def store(one):
        engine.write(one)
        engine.sync()

    number, last = fill_up(store, batch)
    for _ in range(3):
        with pytest.raises(StoreError, match="No space left"):
            store(last)
        assert engine.get_many(Table.QUEUE, [b"00000000"])[0] is not None
        assert len(engine.scan(Table.SEEN)) >= number
    disk.grow(64 * 1024)
    store(last)
    assert len(engine.scan(Table.QUEUE)) == len(engine.scan(Table.SEEN)) == number + 1
    engine.close()
    engine.close()
    again = RocksEngine(disk.path / "frontier")
    assert len(again.scan(Table.QUEUE)) == number + 1
    again.close()
