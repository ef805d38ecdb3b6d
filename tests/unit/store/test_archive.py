"""Reading an archive without an object store; with one, tests/integration/test_objects.py."""

from __future__ import annotations

from random import Random

import pytest

from crawler.errors import StoreError
from crawler.store import ArchiveReader, Exchange, WarcWriter, read_record


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
