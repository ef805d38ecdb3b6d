"""Formats of an export: JSON lines, CSV, Parquet. Each is written as the records come."""

from __future__ import annotations

import contextlib
import csv
import io
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol

from crawler.errors import ConfigError, QueryError
from crawler.reading.records import COLUMNS
from crawler.store import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    from crawler.reading.records import Record

PARQUET_LIBRARY = "pyarrow==26.0.1"
"""What pip installs for Parquet; the extra ``parquet`` of pyproject.toml."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'", *map(chr, (0xFF1D, 0xFF0B, 0xFF0D, 0xFF20)))
_GROUP_ROWS = 1000
_GROUP_BYTES = 8 << 20  # of texts and links, roughly; a group of rows is held until it is full


class Writer(Protocol):
    """Takes the records of an export, one after the other."""

    def write(self, record: Record) -> None:
        """Write one record."""
        ...


class _JsonLines:
    """One JSON object a line, every field in each."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, record: Record) -> None:
        self._file.write(to_json(record) + b"\n")


class _Csv:
    """Comma-separated values with a head, every cell quoted. Spec: RFC 4180.

    Lists are JSON. A text that a spreadsheet might take for a formula gets an apostrophe in
    front, and so does one that begins with an apostrophe: whoever takes one off again has the
    text.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._row = io.StringIO(newline="")
        self._csv = csv.writer(self._row, quoting=csv.QUOTE_ALL)
        self._put([column.name for column in COLUMNS])

    def write(self, record: Record) -> None:
        self._put([_cell(record[column.name]) for column in COLUMNS])

    def _put(self, cells: list[str]) -> None:
        self._row.seek(0)
        self._row.truncate()
        self._csv.writerow(cells)
        self._file.write(self._row.getvalue().encode("utf-8", "replace"))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    if isinstance(value, list):
        return to_json(value).decode()
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextlib.contextmanager
def _parquet(file: BinaryIO) -> Iterator[Writer]:
    """Parquet, compressed with zstd, in groups of rows that bound the memory."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ConfigError(
            f"--format parquet: needs what is not installed ({error}): "
            f"pip install '{PARQUET_LIBRARY}'"
        ) from None
    kinds = {
        "text": pa.string(),
        "integer": pa.int64(),
        "boolean": pa.bool_(),
        "time": pa.timestamp("ms", tz="UTC"),
        "list": pa.list_(pa.string()),
    }
    schema = pa.schema([(column.name, kinds[column.kind]) for column in COLUMNS])
    with parquet.ParquetWriter(file, schema, compression="zstd") as out:
        groups = _Groups(lambda rows: out.write_batch(pa.RecordBatch.from_pylist(rows, schema)))
        yield groups
        groups.flush()


class _Groups:
    """Hands records on in groups."""

    def __init__(self, give: Callable[[list[Record]], None]) -> None:
        self._give = give
        self._rows: list[Record] = []
        self._bytes = 0

    def write(self, record: Record) -> None:
        self._rows.append(_typed(record))
        self._bytes += len(record["text"] or "") + 50 * len(record["outlinks"] or ())
        if len(self._rows) >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        if self._rows:
            self._give(self._rows)
        self._rows, self._bytes = [], 0


_TIMES = tuple(column.name for column in COLUMNS if column.kind == "time")


def _typed(record: Record) -> Record:
    times = {name: datetime.fromisoformat(record[name]) for name in _TIMES if record[name]}
    return {**record, **times}


FORMATS: dict[str, Callable[[BinaryIO], AbstractContextManager[Writer]]] = {
    "jsonl": lambda file: contextlib.nullcontext(_JsonLines(file)),
    "csv": lambda file: contextlib.nullcontext(_Csv(file)),
    "parquet": _parquet,
}
"""What begins a file of a format; the file is whole when the context ends."""

_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".jl": "jsonl"}
_ENDINGS.update((f".{name}", name) for name in FORMATS)


def format_of(output: str | None, given: str | None) -> str:
    """Return the format of a file: the one that is given, or else that of its name.

    Args:
        output: The file's name; None for standard output.
        given: What ``--format`` says; None when it is not there.

    Raises:
        QueryError: They contradict each other, or the name ends like that of another format.
    """
    ending = PurePath(output or "").suffix.lower()
    named = _ENDINGS.get(ending)
    if given is None and ending and named is None:
        raise QueryError(
            f"-o {output}: {ending} is the ending of none of the formats {', '.join(FORMATS)}; "
            "say which one with --format"
        )
    if given is not None and named not in (given, None):
        raise QueryError(
            f"-o {output}: is the name of a {named} file, and --format says {given}; leave "
            f"--format out, or name a file .{given}"
        )
    return given or named or "jsonl"


def check_lines_name(output: str | None) -> None:
    """Refuse a file for lines whose name says that it holds something else.

    Raises:
        QueryError: It does.
    """
    named = _ENDINGS.get(PurePath(output or "").suffix.lower(), "jsonl")
    if named != "jsonl":
        raise QueryError(
            f"-o {output}: is the name of a {named} file, and lines made again are JSON lines; "
            "name a file .jsonl"
        )
