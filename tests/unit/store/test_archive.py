"""Reading an archive without an object store; with one, tests/integration/test_objects.py."""

from __future__ import annotations

from random import Random

import pytest

from crawler.errors import StoreError
from crawler.store import ArchiveReader, Exchange, ObjectStore, WarcWriter, read_record


@pytest.fixture
def place(tmp_path):
    """A record in a segment of ``tmp_path / "archive"``."""
    folder = tmp_path / "archive"
    folder.mkdir()
    writer = WarcWriter(folder, "web", committed={}, limit=1 << 30, random=Random(7))
    location = writer.response(Exchange("http://example.com/", 1e9, 200, [], b"a body"))
    writer.sync()
    writer.close()
    return location


def test_a_local_record_is_read(tmp_path, place):
    """It is the one that the segment itself gives."""
    read = ArchiveReader(tmp_path / "archive", None).read(*place[:3])
    assert read == read_record(tmp_path / "archive" / place.file, place.offset, place.length)
    assert read.body == b"a body"


@pytest.mark.parametrize("way", ["../archive/{}", "{}/../{}", "/{}", "./{}", ""])
def test_no_name_leads_out_of_the_archive(tmp_path, place, way):
    """A name from a request is no path, although the file is there."""
    file = way.format(place.file, place.file) if way != "/{}" else str(tmp_path / place.file)
    with pytest.raises(StoreError, match="no name of a file"):
        ArchiveReader(tmp_path / "archive", None).read(file, place.offset, place.length)


def test_a_missing_segment_is_told_with_the_remedy(tmp_path, place):
    """Without a store to look in, the setting is named that would give one."""
    (tmp_path / "archive" / place.file).unlink()
    with pytest.raises(StoreError, match=r"web-00000\.warc\.gz at \d+.*set STORE_OBJECTS"):
        ArchiveReader(tmp_path / "archive", None).read(*place[:3])


@pytest.mark.parametrize(
    ("shift", "longer"), [(-10_000, 0), (1, 0), (0, -1), (10_000, 0), (0, 1 << 40)]
)
def test_a_place_without_a_record_is_an_error(tmp_path, place, shift, longer):
    """Before the file, beside the member, cut short, behind the end, too long."""
    reader = ArchiveReader(tmp_path / "archive", None)
    with pytest.raises(StoreError, match=rf"^{place.file} at "):
        reader.read(place.file, place.offset + shift, place.length + longer)


@pytest.fixture
def segments(tmp_path):
    """An archive of several segments, and where its records are."""
    folder = tmp_path / "many"
    folder.mkdir()
    writer = WarcWriter(folder, "web", committed={}, limit=500, random=Random(7))
    urls = [f"http://example.com/{n}" for n in range(8)]
    places = [writer.response(Exchange(url, 1e9, 200, [], b"a body")) for url in urls]
    writer.sync()
    writer.close()
    return folder, [(url, *place[:3]) for url, place in zip(urls, places, strict=True)]


def test_captures_come_in_the_order_in_which_they_were_written(segments):
    """Over all segments; other files beside them are passed over."""
    folder, places = segments
    (folder / "index.cdxj").write_text("of all of them, for pywb")
    assert len({file for _, file, _, _ in places}) > 2
    assert list(ArchiveReader(folder, None).captures()) == places


def test_a_line_that_is_being_written_is_passed_over(segments):
    """A crawl that runs may have written half of its last line."""
    folder, places = segments
    last = max(folder.glob("*.cdxj"))
    last.write_bytes(last.read_bytes()[:-20])
    assert list(ArchiveReader(folder, None).captures()) == places[:-1]


def test_an_index_that_is_no_index_is_told(segments):
    """With its file, the line and the remedy."""
    folder, _ = segments
    (folder / "web-00001.cdxj").write_bytes(b"com,example)/ 2026 {}\n")
    with pytest.raises(StoreError, match=r"web-00001\.cdxj, line 1: .* restore the file"):
        list(ArchiveReader(folder, None).captures())


def test_an_index_is_read_from_where_it_went(segments, tmp_path, monkeypatch):
    """Of a segment that is here no more the object is read, in parts of any size."""
    folder, places = segments
    monkeypatch.setattr("crawler.store.archive._BLOCK", 100)
    store = ObjectStore.open((tmp_path / "there").as_uri(), options={})
    for path in sorted(folder.iterdir())[:4]:
        store.put(path, path.name)
        path.unlink()
    assert list(ArchiveReader(folder, store).captures()) == places
    with pytest.raises(StoreError, match=r"web-00000\.cdxj is missing.*set STORE_OBJECTS"):
        list(ArchiveReader(folder, None).captures())


def test_a_store_that_is_only_read_is_left_alone(tmp_path):
    """Nothing is written to see whether it can be."""
    ObjectStore.open((tmp_path / "there").as_uri(), options={}, read_only=True)
    assert not list(tmp_path.glob("there/*"))


def test_an_archive_without_segments_is_told(tmp_path):
    """An empty folder is no archive."""
    with pytest.raises(StoreError, match="has no segment of an archive"):
        list(ArchiveReader(tmp_path, None).captures())
