"""Pages as the values of a database, and back; cursors between two answers.

Spec of what changes on the way: times are kept to the millisecond; U+0000, which PostgreSQL
refuses, and surrogates, which no encoding has, become U+FFFD; ``domain``, ``outcome`` and
``content_type`` are cut at 255 characters, because an index bounds its keys.
"""

from __future__ import annotations

import json
import re
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from crawler.store.catalog_schema import PAGES, VISITS
from crawler.store.pages import PageRow, VisitRow

if TYPE_CHECKING:
    from sqlalchemy import Row

    AnyRow = Row[*tuple[Any, ...]]

Values = dict[str, Any]
"""By column: what the database is given."""

_KEY_LENGTH = 255  # characters: three keys of four bytes each fit PostgreSQL's 2,704 bytes
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_FIELDS = tuple(PAGES.c.keys())
_TEXTS = tuple(c.name for c in PAGES.c if c.type.python_type is str and c.name != "robots")
_KEYS = ("domain", "outcome", "content_type")
_fields_of = attrgetter(*_FIELDS)
_texts_of = attrgetter(*_TEXTS)
_FETCHED, _FIRST_SEEN, _NEXT_VISIT, _ROBOTS, _SIMHASH = map(
    _FIELDS.index, ("fetched_at", "first_seen_at", "next_visit_at", "robots", "simhash")
)
_VISIT_FIELDS = tuple(VISITS.c.keys())
_WRAP = 1 << 64
_SIGN = 1 << 63
_POSITION = struct.Struct(">q16s")


def storable(text: str) -> str:
    """Return a text in which what no database keeps is replaced by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def indexable(text: str) -> str:
    """Return a text as it is kept in a column that has an index."""
    return storable(text)[:_KEY_LENGTH]


def milliseconds(at: float) -> int:
    """Return a time as it is kept."""
    return round(at * 1000)


def first_at(at: float) -> int:
    """Return the first millisecond that is not before a time; bounds are compared with it."""
    nearest = round(at * 1000)
    return nearest if nearest / 1000 >= at else nearest + 1


def page_values(row: PageRow) -> Values:
    """Return the values of a page, except ``first_seen_at``."""
    values: Values = dict(zip(_FIELDS, _fields_of(row), strict=True))
    values["fetched_at"] = milliseconds(row.fetched_at)
    if row.next_visit_at is not None:
        values["next_visit_at"] = milliseconds(row.next_visit_at)
    values["robots"] = json.dumps([storable(one) for one in row.robots]) if row.robots else "[]"
    if row.simhash is not None and row.simhash >= _SIGN:
        values["simhash"] = row.simhash - _WRAP
    texts = "".join(filter(None, _texts_of(row)))
    if not texts.isascii() or "\0" in texts:
        _replace_unstorable(values)
    for key in _KEYS:
        if values[key]:
            values[key] = values[key][:_KEY_LENGTH]
    return values


def _replace_unstorable(values: Values) -> None:
    for name in _TEXTS:
        if values[name]:
            values[name] = storable(values[name])


def visit_values(values: Values, *, changed: bool) -> Values:
    """Return the values of the visit that a page's values are of."""
    return {
        "url_hash": values["url_hash"],
        "visited_at": values["fetched_at"],
        "status_code": values["status_code"],
        "outcome": values["outcome"],
        "changed": changed,
        "content_hash": values["content_hash"],
        "warc_file": values["warc_file"],
        "warc_offset": values["warc_offset"],
        "warc_length": values["warc_length"],
    }


def page_of(row: AnyRow) -> PageRow:
    """Return the page of a row that has all columns of the table, in their order."""
    values = list(row)
    values[_FETCHED] /= 1000
    values[_FIRST_SEEN] /= 1000
    if values[_NEXT_VISIT] is not None:
        values[_NEXT_VISIT] /= 1000
    values[_ROBOTS] = () if values[_ROBOTS] == "[]" else tuple(json.loads(values[_ROBOTS]))
    if values[_SIMHASH] is not None:
        values[_SIMHASH] %= _WRAP
    return PageRow(*values)


def visit_of(row: AnyRow) -> VisitRow:
    """Return the visit of a row that has all columns of the table, in their order."""
    return VisitRow(row[0], row[1] / 1000, *row[2:])


def cursor_of(row: AnyRow) -> str:
    """Return the place behind a row of a page."""
    return urlsafe_b64encode(_POSITION.pack(row.fetched_at, row.url_hash)).decode()


def position(cursor: str) -> tuple[int, bytes]:
    """Return the ``fetched_at`` in milliseconds and the ``url_hash`` of a cursor.

    Raises:
        ValueError: It is none of ours.
    """
    try:
        raw = urlsafe_b64decode(cursor)
        if urlsafe_b64encode(raw).decode() == cursor:
            at, url_hash = _POSITION.unpack(raw)
            return int(at), bytes(url_hash)
    except (ValueError, struct.error):
        pass
    raise ValueError(f"cursor {cursor[:60]!r} was not given by an answer; ask without one first")
