"""The options of ``scrapy pages``, and what its help says of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

from crawler.reading.writers import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

FILTERS = {
    "domain": ("NAME", "of this registrable domain, such as example.com"),
    "since": ("TIME", "fetched at or after this time, ISO 8601, UTC: 2026-11-30T12:00:00"),
    "until": ("TIME", "fetched before this time"),
    "status": ("N", "with this HTTP status"),
    "type": ("MEDIA", "of this media type, such as text/html"),
    "outcome": ("NAME", "that ended so, such as stored; all are in docs/output.md"),
}
"""Which pages are meant: name -> value and meaning in the help."""
_VIEWS = {
    "raw": "its bytes as the server meant them: content codings undone",
    "text": "its text",
    "headers": "status and headers of the answer",
    "history": "every visit, newest first",
}


class _Action(NamedTuple):
    """A subcommand: its options, what it is for, and an example of its arguments."""

    add_options: Callable[[argparse.ArgumentParser], None]
    text: str
    example: str


def add_actions(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands, each with options of its own and ``-s``, which comes as ``set_here``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", title="what to do", prog="scrapy pages"
    )
    for name, action in _ACTIONS.items():
        one = actions.add_parser(
            name,
            help=action.text,
            description=f"{action.text}.",
            epilog=f"example:\n  scrapy pages {name} {action.example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        action.add_options(one)
        one.add_argument(
            *("-s", "--set"),
            dest="set_here",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a setting of the crawl, such as JOBDIR=crawls/example (default: crawls/web)",
        )


def _add_filters(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which pages (all that are given must hold)")
    for name, (value, text) in FILTERS.items():
        group.add_argument(f"--{name}", metavar=value, help=text)


def _add_limits(parser: argparse.ArgumentParser, default: str) -> None:
    text = f"at most so many, 0 for all (default: {default})"
    parser.add_argument("--limit", metavar="N", default=default, help=text)
    parser.add_argument("--newest", action="store_true", help="newest first, not oldest")


def _add_list(parser: argparse.ArgumentParser) -> None:
    _add_filters(parser)
    _add_limits(parser, "50")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("page", metavar="URL|HASH", help="its URL in any spelling, or url_hash")
    group = parser.add_mutually_exclusive_group()
    for name, text in _VIEWS.items():
        group.add_argument(f"--{name}", action="store_true", help=text)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_output(parser: argparse.ArgumentParser) -> None:
    text = "write to a file, which appears when it is whole (default: standard output)"
    parser.add_argument("-o", "--output", metavar="FILE", help=text)


def _add_export(parser: argparse.ArgumentParser) -> None:
    _add_filters(parser)
    _add_limits(parser, "0")
    text = "default: that of the file's name, or else jsonl"
    parser.add_argument("--format", choices=sorted(FORMATS), help=text)
    _add_output(parser)


def _add_reprocess(parser: argparse.ArgumentParser) -> None:
    _add_filters(parser)
    _add_output(parser)
    text = "compare with pages.jsonl; exit code 1 on differences; without -o, write no lines"
    parser.add_argument("--check", action="store_true", help=text)


_ACTIONS = {
    "list": _Action(
        _add_list,
        "List fetched URLs, one a line",
        "--domain example.com --status 404 --newest",
    ),
    "show": _Action(
        _add_show,
        "Show one page: all that is known of it, or its text or bytes",
        "https://example.com/ --text",
    ),
    "export": _Action(
        _add_export,
        "Write fetched URLs with all their fields",
        "--outcome stored -o pages.csv",
    ),
    "reprocess": _Action(
        _add_reprocess,
        "Parse the archived pages again, with today's code and settings, and write their lines",
        "-o new.jsonl",
    ),
}
_EPILOG = """
scrapy pages list -h (and so on) describes the options of each. All may be used while the crawl
runs; docs/pages.md has examples and every field.
"""
