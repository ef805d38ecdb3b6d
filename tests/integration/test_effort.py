"""Answers that cost much make their host rest, wherever the cost arises."""

from __future__ import annotations

import zlib

import pytest
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response

from crawler.consequences import INTERRUPTED
from crawler.job import Job
from crawler.middlewares.decompression import DecompressionMiddleware
from crawler.model import Outcome
from crawler.visits import Answer, working_on
from tests.integration.odd_spiders import InMemory
from tests.support.shell import begin, make_crawler

URL = "http://127.0.0.1/x"
NOW = 1_000_000.0


@pytest.fixture
def crawler():
    """A crawler whose clock stands."""
    crawler = make_crawler(POLITENESS_DELAY=0)
    Job.of(crawler).now = lambda: NOW
    Job.of(crawler).consequences._now = lambda: NOW
    return crawler


def _rest(job, visit) -> float:
    job.consequences.charge(visit)
    return max(0.0, visit.lease.host.blocked_until - NOW)


def test_a_costly_answer_makes_its_host_rest(crawler):
    """A host alone rests for what it has cost beyond the burst; an ordinary page costs nothing."""
    job = Job.of(crawler)
    visit, _ = begin(job, URL)
    visit.cost = 0.004
    assert _rest(job, visit) == 0
    visit.cost = 1.0
    assert _rest(job, visit) == pytest.approx(0.98 - 0.1)


def test_an_answer_that_was_too_large_is_charged(crawler):
    """What its transfer cost shows nowhere else: 50 ms each, so the fourth makes a host rest."""
    visit, _ = begin(Job.of(crawler), URL)
    visit.outcome = Outcome.FAILED_SIZE
    assert [_rest(Job.of(crawler), visit) for _ in range(4)] == pytest.approx([0, 0, 0, 0.02])


def test_a_transfer_is_charged_by_its_size_and_a_broken_one_no_more(crawler):
    """Whoever's line breaks three times has not cost us more than others."""
    job = Job.of(crawler)
    visit, request = begin(job, URL)
    response = Response(URL, body=b"x" * 2**20, flags=[INTERRUPTED])
    visit.answer = Answer(request, response, NOW, b"")
    assert [_rest(job, visit) for _ in range(9)] == [0] * 9


def test_unpacking_is_charged(crawler):
    """Sixteen megabytes out of a few kilobytes are not free."""
    job = Job.of(crawler)
    visit, request = begin(job, URL)
    bomb = zlib.compress(b" " * (32 * 2**20))
    response = Response(URL, headers={"Content-Encoding": "deflate"}, body=bomb)
    with pytest.raises(IgnoreRequest):
        DecompressionMiddleware.from_crawler(crawler).process_response(request, response)
    assert visit.cost > 0.001


def test_parsing_is_charged(crawler):
    """Tens of thousands of links are not free either."""
    job = Job.of(crawler)
    visit, request = begin(job, URL)
    body = b"".join(b"<a href=/%d>x</a>" % n for n in range(20_000))
    response = HtmlResponse(URL, headers={"Content-Type": "text/html"}, body=body, request=request)
    spider = InMemory.from_crawler(make_crawler(), seeds=URL)
    spider.crawler = crawler
    list(spider.parse(response))
    assert visit.cost > 0.005


def test_work_is_charged_although_it_raises(crawler):
    """A fault does not make it free."""
    visit, _ = begin(Job.of(crawler), URL)
    with pytest.raises(ValueError, match="no digit"), working_on(visit):
        int(f"{sum(range(100_000))} no digit")
    assert visit.cost > 0
    with working_on(None):
        pass
