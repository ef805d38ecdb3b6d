"""One crawl, killed again and again, and judged: by its job directory and by the server's log."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.model import Outcome
from tests.support import judge
from tests.support.archive import archive_faults, reprocess_faults
from tests.support.books import Books, read_books
from tests.support.crawl import crawl, options, start_crawl
from tests.support.server import LocalWeb

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.crawl import Crawl
    from tests.support.exchange import Hit

SITE = "tests.support.chaos_site:chaos_site"
COMMIT_INTERVAL = 0.2
COMMIT_PAGES = 200
LONGEST_UNREAD_S = 1.0
"""An answer that ended so long before a kill is recorded, or the crawl is at fault."""

LATE_S = 0.3
"""So late the server may read a request whose sender has been killed."""

_PATHS = ("/busy", "/copy", "/near", "/old", "/moved", "/gone", "/private/secret")
_EARLY = 0.25  # share of the kills that are drawn over the start of the process
_START_S = 1.5
_PATIENCE_S = 10.0


@dataclass(slots=True)
class Kill:
    """What one kill cost: requests of this run, URLs done after it, pages fetched again later."""

    at: float
    hits: int
    done: set[str]
    blocked: dict[str, float]
    again: int = 0


@dataclass(slots=True)
class Verdict:
    """What was found over all kills; ``violations`` is empty when every promise was kept."""

    kills: list[Kill] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    requests: int = 0
    smallest_gap_s: float = 0.0
    unread_s: list[float] = field(default_factory=list)
    retry_afters: int = 0
    elapsed_s: float = 0.0


class ChaosCrawl:
    """The crawl of a chaos site: first undisturbed, then killed.

    Args:
        folder: For the job directories.
        hosts: Of the site.
        pages: Numbered pages of each host.
        delay: Seconds between two requests to a host.
        retry_after_s: What some pages ask for.
    """

    def __init__(
        self, folder: Path, *, hosts: int, pages: int, delay: float, retry_after_s: int = 2
    ) -> None:
        self._folder = folder
        self._hosts = hosts
        self._delay = delay
        self._retry_after_s = retry_after_s
        self._pages = pages
        self._settings = options(
            POLITENESS_DELAY=delay,
            FRONTIER_COMMIT_INTERVAL=COMMIT_INTERVAL,
            FRONTIER_COMMIT_PAGES=COMMIT_PAGES,
        )
        self._port = 0

    def web(self) -> LocalWeb:
        """Return the site, unstarted; each time on the same port, with nothing asked yet."""
        arguments = {
            "hosts": self._hosts,
            "pages": self._pages,
            "retry_after_s": self._retry_after_s,
        }
        return LocalWeb(SITE, arguments, hosts=self._hosts, port=self._port)

    def urls(self, web: LocalWeb) -> list[str]:
        """Return every URL of the site."""
        paths = ["/", *(f"/page/{n}" for n in range(1, self._pages)), *_PATHS]
        return [web.url(path, host=host) for host in range(self._hosts) for path in paths]

    def undisturbed(self) -> tuple[Books, int]:
        """Crawl to the end; return the books and the number of requests."""
        with self.web() as web:
            self._port = web.port
            jobdir = self._folder / "undisturbed"
            crawl(web.urls, *self._settings, jobdir=jobdir, timeout=600).check()
            return read_books(jobdir, self.urls(web)), len(web.log())

    def killed(self, kills: int, expected: Books, requests: int, rng: random.Random) -> Verdict:
        """Crawl with so many kills, to the end, and compare with the undisturbed crawl."""
        began = time.monotonic()
        verdict = Verdict()
        jobdir = self._folder / "killed"
        with self.web() as web:
            for number in range(kills):
                left = requests - (len(verdict.kills[-1].done) if verdict.kills else 0)
                running = start_crawl(web.urls, *self._settings, jobdir=jobdir)
                with running:
                    if not _await_moment(running, web, left / (kills - number + 4), rng):
                        break  # it was done, and no kill is left to try
                    running.kill()
                self._after_kill(verdict, jobdir, web)
            crawl(web.urls, *self._settings, jobdir=jobdir, timeout=600).check()
            books, hits = read_books(jobdir, self.urls(web)), web.log()
            verdict.violations += _differences(expected, books)
            verdict.violations += archive_faults(jobdir, _outcomes(books))
            verdict.violations += reprocess_faults(jobdir)
            self._judge(verdict, web, hits)
        verdict.requests = len(hits)
        verdict.elapsed_s = time.monotonic() - began
        return verdict

    def _after_kill(self, verdict: Verdict, jobdir: Path, web: LocalWeb) -> None:
        """Verify the job directory as the kill left it."""
        at = time.time()
        before = verdict.kills[-1].done if verdict.kills else set()
        books = read_books(jobdir, self.urls(web))
        total = sum(kill.hits for kill in verdict.kills)
        kill = Kill(at, len(web.log()) - total, books.done, books.blocked)
        verdict.kills.append(kill)
        name = f"kill {len(verdict.kills)}"
        verdict.violations += [f"{name}: {fault}" for fault in books.faults]
        if lost := before - books.done:
            verdict.violations.append(f"{name}: {len(lost)} URLs were done before it")
        if len(set(books.lines)) != len(books.lines):
            verdict.violations.append(f"{name}: a page is two lines")

    def _judge(self, verdict: Verdict, web: LocalWeb, hits: list[Hit]) -> None:
        """Judge all runs together, by the server's log."""
        try:
            judge.assert_polite(hits, self._delay)
        except AssertionError as error:
            verdict.violations.append(str(error))
        verdict.smallest_gap_s = min(gap for gap, _, _ in judge.pairs(hits))
        _count_again(verdict, web, hits)
        for hit in (hit for hit in hits if hit.status == 503):
            verdict.retry_afters += 1
            self._judge_retry_after(verdict, hit, hits)

    def _judge_retry_after(self, verdict: Verdict, asked: Hit, hits: list[Hit]) -> None:
        """Look for a request before the time asked for; excused if the answer was never read."""
        until = asked.t_end + self._retry_after_s
        early = [h for h in hits if h.host == asked.host and asked.t_end <= h.t_start < until]
        if not early:
            return
        kill = next((k for k in verdict.kills if k.at + LATE_S > asked.t_end), None)
        unread_s = max(kill.at - asked.t_end, 0.0) if kill is not None else 0.0
        recorded = kill.blocked.get(asked.host, 0.0) if kill is not None else 0.0
        if kill is None or recorded > asked.t_end or unread_s > LONGEST_UNREAD_S:
            verdict.violations.append(
                f"Retry-After of {asked.host} was broken: asked again "
                f"{until - early[0].t_start:.3f} s early; the answer ended {unread_s:.3f} s "
                f"before the next kill, and the store had a block "
                f"until {recorded - asked.t_end:+.3f} s from then"
            )
            return
        verdict.unread_s.append(unread_s)


def _await_moment(running: Crawl, web: LocalWeb, share: float, rng: random.Random) -> bool:
    """Wait for the moment of the next kill; return whether the crawl was still running.

    Some are drawn over the start; the others by how much the crawl has got done, so that
    the kills are spread over all of it, however fast the machine is.
    """
    if rng.random() < _EARLY:
        time.sleep(_START_S * rng.random())
        return running.process.poll() is None
    wanted = len(web.log()) + rng.randint(1, 2 + int(3 * share))
    limit = time.monotonic() + _PATIENCE_S
    while time.monotonic() < limit and running.process.poll() is None:
        if len(web.log()) >= wanted:
            time.sleep(1.5 * COMMIT_INTERVAL * rng.random())
            break
        time.sleep(0.01)
    return running.process.poll() is None


def _count_again(verdict: Verdict, web: LocalWeb, hits: list[Hit]) -> None:
    """Charge each page that is asked for again to the kill that made it necessary."""
    last: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda hit: hit.t_start):
        url = f"{web.scheme}://{hit.host}{hit.path}"
        previous, last[url] = last.get(url), hit
        if previous is None or previous.status == 503 or hit.path == "/robots.txt":
            continue
        before, now = (_run(verdict, one) for one in (previous, hit))
        if before == now or url in verdict.kills[now - 1].done:
            since = previous.t_start - max((k.at for k in verdict.kills[:now]), default=0.0)
            verdict.violations.append(
                f"{url} was fetched in run {before + 1}, {since:+.3f} s from the last kill, and "
                f"again in run {now + 1}"
            )
        else:
            verdict.kills[before].again += 1
    most = COMMIT_PAGES + 128  # a group, and Scrapy's CONCURRENT_REQUESTS
    for number, kill in enumerate(verdict.kills, 1):
        if kill.again > most:
            verdict.violations.append(f"kill {number}: {kill.again} pages fetched again")


def _run(verdict: Verdict, hit: Hit) -> int:
    """Return how many kills came before a request.

    The server may read late what a process had sent before its end; the next process takes
    longer than that to start.
    """
    return sum(1 for kill in verdict.kills if kill.at + LATE_S <= hit.t_start)


def _outcomes(books: Books) -> dict[str, str]:
    """Return how each fetched URL ended."""
    return {u: state.value for u, state in books.states.items() if isinstance(state, Outcome)}


def _differences(expected: Books, found: Books) -> Iterator[str]:
    """Say how the end of a killed crawl differs from that of an undisturbed one."""
    yield from found.faults
    twice = [url for url, n in Counter(found.lines).items() if n > 1]
    if twice:
        yield f"{len(twice)} pages are more than one line, such as {twice[0]}"
    for what, urls in (
        ("missing", set(expected.lines) - set(found.lines)),
        ("too many", set(found.lines) - set(expected.lines)),
    ):
        if urls:
            yield f"{len(urls)} lines {what}, such as {min(urls)}"
    states = {*expected.states.items()} ^ {*found.states.items()}
    if states:
        yield f"{len(states)} outcomes differ, such as {min(states, key=str)}"
