"""Is anything lost, doubled or impolite when a crawl is killed at random, again and again?"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.kills import ChaosCrawl

if TYPE_CHECKING:
    from tests.support.kills import Verdict


def main() -> int:
    """Run the crawl undisturbed, then killed, and print one table; exit code 1 on a violation."""
    options = _arguments()
    print(
        f"{options.hosts} hosts x {options.pages} pages, delay {options.delay:g} s, "
        f"{options.kills} kills, seed {options.seed}"
    )
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        chaos = ChaosCrawl(
            Path(folder), hosts=options.hosts, pages=options.pages, delay=options.delay
        )
        expected, requests = chaos.undisturbed()
        print(f"undisturbed: {requests:,} requests, {len(expected.lines):,} lines", flush=True)
        verdict = chaos.killed(options.kills, expected, requests, random.Random(options.seed))
    print(_table(verdict, requests))
    for violation in verdict.violations:
        print(f"VIOLATION: {violation[-500:]}")
    return 1 if verdict.violations else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--pages", type=int, default=20, help="numbered pages per host")
    parser.add_argument("--delay", type=float, default=0.3, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _table(verdict: Verdict, requests: int) -> str:
    again = [kill.again for kill in verdict.kills] or [0]
    amid = sum(1 for kill in verdict.kills if kill.hits)
    cost = f"{statistics.mean(again):.1f} a kill, median {statistics.median(again):g}"
    lost = f"{len(verdict.unread_s)} lost with the process"
    oldest = 1000 * max(verdict.unread_s, default=0.0)
    rows = [
        (
            "kill -9",
            f"{len(verdict.kills)} in {verdict.elapsed_s:.0f} s, {amid} amid requests",
        ),
        ("requests in all", f"{verdict.requests:,} ({requests:,} undisturbed)"),
        ("pages fetched again", f"{sum(again)}: {cost}, most {max(again)}"),
        ("smallest gap at a host", f"{verdict.smallest_gap_s:.3f} s"),
        ("Retry-After answers", f"{verdict.retry_afters}: {lost}, at most {oldest:.0f} ms old"),
        ("violations", f"{len(verdict.violations)}"),
    ]
    return "\n".join(f"{name:>24}  {text}" for name, text in rows)


if __name__ == "__main__":
    sys.exit(main())
