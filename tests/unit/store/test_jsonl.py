"""JSON lines: whole lines only, up to the committed length, whatever a crash left behind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.errors import StoreError
from crawler.model import Link, Page
from crawler.store import JsonLines, page_record, to_json

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path) -> Path:
    """Where the file will be."""
    return tmp_path / "pages.jsonl"


def _lines(path: Path) -> list[object]:
    data = path.read_bytes()
    assert data == b"" or data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def _written(path: Path, *records: dict, committed: int = 0) -> int:
    file = JsonLines(path, committed=committed)
    for record in records:
        file.write(record)
    length = file.sync()[path.name]
    file.close()
    return length


def test_lines_are_appended_in_order(path):
    """Each record is one line; the length is that of the file."""
    length = _written(path, {"a": 1}, {"a": "ä\n"})
    assert _lines(path) == [{"a": 1}, {"a": "ä\n"}]
    assert length == path.stat().st_size


def test_text_is_utf_8_and_not_escaped(path):
    """The file is read by people, too (RFC 8259 §8.1)."""
    _written(path, {"text": "Übergröße 😀"})
    assert "Übergröße 😀".encode() in path.read_bytes()


def test_length_counts_what_is_not_yet_on_disk(path):
    """The commit is planned with the length that the file will have."""
    file = JsonLines(path, committed=0)
    file.write({"a": 1})
    assert file.length == 8
    assert path.stat().st_size == 0
    assert file.sync() == {path.name: 8}
    assert path.stat().st_size == 8
    file.close()


@pytest.mark.parametrize(
    "tail", [b'{"a": 2}\n', b'{"a": 2', b"\x00" * 100], ids=["line", "half", "nul"]
)
def test_what_was_not_committed_is_cut(path, tail):
    """After a crash the file continues at its committed length: no half line, none twice."""
    committed = _written(path, {"a": 1})
    with path.open("ab") as file:
        file.write(tail)
    assert _written(path, {"a": 3}, committed=committed) > committed
    assert _lines(path) == [{"a": 1}, {"a": 3}]


def test_nothing_committed_empties_the_file(path):
    """A file of a crawl that never committed holds nothing of worth."""
    _written(path, {"a": 1})
    _written(path, {"a": 2}, committed=0)
    assert _lines(path) == [{"a": 2}]


@pytest.mark.parametrize("left", [None, 0, 5], ids=["gone", "empty", "short"])
def test_a_file_shorter_than_committed_is_refused(path, left):
    """Lines that were promised are missing: the crawl must not go on as if they were there."""
    committed = _written(path, {"a": 1}, {"a": 2})
    if left is None:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(StoreError) as caught:
        JsonLines(path, committed=committed)
    found = "is missing" if left is None else f"has {left} bytes"
    for part in (f"{path} {found}, but {committed} bytes were committed", "JOBDIR"):
        assert part in str(caught.value)
    assert path.exists() is (left is not None)


@pytest.mark.parametrize("kind", ["folder", "in a file", "no folder"])
def test_a_path_that_cannot_be_a_file_is_refused(tmp_path, kind):
    """The message has the path and the system's reason."""
    tmp_path.joinpath("file").touch()
    path = {
        "folder": tmp_path,
        "in a file": tmp_path / "file" / "pages.jsonl",
        "no folder": tmp_path / "none" / "pages.jsonl",
    }[kind]
    with pytest.raises(StoreError) as caught:
        JsonLines(path, committed=0)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("record", "line"),
    [
        ({"a": "x\ud800y"}, {"a": "x\ufffdy"}),
        ({"a": "x\udfff"}, {"a": "x\ufffd"}),
        ({"a": ["\udfff", 1]}, {"a": ["\ufffd", 1]}),
        ({"a": {"b": "\ud83d"}}, {"a": {"b": "\ufffd"}}),
        ({"\ud800": 1}, {"\ufffd": 1}),
        ({"a": "\ud83d\ude00"}, {"a": "😀"}),
    ],
    ids=["text", "at the end", "list", "dict", "key", "pair"],
)
def test_lone_surrogates_are_replaced(path, record, line):
    """JSON text cannot carry them (RFC 8259 §8.2); a page that has one is stored all the same."""
    _written(path, record)
    assert _lines(path) == [line]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\u2028b\u2029c", rb"a\u2028b\u2029c"),
        ("\x85 \x9b2J \x80", rb"\u0085 \u009b2J \u0080"),
        ("\x1b[2J\x00\r\n\x7f", rb"\u001b[2J\u0000\r\n\u007f"),
        ("\xa0\xe9\u2027\u202a", "\xa0\xe9\u2027\u202a".encode()),
        ("\x7f\xe2\x80\ud800", rb"\u007f" + b"\xc3\xa2" + rb"\u0080" + "\ufffd".encode()),
    ],
    ids=["separators", "eight bits", "seven bits", "letters", "all at once"],
)
def test_a_line_is_one_line_and_drives_no_terminal(path, text, written):
    """Readers that split at any line end of Unicode get whole objects, and the text is the same
    (RFC 8259 §7).
    """
    assert to_json({"a": text}) == b'{"a":"' + written + b'"}'
    _written(path, {"a": text})
    assert _lines(path) == [{"a": text.replace("\ud800", "\ufffd")}]


@given(st.text(st.characters(), max_size=40))
def test_any_text_comes_back_from_one_line(text):
    """Nothing that is written changes what is read, but for halves of characters."""
    data = to_json([text])
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert json.loads(data) == [whole]
    assert len(data.decode().splitlines()) == 1
    assert not set(data) & {*range(32), 127}


def test_a_record_that_is_no_json_writes_nothing(path):
    """A fault of ours shows at once, and leaves no half line."""
    file = JsonLines(path, committed=0)
    with pytest.raises(TypeError):
        file.write({"a": object()})
    assert file.sync() == {path.name: 0}
    file.close()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=25)
@given(st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=4), max_size=4), st.data())
def test_cutting_anywhere_at_a_line_keeps_whole_lines(tmp_path_factory, records, data):
    """For any records, a cut at any committed length leaves exactly the lines before it."""
    path = tmp_path_factory.mktemp("jsonl") / "pages.jsonl"
    file = JsonLines(path, committed=0)
    lengths = [0]
    for record in records:
        file.write(record)
        lengths.append(file.length)
    file.sync()
    file.close()
    kept = data.draw(st.integers(0, len(records)))
    JsonLines(path, committed=lengths[kept]).close()
    assert _lines(path) == records[:kept]


def _page() -> Page:
    return Page(
        url="http://a.example/", status=200, fetched_at=0.5, depth=1, referrer=None,
        content_type="text/html", charset="utf-8", title="T", lang="en", headings=["H"],
        text="text", canonical=None, robots=[], etag=None, last_modified=None, bytes=4,
        links=[Link("http://a.example/x"), Link("http://a.example/y", nofollow=True)],
    )  # fmt: skip


def test_page_record_has_the_documented_fields(path):
    """The line of a page: every field in its order, times in UTC, links as URLs."""
    record = page_record(_page())
    assert list(record)[:3] == ["url", "status", "fetched_at"]
    assert record["fetched_at"] == "1970-01-01T00:00:00.500Z"
    assert record["outlinks"] == ["http://a.example/x", "http://a.example/y"]
    assert not {"links", "signature", "duplicate", "stored", "main_text"} & set(record)
    _written(path, record)
    assert _lines(path) == [record]
