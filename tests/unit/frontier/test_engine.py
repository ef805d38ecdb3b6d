"""The contract of a storage engine; every engine passes these same tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawler.errors import StoreError
from crawler.frontier import Batch, Engine, MemoryEngine, RocksEngine
from crawler.frontier.engine import Table, all_rows

ENGINES: dict[str, Callable[[Path], Engine]] = {
    "memory": lambda _: MemoryEngine(),
    "rocksdb": lambda folder: RocksEngine(folder / "frontier"),
}


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    made = ENGINES[request.param](tmp_path)
    yield made
    made.close()


def _write(engine: Engine, table: Table, rows: dict[bytes, bytes | None]) -> None:
    batch = Batch()
    for key, value in rows.items():
        if value is None:
            batch.delete(table, key)
        else:
            batch.put(table, key, value)
    engine.write(batch)


@pytest.mark.parametrize("table", Table)
def test_get_many_answers_in_the_order_asked(engine: Engine, table: Table) -> None:
    """A value stands where its key was asked for, None where there is no row."""
    _write(engine, table, {b"a": b"1", b"b": b"2"})
    assert engine.get_many(table, [b"b", b"x", b"a", b"b"]) == [b"2", None, b"1", b"2"]
    assert engine.get_many(table, []) == []


@pytest.mark.parametrize("table", Table)
def test_scan_is_in_key_order_and_keeps_to_its_bounds(engine: Engine, table: Table) -> None:
    """Rows come in byte order, inside the prefix, beyond the bound, up to the limit."""
    _write(engine, table, {key: key for key in (b"b2", b"a", b"b10", b"b1", b"c", b"b")})
    keys = [key for key, _ in engine.scan(table, prefix=b"b")]
    assert keys == [b"b", b"b1", b"b10", b"b2"]
    assert [k for k, _ in engine.scan(table, prefix=b"b", after=b"b1")] == [b"b10", b"b2"]
    assert [k for k, _ in engine.scan(table, prefix=b"b", after=b"b1", limit=1)] == [b"b10"]
    keys = [k for k, _ in engine.scan(table) if k != b"format"]
    assert keys == [b"a", b"b", b"b1", b"b10", b"b2", b"c"]
    assert engine.scan(table, prefix=b"z") == []


def test_a_batch_deletes_what_it_says_and_nothing_else(engine: Engine) -> None:
    """Deletes of known and unknown keys work, and the last write of a key in a batch wins."""
    _write(engine, Table.QUEUE, {b"a": b"1", b"b": b"2"})
    batch = Batch()
    batch.delete(Table.QUEUE, b"a")
    batch.delete(Table.QUEUE, b"never there")
    batch.delete(Table.QUEUE, b"b")
    batch.put(Table.QUEUE, b"b", b"3")
    assert len(batch) == 3
    engine.write(batch)
    assert engine.scan(Table.QUEUE) == [(b"b", b"3")]


def test_tables_do_not_see_each_other(engine: Engine) -> None:
    """One key may stand in every table with a value of its own."""
    for table in Table:
        _write(engine, table, {b"k": table.value.encode()})
    assert [engine.get_many(table, [b"k"])[0] for table in Table] == [
        table.value.encode() for table in Table
    ]


def test_a_prefix_of_the_highest_bytes_has_an_end(engine: Engine) -> None:
    """A scan under a prefix that ends in 0xFF finds its rows and no others."""
    _write(engine, Table.QUEUE, {b"\xff\xff1": b"1", b"\xfe\xff2": b"2", b"\xff\x00": b"3"})
    assert [k for k, _ in engine.scan(Table.QUEUE, prefix=b"\xff\xff")] == [b"\xff\xff1"]
    assert [k for k, _ in engine.scan(Table.QUEUE, prefix=b"\xfe\xff")] == [b"\xfe\xff2"]


def test_rocksdb_keeps_what_was_written(tmp_path: Path) -> None:
    """A database that was closed and opened again has the same rows."""
    first = RocksEngine(tmp_path / "frontier")
    _write(first, Table.SEEN, {b"k": b"v"})
    first.close()
    again = RocksEngine(tmp_path / "frontier")
    assert again.get_many(Table.SEEN, [b"k"]) == [b"v"]
    again.close()


def test_rocksdb_refuses_another_format(tmp_path: Path) -> None:
    """A store of another version is named and left as it is."""
    store = RocksEngine(tmp_path / "frontier")
    _write(store, Table.META, {b"format": b"99"})
    store.close()
    with pytest.raises(StoreError, match="format 99"):
        RocksEngine(tmp_path / "frontier")


def test_rocksdb_refuses_a_damaged_store(tmp_path: Path) -> None:
    """A store whose files are gone or cut is refused with its name, never begun anew."""
    store = RocksEngine(tmp_path / "frontier")
    store.close()
    (tmp_path / "frontier" / "CURRENT").write_bytes(b"nonsense\n")
    with pytest.raises(StoreError, match="frontier cannot be opened"):
        RocksEngine(tmp_path / "frontier")


def test_all_rows_come_in_parts(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of any size is read in order and whole, and never held at once."""
    monkeypatch.setattr("crawler.frontier.engine._ROWS_AT_ONCE", 3)
    _write(engine, Table.QUEUE, {bytes([n]): b"%d" % n for n in range(10)})
    limits: list[int] = []
    scan = engine.scan

    def watched(table: Table, *, prefix: bytes = b"", after: bytes = b"", limit: int = 0):
        limits.append(limit)
        return scan(table, prefix=prefix, after=after, limit=limit)

    monkeypatch.setattr(type(engine), "scan", lambda _, table, **how: watched(table, **how))
    assert list(all_rows(engine, Table.QUEUE)) == [(bytes([n]), b"%d" % n) for n in range(10)]
    assert set(limits) == {3}
