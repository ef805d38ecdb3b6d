"""The read API on a real crawl: what the site sent is what one gets, during the crawl and after."""

from __future__ import annotations

import time

import pytest

from tests.support.crawl import crawl, options, read_lines, start_crawl
from tests.support.exchange import Request
from tests.support.live_api import live_api
from tests.support.server import LocalWeb
from tests.support.sites import DocsSite

pytestmark = pytest.mark.e2e

SITE = DocsSite(documents=12)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A finished crawl: its API, its job directory and the address of the site."""
    jobdir = tmp_path_factory.mktemp("api") / "job"
    with LocalWeb(SITE) as web:
        base = web.url("")
        crawl(
            [base + "/"], "-a", "max_depth=3", *options(POLITENESS_DELAY=0), jobdir=jobdir
        ).check()
    with live_api(jobdir) as api:
        yield api, jobdir, base


def page_of(api, url):
    answer = api.get(f"/api/v1/pages/lookup?url={url}")
    assert answer.status == 200, answer.text
    return answer.json


def sent(base: str, path: str) -> bytes:
    return SITE(Request(base.removeprefix("http://"), path)).body


def test_every_page_comes_back_byte_for_byte(found):
    """Each stored page: its bytes are those of the site, its text and links those of its line."""
    api, jobdir, base = found
    lines = read_lines(jobdir / "pages.jsonl")
    assert len(lines) > 12
    for line in lines:
        page = page_of(api, line["url"])
        target = f"/api/v1/pages/{page['url_hash']}"
        assert api.get(f"{target}/raw").body == sent(base, line["url"].removeprefix(base))
        assert api.get(f"{target}/text").text == line["text"]
        assert (page["outlinks"], page["headings"]) == (line["outlinks"], line["headings"])


def test_a_copy_and_its_original_have_the_same_bytes(found):
    """Whichever of the two came first, both have body and text."""
    api, _, base = found
    one, other = (page_of(api, base + path) for path in ("/alias", SITE.alias_of))
    copy, original = (one, other) if one["duplicate_of"] else (other, one)
    assert copy["duplicate_of"] == original["url"]
    for part in ("raw", "text"):
        bodies = [api.get(f"/api/v1/pages/{p['url_hash']}/{part}") for p in (copy, original)]
        assert bodies[0].body == bodies[1].body != b""


def test_a_redirect_is_told_from_both_ends(found):
    """The URL that redirects says where to; who was found by it alone says by what."""
    api, _, base = found
    old = page_of(api, f"{base}/old")
    assert (old["outcome"], old["redirect_to"]) == ("redirected", base + SITE.old_of)
    target = page_of(api, base + SITE.old_of)
    hops = [hop["url"] for hop in target["redirect_chain"]]
    assert hops == ([f"{base}/old"] if target["redirects"] else [])


def test_every_url_that_was_fetched_is_listed(found):
    """Pages, copies, redirects: as many rows as the domain says there are."""
    api, _, _ = found
    rows = api.get("/api/v1/pages?limit=1000").json["pages"]
    assert sum(one["pages"] for one in api.get("/api/v1/domains").json["domains"]) == len(rows)
    assert {row["outcome"] for row in rows} >= {"stored", "duplicate_exact", "redirected"}


def test_pages_of_a_running_crawl_are_there_at_once(tmp_path):
    """A reader beside the crawl sees more and more, gets every byte of it, and stops nothing."""
    jobdir = tmp_path / "job"
    pace = options(POLITENESS_DELAY=0.15, FRONTIER_COMMIT_INTERVAL=0.1)
    counts = set()
    with (
        LocalWeb(SITE) as web,
        start_crawl([web.url("/")], "-a", "max_depth=3", *pace, jobdir=jobdir) as running,
    ):
        wait_for(lambda: read_bytes(jobdir / "pages.jsonl"), running)
        with live_api(jobdir) as api:
            while running.process.poll() is None:
                pages = api.get("/api/v1/pages?outcome=stored").json["pages"]
                counts.add(len(pages))
                for page in pages[-1:]:
                    raw = api.get(f"/api/v1/pages/{page['url_hash']}/raw")
                    assert (raw.status, len(raw.body)) == (200, page["bytes"])
        running.wait(30).check()
    assert len(counts) > 3


def read_bytes(path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def wait_for(condition, running) -> None:
    while not condition():
        assert running.process.poll() is None, running.said
        time.sleep(0.02)
