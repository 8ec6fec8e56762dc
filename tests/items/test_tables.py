"""Our tables are those of LangGraph's SqliteStore: what either writes the other reads."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.sqlite import SqliteStore

from deerflow_lite.db import Database
from deerflow_lite.items import tables
from deerflow_lite.items.desk import Items
from deerflow_lite.journal import Journal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.sqlite"


@pytest.fixture
def stock(path: Path) -> Iterator[SqliteStore]:
    """LangGraph's own store on the same file."""
    with SqliteStore.from_conn_string(str(path)) as store:
        yield store


@pytest.fixture
def items(path: Path) -> Iterator[Items]:
    db = Database(path)
    db.migrate(tables.MIGRATIONS)
    journal = Journal(db)
    yield Items(db, journal)
    journal.close()
    db.close()


def shape(connection: sqlite3.Connection) -> list[Any]:
    """Give the columns of the store, its indexes and the versions of its migrations."""
    return [
        [(row[1], row[2].lower(), *row[3:]) for row in connection.execute("PRAGMA table_info(store)")],
        sorted(row[1:] for row in connection.execute("PRAGMA index_list(store)")),
        connection.execute("SELECT v FROM store_migrations ORDER BY v").fetchall(),
    ]


def test_the_tables_are_those_that_the_stores_setup_makes(items: Items, path: Path) -> None:
    ours, theirs = sqlite3.connect(path), sqlite3.connect(":memory:")
    SqliteStore(theirs).setup()
    assert shape(ours) == shape(theirs)
    ours.close()
    theirs.close()


def test_langgraphs_own_store_reads_what_ours_put_and_ours_reads_what_it_put(items: Items, stock: SqliteStore) -> None:
    items.put("ada", ["a"], "k", {"n": 1}, 10)
    found = stock.get(("ada", "a"), "k")
    assert found is not None and found.value == {"n": 1}
    assert [item.key for item in stock.search(("ada",), filter={"n": 1})] == ["k"]
    assert stock.sweep_ttl() == 0
    stock.put(("ada", "a"), "k", {"n": 2})
    stock.put(("ada", "b"), "k", {"n": 3})
    item = items.get("ada", ["a"], "k")
    assert item is not None and (item["value"], len(item["created_at"])) == ({"n": 2}, 32)
    assert items.namespaces("ada", None, None, None, 10, 0) == [["a"], ["b"]]


def test_a_file_of_an_older_store_gets_its_missing_columns(path: Path) -> None:
    old = sqlite3.connect(path)
    for statement in SqliteStore.MIGRATIONS[:2]:
        old.executescript(statement)
    old.execute("INSERT INTO store (prefix, key, value) VALUES ('ada.a', 'k', '{\"n\":1}')")
    old.commit()
    old.close()
    db = Database(path)
    db.migrate(tables.MIGRATIONS)
    journal = Journal(db)
    item = Items(db, journal).get("ada", ["a"], "k")
    assert item is not None and item["value"] == {"n": 1}
    journal.close()
    db.close()
