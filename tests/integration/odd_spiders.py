"""Small spiders for one situation each: ends in the middle, odd middlewares, downloads aside.

``base`` is the first host of the local web (:func:`tests.integration.endings.site`), ``others``
the rest, separated by commas.
"""

from __future__ import annotations

import asyncio
import socket
import time
from functools import partial
from itertools import cycle
from typing import Any

import pytest
import scrapy
from scrapy import Request, signals
from scrapy.exceptions import CloseSpider

from crawler import network
from crawler.seams import Alarm
from crawler.spiders.web import WebSpider


class _Spider(scrapy.Spider):
    name = "odd"
    base = ""
    others = ""
    path = "/ok/page"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.notes: list[Any] = []
        self.bases = [self.base, *self.others.split(",")]
        self.tasks: list[asyncio.Future[Any]] = []

    async def start(self):
        yield Request(self.base + self.path)

    async def download(self, url, **more):
        """Return the status of an answer, or the name of the error."""
        try:
            return (await self.crawler.engine.download_async(Request(url, **more))).status
        except Exception as error:  # noqa: BLE001
            return f"{type(error).__name__}: {error}"

    def close_soon(self, seconds):
        async def close():
            await asyncio.sleep(seconds)
            await self.crawler.engine.close_spider_async(reason="enough")

        self.tasks.append(asyncio.ensure_future(close()))


class Closing(_Spider):
    """Ends by itself while other hosts' answers are on their way; all have links."""

    async def start(self):
        for n, base in enumerate(self.bases):
            yield Request(f"{base}/{'slow' if n else 'ok'}/closing-{n}")

    def parse(self, response):
        self.notes.append(response.url)
        if "/ok/" in response.url:
            self.close_soon(0.3)
        yield {"url": response.url}
        yield Request(response.url + "-child")


class ClosingWaiting(_Spider):
    """Ends while a callback waits for a turn that is half a minute away."""

    async def parse(self, response):
        self.close_soon(0.1)
        self.notes.append(await self.download(self.base + "/ok/aside"))
        yield {"url": response.url}


class ClosingByError(_Spider):
    """Ends by CloseSpider, raised in a callback that has yielded before."""

    def parse(self, response):
        yield {"url": response.url}
        yield Request(response.url + "-child")
        raise CloseSpider("enough")


class Choked(_Spider):
    """Waits for a download in a callback whose response alone fills Scrapy's scraper."""

    path = "/big/choked"

    async def parse(self, response):
        for base in self.bases:
            self.notes.append(await self.download(base + "/ok/choked-part"))


class BusyWithAnswers(_Spider):
    """From the head of an answer on, leaves the event loop to others for moments only."""

    TURN = 0.25  # s

    async def start(self):
        self.crawler.signals.connect(self.begin, signals.headers_received)
        for path in ("/big/page", "/endless/page", "/ok/page"):
            yield Request(self.base + path, errback=self.note)

    def begin(self):
        self.tasks.append(asyncio.ensure_future(self.work()))

    async def work(self):
        for _ in range(4):
            time.sleep(self.TURN)  # noqa: ASYNC251 -- that is the point
            await asyncio.sleep(0)

    def note(self, failure):
        self.notes.append(type(failure.value).__name__)

    def parse(self, response):
        pass


class Impatient(_Spider):
    """Gives up on downloads while they wait for their turn, and for robots.txt."""

    async def parse(self, response):
        for base in self.bases:
            try:
                await asyncio.wait_for(self.download(base + "/slow/impatient"), 0.05)
            except TimeoutError:
                self.notes.append("gave up")
        yield {"url": response.url}
        yield Request(self.base + "/ok/impatient-child", callback=self.parse_child)

    def parse_child(self, response):
        yield {"url": response.url}


class HeaderEverywhere:
    """Replaces every request once, before it is sent, as proxy and session middlewares do."""

    def process_request(self, request):
        if "X-Session" not in request.headers:
            return request.replace(headers={**request.headers, "X-Session": "1"}, dont_filter=True)
        return None


class AgainOnEveryAnswer:
    """Answers each response of robots.txt with its request."""

    def process_response(self, request, response):
        return request.replace(dont_filter=True) if "robots.txt" in request.url else response


class BanDetector:
    """Sends a page again, with another header, after its first answer."""

    def process_response(self, request, response):
        if "robots.txt" in request.url or request.meta.get("second"):
            return response
        return request.replace(meta={**request.meta, "second": True}, dont_filter=True)


class Replaced(_Spider):
    """Follows one allowed and one forbidden link."""

    def parse(self, response):
        yield {"url": response.url, "session": bool(response.request.headers.get("X-Session"))}
        if response.url.endswith("/page"):
            yield Request(self.base + "/ok/replaced-child")
            yield Request(self.base + "/forbidden/replaced-child")


class Alarms(_Spider):
    """Times an alarm of its own against the engine's wake-up call."""

    async def start(self):
        engine, now, loop = self.crawler.engine, self.now, asyncio.get_running_loop()
        alarm, fired = Alarm(engine), []
        alarm.poke = lambda: fired.append(loop.time())  # type: ignore[method-assign]

        async def lateness(*times: float | None, wait: float) -> list[float]:
            began = loop.time()
            fired.clear()
            for at in times:
                alarm.set(None if at is None else now() + at, now())
            await asyncio.sleep(wait)
            return [at - began for at in fired]

        self.notes += [
            {"once": await lateness(0.1, wait=0.4)},
            {"earlier": await lateness(5.0, 0.1, wait=0.4)},
            {"later": await lateness(0.05, 0.2, wait=0.4)},
            {"off": await lateness(0.05, None, wait=0.2)},
            {"past": await lateness(-5.0, wait=0.2)},
        ]
        return
        yield

    def now(self):
        return asyncio.get_running_loop().time()


class ManyPages(_Spider):
    """Asks one host a few times."""

    async def start(self):
        for n in range(5):
            yield Request(f"{self.base}/ok/many-{n}")

    def parse(self, response):
        yield {"url": response.url}


class Parts(WebSpider):
    """Fetches parts of each page, all at once, before it yields the page."""

    name = "parts"
    default_directory = None
    parts = ""

    @classmethod
    def from_crawler(cls, crawler, *args, parts="", **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.parts = parts.split(",")
        spider.notes = []
        return spider

    download = _Spider.download

    async def parse(self, response, **_):
        statuses = await asyncio.gather(*map(self.download, self.parts))
        self.notes.append(statuses)
        for page in super().parse(response):
            yield page


class InMemory(WebSpider):
    """The spider web, without a job directory."""

    name = "in memory"
    default_directory = None


class Rebinding(WebSpider):
    """Crawls while look-ups of names are answered with one address after the other."""

    name = "rebinding"
    default_directory = None
    answers = ""

    @classmethod
    def from_crawler(cls, crawler, *args, answers="", **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.notes = []
        patch = pytest.MonkeyPatch()
        patch.setattr(network, "_TTL", 0.0)
        addresses = cycle(answers.split(","))

        def look_up(name, *_args, **_options):
            spider.notes.append(address := next(addresses))
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0))]

        patch.setattr(socket, "getaddrinfo", look_up)
        crawler.signals.connect(patch.undo, signals.spider_closed, weak=False)
        return spider


class Media(_Spider):
    """Leaves files to Scrapy's own media pipeline."""

    path = "/ok/media"
    files = ""

    def parse(self, response):
        yield {"url": response.url, "file_urls": self.files.split(",")}


class Unnamed(_Spider):
    """Asks with callbacks that no store can keep; ``paths`` are separated by commas."""

    paths = ""

    async def start(self):
        for path in filter(None, self.paths.split(",")):
            yield Request(self.base + path, callback=partial(Unnamed.take, self))

    def take(self, response):
        self.notes.append(response.url)
        yield {"url": response.url}


class Unfiltered(_Spider):
    """Asks for one page in every run, as Scrapy's own ``start_urls`` do."""

    async def start(self):
        yield Request(self.base + self.path, dont_filter=True)

    def parse(self, response):
        yield {"url": response.url}


class OldName(_Spider):
    """Queues requests whose callback has another name in :class:`NewName`."""

    async def start(self):
        for n in range(3):
            yield Request(f"{self.base}/ok/named-{n}", callback=self.parse_old)

    def parse_old(self, response):
        yield {"url": response.url}


class NewName(_Spider):
    """Goes on with the crawl of :class:`OldName`."""

    async def start(self):
        yield Request(self.base + "/ok/named-now", callback=self.parse_new)

    def parse_new(self, response):
        yield {"url": response.url}


class Cancelling(_Spider):
    """Gives up on a download in the very moment of its turn."""

    async def parse(self, response):
        scheduler = self.crawler.engine.scheduler
        wait = asyncio.ensure_future(scheduler.take_turn(Request(self.base + "/ok/never")))
        frontier = scheduler.job.frontier
        grant = frontier._lease_errand

        def lease_errand(*args):
            lease = grant(*args)
            wait.cancel()
            return lease

        frontier._lease_errand = lease_errand
        await asyncio.gather(wait, return_exceptions=True)
        self.notes.append(wait.cancelled())
        yield {"url": response.url}
