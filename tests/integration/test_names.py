"""Names are looked up before a download's time-out begins, each once however many wait for it."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest
from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler

from crawler.job import Job
from crawler.network import GuardedResolver, Names, PoliteHttpHandler
from tests.support.shell import make_crawler

FOUND = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.7", 0))]


@pytest.fixture
def asked(monkeypatch):
    """Names asked for so far; each look-up takes a moment."""
    names: list[str] = []

    def answer(name, *_args, **_options):
        names.append(name)
        time.sleep(0.02)
        return FOUND

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return names


@pytest.fixture
def names() -> Names:
    """The names of a job in memory."""
    return Names(Job.of(make_crawler()))


def test_many_who_wait_for_a_name_cause_one_look_up(asked, names):
    """Http and https of a host, and every component, share one answer."""

    async def all_at_once() -> list[list[str]]:
        return await asyncio.gather(*(names.addresses("name.test") for _ in range(20)))

    assert asyncio.run(all_at_once()) == [["127.0.0.7"]] * 20
    assert asked == ["name.test"]


def test_one_who_gives_up_does_not_take_the_answer_from_the_others(asked, names):
    """The look-up goes on when a request that waits for it is cancelled."""

    async def first_leaves() -> list[str]:
        first = asyncio.ensure_future(names.addresses("name.test"))
        second = asyncio.ensure_future(names.addresses("name.test"))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(first_leaves()) == ["127.0.0.7"]
    assert asked == ["name.test"]


@pytest.mark.parametrize("host", ["127.0.0.9", "[::1]", "fixed.test"])
def test_what_needs_no_look_up_causes_none(asked, host):
    """Addresses, and names with a fixed address, are known beforehand."""
    names = Names(Job.of(make_crawler(SAFETY_HOSTS={"fixed.test": "127.0.0.8"})))
    assert names.known(host)
    assert asyncio.run(names.addresses(host)) == names.known(host)
    assert asked == []


@pytest.mark.parametrize(
    ("url", "meta", "looked_up"),
    [
        ("http://name.test/", {}, ["name.test"]),
        ("https://name.test:8443/a", {}, ["name.test"]),
        ("http://name.test/", {"proxy": "http://proxy.test:1"}, []),  # the proxy's business
    ],
    ids=["http", "another port", "proxy"],
)
def test_the_time_out_begins_after_the_look_up(asked, monkeypatch, url, meta, looked_up):
    """When the transfer begins, its name is known: waiting for names is not a site's fault."""
    known_then = []

    async def download(handler, request):
        known_then.append(list(asked))

    monkeypatch.setattr(HTTP11DownloadHandler, "download_request", download)

    async def fetch() -> None:
        handler = PoliteHttpHandler(make_crawler())
        await handler.download_request(Request(url, meta=meta))

    asyncio.run(fetch())
    assert known_then == [looked_up]


def test_the_handlers_of_a_job_share_their_names():
    """Http and https have a handler each, and one memory."""
    job, other = Job.of(make_crawler()), Job.of(make_crawler())
    resolver = GuardedResolver.of(job)
    assert GuardedResolver.of(job) is resolver
    assert GuardedResolver.of(other) is not resolver
