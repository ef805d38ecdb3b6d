"""The words of the progress line and of the summary; no Scrapy here."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from crawler.clock import iso_utc
from crawler.extensions.endings import end_of, failure_of, in_words, next_step, rests_of
from crawler.lookout import REPORT
from crawler.model import Outcome, Reason
from crawler.numbers import counted
from crawler.printable import printable
from crawler.store import masked
from crawler.stores import ARCHIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawler.job import Job

_FAILURES = [outcome for outcome in Outcome if outcome.value.startswith("failed")]


def progress_line(job: Job, *, rate: float, elapsed: float) -> str:
    """Return one line: pages, pages/s, queued, hosts ready and waiting, errors."""
    counts = job.frontier.counts
    ready, resting = job.frontier.host_states()
    errors = sum(counts.done[outcome] for outcome in _FAILURES)
    if job.commits.stalled:
        return f"{_clock(elapsed)}  paused: {job.commits.stalled}"
    return (
        f"{_clock(elapsed)}  {counts.stored:,} pages  {rate:.1f}/s  "
        f"{counts.queued + counts.waiting:,} queued  "
        f"hosts {ready:,} ready {resting:,} waiting  {counts.leased} in flight  {errors:,} errors"
    )


def summary(
    job: Job,
    *,
    reason: str,
    elapsed: float,
    seed: str = "",
    troubles: Mapping[str, int] | None = None,
) -> str:
    """Return the report of a finished crawl, ready to print.

    Args:
        job: The crawl.
        reason: Why it has ended, as Scrapy has it.
        elapsed: Seconds of this run.
        seed: One of the seeds, for what one may do next.
        troubles: Tries of this run without a usable answer, by the name of what went wrong.
    """
    counts = job.frontier.counts
    rows = [
        ("crawl", f"{end_of(job, reason)} after {_clock(elapsed)}"),
        ("pages", _pages(job)),
        ("outcomes", _listed((o.value, n) for o, n in counts.done.most_common())),
        ("rejected", _listed((r.value, n) for r, n in counts.rejected.most_common())),
        ("robots.txt", _listed(in_words(job.robots_answers.most_common()))),
        ("no answer", _listed(in_words((troubles or {}).items()))),
        ("traps", _traps(job)),
        ("left", _left(job)),
        ("resting", rests_of(job, reason)),
        ("seen set", _seen(job)),
        ("hosts", _hosts(job)),
        ("files", _files(job)),
        ("archive", _archive(job)),
        ("uploads", _uploads(job)),
        ("failure", failure_of(job)),
        ("next", next_step(job, reason, seed)),
    ]
    return "\n".join(f"{name:>10}  {printable(text)}" for name, text in rows if text)


def _listed(pairs: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in pairs if count)


def _pages(job: Job) -> str:
    """Say how many pages there are, and whether all of them could be written."""
    done, stored = job.frontier.counts.done, job.frontier.counts.stored
    duplicates = done[Outcome.DUPLICATE_EXACT] + done[Outcome.DUPLICATE_NEAR]
    dropped = f"{duplicates:,} dropped as duplicates"
    if not job.commits.stalled:
        return f"{stored:,} stored, {dropped}"
    return (
        f"{job.commits.stored:,} stored, {dropped}; {stored - job.commits.stored:,} more, and what "
        f"else came after the last commit, could not be written ({job.commits.stalled}): the next "
        "start fetches them again"
    )


def _left(job: Job) -> str:
    counts = job.frontier.counts
    if not counts.unfinished:
        return ""
    at = job.frontier.wake_at(job.now())
    due = f", the next one is due at {iso_utc(at)}" if at is not None else ""
    return f"{counts.unfinished:,} still queued{due}"


def _traps(job: Job) -> str:
    """Say which rules have kept how many URLs from being fetched, and where that is written."""
    stops = [stop for stop in job.lookout.reported if stop.holds and stop.rejected]
    if not stops or job.directory is None:
        return ""
    scripts = sum(stop.reason is Reason.PARAMETER for stop in stops)
    told = [counted(len(stops) - scripts, "pattern stopped that brought nothing new")]
    told += [counted(scripts, "script with irrelevant parameters")]
    shown = [text for text in told if not text.startswith("0 ")]
    return f"{', '.join(shown)}: {job.directory / REPORT}"


def _hosts(job: Job) -> str:
    visited = f"{job.frontier.counts.hosts:,} tried"
    if job.frontier.smallest_pause is None:
        return visited
    pause, host, delay = job.frontier.smallest_pause
    return (
        f"{visited}; smallest pause between two requests to one host in this run: "
        f"{pause:.3f} s at {host} (delay {delay:g} s)"
    )


def _seen(job: Job) -> str:
    stats = job.frontier.seen_stats()
    if not stats:
        return ""
    return (
        f"approximate: {stats['seen/keys']:,.0f} URLs in {stats['seen/layers']:.0f} layers, "
        f"{stats['seen/error_now']:.2%} of the new ones are taken for known "
        f"(promised {stats['seen/error_promised']:.2%}), about "
        f"{stats['seen/expected_loss']:,.0f} lost in this run"
    )


def _files(job: Job) -> str:
    if job.pages is None:
        return ""
    return f"{job.pages.path} ({job.pages.length:,} bytes)"


def _archive(job: Job) -> str:
    """Say how much was committed to the archive."""
    sizes = [
        size
        for name, size in job.commits.lengths.items()
        if name.startswith(f"{ARCHIVE}/") and name.endswith(".gz")
    ]
    if not sizes or job.directory is None:
        return ""
    files = counted(len(sizes), "file")
    return f"{job.directory / ARCHIVE} ({files}, {sum(sizes):,} bytes)"


def _uploads(job: Job) -> str:
    if job.uploading is None:
        return ""
    pending, place = job.uploading.pending, job.config.objects.url
    if not pending.files:
        return f"all finished files are in {masked(place)}"
    return f"not yet in {masked(place)}: {counted(pending.files, 'file')}, {pending.bytes:,} bytes"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))
