"""The Bloom-filter seen set: its error, its growth, and what survives."""

import random

import pytest

from crawler.errors import StoreError
from crawler.frontier import Batch, FrontierOptions, MemoryEngine, Table
from crawler.frontier.approximate import ApproximateSeenSet
from crawler.frontier.layers import LayeredFilter
from crawler.model import Fingerprint


def _marks(count: int, seed: int = 0) -> list[Fingerprint]:
    rng = random.Random(seed)
    return [Fingerprint(rng.randbytes(16)) for _ in range(count)]


class Store:
    """An engine and the batch under way, as the frontier holds them."""

    def __init__(self) -> None:
        self.engine = MemoryEngine()
        self.batch = Batch()

    def open(self, **options) -> ApproximateSeenSet:
        chosen = FrontierOptions(seen="approximate", **options)
        return ApproximateSeenSet(self.engine, lambda: self.batch, chosen)

    def commit(self) -> None:
        self.engine.write(self.batch)
        self.batch = Batch()


@pytest.mark.slow
def test_the_total_error_keeps_its_promise_through_growth() -> None:
    """From a capacity 100 times too small, false positives stay at or below the promise."""
    known = LayeredFilter(1000, 0.01)
    for mark in _marks(100_000):
        known.add(mark.hex())
    strangers = _marks(30_000, seed=1)
    false = sum(mark.hex() in known for mark in strangers)
    assert len(known.layers) == 3
    assert false / len(strangers) <= 0.01
    assert known.false_positive_rate() == pytest.approx(false / len(strangers), abs=0.002)


def test_what_was_set_is_known_and_what_was_not_is_not() -> None:
    """No false negative ever; at 1e-6 no false positive among a thousand."""
    seen = Store().open(seen_capacity=1000, seen_error=1e-6)
    marks = _marks(3000)
    for mark in marks:
        seen.set(mark, None)
    assert set(seen.known(marks)) == set(marks)
    assert not seen.known(_marks(1000, seed=2))


@pytest.mark.parametrize("saved_after", [0, 500, 1499])
def test_a_filter_older_than_the_store_is_brought_up_to_date(saved_after: int) -> None:
    """Fingerprints of committed batches are known after a crash, wherever the last save was."""
    store = Store()
    seen = store.open(seen_capacity=1)
    marks = []
    for number, mark in enumerate(_marks(1500)):
        if seen.known([mark]):
            continue  # taken for known: the frontier would drop it
        seen.set(mark, None)
        marks.append(mark)
        if number == saved_after:
            seen.save(closing=True)
        if number % 100 == 99:
            store.commit()
    again = store.open(seen_capacity=1)
    assert set(again.known(marks)) == set(marks)


def test_a_save_empties_the_journal() -> None:
    """What the stored filter holds is not kept a second time."""
    store = Store()
    seen = store.open()
    for mark in _marks(100):
        seen.set(mark, None)
    store.commit()
    assert len(store.engine.scan(Table.SEEN)) == 100
    seen.save(closing=True)
    store.commit()
    assert store.engine.scan(Table.SEEN) == []
    assert len(store.open().known(_marks(100))) == 100


def test_a_damaged_layer_is_refused() -> None:
    """A layer whose bits changed is named, not used: it would lose URLs for ever."""
    store = Store()
    seen = store.open()
    for mark in _marks(10):
        seen.set(mark, None)
    seen.save(closing=True)
    store.commit()
    key, chunk = store.engine.scan(Table.FILTER)[0]
    store.batch.put(Table.FILTER, key, chunk[:-1] + bytes([chunk[-1] ^ 1]))
    store.commit()
    with pytest.raises(StoreError, match="layer 0"):
        store.open()


@pytest.mark.slow
def test_the_expected_loss_grows_with_the_error() -> None:
    """Stats tell capacity, fill, error and how many new URLs may have been lost."""
    seen = Store().open(seen_capacity=1, seen_error=0.1)
    for mark in _marks(60_000):
        seen.set(mark, None)
    stats = seen.stats()
    lost = 60_000 - stats["seen/keys"]
    assert stats["seen/error_now"] <= stats["seen/error_promised"] == 0.1
    assert stats["seen/expected_loss"] == pytest.approx(lost, rel=0.2)
    assert 0 < stats["seen/fill"] <= 1
