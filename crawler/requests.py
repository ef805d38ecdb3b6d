"""Scrapy requests as discovered URLs and back, for spiders that bring their own callbacks.

Links of the spider ``web`` need none of this: they travel as strings.
"""

from __future__ import annotations

import logging
import marshal
from typing import TYPE_CHECKING, Any

from scrapy.utils.request import request_from_dict

from crawler.discovery import hop_of, priority_at
from crawler.model import Discovery
from crawler.seams import current_visit
from crawler.visits import TOKEN

if TYPE_CHECKING:
    from scrapy import Request, Spider

    from crawler.frontier import Lease
    from crawler.job import Job

logger = logging.getLogger(__name__)

_OURS = (TOKEN, "download_slot", "download_latency", "depth")
_KEPT_AS = b"#"  # a payload that names a request kept in memory


class RequestCodec:
    """Translates between requests and discoveries, with the spider's methods by name."""

    def __init__(self, spider: Spider, job: Job) -> None:
        self._spider = spider
        self._job = job
        self._unserialisable: dict[bytes, Request] = {}
        self._run = f"{job.now():.6f}"  # names of one run are not found in another
        self._count = 0

    def discovered(self, request: Request) -> Discovery | None:
        """Return what a spider's request asks for; None when its URL is none for us."""
        url = self._job.canonicalizer.normalize(request.url)
        if url is None:
            return None
        parent = current_visit.get()
        entry = parent.lease.entry if parent is not None else None
        depth = entry.depth + 1 if entry is not None else 0
        return Discovery(
            [url],
            depth=depth,
            referrer=entry.url if entry is not None else None,
            priority=max(0, min(255, priority_at(depth) - request.priority)),
            payload=self._payload(request),
            variant=self._variant(request),
        )

    def successor(self, request: Request, lease: Lease) -> Discovery | None:
        """Return the target of a redirect: a URL of its own, one hop further down the chain."""
        urls, entry = self._job.canonicalizer, lease.entry
        url = urls.normalize(request.url)
        if url is None or entry is None:
            return None
        if url == urls.normalize(entry.url):  # the server insists on what we leave out
            url = urls.resolve_whole(entry.url, request.url) or url
        same = url != entry.url and urls.key(url) == urls.key(entry.url)
        return hop_of(
            entry,
            url,
            payload=self._payload(request) if entry.payload or request.dont_filter else b"",
            variant=f" {url}" if same else self._variant(request),
        )

    def restore(self, payload: bytes) -> Request | None:
        """Rebuild the request of :meth:`discovered`.

        Returns:
            None, and a warning, for one that an earlier run kept in memory, and for one
            that this version of the spider cannot take: its callback has another name now.
        """
        try:
            if payload.startswith(_KEPT_AS):
                return self._unserialisable[payload].copy()  # it may be tried again
            # marshal holds plain data and, unlike pickle, runs nothing that a file may contain
            return request_from_dict(marshal.loads(payload), spider=self._spider)  # noqa: S302
        except (ArithmeticError, AttributeError, EOFError, LookupError, TypeError, ValueError) as e:
            logger.warning("A request of an earlier run is lost: %r", e)
            return None

    def forget(self, payload: bytes) -> None:
        """Let go of a request that is done, if it was kept in memory."""
        self._unserialisable.pop(payload, None)

    def _payload(self, request: Request) -> bytes:
        plain = request.replace(
            meta={k: v for k, v in request.meta.items() if k not in _OURS}, dont_filter=False
        )
        try:
            fields: dict[str, Any] = plain.to_dict(spider=self._spider)
            return marshal.dumps(fields)
        except ValueError as error:
            logger.warning(
                "A request to %s is kept in memory only and lost at a restart: %s",
                request.url,
                error,
            )
            self._count += 1
            name = _KEPT_AS + f"{self._run} {self._count}".encode()
            self._unserialisable[name] = plain
            return name

    def _variant(self, request: Request) -> str:
        """Tell requests apart that are more than a GET of their URL."""
        if request.dont_filter:
            self._count += 1
            return f" unfiltered {self._run} {self._count}"
        if request.method != "GET" or request.body:
            return f" {request.method} {request.body.hex()}"
        return ""
