"""Which index SQLite walks: the first pages of a long list are read without a scan and without a sort."""

import sqlite3
from collections.abc import Iterator

import pytest

from deerflow_lite.db import Database
from deerflow_lite.threads import schema
from deerflow_lite.threads.filters import Clause, StatusIs, TitleHas, parse_metadata
from deerflow_lite.threads.flags import archived_clause
from deerflow_lite.threads.model import Change, Page
from deerflow_lite.threads.sqlite import SqliteThreads
from tests.threads.given import made

FIRST = Page(limit=10)
AFTER = Page(limit=10, cursor=(0, "2999", "x"))
ASKED: dict[str, tuple[list[Clause], Page]] = {
    "list": ([], FIRST),
    "cursor": ([], AFTER),
    "archived": ([archived_clause(True)], FIRST),
    "active": ([archived_clause(False)], FIRST),
    "active by cursor": ([archived_clause(False)], AFTER),
    "busy": ([StatusIs("busy")], FIRST),
    "busy and active": ([StatusIs("busy"), archived_clause(False)], AFTER),
    "idle": ([StatusIs("idle")], FIRST),
    "common metadata": (parse_metadata({"common": "x"}), FIRST),
    "common metadata by cursor": ([*parse_metadata({"common": "x"}), archived_clause(False)], AFTER),
    "title": ([TitleHas("t")], FIRST),
    "created_at": ([], Page(limit=10, sort_by="created_at")),
    "created_at upward": ([], Page(limit=10, sort_by="created_at", descending=False)),
    "updated_at upward": ([], Page(limit=10, sort_by="updated_at", descending=False)),
    "state_updated_at": ([], Page(limit=10, sort_by="state_updated_at")),
    "thread_id": ([], Page(limit=10, sort_by="thread_id")),
}
RARE = parse_metadata({"rare": "x"})


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """5,100 threads of one owner: enough for a value that is too common to narrow by."""
    database = Database(tmp_path_factory.mktemp("plans") / "threads.sqlite", "normal")
    database.migrate(schema.MIGRATIONS)
    store = SqliteThreads(database)
    with database.writing():
        for number in range(5100):
            made(store, f"t{number}", {"common": "x", "n": number, "deerflow_archived": number % 10 == 0})
        store.change("U1", "t1", Change(status="busy", metadata={"rare": "x"}, title="t"))
    yield database
    database.close()


def plans(database: Database, clauses: list[Clause], page: Page) -> list[str]:
    """Give the steps of every statement that the search really sends."""
    sent: list[str] = []
    with database.reading() as connection:
        connection.set_trace_callback(sent.append)
    SqliteThreads(database).search("U1", clauses, page)
    with database.reading() as connection:
        connection.set_trace_callback(None)
        return [step for text in sent if text.startswith(("SELECT", "WITH")) for step in explained(connection, text)]


def explained(connection: sqlite3.Connection, text: str) -> list[str]:
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}")]


@pytest.mark.parametrize("analyzed", [False, True], ids=["fresh", "analyzed"])
def test_no_list_scans_the_threads_or_sorts_them(full: Database, analyzed: bool) -> None:
    full.writer.execute("ANALYZE" if analyzed else "DROP TABLE IF EXISTS sqlite_stat1")
    for name, (clauses, page) in ASKED.items():
        steps = plans(full, clauses, page)
        assert steps, name
        assert [step for step in steps if step.startswith("SCAN threads") or "TEMP B-TREE" in step] == [], name
        assert any("USING COVERING INDEX threads_" in step or "USING INDEX threads_" in step for step in steps), name


@pytest.mark.parametrize("analyzed", [False, True], ids=["fresh", "analyzed"])
def test_a_rare_value_is_looked_up_by_its_entries(full: Database, analyzed: bool) -> None:
    full.writer.execute("ANALYZE" if analyzed else "DROP TABLE IF EXISTS sqlite_stat1")
    steps = plans(full, [*RARE, archived_clause(False)], FIRST)
    assert "SEARCH m USING COVERING INDEX thread_meta_values (owner=? AND key=? AND type=? AND value=?)" in steps
    assert "SEARCH threads USING INTEGER PRIMARY KEY (rowid=?)" in steps
    assert [step for step in steps if "INDEX threads_" in step] == []
