"""What is shown of pages: many of them, or one from several sides."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from crawler.clock import iso_utc
from crawler.errors import QueryError
from crawler.reading.making import PageMaker
from crawler.reading.records import joined, of_row
from crawler.store import all_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.kept import Kept
    from crawler.reading.screen import Screen
    from crawler.store import PageQuery, PageRow

_HEAD = ("fetched", "outcome", "status", "type", "url")
_WIDTHS = (20, 16, 6, 24)
_RANKS = (1, 0, 2, 3)  # a narrow terminal has the outcome rather than the type
_VISIT_WIDTHS = (24, 6, 16, 7)
_LONG = ("text", "outlinks", "headings")
_LABEL = 18  # characters


def chosen(kept: Kept, query: PageQuery, limit: int) -> Iterator[PageRow]:
    """Yield the rows that are asked for, some hundreds in memory; a limit of 0 is none."""
    return islice(all_pages(kept.catalog, query), limit or None)


def show_list(kept: Kept, query: PageQuery, *, limit: int, as_json: bool, screen: Screen) -> bool:
    """Show pages, one a line; return whether there are more than the limit."""
    rows = chosen(kept, query, limit + 1 if limit else 0)
    shown = islice(rows, limit or None)
    if as_json:
        for row in shown:
            screen.json(of_row(row))
    else:
        screen.table(chain([_HEAD], map(_cells, shown)), _WIDTHS, ranks=_RANKS)
    return next(rows, None) is not None


def show_fields(kept: Kept, row: PageRow, *, as_json: bool, screen: Screen) -> None:
    """Show all that is known of a page; long fields in JSON only."""
    record = joined(row, kept.line(row))
    if as_json:
        screen.json(record)
        return
    for name, value in record.items():
        if value not in (None, []) and name not in _LONG:
            text = " | ".join(value) if isinstance(value, list) else str(value)
            screen.line(f"{name:<{_LABEL}}  {text}")


def show_raw(kept: Kept, row: PageRow, *, as_json: bool, screen: Screen) -> None:
    """Show the bytes of a page, content codings undone."""
    if as_json:
        raise QueryError("--raw --json: bytes are no JSON; leave one of them out")
    screen.file().write(kept.archive.body(kept.archive.record(row))[0])


def show_text(kept: Kept, row: PageRow, *, as_json: bool, screen: Screen) -> None:
    """Show the text of a page; of one without a line, such as a duplicate, read from the bytes."""
    line = kept.line(row)
    text = joined(row, line)["text"] if line else _text_of(kept, row)
    if text is None:
        raise QueryError(f"{row.url}: is no page with a text; its outcome is {row.outcome}")
    if as_json:
        screen.json({"url": row.url, "text": text})
    else:
        screen.text(text)


def show_headers(kept: Kept, row: PageRow, *, as_json: bool, screen: Screen) -> None:
    """Show status and headers as they were received."""
    record = kept.archive.record(row)
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in record.headers]
    if as_json:
        screen.json({"url": row.url, "status": record.status, "headers": pairs})
        return
    screen.line(f"HTTP {record.status}")
    for name, value in pairs:
        screen.line(f"{name}: {value}")


def show_history(kept: Kept, row: PageRow, *, as_json: bool, screen: Screen) -> None:
    """Show the visits of a page, newest first."""
    visits = [
        {
            "visited_at": iso_utc(visit.visited_at),
            "status": visit.status_code,
            "outcome": visit.outcome,
            "changed": visit.changed,
        }
        for visit in kept.visits(row)
    ]
    if as_json:
        screen.json({"url": row.url, "visits": visits})
        return
    cells = [tuple(str(value) for value in visit.values()) for visit in visits]
    screen.table([("visited", "status", "outcome", "changed"), *cells], _VISIT_WIDTHS)


def _cells(row: PageRow) -> tuple[str, ...]:
    status = "-" if row.status_code is None else str(row.status_code)
    at = iso_utc(row.fetched_at)[:19] + "Z"
    return at, row.outcome, status, row.content_type or "-", row.url


def _text_of(kept: Kept, row: PageRow) -> str | None:
    with PageMaker(kept) as maker:
        page = maker.page(kept.archive.received(row))
    return page.text if page is not None else None
