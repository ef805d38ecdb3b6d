"""The words of the progress line and of the summary; no Scrapy here."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from crawler.clock import iso_utc
from crawler.lookout import REPORT
from crawler.model import Outcome, Reason
from crawler.printable import printable
from crawler.store import masked
from crawler.stores import ARCHIVE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.job import Job

_FAILURES = [outcome for outcome in Outcome if outcome.value.startswith("failed")]
_ENDS = {
    "finished": "nothing left to fetch",
    "max_pages": "max_pages reached",
    "max_fetches": "max_fetches reached",
    "shutdown": "stopped by a signal",
    "store_damaged": "the store cannot be read, see the log; nothing was changed in it",
    "waiting": "every remaining host rests for longer than FRONTIER_MAX_WAIT",
}

_TO_GO_ON = {
    "max_pages": "the same command with a larger -a max_pages",
    "max_fetches": "the same command with a larger -a max_fetches",
    "shutdown": "the same command",
    "waiting": "the same command, when the time has come",
}


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


def summary(job: Job, *, reason: str, elapsed: float) -> str:
    """Return the report of a finished crawl, ready to print."""
    counts = job.frontier.counts
    duplicates = counts.done[Outcome.DUPLICATE_EXACT] + counts.done[Outcome.DUPLICATE_NEAR]
    rows = [
        ("crawl", f"{_ENDS.get(reason, reason)} after {_clock(elapsed)}"),
        ("pages", f"{counts.stored:,} stored, {duplicates:,} dropped as duplicates"),
        ("outcomes", _counted((o.value, n) for o, n in counts.done.most_common())),
        ("rejected", _counted((r.value, n) for r, n in counts.rejected.most_common())),
        ("robots.txt", _counted(job.robots_answers.most_common())),
        ("traps", _traps(job)),
        ("left", _left(job)),
        ("seen set", _seen(job)),
        ("hosts", _hosts(job)),
        ("files", _files(job)),
        ("archive", _archive(job)),
        ("uploads", _uploads(job)),
        ("next", _next(job, reason)),
    ]
    return "\n".join(f"{name:>10}  {printable(text)}" for name, text in rows if text)


def _counted(pairs: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in pairs if count)


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
    return (
        f"{len(stops) - scripts:,} patterns stopped that brought nothing new, "
        f"{scripts:,} scripts with irrelevant parameters: {job.directory / REPORT}"
    )


def _hosts(job: Job) -> str:
    visited = f"{job.frontier.counts.hosts:,} visited"
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
    files = "1 file" if len(sizes) == 1 else f"{len(sizes):,} files"
    return f"{job.directory / ARCHIVE} ({files}, {sum(sizes):,} bytes)"


def _uploads(job: Job) -> str:
    if job.uploading is None:
        return ""
    pending, place = job.uploading.pending, job.config.objects.url
    if not pending.files:
        return f"all finished files are in {masked(place)}"
    return f"{pending.files:,} files of {pending.bytes:,} bytes are not in {masked(place)} yet"


def _next(job: Job, reason: str) -> str:
    """Say what one would do now."""
    if reason in _TO_GO_ON:
        return f"to go on: {_TO_GO_ON[reason]}"
    if job.pages is None:
        return ""
    if not job.frontier.counts.stored:
        return "no page was stored: the outcomes and rejections above say why"
    return f"head -1 {job.pages.path} | python3 -m json.tool"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))
