"""``scrapy pages``: what a crawl has kept of its pages: list, show, export, make them again."""

from __future__ import annotations

import itertools
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.clock import SystemClock
from crawler.config import Config
from crawler.directory import shown_directory
from crawler.errors import CrawlerError, QueryError
from crawler.numbers import counted
from crawler.printable import printable
from crawler.reading import (
    FILTERS,
    FORMATS,
    Kept,
    Reprocess,
    Screen,
    add_actions,
    check_lines_name,
    chosen,
    format_of,
    joined,
    pipe_may_close,
    read_limit,
    read_query,
    views,
    whole_file,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    from crawler.reading import Tally
    from crawler.store import PageQuery

_VIEWS: dict[str, Callable[..., None]] = {
    "raw": views.show_raw,
    "text": views.show_text,
    "headers": views.show_headers,
    "history": views.show_history,
}
_PROGRESS = 2.0  # seconds between two words of a long run on a terminal
_PROGRESS_LOGGED = 60.0  # elsewhere
_INTERRUPTED = 130


class Command(ScrapyCommand):
    """Reads a job directory, also while its crawl runs; changes nothing in it."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Say how the command is called."""
        return "list|show|export|reprocess [options]"

    def short_desc(self) -> str:
        """Say what it is for."""
        return "List, show and export the pages of a crawl (JOBDIR), or make them again"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the four subcommands, each with options of its own."""
        super().add_options(parser)
        add_actions(parser)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Take settings from before and from behind the subcommand."""
        opts.set = [*opts.set, *getattr(opts, "set_here", ())]
        super().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do it; exit code 2 when it cannot be done, 1 when a check has found differences."""
        if opts.action is None:
            raise UsageError("say what to do: list, show, export or reprocess")
        if args:
            raise UsageError(f"unknown: {' '.join(args)}; see scrapy pages {opts.action} -h")
        try:
            with self._kept() as kept, pipe_may_close():
                self.exitcode = _RUN[opts.action](kept, opts)
        except CrawlerError as error:
            _say(f"error: {error}")
            self.exitcode = 2
        except KeyboardInterrupt:
            _say("interrupted")
            self.exitcode = _INTERRUPTED

    def _kept(self) -> Kept:
        assert self.settings is not None  # Scrapy sets it before run
        return Kept(shown_directory(self.settings), Config.read(self.settings))


def _list(kept: Kept, opts: argparse.Namespace) -> int:
    limit, screen = read_limit(opts.limit), Screen(sys.stdout)
    if views.show_list(kept, _query(opts), limit=limit, as_json=opts.json, screen=screen):
        sys.stdout.flush()
        shown = f"these {limit:,}" if limit > 1 else "this one"
        _say(f"there are more than {shown}: --limit N, 0 for all")
    return 0


def _show(kept: Kept, opts: argparse.Namespace) -> int:
    show = next((one for name, one in _VIEWS.items() if getattr(opts, name)), views.show_fields)
    show(kept, kept.page(opts.page), as_json=opts.json, screen=Screen(sys.stdout))
    return 0


def _export(kept: Kept, opts: argparse.Namespace) -> int:
    form = format_of(opts.output, opts.format)
    if form == "parquet" and opts.output is None and sys.stdout.isatty():
        raise QueryError("--format parquet: is nothing for a terminal; name a file with -o")
    rows = chosen(kept, _query(opts), read_limit(opts.limit))
    first = list(itertools.islice(rows, 1))  # what is wrong shows before anything is written
    count = 0
    with _target(kept, opts.output) as file, FORMATS[form](file) as out:
        for count, row in enumerate(itertools.chain(first, rows), 1):  # noqa: B007 -- said below
            out.write(joined(row, kept.line(row)))
    _say(f"{count:,} exported")
    return 0


def _reprocess(kept: Kept, opts: argparse.Namespace) -> int:
    check_lines_name(opts.output)
    query, before = _query(opts), _cpu()
    run = Reprocess(kept, query, warn=_say, tick=_Progress().tick)
    lines = run.lines()
    first = list(itertools.islice(lines, 1))
    silent = opts.check and opts.output is None
    with nullcontext() if silent else _target(kept, opts.output) as file:
        for line in itertools.chain(first, lines):
            if file is not None:
                file.write(line)
    if query == read_query({}):
        run.count_unarchived()
    each = f", {1000 * (_cpu() - before) / run.pages:.1f} ms of CPU each" if run.pages else ""
    pages, urls = counted(run.pages, "page"), counted(run.urls, "archived URL")
    _say(f"{pages} of {urls} parsed{each}")
    if opts.check:
        _say_differences(run.tally)
    _say(f"lines: {run.tally}")
    return 1 if opts.check and run.tally.differences else 0


def _say_differences(tally: Tally) -> None:
    for example in tally.examples:
        _say(example)
    if tally.differences > len(tally.examples) > 0:
        _say(f"these are the first {len(tally.examples)} of {tally.differences:,} differences")


class _Progress:
    """Says now and then how far a long run is."""

    def __init__(self) -> None:
        self._now = SystemClock().now
        self._every = _PROGRESS if sys.stderr.isatty() else _PROGRESS_LOGGED
        self._next = self._now() + self._every

    def tick(self, run: Reprocess) -> None:
        """Say it, if it is time."""
        if self._now() >= self._next:
            self._next = self._now() + self._every
            _say(f"{counted(run.urls, 'URL')}, {counted(run.pages, 'page')} so far")


def _target(kept: Kept, output: str | None) -> AbstractContextManager[BinaryIO]:
    if output is None:
        return nullcontext(Screen(sys.stdout).file())
    return whole_file(Path(output), outside=kept.directory)


def _query(opts: argparse.Namespace) -> PageQuery:
    given = {name: getattr(opts, name) for name in FILTERS}
    return read_query(given, newest_first=getattr(opts, "newest", False))


def _cpu() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _say(text: str) -> None:
    sys.stderr.write(f"pages: {printable(text)}\n")


_RUN = {"list": _list, "show": _show, "export": _export, "reprocess": _reprocess}
