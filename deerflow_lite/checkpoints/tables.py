"""The two tables of LangGraph's SQLite saver, the ids refused in them, and the ids of turns; it decodes no row.

The columns are the saver's own: `test_saver.py` holds them against what its `setup` makes. A trigger refuses rows of
deleted thread ids, so that a checkpoint that comes late cannot bring a thread back.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any

from deerflow_lite.errors import FileRefused

_TABLES = """
CREATE TABLE IF NOT EXISTS checkpoints (
  thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
  parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
CREATE TABLE IF NOT EXISTS writes (
  thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
  task_id TEXT NOT NULL, task_path TEXT NOT NULL DEFAULT '', idx INTEGER NOT NULL, channel TEXT NOT NULL,
  type TEXT, value BLOB,
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
CREATE TABLE IF NOT EXISTS deleted_threads (thread_id TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_PLACE = ("thread_id", "checkpoint_ns", "checkpoint_id")
_COLUMNS = {  # without task_path, which older files lack until they are migrated
    "checkpoints": (*_PLACE, "parent_checkpoint_id", "type", "checkpoint", "metadata"),
    "writes": (*_PLACE, "task_id", "idx", "channel", "type", "value"),
}
_KEYS = {"checkpoints": _PLACE, "writes": (*_PLACE, "task_id", "idx")}
_OF_THREAD = ("checkpoints", "writes", "turn_ids")
_REFUSE = """
CREATE TRIGGER {table}_of_deleted BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM deleted_threads WHERE thread_id = NEW.thread_id)
BEGIN SELECT RAISE(ABORT, 'this thread was deleted'); END
"""


def _make(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    if "task_path" not in {row[1] for row in connection.execute("PRAGMA table_info(writes)")}:
        connection.execute("ALTER TABLE writes ADD COLUMN task_path TEXT NOT NULL DEFAULT ''")
    for table in ("checkpoints", "writes"):
        connection.execute(_REFUSE.format(table=table))


def _make_turn_ids(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE turn_ids (thread_id TEXT NOT NULL, checkpoint_id TEXT NOT NULL, message_id TEXT NOT NULL,"
        " turn_id TEXT NOT NULL, PRIMARY KEY (thread_id, checkpoint_id, message_id)) WITHOUT ROWID"
    )


MIGRATIONS = [("checkpoints: tables of the saver", _make), ("checkpoints: ids of turns", _make_turn_ids)]


def refuse_unknown(connection: sqlite3.Connection) -> None:
    """Raise FileRefused where the saver's tables are there and are others than it makes: it could not write to them.

    Columns that are added are let be, so long as a row can be stored without them.
    """
    for table, columns in _COLUMNS.items():
        found = connection.execute(f"PRAGMA table_info({table})").fetchall()
        if not found:
            continue
        missing = [name for name in columns if name not in {row[1] for row in found}]
        wanted = [row[1] for row in found if row[1] not in columns and row[3] and row[4] is None]
        key = tuple(row[1] for row in sorted(found, key=lambda row: row[5]) if row[5])
        faults = [f"has no column {name}" for name in missing]
        faults += [f"has a column {name} that LangGraph does not fill" for name in wanted]
        faults += [] if missing or key == _KEYS[table] else [f"has the key ({', '.join(key)})"]
        if faults:
            raise FileRefused(f"table {table} {' and '.join(faults)}: LangGraph's saver made it otherwise")


def refuse(connection: sqlite3.Connection, thread_id: str) -> None:
    """Remember a deleted id: rows that come late are refused."""
    connection.execute("INSERT OR IGNORE INTO deleted_threads (thread_id) VALUES (?)", (thread_id,))


def allow(connection: sqlite3.Connection, thread_id: str) -> None:
    """Let a new thread have the id of a deleted one."""
    connection.execute("DELETE FROM deleted_threads WHERE thread_id = ?", (thread_id,))


def exists(connection: sqlite3.Connection, thread_id: str, checkpoint_id: str, checkpoint_ns: str = "") -> bool:
    """Say whether the checkpoint stands in this thread and namespace; LangGraph itself never says no."""
    return (
        connection.execute(
            "SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
            (thread_id, checkpoint_ns, checkpoint_id),
        ).fetchone()
        is not None
    )


def count(connection: sqlite3.Connection, thread_id: str) -> int:
    """Count the checkpoints of the root namespace."""
    statement = "SELECT count(*) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
    return int(connection.execute(statement, (thread_id,)).fetchone()[0])


def answered(connection: sqlite3.Connection, thread_id: str, checkpoint_id: str) -> bool:
    """Say whether a question that a checkpoint of the root namespace asks was answered there before."""
    statement = """SELECT 1 FROM writes WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?
        AND channel = '__resume__' LIMIT 1"""
    return connection.execute(statement, (thread_id, checkpoint_id)).fetchone() is not None


def parent(connection: sqlite3.Connection, thread_id: str, checkpoint_id: str) -> str | None:
    """Give the parent's id in the root namespace, None where none is recorded."""
    row = connection.execute(
        "SELECT parent_checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?",
        (thread_id, checkpoint_id),
    ).fetchone()
    return row[0] or None if row else None


def leaves(connection: sqlite3.Connection, thread_id: str) -> list[str]:
    """Give the ids of the root namespace that are nobody's parent, the newest first."""
    found = connection.execute(
        "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns = '' EXCEPT"
        " SELECT parent_checkpoint_id FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns = ''"
        " AND parent_checkpoint_id <> checkpoint_id ORDER BY 1 DESC",
        (thread_id,),
    )
    return [checkpoint_id for (checkpoint_id,) in found]


def remove(connection: sqlite3.Connection, thread_id: str) -> None:
    """Delete every checkpoint and write of a thread, in all namespaces, and what is recorded of its turns."""
    for table in _OF_THREAD:
        connection.execute(f"DELETE FROM {table} WHERE thread_id = ?", (thread_id,))


def rewrite(connection: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> None:
    """Replace (type, checkpoint, metadata) of stored rows; each ends with its thread, namespace and checkpoint id."""
    connection.executemany(
        "UPDATE checkpoints SET type = ?, checkpoint = ?, metadata = ?"
        " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
        rows,
    )


def copy(connection: sqlite3.Connection, source: str, target: str) -> None:
    """Copy every checkpoint and write of a thread under another thread id, all ids and parents unchanged."""
    for table in _OF_THREAD:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] != "thread_id"]
        names = ", ".join(columns)
        connection.execute(
            f"INSERT INTO {table} (thread_id, {names}) SELECT ?, {names} FROM {table} WHERE thread_id = ?",
            (target, source),
        )
