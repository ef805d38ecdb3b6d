"""Promises of docs/architecture.md that no stage's own tests hold alone."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawler import settings
from crawler.commit import GroupCommit, committed_lengths
from crawler.directory import job_directory, refuse_remains
from crawler.errors import ConfigError, StoreError
from crawler.frontier import Frontier, FrontierOptions, MemoryEngine
from crawler.model import Allow, Discovery, Outcome
from crawler.store import JobLock, JsonLines

URLS = ["http://a.test/1", "http://a.test/2"]


def frontier(engine, now):
    return Frontier(
        engine,
        FrontierOptions(delay=10.0),
        admit=lambda url: None,
        key=lambda url: url,
        now=now,
    )


def gate(url, origin):
    return Allow()


def fetch_one(engine, *, blocked_until=0.0):
    """Fetch the first URL, from 100 to 101, and commit."""
    first = frontier(engine, 100.0)
    first.add(Discovery(URLS), 100.0)
    lease = first.next(100.0, gate)
    first.transfer_ended(lease, 101.0)
    if blocked_until:
        first.block(lease.host, blocked_until, 101.0)
    first.done(lease, Outcome.STORED, 101.0)
    first.commit(engine.write)


@pytest.mark.parametrize(
    ("restart_at", "blocked_until", "ready_at"),
    [(101.5, 0.0, 111.5), (105.0, 300.0, 300.0), (295.0, 300.0, 305.0)],
    ids=["delay", "blocked", "blocked for less than the delay"],
)
def test_a_restart_shortens_no_rest(restart_at, blocked_until, ready_at):
    """A new start waits for what a host was blocked until, and for the delay from the start on."""
    engine = MemoryEngine()
    fetch_one(engine, blocked_until=blocked_until)
    again = frontier(engine, restart_at)
    assert again.next(ready_at - 0.001, gate) is None
    assert again.wake_at(restart_at) == pytest.approx(ready_at)
    lease = again.next(ready_at, gate)
    assert lease is not None
    assert lease.url == URLS[1]


def test_what_was_not_committed_is_cut_off(tmp_path):
    """Lines beyond the last commit are gone after a crash, those before it are whole."""
    engine, path = MemoryEngine(), tmp_path / "pages.jsonl"
    lines = JsonLines(path, committed=0)
    commits = GroupCommit(engine, frontier(engine, 0.0), interval=60.0, pages=2, now=0.0)
    commits.add_output(lines)
    for number in range(3):
        lines.write({"number": number})
        commits.page_settled(1.0)
    lines.sync()
    assert path.read_bytes().count(b"\n") == 3
    JsonLines(path, committed=committed_lengths(engine)["pages.jsonl"]).close()
    assert path.read_bytes() == b'{"number":0}\n{"number":1}\n'
    lines.close()


def test_a_job_directory_has_one_owner(tmp_path):
    """A second owner is refused, with the number of the first, until that lets go."""
    lock = JobLock.acquire(tmp_path)
    with pytest.raises(StoreError, match=r"in use by process \d+"):
        JobLock.acquire(tmp_path)
    lock.release()
    JobLock.acquire(tmp_path).release()


def test_a_job_directory_that_cannot_be_locked_is_named(tmp_path):
    """As one on a disk for reading only: the message says what to do."""
    (tmp_path / "lock").mkdir()
    with pytest.raises(StoreError, match=f"{tmp_path} cannot be locked: .*; copy it to where"):
        JobLock.acquire(tmp_path)


@pytest.mark.parametrize("given", ["", " "])
def test_an_empty_job_directory_is_no_choice(given):
    """A variable of a shell that is not set must not lead to the crawl of somebody else."""
    with pytest.raises(ConfigError, match="JOBDIR is empty"):
        job_directory(Settings({"JOBDIR": given}), default="crawls/web")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("warc/web-00000.warc.gz", "has warc but no frontier"),
        ("catalog.sqlite", "has catalog.sqlite but no frontier"),
        ("pages.jsonl", "has pages.jsonl but no frontier"),
        ("committed", "has committed but no frontier"),
        ("requests.queue/p0", "Scrapy's own scheduler"),
        ("requests.seen", "Scrapy's own scheduler"),
    ],
)
def test_no_crawl_begins_on_the_remains_of_another(tmp_path, name, said):
    """What another crawl has left would be overwritten."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"something")
    with pytest.raises(StoreError, match=said):
        refuse_remains(tmp_path)


def test_empty_files_are_no_remains(tmp_path):
    """Nor are files that are nobody's crawl."""
    (tmp_path / "warc").mkdir()
    (tmp_path / "pages.jsonl").touch()
    (tmp_path / "notes.txt").write_text("mine")
    refuse_remains(tmp_path)


def test_what_the_crawler_does_without():
    """No cookies, no credentials, no proxy from the environment, no console, no remote control."""
    components = [*settings.DOWNLOADER_MIDDLEWARES_BASE, *settings.EXTENSIONS_BASE]
    unwanted = ("cookies", "httpauth", "httpproxy", "telnet", "remote", "httpcache")
    assert not [name for name in components if any(word in name.lower() for word in unwanted)]
    assert settings.TELNETCONSOLE_ENABLED is False
    assert settings.REMOTE_CONTROL_ENABLED is False
