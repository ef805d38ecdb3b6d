"""Every way in which a request can end in Scrapy, as one spider of somebody else.

The first part of a path says what the server answers, the second names the case: that decides
what the middleware and the pipeline below do to it. :mod:`tests.integration.test_seams` says
what must become of each.
"""

from __future__ import annotations

import asyncio

import scrapy
from scrapy import Request, signals
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.http import HtmlResponse

from tests.support.exchange import Answer, Fault, in_turn, not_found, plain, redirect
from tests.support.exchange import Request as Asked

OK = Answer(body=b"<title>ok</title><p>a page</p>")
BROKEN = Answer(500, b"broken")


def site(request: Asked) -> Answer:
    """Answer as the first part of the path says; robots.txt forbids ``/forbidden``."""
    _, kind, case, *_ = [*request.path.partition("?")[0].split("/"), "", ""]
    if kind == "robots.txt":
        return plain("User-agent: *\nDisallow: /forbidden/\n")
    if kind == "302":
        return redirect(f"/ok/{case}-target", 302)
    if kind == "loop":
        return redirect(f"/loop/{case}-x", 302)
    if kind == "big":
        return Answer(body=b"<p>big</p>".ljust(6_000_000))
    answers = {
        "ok": OK,
        "slow": Answer(body=OK.body, delay_s=0.6),
        "forbidden": OK,
        "500": BROKEN,
        "500-once": in_turn(request, BROKEN, OK),
        "404": not_found(),
        "close": Answer(fault=Fault.CLOSE),
    }
    return answers.get(kind, not_found())


CASES: dict[str, dict[str, str]] = {
    # the path; the callback and the errback by name
    "sync": {"path": "/ok/sync", "callback": "parse_items"},
    "async": {"path": "/ok/async", "callback": "parse_async"},
    "no_items": {"path": "/ok/no_items", "callback": "parse_nothing"},
    "many_items": {"path": "/ok/many_items", "callback": "parse_many"},
    "item_dropped": {"path": "/ok/item_dropped", "callback": "parse_items"},
    "item_error": {"path": "/ok/item_error", "callback": "parse_items"},
    "raises_at_once": {"path": "/ok/raises_at_once", "callback": "parse_raises"},
    "raises_midway": {"path": "/ok/raises_midway", "callback": "parse_raises_midway"},
    "raises_async": {"path": "/ok/raises_async", "callback": "parse_raises_async"},
    "redirect": {"path": "/302/redirect", "callback": "parse_items"},
    "retry": {"path": "/500-once/retry", "callback": "parse_items"},
    "last_retry": {"path": "/500/last_retry", "callback": "parse_items"},
    "last_retry_errback": {
        "path": "/500/last_retry_errback", "callback": "parse_items", "errback": "failed_items",
    },
    "no_answer": {"path": "/close/no_answer", "callback": "parse_items"},
    "errback_items": {
        "path": "/close/errback_items", "callback": "parse_items", "errback": "failed_items",
    },
    "errback_requests": {
        "path": "/close/errback_requests", "callback": "parse_items", "errback": "failed_requests",
    },
    "errback_raises": {
        "path": "/close/errback_raises", "callback": "parse_items", "errback": "failed_raises",
    },
    "ignored_out": {"path": "/ok/ignored_out", "callback": "parse_items"},
    "ignored_out_errback": {
        "path": "/ok/ignored_out_errback", "callback": "parse_items", "errback": "failed_items",
    },
    "broken_out": {"path": "/ok/broken_out", "callback": "parse_items"},
    "from_cache": {"path": "/ok/from_cache", "callback": "parse_items"},
    "gone": {"path": "/404/gone", "callback": "parse_items"},
    "gone_errback": {
        "path": "/404/gone_errback", "callback": "parse_items", "errback": "failed_items",
    },
    "ignored_back": {"path": "/ok/ignored_back", "callback": "parse_items"},
    "broken_back": {"path": "/ok/broken_back", "callback": "parse_items"},
    "never_scheduled": {"path": "/ok/never_scheduled", "callback": "parse_items"},
    "redirect_refused": {"path": "/302/redirect_refused", "callback": "parse_items"},
    "replaced_out": {"path": "/ok/replaced_out", "callback": "parse_items"},
    "replaced_fresh": {"path": "/ok/replaced_fresh", "callback": "parse_items"},
    "replaced_exception": {"path": "/close/replaced_exception", "callback": "parse_items"},
    "same_again": {"path": "/ok/same_again", "callback": "parse_items"},
    "retry_in_callback": {"path": "/ok/retry_in_callback", "callback": "parse_again"},
    "retry_request": {"path": "/ok/retry_request", "callback": "parse_retry_request"},
    "copied_meta": {"path": "/ok/copied_meta", "callback": "parse_copied_meta"},
    "download": {"path": "/ok/download", "callback": "parse_download"},
    "download_meta": {"path": "/ok/download_meta", "callback": "parse_download_meta"},
    "download_itself": {"path": "/ok/download_itself", "callback": "parse_download_itself"},
    "download_fails": {"path": "/ok/download_fails", "callback": "parse_download_fails"},
    "download_in_item": {"path": "/ok/download_in_item", "callback": "parse_items"},
    "output_raises": {"path": "/ok/output_raises", "callback": "parse_items"},
    "input_raises": {"path": "/ok/input_raises", "callback": "parse_items"},
    "late_request": {"path": "/ok/late_request", "callback": "parse_late"},
}  # fmt: skip


class EndingsSpider(scrapy.Spider):
    """Runs every case of the table, each from a start request of its own."""

    name = "endings"
    custom_settings = {  # noqa: RUF012
        "SPIDER_MIDDLEWARES": {
            "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": 50,
            "tests.integration.endings.SpiderMiddleware": 60,
        },
        "DOWNLOADER_MIDDLEWARES": {"tests.integration.endings.Middleware": 700},
        "ITEM_PIPELINES": {"tests.integration.endings.Pipeline": 50},
    }

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.notes = []
        spider.tasks = []
        crawler.signals.connect(spider.scheduled, signals.request_scheduled)
        return spider

    def scheduled(self, request):
        if "never_scheduled" in request.url or "redirect_refused-target" in request.url:
            raise IgnoreRequest

    def url(self, path):
        return self.base + path

    async def start(self):
        for case in CASES.values():
            errback = getattr(self, case["errback"]) if "errback" in case else None
            yield Request(
                self.url(case["path"]), callback=getattr(self, case["callback"]), errback=errback
            )

    def note(self, response):
        self.notes.append(response.url.removeprefix(self.base))

    def parse_items(self, response):
        self.note(response)
        yield {"url": response.url}
        yield {"url": response.url}

    async def parse_async(self, response):
        yield {"url": response.url}
        await asyncio.sleep(0.02)
        yield {"url": response.url}

    def parse_nothing(self, response):
        return None

    def parse_many(self, response):
        for n in range(500):
            yield {"url": response.url, "n": n}

    def parse_raises(self, response):
        raise ValueError("expected: at once")

    def parse_raises_midway(self, response):
        yield {"url": response.url}
        yield Request(self.url("/ok/raises_midway-child"), callback=self.parse_items)
        raise ValueError("expected: midway")

    async def parse_raises_async(self, response):
        yield {"url": response.url}
        await asyncio.sleep(0)
        raise ValueError("expected: midway, async")

    def parse_again(self, response):
        if not response.meta.get("again"):
            yield response.request.replace(meta={**response.meta, "again": True}, dont_filter=True)
        else:
            yield {"url": response.url}

    def parse_retry_request(self, response):
        if not response.meta.get("retry_times"):
            yield get_retry_request(response.request, spider=self, reason="empty")
        else:
            yield {"url": response.url}

    def parse_copied_meta(self, response):
        for n in range(3):
            yield Request(
                self.url(f"/ok/copied_meta-{n}"), callback=self.parse_items, meta=response.meta
            )

    async def parse_download(self, response):
        asked = [Request(self.url(f"/ok/download-{n}")) for n in range(5)]
        answers = await asyncio.gather(*map(self.crawler.engine.download_async, asked))
        yield {"url": response.url, "statuses": [answer.status for answer in answers]}

    async def parse_download_meta(self, response):
        asked = Request(self.url("/404/download_meta-part"), meta=response.meta)
        answer = await self.crawler.engine.download_async(asked)
        yield {"url": response.url, "status": answer.status}

    async def parse_download_itself(self, response):
        answer = await self.crawler.engine.download_async(response.request)
        yield {"url": response.url, "status": answer.status}

    async def parse_download_fails(self, response):
        await self.crawler.engine.download_async(Request(self.url("/close/download_fails-part")))
        yield {"url": response.url}

    async def parse_late(self, response):
        async def later():
            await asyncio.sleep(0.05)
            self.crawler.engine.crawl(
                Request(self.url("/ok/late_request-child"), callback=self.parse_items)
            )

        self.tasks.append(asyncio.ensure_future(later()))
        yield {"url": response.url}

    def failed_items(self, failure):
        self.notes.append(f"errback {failure.request.url.removeprefix(self.base)}")
        yield {"url": failure.request.url}

    def failed_requests(self, failure):
        yield Request(self.url("/ok/errback_requests-child"), callback=self.parse_items)

    def failed_raises(self, failure):
        raise ValueError("expected: errback")


class Middleware:
    """Does to a request or its answer what the name of the case asks for."""

    def __init__(self, crawler):
        self.crawler = crawler
        self.seen = set()

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def process_request(self, request):
        case = request.url.rpartition("/")[2]
        if case in ("ignored_out", "ignored_out_errback"):
            raise IgnoreRequest("expected: on the way out")
        if case == "broken_out":
            raise ValueError("expected: on the way out")
        if case == "from_cache":
            return HtmlResponse(request.url, body=OK.body, request=request)
        if case == "replaced_out":
            return request.replace(url=request.url + "-target")
        if case == "replaced_fresh":
            return Request(request.url + "-target", callback=request.callback)
        if case == "same_again" and case not in self.seen:
            self.seen.add(case)
            return request.replace(headers={"X-Again": "1"}, dont_filter=True)
        return None

    def process_response(self, request, response):
        case = request.url.rpartition("/")[2]
        if case == "ignored_back":
            raise IgnoreRequest("expected: on the way back")
        if case == "broken_back":
            raise ValueError("expected: on the way back")
        return response

    def process_exception(self, request, exception):
        if request.url.endswith("/replaced_exception"):
            return request.replace(url=request.url.replace("/close/", "/ok/") + "-target")
        return None


class SpiderMiddleware:
    """Breaks before, or after, the callback of two cases."""

    async def process_spider_output(self, response, result):
        async for one in result:
            yield one
            if response.url.endswith("/output_raises"):
                raise ValueError("expected: spider output")

    def process_spider_input(self, response):
        if response.url.endswith("/input_raises"):
            raise ValueError("expected: spider input")


class Pipeline:
    """Drops, breaks, delays or downloads, as the name of the case asks for."""

    def __init__(self, crawler):
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    async def process_item(self, item):
        url = item["url"]
        if url.endswith("/item_dropped"):
            raise DropItem("expected: dropped")
        if url.endswith("/item_error"):
            raise ValueError("expected: pipeline")
        if item.get("n", 1) % 100 == 0:
            await asyncio.sleep(0.02)
        if url.endswith("/download_in_item"):
            part = Request(url + "-part")
            item["status"] = (await self.crawler.engine.download_async(part)).status
        return item
