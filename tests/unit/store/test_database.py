"""Which database a URL names, and what is said when it is none or out of reach."""

from __future__ import annotations

import sqlite3
import sys
import tomllib
from pathlib import Path

import pytest

from crawler.errors import StoreError
from crawler.store.catalog import Catalog
from crawler.store.database import DRIVER, open_database
from tests.support.catalog_rows import page

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://u:pw@h/d", r"mysql://u:\*\*\*@h/d: a catalog is not kept in mysql: give a path"),
        ("postgres://u:pw@h/d", "is not kept in postgres: give a path, sqlite:///PATH or"),
        ("postgresql+psycopg2://h/d", r"is not kept in postgresql\+psycopg2"),
        ("sqlite://", "names no file, or more than that: give sqlite:///PATH"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite:///a.db?mode=ro", "or more than that"),
        ("postgresql://u:pw@h:port/d", r"postgresql://\*\*\*@h:port/d is no URL of a database"),
        ("://", "is no URL of a database: give a path"),
    ],
)
def test_a_url_of_another_kind_is_refused(url, said):
    """The message has the URL without its password, and the forms that are known."""
    with pytest.raises(StoreError, match=said) as caught:
        open_database(url, read_only=False)
    assert "pw" not in str(caught.value)


def test_a_path_and_its_url_are_one_file(tmp_path):
    """Odd names are no trouble."""
    path = tmp_path / "a b%20?#é.db"
    catalog = Catalog.open(str(path))
    catalog.write([page(1)])
    catalog.close()
    assert path.exists()
    escaped = str(path).replace("%", "%25").replace("?", "%3F").replace("#", "%23")
    for name in (str(path), f"sqlite:///{escaped}"):
        reader = Catalog.open(name, read_only=True)
        assert reader.count() == 1
        reader.close()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_server_out_of_reach_is_named_without_its_password():
    """And with what to look at; also when the password stands among the options."""
    for url in (
        "postgresql://u:hidden@127.0.0.1:1/d",
        "postgresql://127.0.0.1:1/d?user=u&password=hidden",
    ):
        with pytest.raises(StoreError, match="see that the server runs and is reach") as caught:
            Catalog.open(url)
        assert "127.0.0.1" in str(caught.value)
        assert "***" in str(caught.value)
        assert "hidden" not in str(caught.value)


def test_a_missing_driver_is_named_with_its_command(monkeypatch):
    """The command installs what pyproject.toml has for its extra, in the tested version."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'psycopg\[binary\]==") as caught:
        Catalog.open("postgresql://u:hidden@127.0.0.1/d")
    assert f"pip install '{DRIVER}'" in str(caught.value)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["optional-dependencies"]["postgresql"] == [DRIVER]
    assert f"\n{DRIVER}\n" in (ROOT / "requirements-dev.txt").read_text()


def test_a_directory_that_is_missing_is_not_made(tmp_path):
    """A typing error makes no directory and no file."""
    with pytest.raises(StoreError, match="make its directory"):
        Catalog.open(str(tmp_path / "none" / "catalog.db"))
    with pytest.raises(StoreError, match="unable to open"):
        Catalog.open(str(tmp_path / "catalog.db"), read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_something_else_is_refused(tmp_path):
    """It stays as it is."""
    path = tmp_path / "notes.txt"
    path.write_text("no database " * 100)
    for read_only in (False, True):
        with pytest.raises(StoreError, match="the file is something else's"):
            Catalog.open(str(path), read_only=read_only)
    assert path.read_text() == "no database " * 100
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_leaves_no_files(tmp_path):
    """Neither beside a file that rests nor beside one that is written to."""
    path = str(tmp_path / "catalog.db")
    writer = Catalog.open(path)
    writer.close()
    reader = Catalog.open(path, read_only=True)
    assert reader.count() == 0
    assert [file.name for file in tmp_path.iterdir()] == ["catalog.db"]
    writer = Catalog.open(path)
    writer.write([page(1)])
    assert reader.count() == 1
    writer.close()
    assert reader.count() == 1
    reader.close()
    assert [file.name for file in tmp_path.iterdir()] == ["catalog.db"]


def test_a_file_that_changed_while_it_was_read_is_read_again(tmp_path):
    """A reader of a file at rest holds no lock; a writer that comes meanwhile is noticed."""
    path = str(tmp_path / "catalog.db")
    Catalog.open(path).close()
    database = open_database(path, read_only=True)
    seen = []

    def work(connection):
        seen.append(connection.exec_driver_sql("SELECT pages FROM catalog").scalar())
        if len(seen) == 1:
            writer = Catalog.open(path)
            writer.write([page(1)])
            writer.close()
        return seen[-1]

    assert database.read(work) == 1
    assert seen == [0, 1]
    database.close()


def test_a_full_database_keeps_nothing_and_goes_on_with_room(tmp_path):
    """The rows of a write that failed are not there; the same rows succeed later."""
    catalog = Catalog.open(str(tmp_path / "catalog.db"))
    catalog.write([page(0)])
    rows = [page(n, title="x" * 5_000) for n in range(1, 200)]
    with catalog.database._engine.connect() as connection:  # the pool's only one
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 20}")
    with pytest.raises(StoreError, match="make room on the disk; it can be tried again"):
        catalog.write(rows)
    assert catalog.count() == 1
    with catalog.database._engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1000000")
    catalog.write(rows)
    assert catalog.count() == 200
    catalog.close()


def test_a_busy_database_is_given_up_after_a_while(tmp_path, monkeypatch):
    """Who meets another writer that does not end says so, and may try again."""
    monkeypatch.setattr("crawler.store.database._BUSY", 0.05)
    path = str(tmp_path / "catalog.db")
    catalog = Catalog.open(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="another process writes to it; it can be tried"):
        catalog.write([page(1)])
    other.execute("ROLLBACK")
    other.close()
    catalog.write([page(1)])
    assert catalog.count() == 1
    catalog.close()


def test_a_commit_is_on_disk_when_it_returns(tmp_path):
    """SQLite syncs its log at each commit: level 2, which is FULL, in WAL mode."""
    catalog = Catalog.open(str(tmp_path / "catalog.db"))
    with catalog.database.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    catalog.close()
