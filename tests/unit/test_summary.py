"""The words at the end of a crawl: what came, what did not and why, where it is, what next."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.http import Response

from crawler.clock import iso_utc
from crawler.config import Config
from crawler.extensions.endings import TROUBLES
from crawler.extensions.summary import progress_line, summary
from crawler.job import Job
from crawler.model import Allow, Discovery, Outcome, Reason
from crawler.politeness import Trouble
from crawler.traps import Stop
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
    assert _row(text, "hosts") == "0 tried"
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
    assert row.startswith("1 tried; smallest pause between two requests to one host")
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


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ([Reason.UNREACHABLE], "nothing was fetched: unreachable 1 (no such host)"),
        ([Outcome.GONE, Outcome.GONE, Reason.ROBOTS], "nothing was fetched: gone 2 (404 or 410), "),
        (
            [Outcome.SKIPPED_TYPE],
            "no page was stored: skipped_type 1 (of a type that nothing reads",
        ),
    ],
)
def test_a_crawl_without_pages_says_why_and_how_to_learn_more(ends, said, tmp_path):
    """Nothing stored is no time to show a file that is empty: the last rows name the causes."""
    job = _job(tmp_path / "a job")
    job.frontier.counts.discovered = len(ends)
    job.frontier.counts.done.update(end for end in ends if isinstance(end, Outcome))
    job.frontier.counts.rejected.update(end for end in ends if isinstance(end, Reason))
    text = summary(job, reason="finished", elapsed=1, seed="http://a.example/?a&b")
    failure, step = text.splitlines()[-2:]
    assert failure.strip().startswith(f"failure  {said}")
    assert step.strip() == (
        f"next  scrapy explain 'http://a.example/?a&b' -s JOBDIR='{tmp_path}/a job'"
    )
    job.abandon()


def test_what_got_no_answer_is_told_in_words(job):
    """A name that does not exist is told as such, for robots.txt and for pages."""
    job.robots_answers.update({"dns": 3, "200": 1})
    text = summary(job, reason="finished", elapsed=1, troubles={"dns": 4, "timeout": 1, "tls": 0})
    assert _row(text, "robots.txt") == "host name not found 3, 200 1"
    assert _row(text, "no answer") == "host name not found 4, no answer in time 1"


def test_every_trouble_has_its_words():
    """The names are those of the stats."""
    assert TROUBLES.keys() == {trouble.value for trouble in Trouble}


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("throttles", 2, "answered 429 or 503: its Retry-After, or our back-off"),
        ("failures", 3, "gave no usable answer"),
        ("used", 0, "asked for it by Retry-After, or its answers cost too much"),
    ],
)
def test_hosts_that_rest_are_told_with_the_reason(job, field, value, why):
    """Who waits for a host is told for which, until when, and what the host has said."""
    list(job.add_seeds())
    now, host = job.now(), job.frontier.host("a.example")
    setattr(host, field, value)
    job.frontier.block(host, now + 100, now)
    text = summary(job, reason="waiting", elapsed=1)
    assert _row(text, "resting") == f"a.example until {iso_utc(now + 100)} ({why})"
    assert _row(text, "crawl").startswith(
        "every remaining host rests, so that no page would come for longer than FRONTIER_MAX_WAIT"
    )


def test_a_url_that_is_tried_again_makes_its_host_rest():
    """A host without other URLs rests until its only one is tried again."""
    job = _job(POLITENESS_DELAY=0)
    job.frontier.add(Discovery(["http://a.example/", "http://b.example/"]), job.now())
    for tries, throttles in ((1, 0), (0, 1)):
        lease = job.frontier.next(job.now(), lambda _url, _origin: Allow())
        later = job.now() + 50 * (tries + 1)
        job.frontier.retry(lease, later, job.now(), tries=tries, throttles=throttles)
    row = _row(summary(job, reason="shutdown", elapsed=1), "resting")
    first, second = row.split("; ")
    assert first.startswith("b.example until ")
    assert "429 or 503" in first
    assert first.endswith("our back-off)")
    assert second.endswith("(gave no usable answer)")


def test_mere_delays_are_told_when_they_ended_the_crawl(job):
    """Else every crawl that is stopped would list its hosts."""
    hosts = [f"http://{name}.example/" for name in "abcde"]
    job.frontier.add(Discovery([*hosts, *(f"{url}2" for url in hosts)]), job.now())
    for _ in hosts:
        _fetch(job, Outcome.STORED)
    assert _row(summary(job, reason="shutdown", elapsed=1), "resting") == ""
    row = _row(summary(job, reason="waiting", elapsed=1), "resting")
    assert row.count("(its delay)") == 3
    assert row.endswith("; and 2 hosts more")


def test_what_could_not_be_written_is_not_counted_as_stored(tmp_path, monkeypatch):
    """A crawl that ends on a full disk says what the next start has, and what it fetches again."""
    job = _job(tmp_path)
    list(job.add_seeds())
    _fetch(job, Outcome.STORED)
    job.commits.commit(job.now())
    _fetch(job, Outcome.STORED)

    def no_space(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(job.engine, "write", no_space)
        job.commits.commit(job.now())
        text = summary(job, reason="shutdown", elapsed=1)
    assert _row(text, "pages").startswith(
        "1 stored, 0 dropped as duplicates; 1 more, and what else"
    )
    assert "No space left on device" in _row(text, "pages")
    assert "when results can be written again" in _row(text, "next")
    job.close()


@pytest.mark.parametrize("reason", ["max_pages", "max_fetches"])
def test_a_cap_that_left_nothing_asks_for_no_larger_one(reason, tmp_path):
    """A crawl that reached its cap with its last URL is at its end."""
    job = _job(tmp_path)
    job.frontier.counts.done[Outcome.STORED] = job.frontier.counts.discovered = 1
    text = summary(job, reason=reason, elapsed=1)
    assert _row(text, "crawl").startswith(f"{reason} reached, and nothing is left to fetch")
    assert _row(text, "next").startswith("head -1 ")
    job.abandon()


def _stop(number: int, reason: Reason) -> Stop:
    return Stop("http://a.example", reason, f"/{number}", True, 1.0, 5, 5, "http://a.example/1")


@pytest.mark.parametrize(
    ("stops", "said"),
    [
        ([Reason.TRAP_PATTERN], "1 pattern stopped that brought nothing new: "),
        ([Reason.PARAMETER], "1 script with irrelevant parameters: "),
        (
            [Reason.TRAP_PATTERN, Reason.TRAP_REPEAT, Reason.PARAMETER, Reason.PARAMETER],
            "2 patterns stopped that brought nothing new, 2 scripts with irrelevant parameters: ",
        ),
    ],
)
def test_what_is_stopped_is_counted(stops, said, tmp_path):
    """One is one pattern, and what there is none of is not mentioned."""
    job = _job(tmp_path)
    job.lookout.reported = [_stop(number, reason) for number, reason in enumerate(stops)]
    assert _row(summary(job, reason="finished", elapsed=1), "traps").startswith(said)
    job.close()


@pytest.mark.parametrize("reason", ["max_pages", "max_fetches", "shutdown", "waiting"])
def test_a_crawl_that_can_go_on_says_how(reason, tmp_path):
    """After a cap, a signal or a long wait the next step is the same command."""
    job = _job(tmp_path)
    list(job.add_seeds())
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
