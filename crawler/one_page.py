"""What holds for commands that look at pages beside any crawl: shell, fetch, view, parse.

A person names each URL and may name a private one. What a page leads to, by redirect or by link,
nobody has named: it is held to the rules of a crawl, after resolution. robots.txt is read as a
crawl reads it, and who is refused is told by which line: there is a person waiting.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

from scrapy.downloadermiddlewares import redirect
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.python import to_unicode

from crawler.admission import Admission
from crawler.clock import SystemClock
from crawler.config import Config
from crawler.network import GuardedHttpHandler
from crawler.politeness import RobotsRules, product_token
from crawler.urls import UrlFilter

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)


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


class ToldRules(RobotParser):
    """The rules of a robots.txt as a crawl understands them; a refusal is told with its line."""

    def __init__(self, body: bytes, token: str) -> None:
        self._body = body
        self._token = token

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Self:
        """Read a robots.txt."""
        return cls(robotstxt_body, OnePage.of(crawler).config.robots.token)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Tell whether a URL may be fetched; the log says why it may not."""
        token = product_token(to_unicode(user_agent)) or self._token
        decision = RobotsRules.parse(self._body, token).decide(to_unicode(url))
        if not decision.allowed:
            logger.warning(
                "Not fetched: robots.txt forbids %s to %s, line %s (%s). To look at it all the "
                "same, start with -s ROBOTS_ENABLED=false",
                to_unicode(url),
                token,
                decision.line,
                decision.rule,
            )
        return decision.allowed


class RedirectMiddleware(redirect.RedirectMiddleware):
    """Scrapy's, which here has no middleware that would set a Referer, and need not look for it."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a command."""
        middleware = cls(crawler.settings)
        middleware.crawler = crawler
        return middleware

    def handle_referer(self, request: Request, response: Response) -> None:
        """Send none."""
        request.headers.pop("Referer", None)


class OnePageHandler(GuardedHttpHandler):
    """The handler of these commands."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler, OnePage.of(crawler))


def _is_named(request: Request) -> bool:
    """Whether a request is neither a redirect's, nor a component's, nor a link's."""
    followed = request.meta.get("redirect_urls") or request.meta.get("_depth", 1) > 1
    return not followed and request.callback is not NO_CALLBACK
