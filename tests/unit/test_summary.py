"""The words at the end of a crawl: what came, what did not and why, where it is, what next."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.http import Response

from crawler.config import Config
from crawler.extensions.summary import progress_line, summary
from crawler.job import Job
from crawler.model import Allow, Discovery, Outcome, Reason
from crawler.visits import Answer, Visit
from tests.support.shell import project_settings


class _Seeds:
    """Stands for a spider with seeds."""

    seed_urls = ("http://a.example/", "http://b.example/")


def _job(directory=None, **changes) -> Job:
    return Job(Config.read(project_settings(**changes)), _Seeds(), directory)  # type: ignore[arg-type]


@pytest.fixture
def job() -> Job:
    """A crawl that has not begun."""
    return _job()


def _row(text: str, name: str) -> str:
    rows = dict(line.strip().split("  ", 1) for line in text.splitlines())
    return rows.get(name, "")


def _fetch(job: Job, outcome: Outcome) -> None:
    lease = job.frontier.next(job.now(), lambda _url, _origin: Allow())
    assert lease is not None
    job.frontier.done(lease, outcome, job.now())


def test_an_empty_crawl_is_told_in_few_rows(job):
    """Rows without content are left out."""
    text = summary(job, reason="finished", elapsed=0)
    assert _row(text, "crawl") == "nothing left to fetch after 0:00:00"
    assert _row(text, "pages") == "0 stored, 0 dropped as duplicates"
    assert _row(text, "hosts") == "0 visited"
    assert [line.split()[0] for line in text.splitlines()] == ["crawl", "pages", "hosts"]


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("finished", "nothing left to fetch"),
        ("max_pages", "max_pages reached"),
        ("max_fetches", "max_fetches reached"),
        ("shutdown", "stopped by a signal"),
        ("waiting", "FRONTIER_MAX_WAIT"),
        ("my_own_reason", "my_own_reason"),
    ],
)
def test_the_end_has_a_name(job, reason, words):
    """Every finish reason is said in words, an unknown one as it is."""
    assert words in _row(summary(job, reason=reason, elapsed=3_725.9), "crawl")
    assert summary(job, reason=reason, elapsed=3_725.9).splitlines()[0].endswith("after 1:02:05")


def test_outcomes_and_rejections_are_counted_by_name(job):
    """The same words as in the stats, the most frequent first."""
    counts = job.frontier.counts
    counts.done.update({Outcome.GONE: 2, Outcome.STORED: 1_234, Outcome.DUPLICATE_NEAR: 3})
    counts.done[Outcome.REFUSED] = 0
    counts.rejected.update({Reason.ROBOTS: 1, Reason.SCOPE: 7})
    job.robots_answers.update({"200": 2, "503": 1})
    text = summary(job, reason="finished", elapsed=1)
    assert _row(text, "pages") == "1,234 stored, 3 dropped as duplicates"
    assert _row(text, "outcomes") == "stored 1,234, duplicate_near 3, gone 2"
    assert _row(text, "rejected") == "scope 7, robots 1"
    assert _row(text, "robots.txt") == "200 2, 503 1"


def test_what_is_left_says_when_it_is_due(job):
    """A crawl that ends with a queue says how long, and when its next URL may go."""
    list(job.add_seeds())
    row = _row(summary(job, reason="shutdown", elapsed=1), "left")
    assert row.startswith("2 still queued, the next one is due at ")
    assert row.endswith("Z")


def test_what_a_cap_left_has_no_due_time():
    """Behind a cap nothing is due: no time is promised."""
    job = _job(FRONTIER_MAX_FETCHES=1)
    list(job.add_seeds())
    _fetch(job, Outcome.STORED)
    assert _row(summary(job, reason="max_fetches", elapsed=1), "left") == "1 still queued"


def test_the_smallest_pause_is_told_with_its_delay():
    """Politeness as achieved, beside what was asked for."""
    job = _job(POLITENESS_DELAY=0)
    job.frontier.add(Discovery(["http://a.example/1", "http://a.example/2"]), job.now())
    _fetch(job, Outcome.STORED)
    _fetch(job, Outcome.STORED)
    row = _row(summary(job, reason="finished", elapsed=1), "hosts")
    assert row.startswith("1 visited; smallest pause between two requests to one host")
    assert row.endswith("s at a.example (delay 0 s)")


def test_files_and_the_next_step_are_named(tmp_path):
    """The operator is told where the lines are and how to look at one."""
    job = _job(tmp_path)
    list(job.add_seeds())
    _fetch(job, Outcome.STORED)
    assert job.pages is not None
    job.pages.write({"a": 1})
    text = summary(job, reason="finished", elapsed=1)
    assert _row(text, "files") == f"{tmp_path}/pages.jsonl (8 bytes)"
    assert _row(text, "next").startswith(f"head -1 {tmp_path}/pages.jsonl")
    job.close()


def test_archive_and_uploads_are_named(tmp_path):
    """What was committed to the archive is told, and whether all of it is in the object store."""
    place = (tmp_path / "there").as_uri()
    job = _job(tmp_path / "job", STORE_OBJECTS=place)
    list(job.add_seeds())
    visit = Visit(job.frontier.next(job.now(), lambda _url, _origin: Allow()))
    url = visit.lease.url
    visit.answer = Answer(Request(url), Response(url, body=b"text"), job.now(), b"text")
    job.settle(visit, Outcome.SKIPPED_TYPE)
    job.commits.commit(job.now())
    text = summary(job, reason="finished", elapsed=1)
    size = (tmp_path / "job/warc/web-00000.warc.gz").stat().st_size
    assert _row(text, "archive") == f"{tmp_path}/job/warc (1 file, {size:,} bytes)"
    assert _row(text, "uploads") == f"all finished files are in {place}"
    job.close()


def test_a_crawl_without_pages_points_at_the_outcomes(tmp_path):
    """Nothing stored is no time to show a file that is empty."""
    job = _job(tmp_path)
    assert "no page was stored" in _row(summary(job, reason="finished", elapsed=1), "next")
    job.close()


@pytest.mark.parametrize("reason", ["max_pages", "max_fetches", "shutdown", "waiting"])
def test_a_crawl_that_can_go_on_says_how(reason, tmp_path):
    """After a cap, a signal or a long wait the next step is the same command."""
    job = _job(tmp_path)
    assert "the same command" in _row(summary(job, reason=reason, elapsed=1), "next")
    job.close()


def test_the_progress_line_is_one_line(job):
    """Pages, rate, queue, hosts, flight and errors; short enough for a terminal."""
    list(job.add_seeds())
    job.frontier.counts.done[Outcome.FAILED_NETWORK] += 3
    line = progress_line(job, rate=12.34, elapsed=65)
    assert line.startswith("0:01:05  0 pages  12.3/s  2 queued  hosts 2 ready 0 waiting")
    assert line.endswith("0 in flight  3 errors")
    assert len(line) < 120
