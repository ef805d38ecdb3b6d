"""Look-ups of names: what is kept, what is noted, and that slow ones do not hold up others."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest

from crawler.job import Job
from crawler.model import Origin, Reason
from crawler.network import GuardedResolver
from tests.support.shell import make_crawler

NAME = "name.test"
FOUND = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.7", 0))]


class _Receiver:
    """Takes the answer of a look-up."""

    def __init__(self) -> None:
        self.addresses: list[str] = []
        self.over = asyncio.Event()

    def resolutionBegan(self, _resolution):  # noqa: N802
        pass

    def addressResolved(self, address):  # noqa: N802
        self.addresses.append(address.host)

    def resolutionComplete(self):  # noqa: N802
        self.over.set()


async def _resolve(resolver: GuardedResolver, name: str) -> list[str]:
    receiver = _Receiver()
    resolver.resolveHostName(receiver, name)
    await receiver.over.wait()
    return receiver.addresses


@pytest.fixture
def job() -> Job:
    """A job in memory."""
    return Job.of(make_crawler())


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (socket.gaierror(socket.EAI_NONAME, "no such name"), Reason.UNREACHABLE),
        (socket.gaierror(socket.EAI_NODATA, "no address"), Reason.UNREACHABLE),
        (socket.gaierror(socket.EAI_AGAIN, "no answer"), None),
        (OSError(24, "too many open files"), None),
        (UnicodeError("label too long"), Reason.UNREACHABLE),
    ],
    ids=["no such name", "no address", "no name server", "no descriptor", "impossible name"],
)
def test_only_a_name_that_does_not_exist_makes_a_host_unreachable(job, monkeypatch, error, reason):
    """A name server that does not answer, as when our own line is down, costs no host its URLs."""

    def fail(*_args, **_options):
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    assert asyncio.run(_resolve(GuardedResolver(job), NAME)) == []
    job.admission.note_nameless(Origin(f"http://{NAME}"))
    assert job.admission.out_of_reach(f"http://{NAME}/") is reason


def test_a_name_that_exists_after_all_is_not_unknown(job, monkeypatch):
    """What counts is the last look-up."""
    answers = [socket.gaierror(socket.EAI_NONAME, "no such name"), FOUND]

    def answer(*_args, **_options):
        if isinstance(found := answers.pop(0), OSError):
            raise found
        return found

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    asyncio.run(_resolve(GuardedResolver(job), NAME))
    assert asyncio.run(_resolve(GuardedResolver(job), NAME)) == ["127.0.0.7"]
    job.admission.note_nameless(Origin(f"http://{NAME}"))
    assert job.admission.out_of_reach(f"http://{NAME}/") is None


def test_each_try_looks_anew_for_a_name_that_was_not_found(job, monkeypatch):
    """Three tries some seconds apart are three look-ups, not one and its echo from the cache."""
    asked, times = [], [0.0, 6.0, 18.0]

    def fail(*_args, **_options):
        asked.append(times[0])
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    job.now = lambda: times[0]
    resolver = GuardedResolver(job)
    while times:
        asyncio.run(_resolve(resolver, NAME))
        times.pop(0)
    assert asked == [0.0, 6.0, 18.0]


def test_an_answer_is_kept_for_five_minutes(job, monkeypatch):
    """One look-up serves all requests meanwhile, the next one is a new look-up."""
    asked, times = [], [0.0, 299.0, 301.0, 302.0]

    def answer(*_args, **_options):
        asked.append(times[0])
        return FOUND

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    job.now = lambda: times[0]
    resolver = GuardedResolver(job)
    while times:
        assert asyncio.run(_resolve(resolver, NAME)) == ["127.0.0.7"]
        times.pop(0)
    assert asked == [0.0, 301.0]


def test_the_memory_of_names_is_bounded(job, monkeypatch):
    """A page that links a million names fills no memory."""
    monkeypatch.setattr("crawler.network._MOST_NAMES", 10)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: FOUND)

    async def look_up() -> int:
        resolver = GuardedResolver(job)
        for n in range(25):
            await _resolve(resolver, f"{n}.test")
        return len(resolver.names._cache)

    assert asyncio.run(look_up()) <= 10


def test_dead_names_do_not_hold_up_others(job, monkeypatch):
    """A name is found at once although dozens of others wait for a name server's time-out."""

    def answer(name, *_args, **_options):
        if name != NAME:
            time.sleep(0.5)
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return FOUND

    async def look_up() -> float:
        resolver = GuardedResolver(job)
        dead = [asyncio.ensure_future(_resolve(resolver, f"{n}.test")) for n in range(40)]
        await asyncio.sleep(0)
        began = time.monotonic()
        assert await _resolve(resolver, NAME) == ["127.0.0.7"]
        took = time.monotonic() - began
        await asyncio.gather(*dead)
        return took

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    assert asyncio.run(look_up()) < 0.4
