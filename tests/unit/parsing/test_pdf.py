"""PDF files that mean well; hostile ones are read in a process of their own (test_workers.py)."""

from __future__ import annotations

import pytest

from crawler.parsing import Document, ParsingOptions
from crawler.parsing.pdf import CONTENT_TYPE, parse_pdf
from crawler.parsing.worker import NoResolver
from tests.support.pdf import pdf

pytest.importorskip(
    "pypdfium2", reason=f"the content type pdf: pip install {CONTENT_TYPE.requires[0]}"
)


def parse(body, *, expired=lambda: False, **options):
    return parse_pdf(
        Document(
            body=body,
            url="http://a.test/x.pdf",
            resolver=NoResolver(),
            options=ParsingOptions(**options),
            expired=expired,
        )
    )


def test_text_comes_page_by_page():
    """Lines stay lines, and pages are paragraphs."""
    found = parse(pdf(["one line\nand another", "a second page"]))
    assert found.text == "one line\nand another\n\na second page"
    assert (found.error, found.truncated) == (None, False)


def test_what_the_file_says_of_itself():
    """Title, language and outline are read (ISO 32000-2 §14.3.3, §14.9.2, §12.3.3)."""
    found = parse(pdf(["x"], title="A title", lang="de-AT", outline=["First", "Second"]))
    assert (found.title, found.lang, found.headings) == ("A title", "de-AT", ["First", "Second"])


def test_a_file_that_says_nothing():
    """Without title, language and outline they are empty."""
    found = parse(pdf(["x"]))
    assert (found.title or None, found.lang, found.headings, found.hrefs) == (None, None, [], [])


def test_links_are_those_that_can_be_clicked():
    """Annotations with an address count (§12.5.6.5), an address in the text does not."""
    links = ["http://b.test/1", "/relative", "http://b.test/1"]
    assert parse(pdf(["see http://c.test/"], links=links)).hrefs == links[:2]


def test_the_bounds_of_pages_hold():
    """Text and links end at their bounds; what is left out is said."""
    body = pdf(["words " * 20] * 9, links=[f"/{n}" for n in range(9)])
    found = parse(body, max_text=300, max_links=3)
    assert 300 < len(found.text) < 500
    assert len(found.hrefs) == 3
    assert found.truncated


def test_the_end_of_the_time_ends_the_reading():
    """What was read by then is the answer."""
    answers = iter([False, False, True])
    found = parse(pdf(["one", "two", "three"]), expired=lambda: next(answers))
    assert (found.text, found.truncated) == ("one\n\ntwo", True)


@pytest.mark.parametrize("body", [b"%PDF-", b"%PDF-1.7\nno pdf", pdf(["x"])[:300]])
def test_a_file_that_cannot_be_opened_is_an_error(body):
    """It has an error and no text, so that its URL ends as failed_content."""
    found = parse(body)
    assert found.error.startswith("PDF: ")
    assert found.text == ""


def test_a_damaged_page_costs_no_other_page():
    """What could be read is kept; that something is missing is said."""
    body = pdf(["one", "two", "three"]).replace(b"12 0 obj\n<<", b"12 0 obj\n[[")
    found = parse(body)
    assert "one" in found.text
    assert "three" in found.text
    assert found.truncated
    assert found.error.startswith("PDF: page 2: ")
