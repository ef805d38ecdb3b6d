"""``scrapy crawl`` with clear refusals: settings and arguments are checked before the start."""

from __future__ import annotations

import argparse

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError

from crawler.arguments import ARGUMENTS, WebArguments
from crawler.config import Config
from crawler.errors import CrawlerError
from crawler.job import job_directory, prepare_directory


class Command(CrawlCommand):
    """Runs a spider; exit code 2 when it is refused, 1 when it could not start or broke."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's options and describe the arguments of the spider web."""
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        lines = [f"  -a {name}=…".ljust(20) + text for name, text in ARGUMENTS.items()]
        parser.epilog = "\n".join(["arguments of the spider web:", *lines, _EPILOG])

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check what was given, then crawl."""
        try:
            self._check(args, opts)
        except CrawlerError as error:
            raise UsageError(str(error), print_help=False) from error
        super().run(args, opts)

    def _check(self, args: list[str], opts: argparse.Namespace) -> None:
        process = self.crawler_process
        assert process is not None  # Scrapy sets both before run
        assert self.settings is not None
        if args != ["web"]:
            return
        Config.read(self.settings)
        WebArguments.read(opts.spargs, self.settings)
        directory = job_directory(self.settings, default="crawls/web")
        if directory is not None:
            prepare_directory(directory)


_EPILOG = """
example:
  scrapy crawl web -a seeds=https://example.com/ -a max_pages=100 -s JOBDIR=crawls/example
Settings (-s NAME=value) are described in docs/settings.md, the output in docs/output.md.
"""
