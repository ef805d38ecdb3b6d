"""The catalog when its server stops, its writer is killed or the power fails."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from crawler.errors import StoreError
from crawler.store.catalog import Catalog
from crawler.store.pages import PageQuery, all_pages
from tests.support.catalog_rows import AT, page
from tests.support.postgres import PASSWORD

GROUP = 20
WRITER = textwrap.dedent("""
    import sys
    from crawler.store.catalog import Catalog
    from tests.support.catalog_rows import AT, page

    catalog = Catalog.open(sys.argv[1])
    for group in range(int(sys.argv[2]), 100_000):
        numbers = range(group * 20, group * 20 + 20)
        catalog.write([page(n * 7_919 % 2_000, AT + n, title="t" * 500) for n in numbers])
        print(group, flush=True)
""")

READER = textwrap.dedent("""
    import sqlite3, sys

    rows = sqlite3.connect(sys.argv[1]).execute("SELECT url FROM pages")
    rows.fetchone()
    print("reading", flush=True)
    sys.stdin.read()
    print(1 + len(rows.fetchall()))
""")


def group(number):
    return [page(n, AT + n) for n in range(number * GROUP, (number + 1) * GROUP)]


def test_a_server_that_stops_loses_nothing(postgres):
    """While it is away a write says so; the same rows are written when it is back, also
    those of a write whose answer was cut off.
    """
    url = postgres.new_schema()
    catalog = Catalog.open(url)
    reader = Catalog.open(url, read_only=True)
    catalog.write(group(0))
    postgres.stop()
    try:
        for _ in range(2):
            with pytest.raises(StoreError, match="it can be tried again") as caught:
                catalog.write(group(1))
            assert PASSWORD not in str(caught.value)
            assert ":***@127.0.0.1" in str(caught.value)
        with pytest.raises(StoreError, match="it can be tried again"):
            reader.count()
    finally:
        postgres.start()
    catalog.write(group(0) + group(1))
    assert reader.count() == 2 * GROUP
    assert len(reader.history(page(1).url_hash)) == 1
    postgres.stop()
    postgres.start()
    catalog.write(group(2))
    assert reader.count() == 3 * GROUP
    catalog.close()
    reader.close()


def test_a_session_that_is_cut_off_amid_a_write_writes_nothing(postgres):
    """A transaction whose connection goes leaves neither pages nor visits nor counts."""
    catalog = Catalog.open(postgres.new_schema())
    catalog.write(group(0))
    rows = group(1)

    class Cutting(list):
        """Rows that end the server's sessions while they are being read."""

        def __iter__(self):
            yield from rows[:5]
            postgres.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
            yield from rows[5:]

    with pytest.raises(StoreError, match="cannot be used"):
        catalog.write(Cutting(rows))
    assert catalog.count() == GROUP
    catalog.write(rows)
    assert catalog.count() == 2 * GROUP
    assert len(list(all_pages(catalog, PageQuery()))) == 2 * GROUP
    catalog.close()


@pytest.mark.slow
def test_a_killed_writer_leaves_all_or_nothing_of_each_write(tmp_path):
    """After kill -9 at any moment each write that returned is there, and the one after it is
    whole or not at all; the next writer goes on.
    """
    path = str(tmp_path / "catalog.db")
    rng = random.Random(11)
    written = 0
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, path, str(written)], stdout=subprocess.PIPE, text=True
        )
        process.stdout.readline()
        time.sleep(rng.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[0].split()
        returned = int(said[-1]) + 1 if said else written + 1
        written = judge(path, returned)
    assert written > 20, "the writer was killed too early: nothing was tried"


def judge(path, returned):
    """Return how many groups a catalog has, after comparing all of it with them."""
    catalog = Catalog.open(path)
    visits = {}
    pages = list(all_pages(catalog, PageQuery(limit=500)))
    for row in pages:
        history = catalog.history(row.url_hash, limit=10_000)
        assert history[0].visited_at == row.fetched_at
        assert history[-1].visited_at == row.first_seen_at
        visits |= {visit.visited_at: row.url_hash for visit in history}
    groups = len(visits) // GROUP
    assert groups in (returned, returned + 1)
    expected = {AT + n: page(n * 7_919 % 2_000).url_hash for n in range(groups * GROUP)}
    assert visits == expected
    assert catalog.count() == len(pages) == len(set(expected.values()))
    assert sum(domain.pages for domain in catalog.domains()) == len(pages)
    catalog.close()
    return groups


@pytest.mark.slow
def test_a_power_cut_keeps_every_write_that_returned(tmp_path):
    """What a write has synced is enough: the files as they were when it returned, with what
    came after them in the log missing or noise, hold all of its rows and no part of more.

    The log is long enough for checkpoints in between.
    """
    path = tmp_path / "catalog.db"
    catalog = Catalog.open(str(path))
    with catalog.database._engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_autocheckpoint=50")
    rng = random.Random(3)
    for number in range(60):
        catalog.write(group(number))
        if number % 5:
            continue
        cut = tmp_path / f"cut{number}" / path.name
        cut.parent.mkdir()
        log = path.with_name(path.name + "-wal")
        synced = log.stat().st_size
        shutil.copy(path, cut)
        shutil.copy(log, cut.with_name(log.name))
        with cut.with_name(log.name).open("r+b") as file:
            file.seek(synced)
            file.write(rng.randbytes(rng.randrange(20_000)))
        found = Catalog.open(str(cut))
        assert found.count() == (number + 1) * GROUP
        assert len(list(all_pages(found, PageQuery()))) == (number + 1) * GROUP
        found.close()
    catalog.close()


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_readers_see_whole_writes_while_there_are_more(request, tmp_path, engine):
    """A reader neither waits for the writer nor stops it, and never sees part of a write."""
    url = str(tmp_path / "catalog.db")
    if engine == "postgresql":
        url = request.getfixturevalue("postgres").new_schema()
    catalog = Catalog.open(url)
    reader = Catalog.open(url, read_only=True)
    done = threading.Event()

    def write():
        for number in range(40):
            catalog.write(group(number))
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    while not done.is_set():
        seen.append((reader.count(), len(reader.pages(PageQuery(limit=5_000)).rows)))
    writer.join()
    seen.append((reader.count(), len(reader.pages(PageQuery(limit=5_000)).rows)))
    assert seen[-1] == (40 * GROUP, 40 * GROUP)
    assert len(set(seen)) > 2, "nothing was read meanwhile"
    assert seen == sorted(seen)
    assert {number % GROUP for pair in seen for number in pair} == {0}
    catalog.close()
    reader.close()


def test_a_long_read_does_not_stop_the_writer(tmp_path):
    """A transaction of a reader in another program, open for long, costs only room in the log."""
    path = str(tmp_path / "catalog.db")
    catalog = Catalog.open(path)
    catalog.write(group(0))
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout.readline() == "reading\n"
    for number in range(1, 20):
        catalog.write(group(number))
    assert catalog.count() == 20 * GROUP
    assert reader.communicate("")[0] == f"{GROUP}\n"
    catalog.close()
    assert [file.name for file in tmp_path.iterdir()] == ["catalog.db"]
