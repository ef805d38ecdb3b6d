"""Content types in a crawl: PDF and text are pages like others, and hostile files end counted."""

from __future__ import annotations

import base64
import json
import textwrap

import pytest

from crawler.parsing.pdf import CONTENT_TYPE
from tests.support import judge
from tests.support.crawl import crawl, options
from tests.support.pdf import hostile, pdf
from tests.support.server import LocalWeb

pytestmark = pytest.mark.e2e

PDF = json.dumps({"pdf": "crawler.parsing.pdf"})
ARTICLE = (
    "The tide tables of the harbour give the hours of high and low water for each day of the "
    "year, and the lock keeper reads them aloud every morning before the first boats go out to "
    "sea with their nets, their lamps and their sleepy crews."
)
LOST = ["bomb", "forms to the power of ten", "pages in themselves", "cut"]


def packed(body, content_type="application/pdf", **headers):
    fields = {"body_b64": base64.b64encode(body).decode(), "content_type": content_type}
    return {**fields, "headers": {name.replace("_", "-"): value for name, value in headers.items()}}


def links(paths):
    return "".join(f"<a href='{path}'>x</a>" for path in paths)


SITE = {
    "/": "<p>home of the harbour master</p>"
    + links(["/tides.pdf", "/paper", "/notes.txt", "/listing", "/more"]),
    "/tides.pdf": packed(
        pdf(["\n".join(textwrap.wrap(ARTICLE))], title="Tides", links=["/from-pdf"]),
        X_Robots_Tag="noindex",
        Link='</tides>; rel="canonical", </after>; rel="next"',
    ),
    "/copy": f"<main><p>{ARTICLE}</p></main>",
    "/paper": packed(pdf(["a paper that calls itself a page"]), "text/html"),
    "/notes.txt": {"body": "Notes of the week\n\nhttp://{host}:{port}/no\n",
                   "content_type": "text/plain"},
    "/listing": {"body": "<rss><channel><item><link>/from-feed</link></item><item>",
                 "content_type": "application/rss+xml"},
    "/from-pdf": "<p>a page that a document names</p>" + links(["/copy"]),
    "/from-feed": "<p>a page that a damaged feed names</p>",
    "/after": "<p>a page that a header names</p>",
    "/more": "<p>files that mean no good</p>" + links(f"/lost/{n}" for n in range(len(LOST))),
    **{f"/lost/{n}": packed(hostile(name)) for n, name in enumerate(LOST)},
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    pytest.importorskip(
        "pypdfium2", reason=f"the content type pdf: pip install {CONTENT_TYPE.requires[0]}"
    )
    settings = options(
        POLITENESS_DELAY=0.05,
        PARSING_TYPES=PDF,
        PARSING_TIMEOUT=3,
        PARSING_MEMORY=2**28,
        DEDUPE_NEAR_ENABLED="false",
    )
    jobdir = tmp_path_factory.mktemp("types") / "job"
    with LocalWeb("tests.support.sites:table_site", {"hosts": {"*": SITE}}) as web:
        result = crawl(web.url(), *settings, jobdir=jobdir).check()
        return result, web.log()


def line(run, path):
    return next(line for line in run[0].lines if line["url"].endswith(path))


def test_a_pdf_is_a_page(run):
    """Text, title, links, real type, and what its headers say."""
    found = line(run, "/tides.pdf")
    assert " ".join(found["text"].split()).startswith("The tide tables of the harbour give")
    assert (found["title"], found["content_type"]) == ("Tides", "application/pdf")
    assert (found["lang"], found["robots"]) == ("en", ["noindex"])
    assert found["canonical"].endswith("/tides")
    assert [url.rpartition("/")[2] for url in found["outlinks"]] == ["from-pdf", "after"]


def test_a_pdf_under_the_label_of_a_page_is_one(run):
    """Its signature beats its label, and content_type says what it is."""
    found = line(run, "/paper")
    assert (found["text"], found["content_type"]) == (
        "a paper that calls itself a page",
        "application/pdf",
    )


def test_what_a_pdf_and_its_header_name_is_fetched(run):
    """Documents lead on as pages do; an address in a text does not."""
    asked = {hit.path for hit in run[1]}
    assert {"/from-pdf", "/after", "/from-feed"} <= asked
    assert "/no" not in asked


def test_text_is_a_page(run):
    """Its first line is the title."""
    found = line(run, "/notes.txt")
    assert (found["title"], found["content_type"]) == ("Notes of the week", "text/plain")
    assert found["outlinks"] == []


def test_hostile_files_end_counted(run):
    """Each has an outcome, the processes that had to be ended are counted, and the crawl ends."""
    result, hits = run
    assert result.outcomes["failed_content"] == len(LOST)
    assert result.stats["parsing/failed"] == len(LOST)
    assert result.stats["parsing/killed"] == 2
    assert result.stats["finish_reason"] == "finished"
    assert result.elapsed_s < 30
    judge.assert_polite(hits, 0.05)


def test_a_damaged_feed_gives_what_it_has(run):
    """What stands before the fault is used, the fault is counted."""
    assert run[0].outcomes["listed"] == 1
    assert run[0].stats["parsing/listing_damaged"] == 1


def test_the_text_of_a_pdf_is_compared_with_that_of_pages(run):
    """An article that is there as HTML and as PDF has one line; white space does not count."""
    assert run[0].outcomes["duplicate_exact"] == 1


def test_without_the_type_links_to_its_files_are_not_followed(tmp_path):
    """PDF is off by default: no byte of it is asked for by its name, and one found is skipped."""
    with LocalWeb("tests.support.sites:table_site", {"hosts": {"*": SITE}}) as web:
        result = crawl(
            web.url(),
            *options(POLITENESS_DELAY=0.02, DEDUPE_NEAR_ENABLED="false"),
            jobdir=tmp_path / "job",
        ).check()
        asked = {hit.path for hit in web.log()}
    assert "/tides.pdf" not in asked
    assert result.rejected == {"extension": 1}
    assert result.outcomes["skipped_type"] == 1 + len(LOST)


def test_sitemaps_and_feeds_may_be_named(tmp_path):
    """They are read as lists whatever their form, and their site is in scope."""
    site = {
        "/addresses.txt": {"body": "http://{host}:{port}/1\n", "content_type": "text/plain"},
        "/1": "<p>a page of a list</p>",
        "/": "<p>a page that is a seed</p>",
    }
    with LocalWeb("tests.support.sites:table_site", {"hosts": {"*": site}}, hosts=2) as web:
        seed, other = web.urls
        result = crawl(
            seed,
            *("-a", f"sitemaps={other}addresses.txt", "-a", "scope=host"),
            *options(POLITENESS_DELAY=0, DEDUPE_NEAR_ENABLED="false"),
            jobdir=tmp_path / "job",
        ).check()
    assert set(result.urls) == {seed, f"{other}1"}
    assert result.outcomes == {"stored": 2, "listed": 1}
