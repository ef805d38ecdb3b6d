"""A body cut short: asked for again, kept and marked on the last try, never a page's original."""

from __future__ import annotations

import gzip
import random

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response

from crawler.consequences import INTERRUPTED, KEEP_INTERRUPTED
from crawler.job import Job
from crawler.middlewares.backoff import BackoffMiddleware
from crawler.middlewares.decompression import DecompressionMiddleware
from crawler.middlewares.redirect import RedirectMiddleware
from crawler.model import Outcome, Page
from tests.support.shell import begin, make_crawler

URL = "http://127.0.0.1/x"
BODY = b"<title>ok</title><p>" + bytes(random.Random(1).choices(b"abcdefg hij", k=4000))
TYPE = {"Content-Type": "text/html; charset=utf-8"}
PACKED = {**TYPE, "Content-Encoding": "gzip"}


def answer(request: Request, *, cut: bool, packed: bool, status: int = 200) -> Response:
    """Return an answer whose transfer was cut (``cut``) or whose gzip body ends early."""
    flags = [INTERRUPTED] if cut else []
    body = gzip.compress(BODY)[:-1000] if packed else BODY
    headers = PACKED if packed else TYPE
    return Response(URL, status, headers=headers, body=body, flags=flags, request=request)


def pass_through(crawler, request, response):
    """Return what the middlewares make of an answer, in their order."""
    for middleware in (BackoffMiddleware, RedirectMiddleware, DecompressionMiddleware):
        result = middleware.from_crawler(crawler).process_response(request, response)
        if isinstance(result, Request):
            return result
        response = result
    return response


def marked(request: Request) -> Request:
    """Return the request as one of the spider that keeps what came."""
    return request.replace(meta={**request.meta, **KEEP_INTERRUPTED})


FORMS = pytest.mark.parametrize(
    ("cut", "packed"), [(True, False), (False, True), (True, True)], ids=["cut", "packed", "both"]
)


@FORMS
def test_it_is_asked_for_again(cut, packed):
    """A transfer that broke off says nothing about the page."""
    crawler = make_crawler(BACKOFF_RETRIES=1)
    visit, request = begin(Job.of(crawler), URL)
    request = marked(request)
    result = pass_through(crawler, request, answer(request, cut=cut, packed=packed))
    assert isinstance(result, Request)
    assert (visit.outcome, visit.tries) == (None, 1)
    assert visit.retry_at is not None
    assert crawler.stats.get_value("backoff/retries") == 1
    assert crawler.stats.get_value("fetch/network") == 1


@FORMS
def test_on_the_last_try_what_came_is_kept(cut, packed):
    """The callback gets the beginning of the page, with a flag."""
    crawler = make_crawler(BACKOFF_RETRIES=0)
    visit, request = begin(Job.of(crawler), URL)
    request = marked(request)
    result = pass_through(crawler, request, answer(request, cut=cut, packed=packed))
    assert isinstance(result, HtmlResponse if packed else Response)
    assert BODY.startswith(result.body)
    assert len(result.body) > 1000
    assert INTERRUPTED in result.flags
    assert (visit.outcome, visit.retry_at) == (None, None)
    assert crawler.stats.get_value("fetch/network") == 1


def test_a_spider_that_did_not_ask_for_halves_gets_none():
    """Other callbacks rely on whole bodies, as with Scrapy alone."""
    crawler = make_crawler(BACKOFF_RETRIES=0)
    visit, request = begin(Job.of(crawler), URL)
    with pytest.raises(IgnoreRequest):
        pass_through(crawler, request, answer(request, cut=False, packed=True))
    assert visit.outcome is Outcome.FAILED_CONTENT


def test_nothing_at_all_is_not_kept():
    """Without a byte of the body the URL has failed."""
    crawler = make_crawler(BACKOFF_RETRIES=0)
    visit, request = begin(Job.of(crawler), URL)
    response = answer(marked(request), cut=True, packed=False).replace(body=b"")
    pass_through(crawler, marked(request), response)
    assert visit.outcome is Outcome.FAILED_NETWORK


@pytest.mark.parametrize("retries", [1, 0])
@pytest.mark.parametrize("cut", [True, False])
def test_a_body_that_ends_before_its_first_byte_is_asked_for_again(retries, cut):
    """Packed so that nothing of it can be undone yet, it is cut short like any other."""
    crawler = make_crawler(BACKOFF_RETRIES=retries)
    visit, request = begin(Job.of(crawler), URL)
    request = marked(request)
    response = answer(request, cut=cut, packed=True).replace(body=gzip.compress(BODY)[:12])
    if retries:
        assert isinstance(pass_through(crawler, request, response), Request)
        return
    with pytest.raises(IgnoreRequest):
        pass_through(crawler, request, response)
    assert visit.outcome is Outcome.FAILED_NETWORK


@pytest.mark.parametrize("status", [404, 301])
def test_the_status_needs_no_body(status):
    """A redirect is followed and a missing page is gone, however much of their text came."""
    crawler = make_crawler()
    visit, request = begin(Job.of(crawler), URL)
    response = answer(request, cut=True, packed=False, status=status)
    response.headers["Location"] = "/y"
    result = pass_through(crawler, marked(request), response)
    assert visit.retry_at is None
    assert visit.outcome is (Outcome.GONE if status == 404 else None)
    assert isinstance(result, Request) is (status == 301)


@pytest.mark.parametrize("interrupted", [True, False])
def test_no_page_is_a_copy_of_half_a_page(interrupted):
    """A stump is stored, and does not become the first of its kind."""
    job = Job.of(make_crawler())
    page = _page(interrupted=interrupted)
    job.store(page)
    assert page.stored
    found = job.verdicts.indexes.exact.lookup(
        bytes.fromhex(page.content_hash), "http://other.test/"
    )
    assert (found is None) is interrupted


def _page(*, interrupted: bool) -> Page:
    return Page(
        url=URL, status=200, fetched_at=0.5, depth=1, referrer=None, content_type="text/html",
        charset="utf-8", title="T", lang="en", headings=[], text="text", canonical=None,
        robots=[], etag=None, last_modified=None, bytes=4, content_hash="00" * 16,
        interrupted=interrupted,
    )  # fmt: skip
