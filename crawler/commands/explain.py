"""``scrapy explain URL``: what a crawl knows of a URL, and what it would do with it."""

from __future__ import annotations

import json
import random
import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.clock import SystemClock
from crawler.config import Config
from crawler.directory import shown_directory
from crawler.errors import CrawlerError
from crawler.explanation import explain
from crawler.printable import printable

if TYPE_CHECKING:
    import argparse

    from crawler.facts import Explanation


class Command(ScrapyCommand):
    """Reads a job directory, also while its crawl runs; changes nothing in it."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Say how the command is called."""
        return "URL [--json]"

    def short_desc(self) -> str:
        """Say what it is for."""
        return "Say what a crawl (JOBDIR) knows of a URL, and why it treats it so"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add ``--json``."""
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the explanation; exit code 2 when there is nothing to read."""
        if len(args) != 1:
            raise UsageError("expected one URL")
        assert self.settings is not None  # Scrapy sets it before run
        try:
            directory = shown_directory(self.settings)
            config = Config.read(self.settings)
            now, rng = SystemClock().now(), random.Random()
            found = explain(directory, args[0], config, now=now, rng=rng)
        except CrawlerError as error:
            sys.stderr.write(f"explain: error: {printable(str(error))}\n")
            self.exitcode = 2
            return
        text = json.dumps(found.as_dict(), indent=2) if opts.json else _text(found)
        sys.stdout.write(text + "\n")


def _text(found: Explanation) -> str:
    rows = [("url", found.url), ("state", found.state), ("", found.verdict), *found.facts]
    if found.key != found.url:
        rows.insert(1, ("key", found.key))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:>{width}}  {printable(text)}" for name, text in rows)
