"""The frontier's second opinion: asked when a URL is found, and again before it goes."""

from __future__ import annotations

import pytest

from crawler.frontier import Entry, Frontier, FrontierOptions, MemoryEngine, Table
from crawler.model import Allow, Discovery, Outcome, Reason

NOW = 1_000_000.0
LATER = Reason.TRAP_PATTERN


class Moody:
    """A guard with a set of URLs that it objects to, and priorities of its own."""

    def __init__(self) -> None:
        self.objects: set[str] = set()
        self.priorities: dict[str, int] = {}

    def admit(self, url: str, found: Discovery) -> Reason | int:
        return LATER if url in self.objects else self.priorities.get(url, found.priority)

    def recheck(self, entry: Entry) -> Reason | None:
        return LATER if entry.url in self.objects else None

    def reconsiders(self, url: str, reason: Reason) -> bool:
        return reason is LATER and url not in self.objects


@pytest.fixture
def guard():
    return Moody()


@pytest.fixture
def frontier(guard):
    return made(guard)


def made(guard, engine=None, **options):
    return Frontier(
        engine or MemoryEngine(),
        FrontierOptions(delay=0.0, **options),
        admit=lambda url: Reason.DENIED if "denied" in url else None,
        key=lambda url: url,
        now=NOW,
        guard=guard,
    )


def urls(*names):
    return [f"http://a.example/{name}" for name in names]


def crawl(frontier):
    """Fetch all that is queued; return the names in order."""
    names = []
    while lease := frontier.next(NOW, lambda *_: Allow()):
        names.append(lease.url.rpartition("/")[2])
        frontier.done(lease, Outcome.STORED, NOW)
    assert frontier.counts.imbalance() == 0
    return names


def test_a_new_url_is_rejected_or_queued_as_the_guard_says(frontier, guard):
    """An objection rejects it under its reason; otherwise the guard's priority counts."""
    guard.objects.update(urls("b"))
    guard.priorities[urls("a")[0]] = 200
    frontier.add(Discovery(urls("a", "b", "c", "denied")), NOW)
    assert frontier.counts.rejected == {LATER: 1, Reason.DENIED: 1}
    assert crawl(frontier) == ["c", "a"]


def test_a_queued_url_is_dropped_when_its_turn_comes(frontier, guard):
    """What was queued before the objection does not go, and no robots.txt is asked for."""
    frontier.add(Discovery(urls("a", "b", "c")), NOW)
    guard.objects.update(urls("a", "c"))
    assert crawl(frontier) == ["b"]
    assert frontier.counts.rejected == {LATER: 2}
    assert frontier.counts.unfinished == 0


def test_a_url_that_was_tried_already_is_not_objected_to(frontier, guard):
    """A retry is due to a server that asked for patience."""
    frontier.add(Discovery(urls("a")), NOW)
    lease = frontier.next(NOW, lambda *_: Allow())
    frontier.retry(lease, NOW, NOW, tries=1, throttles=0)
    guard.objects.update(urls("a"))
    assert crawl(frontier) == ["a"]


def test_requests_of_other_spiders_are_not_objected_to(frontier, guard):
    """Who brings a request with a callback of its own wants that very URL."""
    guard.objects.update(urls("a"))
    frontier.add(Discovery(urls("a"), payload=b"request"), NOW)
    assert crawl(frontier) == ["a"]


def test_what_was_rejected_is_looked_at_anew_when_it_is_found_again(frontier, guard):
    """Once the objection has ceased; the books count the URL once."""
    guard.objects.update(urls("a", "b"))
    frontier.add(Discovery(urls("a", "b")), NOW)
    guard.objects.discard(urls("a")[0])
    frontier.add(Discovery(urls("a", "b")), NOW)
    assert crawl(frontier) == ["a"]
    assert frontier.counts.discovered == 2
    assert frontier.counts.rejected == {LATER: 1}


@pytest.mark.parametrize("seen", ["exact", "approximate"])
def test_what_was_rejected_may_be_taken_back(guard, seen):
    """Also where the seen set does not say why a URL is known."""
    frontier = made(guard, seen=seen)
    guard.objects.update(urls("a", "b"))
    frontier.add(Discovery(urls("a", "b")), NOW)
    guard.objects.discard(urls("a")[0])
    for url in urls("a", "b"):
        frontier.readmit(LATER, Discovery([url], 1, "http://a.example/"), NOW)
    assert crawl(frontier) == ["a"]
    assert frontier.counts.discovered == 2
    assert frontier.counts.rejected == {LATER: 1}


def test_rows_of_others_are_read_as_they_will_be():
    """What is in the batch counts: a row that was set, changed or removed since the commit."""
    engine = MemoryEngine()
    frontier = made(None, engine)
    for key in (b"a1", b"a2", b"b1"):
        frontier.put(Table.TRAPS, key, b"old")
    frontier.commit(engine.write)
    frontier.put(Table.TRAPS, b"a2", b"new")
    frontier.put(Table.TRAPS, b"a3", b"new")
    frontier.remove(Table.TRAPS, b"a1")
    assert sorted(frontier.rows(Table.TRAPS, b"a")) == [(b"a2", b"new"), (b"a3", b"new")]
    assert frontier.row(Table.TRAPS, b"a1") is None
    assert frontier.row(Table.TRAPS, b"a2") == b"new"
    assert frontier.row(Table.TRAPS, b"b1") == b"old"
    assert frontier.row(Table.TRAPS, b"c") is None
