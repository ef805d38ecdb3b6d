"""The address guard for commands that look at pages beside any crawl: shell, fetch, view, parse.

A person names each URL and may name a private one. What a page leads to, by redirect or by link,
nobody has named: it is held to the rules of a crawl, after resolution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

from crawler.admission import Admission
from crawler.clock import SystemClock
from crawler.config import Config
from crawler.network import GuardedHttpHandler
from crawler.urls import UrlFilter

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class OnePage:
    """What guard and handler share in place of a job."""

    _of: ClassVar[WeakKeyDictionary[Crawler, OnePage]] = WeakKeyDictionary()

    def __init__(self, config: Config) -> None:
        self.config = config
        self.now = SystemClock().now
        self.admission = Admission((), None, UrlFilter(), config.networks)

    @classmethod
    def of(cls, crawler: Crawler) -> OnePage:
        """Return that of a crawler, made at the first call."""
        found = cls._of.get(crawler)
        if found is None:
            found = cls._of[crawler] = cls(Config.read(crawler.settings))
        return found


class NamingMiddleware:
    """Notes which hosts a person has named. It is first: robots.txt is asked for after it."""

    def __init__(self, page: OnePage) -> None:
        self._page = page

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a command."""
        return cls(OnePage.of(crawler))

    def process_request(self, request: Request) -> None:
        """Open the host of a request that a person made."""
        host = urlparse_cached(request).hostname
        if host and _is_named(request):
            self._page.admission.note_named(host)


class OnePageHandler(GuardedHttpHandler):
    """The handler of these commands."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler, OnePage.of(crawler))


def _is_named(request: Request) -> bool:
    """Whether a request is neither a redirect's, nor a component's, nor a link's."""
    followed = request.meta.get("redirect_urls") or request.meta.get("_depth", 1) > 1
    return not followed and request.callback is not NO_CALLBACK
