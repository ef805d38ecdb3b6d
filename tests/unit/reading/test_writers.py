"""The formats of an export, apart from a crawl."""

from __future__ import annotations

import csv
import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from crawler.errors import ConfigError, QueryError
from crawler.reading.records import COLUMNS, joined
from crawler.reading.writers import FORMATS, check_lines_name, format_of
from tests.support.catalog_rows import page


def written(name, *records):
    """Return the bytes of records in a format."""
    file = io.BytesIO()
    with FORMATS[name](file) as out:
        for record in records:
            out.write(record)
    return file.getvalue()


def record(**changes):
    return {**joined(page(1), None), **changes}


@given(st.text(st.characters(codec="utf-8")))
def test_no_cell_is_a_formula_and_every_text_comes_back(text):
    """No cell begins as a formula does; an apostrophe less, it is the text (CWE-1236)."""
    data = written("csv", record(title=text)).decode()
    (row,) = csv.DictReader(io.StringIO(data, newline=""))
    cell = row["title"]
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"))
    assert cell.removeprefix("'") == text


def test_csv_keeps_to_its_standard():
    """A head, quotes around every cell, CRLF at each end (RFC 4180 §2)."""
    head, line, end = written("csv", record(title='a "b"\nc,d')).decode().split("\r\n")
    assert head == ",".join(f'"{column.name}"' for column in COLUMNS)
    assert '"a ""b""\nc,d"' in line
    assert end == ""


def test_surrogates_are_replaced():
    """What no encoding has cannot stop an export."""
    assert b'"a?b"' in written("csv", record(title="a\ud800b"))
    assert "a\ufffdb".encode() in written("jsonl", record(title="a\ud800b"))


def test_parquet_holds_a_group_of_rows_at_most():
    """Rows go out in groups, after so many or so much text, so that memory is bounded."""
    small = [record()] * 2500
    file = parquet.ParquetFile(io.BytesIO(written("parquet", *small)))
    groups = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
    assert groups == [1000, 1000, 500]
    large = [record(text="x" * 3_000_000)] * 7
    file = parquet.ParquetFile(io.BytesIO(written("parquet", *large)))
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [3, 3, 1]


def test_an_empty_export_is_a_file_of_its_format():
    """With no page at all there is a head, or a schema."""
    assert written("jsonl") == b""
    assert written("csv").count(b"\r\n") == 1
    table = parquet.read_table(io.BytesIO(written("parquet")))
    assert (table.num_rows, len(table.schema)) == (0, len(COLUMNS))


def test_parquet_without_its_library_names_the_command(monkeypatch):
    """The message says what to install, and nothing is written."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"pip install 'pyarrow==\d"):
        written("parquet", record())


@pytest.mark.parametrize(
    ("output", "given", "form"),
    [
        (None, None, "jsonl"),
        (None, "csv", "csv"),
        ("x", None, "jsonl"),
        ("/dev/stdout", "csv", "csv"),
        ("x.csv", None, "csv"),
        ("a.b/X.CSV", "csv", "csv"),
        ("x.parquet", None, "parquet"),
        ("x.ndjson", None, "jsonl"),
        ("x.json", "jsonl", "jsonl"),
    ],
)
def test_a_file_has_the_format_of_its_name(output, given, form):
    """Without --format the ending says it, and without an ending it is JSON lines."""
    assert format_of(output, given) == form


@pytest.mark.parametrize(
    ("output", "given", "said"),
    [
        ("x.csv", "jsonl", "-o x.csv: is the name of a csv file, and --format says jsonl"),
        ("x.jsonl", "parquet", "name a file .parquet"),
        ("x.json", None, "-o x.json: .json is the ending of none of the formats jsonl, csv"),
        ("x.csv.gz", None, "say which one with --format"),
    ],
)
def test_no_file_has_a_name_that_is_wrong(output, given, said):
    """A contradiction, and an ending that says nothing, are refused with the remedy."""
    with pytest.raises(QueryError) as error:
        format_of(output, given)
    assert said in str(error.value)


def test_lines_made_again_are_json_lines():
    """They go to a file of any name but that of another format."""
    for name in (None, "new", "x.jsonl", "x.new"):
        check_lines_name(name)
    with pytest.raises(QueryError, match="is the name of a csv file"):
        check_lines_name("x.csv")
