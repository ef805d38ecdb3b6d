"""``scrapy frontier``: what a crawl has queued, where it waits, and whether its books balance."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.clock import SystemClock, iso_utc
from crawler.directory import shown_directory
from crawler.errors import CrawlerError
from crawler.inspection import Inspection, inspect
from crawler.model import Outcome, Reason
from crawler.numbers import counted
from crawler.printable import printable

if TYPE_CHECKING:
    import argparse

_SHOWN = 20
_NAMES = [*(one.value for one in Outcome), *(f"rejected: {one.value}" for one in Reason)]
_WIDTH = max(map(len, _NAMES))


class Command(ScrapyCommand):
    """Reads a job directory that no crawl is using; changes nothing in it."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Say how the command is called."""
        return "[check] [--json]"

    def short_desc(self) -> str:
        """Say what it is for."""
        return "Show the state of a crawl, or verify its job directory (JOBDIR)"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add ``--json``."""
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Show the state; with ``check`` also verify every row, exit code 1 on a fault."""
        if args not in ([], ["check"]):
            raise UsageError(f"unknown: {' '.join(args)}; expected nothing or check")
        assert self.settings is not None  # Scrapy sets it before run
        try:
            directory = shown_directory(self.settings)
            found = inspect(directory, rows=bool(args), now=SystemClock().now())
        except CrawlerError as error:
            sys.stderr.write(f"frontier: error: {printable(str(error))}\n")
            self.exitcode = 2
            return
        text = (
            json.dumps(found.as_dict(), indent=2) if opts.json else _text(found, check=bool(args))
        )
        sys.stdout.write(text + "\n")
        self.exitcode = 1 if found.faults else 0


def _text(found: Inspection, *, check: bool) -> str:
    counts = found.counts
    size = f"{counted(counts.discovered, 'URL')} discovered on {counted(found.hosts, 'host')}"
    ways = f"queued {counts.queued:,}, waiting {counts.waiting:,}"
    ends = f"done {counts.done.total():,}, rejected {counts.rejected.total():,}"
    lines = [
        f"{found.directory}: {size}, {counted(found.disk_bytes, 'byte')} on disk",
        f"  {ways}, {ends}",
    ]
    states = [(outcome.value, n) for outcome, n in (+counts.done).most_common()]
    states += [(f"rejected: {why.value}", n) for why, n in (+counts.rejected).most_common()]
    lines += [f"  {name:<{_WIDTH}} {n:>12,}" for name, n in states]
    if found.oldest is not None:
        lines.append(f"  queued for the longest time: {found.oldest}")
    if found.busiest:
        lines.append("  hosts with most URLs queued:")
        lines += [f"    {host:<40} {n:>10,}" for host, n in found.busiest[:_SHOWN]]
    if found.blocked:
        lines.append("  hosts that rest:")
        lines += [f"    {host:<40} until {iso_utc(at)}" for host, at in found.blocked[:_SHOWN]]
    lines += [f"FAULT: {fault}" for fault in found.faults]
    if check and not found.faults:
        lines.append(f"checked {counted(found.rows, 'row')}: no fault found")
    return "\n".join(map(printable, lines))  # URLs and hosts are of strangers
