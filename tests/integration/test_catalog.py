"""The contract of a catalog; SQLite and PostgreSQL pass these same tests."""

from __future__ import annotations

import random
import re
import sqlite3
import threading
from dataclasses import fields, replace
from itertools import count, product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from crawler.errors import StoreError
from crawler.store import catalog_schema
from crawler.store.catalog import Catalog
from crawler.store.catalog_copy import copy_catalog
from crawler.store.catalog_schema import METADATA, VERSION
from crawler.store.pages import DomainRow, Found, PageQuery, PageRow, VisitRow, all_pages
from tests.support.catalog_rows import AT, any_page, page

ENGINES = ("sqlite", "postgresql")
_shared = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(params=ENGINES)
def url(request, tmp_path):
    """An empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "catalog.db")
    return request.getfixturevalue("postgres").new_schema()


@pytest.fixture
def catalog(url):
    opened = Catalog.open(url)
    yield opened
    opened.close()


def stored(row):
    """Return a first visit as it is read again."""
    at = round(row.fetched_at * 1000) / 1000
    return replace(row, fetched_at=at, first_seen_at=at)


def documented(row):
    """Return a page with what docs/catalog.md says is replaced, cut or rounded."""

    def text(value, length=None):
        return value and re.sub("[\0\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", value)[:length]

    changes = {"robots": tuple(text(one) for one in row.robots)}
    for field in fields(PageRow):
        value = getattr(row, field.name)
        if isinstance(value, str):
            cut = 255 if field.name in ("domain", "outcome", "content_type") else None
            changes[field.name] = text(value, cut)
        elif field.name == "next_visit_at" and value is not None:
            changes[field.name] = round(value * 1000) / 1000
    return stored(replace(row, **changes))


def test_a_page_is_read_as_it_was_written(catalog):
    """Every field comes back; an unknown hash is None; the time is kept to the millisecond."""
    row = page(
        1, AT + 0.0004, next_visit_at=AT + 60, depth=3, referrer="http://r/", redirects=2,
        redirect_to="http://t/", cause="why", charset="utf-8", title="Tïtle", language="en",
        canonical_url="http://c/", robots=("noindex", "max-snippet:20"), etag='"e"',
        last_modified="yesterday", body_bytes=5 << 30, text_hash=b"t" * 16, simhash=2**64 - 1,
        duplicate_of="http://d/", duplicate_distance=3, text_offset=1 << 40, text_length=7,
        warc_file="w", warc_offset=1 << 41, warc_length=9,
    )  # fmt: skip
    catalog.write([row])
    assert catalog.page(row.url_hash) == stored(row)
    assert catalog.page(bytes(16)) is None


def test_many_pages_are_looked_up_together(catalog):
    """Those that are known are there under their hashes, however many are asked for."""
    catalog.write([page(n, AT + n) for n in range(0, 1200, 2)])
    asked = [n.to_bytes(16, "big") for n in range(1200)]
    found = catalog.pages_of([*asked, *asked])
    assert found == {key: catalog.page(key) for key in asked[::2]}
    assert catalog.pages_of([]) == {}


_examples = count(1)


@_shared
@given(data=st.data())
def test_any_page_can_be_kept(catalog, data):
    """Whatever the web sends is kept, but for what docs/catalog.md names; filters find it."""
    number = next(_examples)
    row = data.draw(
        any_page(number.to_bytes(8, "big") + data.draw(st.binary(min_size=8, max_size=8)))
    )
    catalog.write([row])
    read = catalog.page(row.url_hash)
    assert read == documented(row)
    asked = PageQuery(
        row.domain, since=read.fetched_at, status=row.status_code,
        content_type=row.content_type, outcome=row.outcome,
    )  # fmt: skip
    assert read in all_pages(catalog, asked)


def test_writing_the_same_rows_again_changes_nothing(catalog):
    """A replay after a crash, in whatever groups, leaves pages, histories and counts alone."""
    rows = [page(n % 7, AT + n, content_hash=bytes([n % 3] * 32)) for n in range(20)]
    catalog.write(rows)
    before = _everything(catalog)
    catalog.write(rows)
    catalog.write(rows[5:11])
    catalog.write([])
    assert _everything(catalog) == before
    assert before[0] == 7


def _everything(catalog):
    pages = catalog.pages(PageQuery(limit=1000)).rows
    histories = [catalog.history(row.url_hash) for row in pages]
    return catalog.count(), pages, histories, catalog.domains()


def test_a_later_visit_replaces_all_but_the_first_seen(catalog):
    """Also what was known and is not any more goes; an older visit goes to the history only."""
    catalog.write([page(1, AT, title="old", etag="e")])
    late = page(1, AT + 10, title="new", outcome="failed_server", status_code=500)
    catalog.write([late])
    expected = replace(stored(late), first_seen_at=AT)
    assert catalog.page(late.url_hash) == expected
    catalog.write([page(1, AT + 5, title="between")])
    assert catalog.page(late.url_hash) == expected
    assert [visit.visited_at for visit in catalog.history(late.url_hash)] == [AT + 10, AT + 5, AT]


def test_an_earlier_first_visit_is_the_first(catalog):
    """The order in which visits are written does not matter for when a page was first seen."""
    catalog.write([page(1, AT)])
    catalog.write([page(1, AT - 5), page(1, AT + 5)])
    assert catalog.page(page(1).url_hash).first_seen_at == AT - 5
    catalog.write([page(1, AT - 9)])
    read = catalog.page(page(1).url_hash)
    assert (read.first_seen_at, read.fetched_at) == (AT - 9, AT + 5)


def test_a_visit_says_whether_the_content_changed(catalog):
    """The first is a change; later ones are when their bytes have another hash, in one
    write or in several.
    """
    hashes = [b"a" * 32, b"a" * 32, b"b" * 32, None, None, b"b" * 32]
    rows = [page(1, AT + n, content_hash=one) for n, one in enumerate(hashes)]
    catalog.write(rows[:3])
    catalog.write(rows[3:])
    history = catalog.history(rows[0].url_hash)
    assert [visit.changed for visit in reversed(history)] == [True, False, True, True, False, True]
    assert history[-1] == VisitRow(
        rows[0].url_hash, AT, 200, "stored", changed=True, content_hash=b"a" * 32,
        warc_file=None, warc_offset=None, warc_length=None,
    )  # fmt: skip


def test_the_history_is_read_backwards_in_parts(catalog):
    """Each part ends where the next begins; ``before`` itself is not in it."""
    catalog.write([page(1, AT + n / 1000) for n in range(10)])
    key, seen, before = page(1).url_hash, [], None
    while part := catalog.history(key, limit=3, before=before):
        seen += [visit.visited_at for visit in part]
        before = seen[-1]
    assert seen == [round((AT + n / 1000) * 1000) / 1000 for n in range(9, -1, -1)]
    assert catalog.history(bytes(16)) == []


def test_domains_count_their_pages(catalog):
    """Each page is counted once, under its present domain; names come in code point order."""
    names = ["b.example", "B.example", "a.example", "é.example", "ab.example", "a-c.example"]
    catalog.write([page(n, AT + n, domain=name) for n, name in enumerate(names)])
    catalog.write([page(1, AT + 50, domain="B.example"), page(9, AT + 9, domain="b.example")])
    assert catalog.domains() == [
        DomainRow("B.example", 1, AT + 50),
        DomainRow("a-c.example", 1, AT + 5),
        DomainRow("a.example", 1, AT + 2),
        DomainRow("ab.example", 1, AT + 4),
        DomainRow("b.example", 2, AT + 9),
        DomainRow("é.example", 1, AT + 3),
    ]
    assert [one.domain for one in catalog.domains(limit=2, after="a.example")] == [
        "ab.example", "b.example",
    ]  # fmt: skip
    catalog.write([page(2, AT + 60, domain="ab.example")])
    counts = {one.domain: one.pages for one in catalog.domains()}
    assert "a.example" not in counts
    assert counts["ab.example"] == 2
    assert catalog.count() == 7


QUERIES = {
    "all": PageQuery(),
    "domain": PageQuery(domain="d1.example"),
    "since": PageQuery(since=AT + 0.2),
    "until": PageQuery(until=AT + 0.2),
    "stretch": PageQuery(since=AT + 0.1, until=AT + 0.3),
    "status": PageQuery(status=404),
    "common status": PageQuery(status=200),
    "media type": PageQuery(content_type="application/pdf"),
    "outcome": PageQuery(outcome="redirected"),
    "common outcome": PageQuery(outcome="stored"),
    "everything": PageQuery("d0.example", AT + 0.1, AT + 0.4, 404, "text/html", "failed_client"),
    "nothing": PageQuery(domain="none.example"),
}


@pytest.fixture
def varied(catalog):
    """A catalog of pages of which many share their time, and the pages."""
    rng = random.Random(5)
    kinds = [("stored", 200), ("redirected", 301), ("failed_client", 404)]
    rows = []
    for _ in range(150):
        outcome, status = rng.choice(kinds)
        rows.append(
            page(
                rng.getrandbits(128), AT + rng.randrange(50) / 100, outcome=outcome,
                status_code=status, domain=f"d{rng.randrange(3)}.example",
                content_type=rng.choice(["text/html", "application/pdf", None]),
            )
        )  # fmt: skip
    catalog.write(rows)
    return catalog, rows


def _matching(rows, query):
    wanted = [
        ("domain", query.domain), ("status_code", query.status),
        ("content_type", query.content_type), ("outcome", query.outcome),
    ]  # fmt: skip
    return sorted(
        (
            stored(row)
            for row in rows
            if all(value is None or getattr(row, name) == value for name, value in wanted)
            and (query.since is None or stored(row).fetched_at >= query.since)
            and (query.until is None or stored(row).fetched_at < query.until)
        ),
        key=lambda row: (row.fetched_at, row.url_hash),
        reverse=query.newest_first,
    )


@pytest.mark.parametrize("newest_first", [False, True], ids=["up", "down"])
@pytest.mark.parametrize("name", QUERIES)
def test_answers_joined_are_all_pages_in_order(varied, name, newest_first):
    """Nothing is left out or comes twice between two answers, also among equal times."""
    catalog, rows = varied
    query = replace(QUERIES[name], newest_first=newest_first)
    expected = _matching(rows, query)
    assert bool(expected) == (name != "nothing")
    for limit in (1, 7, len(expected) or 1, 1000):
        assert list(all_pages(catalog, replace(query, limit=limit))) == expected


def test_the_last_answer_has_no_cursor(varied):
    """Also when it is full."""
    catalog, rows = varied
    found = catalog.pages(PageQuery(limit=len(rows)))
    assert (len(found.rows), found.cursor) == (len(rows), None)
    assert catalog.pages(PageQuery(domain="none.example")) == Found([], None)


def test_a_cursor_does_not_widen_its_query(varied):
    """A cursor from outside the stretch that is asked for does not leave the stretch."""
    catalog, rows = varied
    first = catalog.pages(PageQuery(limit=1)).cursor
    last = catalog.pages(PageQuery(limit=1, newest_first=True)).cursor
    up = PageQuery(since=AT + 0.2, limit=1000)
    down = PageQuery(until=AT + 0.2, limit=1000, newest_first=True)
    assert catalog.pages(replace(up, cursor=first)).rows == _matching(rows, up)
    assert catalog.pages(replace(down, cursor=last)).rows == _matching(rows, down)


def test_a_bound_is_exact_to_the_millisecond(catalog):
    """A page at ``since`` is in the answer, a page at ``until`` is not."""
    rows = [page(n, AT + n / 1000) for n in range(300)]
    catalog.write(rows)
    for row in map(stored, rows[::7]):
        at = row.fetched_at
        assert catalog.pages(PageQuery(since=at, limit=1)).rows == [row]
        down = catalog.pages(PageQuery(until=at, newest_first=True, limit=1)).rows
        assert [one.fetched_at < at for one in down] == [True] * (row.url_hash != rows[0].url_hash)
        assert catalog.pages(PageQuery(since=at + 1e-5, until=at + 9e-4)).rows == []


@pytest.mark.parametrize(
    "cursor", ["", "x", "AAAA", "ä" * 32, "A" * 31, "A" * 33, "A" * 32 + "\n", "=" * 32, "A" * 400]
)
def test_a_cursor_of_somebody_else_is_refused(catalog, cursor):
    """Garbage is named as such, before the database is asked."""
    with pytest.raises(ValueError, match=r"cursor .* was not given"):
        catalog.pages(PageQuery(cursor=cursor))


def test_no_limit_below_one(catalog):
    """An answer of no rows would never end."""
    for ask in (
        lambda: catalog.pages(PageQuery(limit=0)),
        lambda: catalog.domains(limit=-1),
        lambda: catalog.history(bytes(16), limit=0),
    ):
        with pytest.raises(ValueError, match="at least 1"):
            ask()


def test_more_rows_than_a_statement_takes(catalog):
    """A long outage leaves many rows, which are written as one."""
    rows = [page(n, AT + n / 100) for n in range(1_700)]
    catalog.write(rows)
    catalog.write([replace(row, fetched_at=row.fetched_at + 100) for row in rows])
    assert catalog.count() == 1_700
    assert len(catalog.history(rows[-1].url_hash)) == 2


def test_what_was_written_is_there_when_opened_again(url):
    """Other connections and later processes see it; a second opening makes nothing anew."""
    first = Catalog.open(url)
    first.write([page(1)])
    reader = Catalog.open(url, read_only=True)
    assert reader.page(page(1).url_hash) == stored(page(1))
    first.close()
    first.close()
    assert reader.count() == 1
    reader.close()
    again = Catalog.open(url)
    assert again.count() == 1
    again.close()


def test_a_reader_changes_nothing(url, catalog):
    """Who opened a catalog for reading cannot write to it."""
    reader = Catalog.open(url, read_only=True)
    with pytest.raises(StoreError, match="reading only"):
        reader.write([page(1)])
    assert reader.count() == 0
    reader.close()


def test_writers_come_one_after_the_other(url):
    """Two that write the same URLs at once leave the counts right."""
    writers = [Catalog.open(url) for _ in range(2)]
    failures = []

    def write(number):
        try:
            for n in range(15):
                at = AT + n + number / 2
                writers[number].write([page(n, at), page(100 + n, at), page(200 + number * 50 + n)])
        except StoreError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert writers[0].count() == 60
    assert writers[1].domains() == [DomainRow("example.com", 60, AT + 14.5)]
    assert len(writers[0].history(page(3).url_hash)) == 2
    for writer in writers:
        writer.close()


def test_a_catalog_of_a_newer_program_is_refused(url):
    """It is named with both versions and left alone."""
    catalog = Catalog.open(url)
    catalog.write([page(1)])
    _execute(catalog, f"UPDATE catalog SET version = {VERSION + 1}")
    with pytest.raises(StoreError, match=f"brought to version {VERSION + 1} by a newer program"):
        catalog.write([page(2)])
    catalog.close()
    for read_only in (False, True):
        with pytest.raises(StoreError, match=rf"version {VERSION + 1}.*up to {VERSION}: use the"):
            Catalog.open(url, read_only=read_only)


def test_an_older_catalog_is_brought_up_to_date(url, monkeypatch):
    """Step by step, for who may write; a reader is told that it is to be done."""
    catalog = Catalog.open(url)
    catalog.write([page(1), page(2)])
    catalog.close()
    monkeypatch.setattr(catalog_schema, "VERSION", VERSION + 2)
    steps = {
        VERSION: lambda at: at.exec_driver_sql("ALTER TABLE domains ADD COLUMN seen BIGINT"),
        VERSION + 1: lambda at: at.exec_driver_sql("UPDATE domains SET seen = pages"),
    }
    monkeypatch.setattr(catalog_schema, "MIGRATIONS", steps)
    with pytest.raises(StoreError, match=f"version {VERSION} instead of {VERSION + 2}: a crawl"):
        Catalog.open(url, read_only=True)
    Catalog.open(url).close()
    catalog = Catalog.open(url, read_only=True)
    assert catalog.count() == 2
    assert _rows(catalog, "SELECT version FROM catalog") == [(VERSION + 2,)]
    assert _rows(catalog, "SELECT seen FROM domains") == [(2,)]
    catalog.close()


def test_a_migration_that_fails_leaves_the_old_catalog(url, monkeypatch):
    """Half a step is no step."""
    Catalog.open(url).close()
    monkeypatch.setattr(catalog_schema, "VERSION", VERSION + 1)

    def fail(connection):
        connection.exec_driver_sql("ALTER TABLE domains ADD COLUMN seen BIGINT")
        connection.exec_driver_sql("SELECT one FROM nowhere")

    monkeypatch.setattr(catalog_schema, "MIGRATIONS", {VERSION: fail})
    with pytest.raises(StoreError, match="nowhere"):
        Catalog.open(url)
    monkeypatch.undo()
    catalog = Catalog.open(url)
    assert _rows(catalog, "SELECT version FROM catalog") == [(VERSION,)]
    with pytest.raises(StoreError, match="seen"):
        _rows(catalog, "SELECT seen FROM domains")
    catalog.close()


def test_tables_of_something_else_are_left_alone(url):
    """A database in which our names are taken is refused and stays as it was."""
    catalog = Catalog.open(url)
    for table in ("catalog", "visits", "domains"):
        _execute(catalog, f"DROP TABLE {table}")
    catalog.close()
    for read_only in (False, True):
        with pytest.raises(StoreError, match="belong to something else; name another"):
            Catalog.open(url, read_only=read_only)


def test_a_reader_makes_no_tables(url):
    """An empty database stays empty, and the message says who fills it."""
    if "://" not in url:
        sqlite3.connect(url).execute("PRAGMA user_version = 1").close()
    with pytest.raises(StoreError, match="has no tables yet: a crawl"):
        Catalog.open(url, read_only=True)


def test_a_catalog_moves_into_another_database(request, url, varied, tmp_path, monkeypatch):
    """Pages, histories, domains and counts are the same there, and it can be gone on with."""
    monkeypatch.setattr("crawler.store.catalog_copy._ROWS_AT_ONCE", 40)
    catalog, rows = varied
    catalog.write([page(1, robots=("noindex",), simhash=2**64 - 1, title="é\0")])
    catalog.write([replace(row, fetched_at=row.fetched_at + 9) for row in rows[:50]])
    back = str(tmp_path / "back.db")
    there = str(tmp_path / "there.db")
    if "://" not in url:
        there = request.getfixturevalue("postgres").new_schema()
    assert copy_catalog(url, there) == len(rows) + 1
    assert copy_catalog(there, back) == len(rows) + 1
    moved = Catalog.open(back)
    assert _everything(moved) == _everything(catalog)
    moved.write([page(2)])
    assert moved.count() == len(rows) + 2
    moved.close()
    with pytest.raises(StoreError, match="has pages: name an empty one"):
        copy_catalog(url, back)


def test_every_question_has_its_index(url):
    """No question walks through the table, and none sorts: the plan is the promise.

    PostgreSQL plans by statistics and takes a walk through a small table; here it may not.
    """
    if "://" in url:
        url += "".join(f"%20-cenable_{way}%3Doff" for way in ("seqscan", "bitmapscan", "sort"))
    catalog = Catalog.open(url)
    catalog.write([page(n, AT + n, status_code=404) for n in range(3)])
    rare = {"status": 404, "outcome": "redirected", "content_type": "application/pdf"}
    cursor = catalog.pages(PageQuery(limit=1)).cursor
    times = ({}, {"since": AT}, {"until": AT + 1}, {"since": AT, "until": AT + 1, "cursor": cursor})
    for domain, asked, stretch, newest_first in product(
        (None, "d1.example"),
        ({}, *({name: value} for name, value in rare.items())),
        times,
        (False, True),
    ):
        query = PageQuery(domain, newest_first=newest_first, **asked, **stretch)
        plan = _plan(catalog, query)
        key = "".join(asked).replace("status", "status_code")
        index = "_".join(filter(None, ["pages_by", domain and "domain", key])).removesuffix("_")
        index = "pages_by_time" if index == "pages_by" else index
        if catalog.database.dialect == "postgresql":  # of those that fit it takes any here
            index = r"pages_by_\w+"
        assert re.search(rf"\b{index}\b", plan), (query, plan)
        assert not re.search("TEMP B-TREE|Sort|Seq Scan", plan), (query, plan)
        if stretch and catalog.database.dialect == "sqlite":
            assert re.search(r"fetched_at(,url_hash\))?[<>]", plan), (query, plan)
    catalog.close()


def _plan(catalog, query):
    """Return how the database would go about it."""
    plans = []

    def explain(connection, cursor, statement, parameters, context, many):
        how = "EXPLAIN " if catalog.database.dialect == "postgresql" else "EXPLAIN QUERY PLAN "
        plans.extend(cursor.execute(how + statement, parameters).fetchall())

    engine = catalog.database._engine
    event.listen(engine, "before_cursor_execute", explain)
    catalog.pages(query)
    event.remove(engine, "before_cursor_execute", explain)
    return "; ".join(row[-1] for row in plans)


def test_the_examples_of_the_document_answer(varied):
    """Each statement of docs/catalog.md runs where it says it does, and finds something."""
    catalog, _ = varied
    catalog.write([page(1, status_code=404, domain="example.com")])
    text = (Path(__file__).parents[2] / "docs" / "catalog.md").read_text("utf-8")
    statements = re.search(r"^```sql\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1].split(";\n")
    foreign = {"sqlite": "to_timestamp", "postgresql": "datetime("}[catalog.database.dialect]
    run = [one for one in statements if one.strip() and foreign not in one]
    assert len(run) == 3
    for statement in run:
        assert _rows(catalog, statement), statement


def test_the_columns_are_the_fields():
    """Whoever adds a field to a page or a visit adds its column, in its place."""
    tables = METADATA.tables
    assert tables["pages"].c.keys() == [field.name for field in fields(PageRow)]
    assert tables["visits"].c.keys() == list(VisitRow._fields)
    assert tables["domains"].c.keys() == list(DomainRow._fields)


def _execute(catalog, statement):
    with catalog.database.writing() as connection:
        connection.exec_driver_sql(statement)


def _rows(catalog, statement):
    return [
        tuple(row) for row in catalog.database.read(lambda c: c.exec_driver_sql(statement).all())
    ]
