"""How much 50 hostile hosts slow 50 good ones: time and CPU until the good pages are fetched.

The good hosts are crawled alone and beside hosts that hang, drip, never end, are huge, or cost much
to read; each kind of host has a server process of its own. Said by the good server's log: when its
last page went out, and how late a host's next request came after its delay (median and 95 %).
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.support import judge
from tests.support.hostile_site import WAYS
from tests.support.server import LocalWeb, loopback

ROOT = Path(__file__).resolve().parents[1]
_PATIENCE_S = 300.0
_LOOK_S = 0.2


@dataclass(frozen=True)
class Run:
    """What one crawl took: seconds to the last good page, CPU seconds until then, lateness."""

    seconds: float
    cpu: float
    late: list[float]

    def __str__(self) -> str:
        """Say it in one line."""
        usual, bad = statistics.median(self.late), statistics.quantiles(self.late, n=20)[-1]
        return (
            f"{self.seconds:6.2f} s, {self.cpu:6.2f} s CPU, next request late by "
            f"{1000 * usual:.0f} ms (median), {1000 * bad:.0f} ms (95 %)"
        )


def main() -> int:
    """Run the rounds and print the ratio with its spread."""
    options = _arguments()
    names = loopback(options.hosts + options.bad)
    good, bad = names[: options.hosts], names[options.hosts :]
    ratios = []
    for number in range(1, options.rounds + 1):
        alone = _run(good, [], options)
        beside = _run(good, bad, options)
        ratios.append(beside.seconds / alone.seconds)
        print(f"round {number}: alone  {alone}\n         beside {beside}   ratio {ratios[-1]:.3f}")
    print(
        f"{options.hosts} good hosts x {options.pages} pages beside {options.bad} bad ones: "
        f"ratio of the times {statistics.median(ratios):.3f} (median of {len(ratios)})"
    )
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench hostile", description=__doc__)
    parser.add_argument("--hosts", type=int, default=50, help="good ones")
    parser.add_argument("--bad", type=int, default=50)
    parser.add_argument("--pages", type=int, default=15, help="per good host")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--delay", type=float, default=1.0, help="POLITENESS_DELAY")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="of bad hosts; all")
    return parser.parse_args()


def _run(good: list[str], bad: list[str], options: argparse.Namespace) -> Run:
    """Crawl until the good hosts' pages have been fetched, then stop."""
    pages = {"hosts": good, "pages_per_host": options.pages, "cross": 0.0, "keep": 10**6}
    hostile = {"hosts": bad, "ways": options.way}
    with ExitStack() as stack:
        enter = stack.enter_context
        web = enter(LocalWeb("tests.support.sites:uniform_site", pages, hosts=good))
        urls = list(web.urls)
        if bad:
            other = LocalWeb("tests.support.hostile_site:hostile_site", hostile, hosts=bad)
            urls += enter(other).urls
        folder = Path(enter(tempfile.TemporaryDirectory()))
        folder.joinpath("seeds").write_text("\n".join(urls))
        command = [
            *(sys.executable, "-m", "scrapy", "crawl", "web", "-a", f"seeds=@{folder}/seeds"),
            *("-a", "scope=host", "-s", f"JOBDIR={folder}/job"),
            *("-s", f"POLITENESS_DELAY={options.delay}"),
        ]
        with folder.joinpath("log").open("w") as log:
            process = subprocess.Popen(command, cwd=ROOT, stderr=log)
        cpu = _await_pages(process, web, len(good) * options.pages, folder / "log")
        hits = web.log()
    first = min(hit.t_start for hit in hits)
    last = max(hit.t_end for hit in hits)
    late = [gap - options.delay for gap, _, _ in judge.pairs(hits)]
    return Run(last - first, cpu, late)


def _await_pages(process: subprocess.Popen[bytes], web: LocalWeb, pages: int, log: Path) -> float:
    """Return the CPU seconds that a crawl had used when the last good page was out; end it."""
    until = time.monotonic() + _PATIENCE_S
    try:
        while sum(hit.status == 200 and hit.path != "/robots.txt" for hit in web.log()) < pages:
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"no figure: not all pages came\n{log.read_text()[-2000:]}")
            time.sleep(_LOOK_S)
        return _cpu(process.pid)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
