"""Original bytes: exactly those that the site sent, or the reason why not."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.api import bodies
from crawler.api.bodies import Bodies
from crawler.api.library import Absent
from crawler.errors import OutOfReachError
from crawler.model import Outcome
from crawler.store import ObjectStore, Record, Revisited
from tests.support.archived import SEED, START, Archived, html
from tests.support.live_api import open_library

BODY = html("Page", "some words of this page")


@pytest.fixture
def archived(tmp_path):
    with Archived(tmp_path) as archived:
        yield archived


@pytest.fixture
def find(archived):
    with open_library(archived.directory) as library:
        yield lambda row, decoded=True: Bodies(library).find(row, decoded=decoded)


def test_a_body_comes_back_byte_for_byte(archived, find):
    """Of any bytes, sent as they are."""
    body = bytes(range(256)) * 40 + b"\r\n\r\n"
    assert find(archived.page(SEED, body)).content == body


def test_a_packed_body_comes_back_in_both_forms(archived, find):
    """Decoded is what a client of the site sees; received is what was on the wire."""
    row = archived.page(SEED, BODY, packed=True)
    assert find(row) == (BODY, "text/html; charset=utf-8", None)
    received = find(row, decoded=False)
    assert gzip.decompress(received.content) == BODY
    assert (received.content_type, received.coding) == ("application/octet-stream", "gzip")


def test_a_copy_has_the_body_of_its_original(archived, find):
    """What was not archived twice is found where it was archived once."""
    archived.page(SEED, BODY)
    row = archived.page(f"{SEED}copy", BODY, archived=False, duplicate_of=SEED,
                        outcome=Outcome.DUPLICATE_EXACT)  # fmt: skip
    assert find(row).content == BODY


def test_a_revisit_has_the_body_of_the_visit_it_refers_to(archived, find):
    """An unchanged page is archived once; its earlier visit is found by its history."""
    archived.page(SEED, BODY)
    row = archived.page(SEED, BODY, revisit_of=Revisited(SEED, START + 1))
    assert find(row).content == BODY


def test_a_revisit_of_another_url_is_followed(archived, find):
    """The record says where the content is, also where the catalog knows of no copy."""
    archived.page(SEED, BODY)
    row = archived.page(f"{SEED}b", BODY, revisit_of=Revisited(SEED, START + 1))
    assert row.duplicate_of is None
    assert find(row).content == BODY


def test_an_original_that_has_changed_is_still_found(archived, find):
    """The archive keeps what the page was when its copy was seen."""
    archived.page(SEED, BODY)
    row = archived.page(f"{SEED}b", BODY, archived=False, duplicate_of=SEED)
    archived.page(SEED, b"other")
    assert find(row).content == BODY


def test_a_segment_that_was_uploaded_is_read_there(archived):
    """What is no longer in the job directory comes from the object store."""
    row = archived.page(SEED, BODY)
    store = ObjectStore.open(f"file://{archived.directory}/objects", options={})
    segment = archived.directory / "warc" / row.warc_file
    store.put(segment, row.warc_file)
    segment.unlink()
    with open_library(archived.directory, store) as library:
        assert Bodies(library).find(row, decoded=True).content == BODY


def test_a_store_that_is_away_is_not_a_body_that_is_gone(archived):
    """Whoever asks again later may have it, so it is no 404."""
    row = archived.page(SEED, BODY)
    (archived.directory / "warc" / row.warc_file).unlink()
    store = ObjectStore.open(f"file://{archived.directory}/objects", options={})
    with open_library(archived.directory, store) as library:
        assert isinstance(Bodies(library).find(row, decoded=True), Absent)
        (archived.directory / "objects" / row.warc_file).mkdir()  # there, and not to be read
        with pytest.raises(OutOfReachError, match=row.warc_file):
            Bodies(library).find(row, decoded=True)


def test_a_page_that_is_only_similar_has_no_body_of_another(archived, find):
    """Whose bytes differ is never answered with bytes of another page."""
    archived.page(SEED, BODY)
    row = archived.page(f"{SEED}b", BODY + b" ", archived=False, duplicate_of=SEED,
                        outcome=Outcome.DUPLICATE_NEAR)  # fmt: skip
    assert find(row) == Absent("nothing was archived of it: it ended as duplicate_near")


def test_a_revisit_without_its_original_has_no_body(archived, find):
    """The reason is said: the earlier record is not there."""
    row = archived.page(SEED, BODY, revisit_of=Revisited(f"{SEED}never", START))
    assert "refers to an earlier one" in find(row).why


def test_revisits_of_each_other_end(archived, find):
    """However many revisits refer to each other, a bounded number is read."""
    for n in range(30):
        row = archived.page(f"{SEED}{n % 2}", BODY, revisit_of=Revisited(f"{SEED}{1 - n % 2}", 0))
    assert isinstance(find(row), Absent)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[:-100]),
        lambda path: path.write_bytes(b"x" + path.read_bytes()),
    ],
    ids=["gone", "cut", "moved"],
)
def test_a_record_that_is_not_there_is_said_to_be_missing(archived, find, damage):
    """The reason names the file."""
    row = archived.page(SEED, BODY)
    damage(archived.directory / "warc" / row.warc_file)
    assert f"not in {row.warc_file}" in find(row).why


def test_a_record_of_another_page_is_not_shown(archived, find):
    """After a crash a place may be written again by another page."""
    other = archived.page(f"{SEED}other", b"secret")
    row = archived.page(SEED, BODY)
    wrong = replace(
        row, content_hash=None, warc_offset=other.warc_offset, warc_length=other.warc_length
    )
    assert isinstance(find(wrong), Absent)


@pytest.mark.parametrize(
    "name",
    ["../secret.warc.gz", "/etc/passwd", "..", "", ".warc.gz", "a/b.warc.gz", "a\\..\\b.warc.gz",
     "a\0.warc.gz", "web-00000.warc.gz\n", "web-00000.cdxj", "x" * 300 + ".warc.gz"],
)  # fmt: skip
def test_no_file_beside_the_archive_is_read(archived, find, name):
    """Whatever a catalog has as the name of a segment, nothing outside is opened."""
    row = archived.page(SEED, BODY)
    segment = archived.directory / "warc" / row.warc_file
    (archived.directory / "secret.warc.gz").write_bytes(segment.read_bytes())
    assert find(replace(row, warc_file=name, content_hash=None)) == Absent(
        "the catalog names no segment of the archive for it"
    )


def test_a_body_that_does_not_decode_is_offered_as_it_came(archived, find):
    """The reason says how to get the bytes all the same."""
    packed = gzip.compress(BODY)
    headers = ((b"Content-Encoding", b"gzip"),)
    row = archived.page(SEED, packed[:20] + b"\xff" * 50, headers=headers, coded=True)
    assert "as=received" in find(row).why
    assert find(row, decoded=False).content == packed[:20] + b"\xff" * 50


def test_a_body_that_is_cut_short_is_decoded_as_far_as_it_goes(archived, find):
    """What the crawl could read is what is shown."""
    packed = gzip.compress(BODY, 0)
    row = archived.page(SEED, packed[:-20], headers=((b"Content-Encoding", b"gzip"),), coded=True)
    assert BODY.startswith(find(row).content)
    assert find(row).content


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        (b"text/html", "text/html"),
        (b"Text/HTML;Charset=UTF-8", "text/html; charset=UTF-8"),
        (b'text/html; x=1; charset="utf-8"', "text/html; charset=utf-8"),
        (b"application/pdf; name=a", "application/pdf"),
        (b"text/html\r\nSet-Cookie: a=b", "application/octet-stream"),
        (b"text/html; charset=utf-8\r\nSet-Cookie: a=b", "text/html"),
        (b"text/html; charset=a b", "text/html"),
        (b"multipart/x-mixed-replace; boundary=b", "application/octet-stream"),
        (b"\xff\xfe", "application/octet-stream"),
        (b"", "application/octet-stream"),
    ],
)
def test_the_type_of_a_page_carries_nothing_else(sent, shown):
    """A header of the site becomes a media type and a charset, or nothing."""
    record = Record("response", {}, 200, [(b"content-type", sent)], b"")
    assert bodies._content_type(record) == shown


@given(st.binary(max_size=200))
def test_no_header_of_a_site_becomes_another(value):
    """Whatever bytes a site sends, headers made from them are one line of ASCII."""
    record = Record("response", {}, 200, [(b"Content-Type", value)], b"")
    for header in (bodies._content_type(record), bodies._coding(value)):
        assert header.isascii()
        assert header.isprintable()
