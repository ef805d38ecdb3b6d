"""CPU per page of the whole pipeline against plain Scrapy, on the same pages, in alternation.

Counted is user and system time of the crawling process from start to exit, divided by the
pages that the *server* answered with 200. The lines written, the pages the crawler says it
stored and the pages the server has must agree, or there is no figure.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.stages import stage_table
from tests.support.server import LocalWeb

ROOT = Path(__file__).resolve().parents[1]
SITE = "tests.support.sites:uniform_site"


@dataclass(frozen=True)
class Run:
    """One crawl: CPU seconds, wall seconds, pages answered with 200, lines written."""

    cpu: float
    wall: float
    pages: int
    lines: int

    @property
    def ms(self) -> float:
        """CPU milliseconds per page."""
        return 1000 * self.cpu / self.pages


def main() -> int:
    """Run the rounds and print the ratio with its spread."""
    options = _arguments()
    site = {
        "hosts": options.hosts,
        "pages_per_host": options.pages,
        "gzip": options.gzip,
        "keep": 10**6,
    }
    ratios = []
    print(f"{options.hosts} hosts x {options.pages} pages of about 20 KB, 40 links a page")
    with LocalWeb(SITE, site, hosts=options.hosts) as web, tempfile.TemporaryDirectory() as folder:
        _crawl(_ours(web, Path(folder) / "warm-up"), web, Path(folder) / "warm-up/pages.jsonl")
        for number in range(1, options.rounds + 1):
            ours = _ours_checked(web, Path(folder) / f"ours-{number}", site)
            plain = _plain_checked(web, Path(folder) / f"plain-{number}.jsonl", site)
            ratios.append(ours.ms / plain.ms)
            print(
                f"round {number}: crawler {ours.ms:.2f} ms/page ({ours.pages} pages, "
                f"{ours.wall:.1f} s wall)   plain Scrapy {plain.ms:.2f} ms/page "
                f"({plain.pages} pages, {plain.wall:.1f} s wall)   ratio {ratios[-1]:.3f}"
            )
    print(
        f"ratio crawler / plain Scrapy: median {statistics.median(ratios):.3f}, "
        f"min {min(ratios):.3f}, max {max(ratios):.3f} over {len(ratios)} rounds"
    )
    print(stage_table(site, ours.ms))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench crawl", description=__doc__)
    parser.add_argument("--hosts", type=int, default=60)
    parser.add_argument("--pages", type=int, default=50, help="per host")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gzip", action="store_true", help="serve compressed")
    return parser.parse_args()


def _ours(web: LocalWeb, directory: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "scrapy", "crawl", "web", "-a", f"seeds={','.join(web.urls)}"),
        *("-s", f"JOBDIR={directory}", "-s", "POLITENESS_DELAY=0"),
    ]


def _ours_checked(web: LocalWeb, directory: Path, site: dict[str, object]) -> Run:
    run = _crawl(_ours(web, directory), web, directory / "pages.jsonl")
    said = int(re.search(r"pages  ([\d,]+) stored", run[1])[1].replace(",", ""))  # type: ignore[index]
    expected = int(site["hosts"]) * int(site["pages_per_host"])  # type: ignore[call-overload]
    if not run[0].lines == said == run[0].pages == expected:
        raise SystemExit(
            f"no figure: {run[0].lines} lines, {said} stored, {run[0].pages} answered, "
            f"{expected} pages on the web"
        )
    return run[0]


def _plain_checked(web: LocalWeb, out: Path, site: dict[str, object]) -> Run:
    spider = str(ROOT / "benchmarks/plain_spider.py")
    command = [sys.executable, "-m", "scrapy", "runspider", spider, "-O", str(out)]
    run, _ = _crawl([*command, "-a", f"seeds={','.join(web.urls)}"], web, out, cwd=out.parent)
    expected = int(site["hosts"]) * int(site["pages_per_host"])  # type: ignore[call-overload]
    if run.lines != expected or run.pages < expected:
        raise SystemExit(
            f"no figure: plain Scrapy wrote {run.lines} of {expected} pages, {run.pages} answered"
        )
    return run


def _crawl(command: list[str], web: LocalWeb, out: Path, cwd: Path = ROOT) -> tuple[Run, str]:
    before = len(web.log())
    log = out.parent.parent / f"{out.parent.name}-{out.stem}.log"
    started = time.monotonic()
    with log.open("w") as stream:
        process = subprocess.Popen(command, cwd=cwd, stderr=stream)
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    text = log.read_text()
    if process.returncode:
        raise SystemExit(f"no figure: exit {process.returncode}\n{text[-2000:]}")
    hits = [hit for hit in web.log()[before:] if hit.status == 200 and hit.path != "/robots.txt"]
    lines = [json.loads(line) for line in out.read_bytes().splitlines()]
    run = Run(usage.ru_utime + usage.ru_stime, wall, len(hits), len({r["url"] for r in lines}))
    return run, text


if __name__ == "__main__":
    sys.exit(main())
