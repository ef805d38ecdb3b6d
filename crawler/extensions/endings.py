"""Why a crawl has ended, what kept it from more, and what one would do next; no Scrapy here."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from crawler.clock import iso_utc
from crawler.frontier import Cause
from crawler.model import Outcome, Reason
from crawler.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.frontier import Rest
    from crawler.job import Job

WAITING = "waiting"
_FINISHED = "finished"
_CAPS = ("max_pages", "max_fetches")
_ENDS = {
    _FINISHED: "nothing left to fetch",
    "shutdown": "stopped by a signal",
    "store_damaged": "the store cannot be read, see the log; nothing was changed in it",
}
_MOST_RESTS = 3
_MOST_CAUSES = 3

TROUBLES = {
    "network": "connection failed",
    "timeout": "no answer in time",
    "dns": "host name not found",
    "tls": "no secure connection",
    "size": "answer too large",
    "content": "answer not readable",
    "address": "address not allowed",
}
"""Why there was no usable answer, in words, by the names of the stats ``fetch/NAME``."""

_RESTS = {
    Cause.THROTTLED: "answered 429 or 503: its Retry-After, or our back-off",
    Cause.FAILED: "gave no usable answer",
    Cause.ASKED: "asked for it by Retry-After, or its answers cost too much",
    Cause.RULES: "its robots.txt is out of reach",
    Cause.DELAY: "its delay",
}
_FETCHED = frozenset(
    {
        *(Outcome.STORED, Outcome.DUPLICATE_EXACT, Outcome.DUPLICATE_NEAR, Outcome.LISTED),
        *(Outcome.REDIRECTED, Outcome.SKIPPED_TYPE, Outcome.HANDLED, Outcome.DROPPED),
    }
)
_IN_WORDS: dict[Outcome | Reason, str] = {
    Outcome.GONE: "404 or 410",
    Outcome.REFUSED: "another 4xx",
    Outcome.SKIPPED_TYPE: "of a type that nothing reads, or empty",
    Outcome.FAILED_THROTTLED: "429 or 503 on every try",
    Outcome.FAILED_SERVER: "5xx on every try",
    Outcome.FAILED_NETWORK: "no usable answer on every try",
    Outcome.FAILED_SIZE: "larger than DOWNLOAD_MAXSIZE",
    Outcome.FAILED_CONTENT: "not readable",
    Outcome.FAILED_CALLBACK: "the log has the traceback",
    Reason.UNREACHABLE: "no such host",
    Reason.ROBOTS: "forbidden by robots.txt",
    Reason.SCOPE: "outside the scope of the seeds",
    Reason.ADDRESS: "an address that may not be reached",
}


def end_of(job: Job, reason: str) -> str:
    """Say why the crawl has ended."""
    if reason in _CAPS:
        more = "" if job.frontier.counts.unfinished else ", and nothing is left to fetch"
        return f"{reason} reached{more}"
    if reason == WAITING:
        wait = f"FRONTIER_MAX_WAIT ({job.config.max_wait:g} s)"
        return f"every remaining host rests, so that no page would come for longer than {wait}"
    return _ENDS.get(reason, reason)


def rests_of(job: Job, reason: str) -> str:
    """Say which hosts rest and why, those due first; mere delays only if they ended the crawl."""
    rests = [
        rest
        for rest in job.frontier.rests(job.now())
        if reason == WAITING or rest.cause is not Cause.DELAY
    ]
    if not rests:
        return ""
    shown = "; ".join(map(_rest, rests[:_MOST_RESTS]))
    further = len(rests) - _MOST_RESTS
    return shown + (f"; and {counted(further, 'host more')}" if further > 0 else "")


def _rest(rest: Rest) -> str:
    return f"{rest.host} until {iso_utc(rest.until)} ({_RESTS[rest.cause]})"


def failure_of(job: Job) -> str:
    """Say that nothing was fetched or stored, and the most frequent causes; else nothing."""
    counts = job.frontier.counts
    if counts.stored or not counts.discovered:
        return ""
    fetched = any(counts.done[outcome] for outcome in _FETCHED)
    causes = (counts.done + counts.rejected).most_common(_MOST_CAUSES)
    listed = ", ".join(_cause(end, number) for end, number in causes)
    what = "no page was stored" if fetched else "nothing was fetched"
    return f"{what}: {listed}" if listed else what


def _cause(end: Outcome | Reason, number: int) -> str:
    words = _IN_WORDS.get(end)
    return f"{end.value} {number:,}" + (f" ({words})" if words else "")


def next_step(job: Job, reason: str, seed: str) -> str:
    """Say what one would do now.

    Args:
        job: The crawl.
        reason: Why it has ended.
        seed: One of its seeds; empty where there is none.
    """
    counts = job.frontier.counts
    again = _to_go_on(job, reason)
    if again:
        return f"to go on: {again}"
    if job.pages is None:
        return ""
    if counts.stored:
        return f"head -1 {job.pages.path} | python3 -m json.tool"
    if not seed or job.directory is None:
        return "the outcomes and rejections above say why"
    return f"scrapy explain {shlex.quote(seed)} -s JOBDIR={shlex.quote(str(job.directory))}"


def _to_go_on(job: Job, reason: str) -> str:
    """Say how the crawl goes on; nothing when it is at its end."""
    if job.commits.stalled:
        return "the same command, when results can be written again"
    if reason in _CAPS and job.frontier.counts.unfinished:
        return f"the same command with a larger -a {reason}"
    if reason == WAITING:
        return "the same command, when the time has come; or with a larger FRONTIER_MAX_WAIT"
    return "the same command" if reason == "shutdown" else ""


def in_words(names: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return counts by name with the names of troubles in words."""
    return [(TROUBLES.get(name, name), number) for name, number in names]
