"""What lies behind a row: its line, and the redirects that led to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.api.library import Absent
from crawler.model import Outcome
from tests.support.archived import SEED, Archived, example_site, hash_of
from tests.support.live_api import open_library


@pytest.fixture
def site(tmp_path):
    with Archived(tmp_path) as archived:
        example_site(archived)
        yield archived


@pytest.fixture
def library(site):
    with open_library(site.directory) as library:
        yield library


def test_the_line_of_a_page_is_found(site, library):
    """The offset in the row leads to the page's own line."""
    for name, text in (("b", "packed"), ("new", "here now")):
        line = library.line(site.rows[SEED + name])
        assert (line["url"], line["text"]) == (SEED + name, text)


def test_a_copy_has_the_text_of_its_original(site, library):
    """A page with the very same text has no line of its own, and needs none."""
    assert library.line(site.rows[f"{SEED}copy"]) == library.line(site.rows[SEED])


@pytest.mark.parametrize(
    ("url", "why"),
    [
        (f"{SEED}nearly", f"its text was not kept: it is nearly that of {SEED}"),
        (f"{SEED}old", "the page has no text: it ended as redirected"),
        ("https://example.org/dead", "the page has no text: it ended as failed_network"),
    ],
)
def test_where_there_is_no_line_the_reason_is_said(site, library, url, why):
    """A client can tell a page without text from a text that is lost."""
    assert library.line(site.rows[url]) == Absent(why)


def test_a_copy_of_a_page_that_has_changed_since_has_no_text(site, library):
    """The text of the original as it is now is not that of the copy."""
    site.page(SEED, b"<p>other", text="other")
    assert isinstance(library.line(site.rows[f"{SEED}copy"]), Absent)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-5]),
        lambda path: path.write_bytes(path.read_bytes().replace(b"/new", b"/old")),
        lambda path: path.write_bytes(b"  " + path.read_bytes()),
        lambda path: path.write_bytes(b"[1]" + b" " * 10_000),
    ],
    ids=["gone", "empty", "cut", "another page's", "moved", "no object"],
)
def test_a_line_that_is_not_the_page_s_is_not_shown(site, library, damage):
    """Between a crash and the next visit a row may name a line that was cut off again."""
    damage(site.directory / "pages.jsonl")
    assert isinstance(library.line(site.rows[f"{SEED}new"]), Absent)


@pytest.mark.parametrize(("offset", "length"), [(-1, 5), (0, 0), (0, 1 << 40), (1 << 60, 5)])
def test_an_impossible_place_is_not_read(site, library, offset, length):
    """Whatever stands in a row, no memory is taken for it and nothing is raised."""
    row = replace(site.rows[SEED], text_offset=offset, text_length=length)
    assert isinstance(library.line(row), Absent)


def test_redirects_are_listed_from_the_first_on(site, library):
    """The chain begins with the URL that was linked, and ends before the page."""
    chain = library.redirect_chain(site.rows[f"{SEED}new"])
    assert [hop["url"] for hop in chain] == [f"{SEED}old", f"{SEED}older"]
    assert [hop["status_code"] for hop in chain] == [301, 301]
    assert chain[0]["url_hash"] == hash_of(f"{SEED}old").hex()
    assert library.redirect_chain(site.rows[f"{SEED}b"]) == []


def test_a_chain_with_a_hop_unknown_ends_there(site, library):
    """A URL that is not in the catalog is named, without what is not known of it."""
    row = site.page(f"{SEED}x", b"", referrer=f"{SEED}never", redirects=3)
    assert library.redirect_chain(row) == [
        {"url": f"{SEED}never", "url_hash": hash_of(f"{SEED}never").hex(), "status_code": None}
    ]


def test_a_circle_of_redirects_ends(site, library):
    """Later visits can make two URLs each other's referrer."""
    fields = {"outcome": Outcome.REDIRECTED, "status_code": 302, "redirects": 1}
    one = site.page(f"{SEED}1", b"", referrer=f"{SEED}2", **fields)
    site.page(f"{SEED}2", b"", referrer=f"{SEED}1", **fields)
    assert [hop["url"] for hop in library.redirect_chain(one)] == [f"{SEED}2"]


def test_a_chain_is_bounded(site, library):
    """Whatever the rows say, no more hops are looked up than a crawl allows."""
    for n in range(25):
        row = site.page(f"{SEED}{n + 1}", b"", archived=False, outcome=Outcome.REDIRECTED,
                        referrer=f"{SEED}{n}", redirects=n + 1)  # fmt: skip
    assert len(library.redirect_chain(row)) == 20
