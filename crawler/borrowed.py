"""Settings of Scrapy's own that the documents name: which are checked, and which do nothing.

Scrapy reads its settings where it needs them: a value that is none ends in a traceback, one out of
range in a crawl whose every fetch fails. And some that one knows from other projects have no say
here, because the frontier decides what they would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES

from crawler import settings as shipped
from crawler.table import Setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

_PROJECT = SETTINGS_PRIORITIES["project"]  # a spider's and those of -s have more

CHECKED: tuple[Setting, ...] = (
    Setting(
        "CONCURRENT_REQUESTS", shipped.CONCURRENT_REQUESTS,
        "Requests in flight over all hosts.", "requests", 1, 100_000,
    ),
    Setting(
        "DOWNLOAD_TIMEOUT", float(shipped.DOWNLOAD_TIMEOUT),
        "For a whole response.", "s", 0.1, 86_400,
    ),
    Setting(
        "DOWNLOAD_MAXSIZE", shipped.DOWNLOAD_MAXSIZE,
        "Of a response, packed and unpacked each; a longer one is refused. 0 = no limit.",
        "bytes", 0,
    ),
    Setting(
        "DOWNLOAD_WARNSIZE", shipped.DOWNLOAD_WARNSIZE,
        "From here on a response is mentioned in the log; 0 = never.", "bytes", 0,
    ),
    Setting(
        "LOGSTATS_INTERVAL", 60.0, "Between two lines of progress in a log; 0 = none.", "s", 0
    ),
)  # fmt: skip

_PACE = "the frontier paces hosts"
UNUSED = {
    "DOWNLOAD_DELAY": f"{_PACE}: set POLITENESS_DELAY",
    "DOWNLOAD_DELAY_JITTER": f"{_PACE}: set POLITENESS_DELAY",
    "RANDOMIZE_DOWNLOAD_DELAY": f"{_PACE}: set POLITENESS_DELAY",
    "AUTOTHROTTLE_ENABLED": f"{_PACE}: set POLITENESS_DELAY, BACKOFF_BASE",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "a host has one request at a time; see POLITENESS_DELAY",
    "ROBOTSTXT_OBEY": "the frontier obeys robots.txt: set ROBOTS_ENABLED",
    "ROBOTSTXT_USER_AGENT": "robots.txt addresses the name in USER_AGENT",
    "RETRY_ENABLED": "the frontier tries again: set BACKOFF_RETRIES",
    "RETRY_TIMES": "the frontier tries again: set BACKOFF_RETRIES",
    "REDIRECT_ENABLED": "a redirect leads to a URL of its own: set FRONTIER_MAX_REDIRECTS",
    "REDIRECT_MAX_TIMES": "a redirect leads to a URL of its own: set FRONTIER_MAX_REDIRECTS",
    "DEPTH_LIMIT": "the frontier counts links: set FRONTIER_MAX_DEPTH, or -a max_depth=N",
}
"""What has no say in a crawl, with what has."""
_SHIPPED = {  # in crawler/settings.py, neutral
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "ROBOTSTXT_OBEY": False,
}


def read_borrowed(settings: BaseSettings) -> dict[str, Any]:
    """Return the values of Scrapy's settings that are checked.

    Raises:
        ConfigError: Naming the setting, its value and what was expected.
    """
    return {s.name: s.read(settings.get(s.name, s.default)) for s in CHECKED}


def unused(settings: BaseSettings) -> Iterator[str]:
    """Yield a sentence for each setting that was given and has no say in a crawl."""
    for name, instead in UNUSED.items():
        priority, value = settings.getpriority(name) or 0, settings.get(name)
        shipped = priority == _PROJECT and value == _SHIPPED.get(name)
        if priority >= _PROJECT and not shipped:
            yield f"{name}={value} has no say in a crawl; {instead}"
