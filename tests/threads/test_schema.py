"""What the schema keeps by itself, whoever writes the file."""

import random
import sqlite3
from pathlib import Path

import pytest

from deerflow_lite.db import Database
from deerflow_lite.threads import schema
from deerflow_lite.threads.changing import merge_meta
from deerflow_lite.threads.filters import MetadataIs, parse_metadata
from deerflow_lite.threads.flags import archived_clause
from deerflow_lite.threads.model import Change, Page
from deerflow_lite.threads.sqlite import SqliteThreads
from tests.threads.given import all_ids, head, ids, made


@pytest.fixture
def other(db: Database) -> sqlite3.Connection:
    """Another program with the file open: no function of ours, none of our settings."""
    connection = sqlite3.connect(db.path, isolation_level=None)
    yield connection
    connection.close()


def entries(db: Database) -> list[tuple[object, ...]]:
    return db.writer.execute("SELECT row, key, owner, type, value FROM thread_meta ORDER BY row, key").fetchall()


def test_entries_of_metadata_follow_every_write_of_another_program(
    db: Database, sql: SqliteThreads, other: sqlite3.Connection
) -> None:
    row = made(sql, "T1", {"a": 1, "b": "x", "c": None, "d": True, "e": [1], "f": "y" * 300}).row
    assert entries(db) == [
        (row, "a", "U1", "number", 1), (row, "b", "U1", "text", "x"), (row, "c", "U1", "null", ""),
        (row, "d", "U1", "true", ""), (row, "f", "U1", "long", "y" * 200),
    ]  # fmt: skip
    other.execute("""UPDATE threads SET metadata = '{"a":2,"b":"x","deerflow_archived":true}'""")
    assert entries(db) == [
        (row, "a", "U1", "number", 2), (row, "b", "U1", "text", "x"), (row, "deerflow_archived", "U1", "true", ""),
    ]  # fmt: skip
    assert (all_ids(sql, *parse_metadata({"a": 2})), all_ids(sql, archived_clause(True))) == (["T1"], ["T1"])
    other.execute("UPDATE threads SET owner = 'U2'")
    assert (all_ids(sql, *parse_metadata({"a": 2})), sql.count("U1", []), sql.count("U1", [archived_clause(True)])) == (
        [],
        0,
        0,
    )
    assert all_ids(sql, *parse_metadata({"a": 2}), owner="U2") == ["T1"]
    assert (sql.count("U2", []), sql.count("U2", [archived_clause(True)])) == (1, 1)
    other.execute("DELETE FROM threads")
    assert (entries(db), sql.count("U2", []), sql.count("U2", [archived_clause(True)])) == ([], 0, 0)


ODD = [
    None, True, False, 0, 1.0, -1, 2**53 + 1, 2**63 - 1, 0.1 + 0.2, 1e300, 5e-324, "", "1", "é😀", "'", "\u2028\x01",
    "x" * 200, "x" * 201, "é" * 201, "😀" * 200, [], {}, [1], {"k": 1},
]  # fmt: skip


def test_what_the_store_files_is_what_the_trigger_files_for_another_program(
    db: Database, sql: SqliteThreads, other: sqlite3.Connection
) -> None:
    rnd = random.Random(11)
    made(sql, "T1", {})
    for step in range(300):
        patch = {rnd.choice(["a", "b", "c", "deerflow_pinned", "long" * 20, "é"]): rnd.choice(ODD) for _ in range(3)}
        patch |= {"deerflow_pinned": rnd.random() < 0.5}
        change = Change(metadata=patch, defaults={"d": step}) if step % 5 else Change(defaults={"e": None, "d": 1})
        sql.change("U1", "T1", change)
        filed = entries(db)
        with db.writing() as connection:
            connection.execute("DELETE FROM thread_meta")
            described = connection.execute("SELECT described FROM threads").fetchone()
            connection.execute("UPDATE threads SET metadata = metadata || ' '")
            connection.execute("UPDATE threads SET described = ?", described)
        assert filed == entries(db), (step, patch)
        if rnd.random() < 0.2:
            other.execute('UPDATE threads SET metadata = \'{"a":1,"a":2,"z":[]}\'')


def test_archived_totals_follow_patches_and_bulk(db: Database, sql: SqliteThreads) -> None:
    for name in ("T1", "T2", "T3"):
        made(sql, name)
    sql.change("U1", "T1", Change(metadata={"deerflow_archived": True}))
    sql.archive("U1", ["T1", "T2"], None, True, False)
    sql.change("U1", "T1", Change(metadata={"deerflow_archived": False, "k": 1}))
    assert db.writer.execute("SELECT * FROM thread_totals").fetchall() == [("U1", 3, 1)]
    assert all_ids(sql, *parse_metadata({"deerflow_archived": True})) == ["T2"]
    sql.change("U1", "T2", Change(metadata={"k": 2}))
    assert all_ids(sql, *parse_metadata({"deerflow_archived": True, "k": 2})) == ["T2"]


def test_values_of_a_head_go_with_the_row_whoever_deletes_it(
    db: Database, sql: SqliteThreads, other: sqlite3.Connection
) -> None:
    made(sql, "T1")
    sql.change("U1", "T1", Change(head="c1", values=head("c1")))
    other.execute("DELETE FROM threads")
    assert db.writer.execute("SELECT count(*) FROM head_values").fetchone() == (0,)


def test_of_two_equal_keys_the_first_counts_in_page_and_total_alike(
    sql: SqliteThreads, other: sqlite3.Connection
) -> None:
    made(sql, "T1")
    other.execute("""UPDATE threads SET metadata = '{"k":1,"k":2}'""")
    for value, hits in ((1, ["T1"]), (2, [])):
        found = sql.search("U1", [MetadataIs("k", value)], Page())
        assert (ids(found), found.total, sql.count("U1", [MetadataIs("k", value)])) == (hits, len(hits), len(hits))


@pytest.mark.parametrize("text", ["", "[]", "1", "null", "{", '{"a":NaN}', '{"a":Infinity}', "{'a':1}"])
def test_metadata_that_is_no_json_object_is_refused_by_the_table_itself(
    db: Database, sql: SqliteThreads, other: sqlite3.Connection, text: str
) -> None:
    before = made(sql, "T1", {"k": 1})
    with pytest.raises((sqlite3.IntegrityError, sqlite3.OperationalError)):
        other.execute("UPDATE threads SET metadata = ?", (text,))
    assert (sql.get("U1", "T1"), all_ids(sql, *parse_metadata({"k": 1}))) == (before, ["T1"])


def test_a_row_number_is_never_given_twice(sql: SqliteThreads) -> None:
    rows = []
    for _ in range(3):
        rows.append(made(sql, "T1").row)
        sql.delete("U1", "T1")
    assert rows == sorted(set(rows))


def test_migrating_again_changes_nothing(db: Database, sql: SqliteThreads) -> None:
    before = made(sql, "T1", {"k": 1})
    db.migrate(schema.MIGRATIONS)
    assert sql.get("U1", "T1") == before


def test_a_file_opened_again_holds_the_same_threads(tmp_path: Path) -> None:
    kept = []
    for _ in range(2):
        database = Database(tmp_path / "again.sqlite", "normal")
        database.migrate(schema.MIGRATIONS)
        store = SqliteThreads(database)
        if not kept:
            kept.append(made(store, "T1", {"k": "ü"}))
        kept.append(store.get("U1", "T1"))
        database.close()
    assert kept == [kept[0]] * 3


@pytest.mark.parametrize(
    ("metadata", "patch", "merged"),
    [
        ('{"b":1,"a":2}', '{"c":null,"b":{"x":1}}', '{"b":{"x":1},"a":2,"c":null}'),
        ('{"a":{"x":1}}', '{"a":{"y":2}}', '{"a":{"y":2}}'),
        ('{ "é" : 1.0 }', "{}", '{"é":1.0}'),
    ],
)
def test_merging_is_that_of_dict_update(metadata: str, patch: str, merged: str) -> None:
    assert merge_meta(metadata, patch) == merged


def test_merging_never_writes_nan() -> None:
    with pytest.raises(ValueError, match="Out of range float values"):
        merge_meta("{}", '{"a":NaN}')
