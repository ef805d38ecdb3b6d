"""``scrapy crawl`` with clear refusals: settings and arguments are checked before the start."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError

from crawler.arguments import ARGUMENTS, WebArguments
from crawler.config import Config
from crawler.directory import DEFAULT, job_directory, prepare_directory
from crawler.errors import ConfigError, CrawlerError
from crawler.extensions.log_format import guard_logs
from crawler.job import DAMAGED
from crawler.printable import printable

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_CHATTY = (
    *("scrapy.utils.log", "scrapy.addons", "scrapy.crawler", "scrapy.middleware"),
    *("scrapy.core.engine", "scrapy.extensions", "scrapy.statscollectors"),
)


class Command(CrawlCommand):
    """Runs a spider; exit code 2 when it is refused, 1 when it could not start or broke."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's options and describe the arguments of the spider web."""
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        lines = [f"  -a {name}=…".ljust(20) + text for name, text in ARGUMENTS.items()]
        parser.epilog = "\n".join(["arguments of the spider web:", *lines, _EPILOG])

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Keep a terminal for the progress line: Scrapy's start-up lines go to logs only."""
        super().process_options(args, opts)
        if sys.stderr.isatty() and not (opts.loglevel or opts.logfile):
            for name in _CHATTY:  # Scrapy sets levels anew; filters stay
                logging.getLogger(name).addFilter(lambda record: record.levelno > logging.INFO)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check what was given, then crawl."""
        unknown = [one for one in args if one.startswith("-")]
        if unknown:
            raise UsageError(
                f"there is no option {unknown[0]}; scrapy crawl -h names all", print_help=False
            )
        guard_logs()
        try:
            self._check(args, opts)
        except CrawlerError as error:
            self._log_refusal(error)
            raise UsageError(str(error), print_help=False) from error
        if len(args) != 1:
            super().run(args, opts)  # says what is wrong
            return
        process = self.crawler_process
        assert process is not None
        crawler = self._create_crawler(args[0])
        started = process.crawl(crawler, **opts.spargs)
        if isinstance(started, asyncio.Task):
            started.add_done_callback(self._ended)
        process.start()
        if self.exitcode:
            return
        if process.bootstrap_failed or _reason(crawler) == DAMAGED:
            self.exitcode = 1

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Say in one line why the crawl did not start, where the reason is one of ours."""
        error = None if task.cancelled() else task.exception()
        if isinstance(error, CrawlerError):
            self._log_refusal(error)
            sys.stderr.write(f"crawl: error: {printable(str(error))}\n")
            self.exitcode = 2
        elif error is not None:
            logger.error("The crawl broke", exc_info=error)
            self.exitcode = 1

    def _log_refusal(self, error: CrawlerError) -> None:
        """Say it in the log file, too: the standard error of a scrapyd job is kept elsewhere."""
        if self.settings is not None and self.settings.get("LOG_FILE"):
            logger.error("The crawl does not start: %s", error)

    def _check(self, args: list[str], opts: argparse.Namespace) -> None:
        process = self.crawler_process
        assert process is not None  # Scrapy sets both before run
        assert self.settings is not None
        known = process.spider_loader.list()
        if len(args) == 1 and args[0] not in known:
            raise ConfigError(f"no spider {args[0]!r} in this project; known: {', '.join(known)}")
        Config.read(self.settings)
        if args != ["web"]:
            return
        WebArguments.read(opts.spargs, self.settings)
        directory = job_directory(self.settings, default=DEFAULT)
        if directory is not None:
            prepare_directory(directory)
            if _SCRAPYD_JOB in opts.spargs and not directory.is_absolute():
                logger.warning(_SHARED, directory.absolute())


_SCRAPYD_JOB = "_job"  # the argument that scrapyd adds
_SHARED = (
    "No absolute JOBDIR: scrapyd's working directory decides where this crawl is kept, now in %s, "
    "together with every other crawl without one. Say -d setting=JOBDIR=/path/of/this/crawl"
)


def _reason(crawler: Crawler) -> object:
    """Return why a crawl ended; None when it was stopped before it had begun."""
    try:
        return crawler.stats.get_value("finish_reason")
    except RuntimeError:  # there are no stats yet
        return None


_EPILOG = """
example:
  scrapy crawl web -a seeds=https://example.com/ -a max_pages=100 -s JOBDIR=crawls/example
Settings (-s NAME=value) are described in docs/settings.md, the output in docs/output.md.
"""
