"""The tables of runs and their events; it holds no rule."""

import sqlite3

_TABLES = """
CREATE TABLE runs (
  row INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL UNIQUE, thread_row INTEGER NOT NULL,
  thread_id TEXT NOT NULL, owner TEXT NOT NULL, assistant_id TEXT NOT NULL, graph_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'success', 'error', 'timeout', 'interrupted')),
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  kwargs TEXT NOT NULL CHECK (json_valid(kwargs)), metadata TEXT NOT NULL CHECK (json_valid(metadata)),
  strategy TEXT NOT NULL, error TEXT CHECK (error IS NULL OR json_valid(error)), base TEXT,
  continues INTEGER NOT NULL, last_root TEXT, credentials INTEGER NOT NULL) STRICT;
CREATE INDEX runs_of_thread ON runs (thread_row, row DESC);
CREATE INDEX runs_active ON runs (status, row) WHERE status IN ('pending', 'running');
CREATE TABLE events (
  run INTEGER NOT NULL, id INTEGER NOT NULL, event TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (run, id)
) WITHOUT ROWID, STRICT
"""


def _make(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        connection.execute(statement)


def _more(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE runs ADD COLUMN start TEXT")
    connection.execute("ALTER TABLE runs ADD COLUMN due_at TEXT")
    connection.execute("CREATE INDEX runs_due ON runs (due_at) WHERE due_at IS NOT NULL")


def _repeats(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE runs ADD COLUMN repeat_key TEXT")
    connection.execute("ALTER TABLE runs ADD COLUMN repeat_body TEXT")
    connection.execute("CREATE UNIQUE INDEX runs_repeated ON runs (owner, repeat_key) WHERE repeat_key IS NOT NULL")


def _add_partial(connection: sqlite3.Connection) -> None:
    is_list = "json_valid(partial) AND substr(partial, 1, 1) = '['"
    connection.execute(f"ALTER TABLE runs ADD COLUMN partial TEXT CHECK (partial IS NULL OR {is_list})")


def _references(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE events ADD COLUMN ref TEXT")
    connection.execute("ALTER TABLE runs ADD COLUMN log TEXT NOT NULL DEFAULT 'whole'")
    connection.execute("CREATE INDEX runs_logs ON runs (log, updated_at)")


MIGRATIONS = [
    ("runs: runs and events", _make),
    ("runs: where they started, when they are due", _more),
    ("runs: posts that are sent again", _repeats),
    ("runs: what was said before the end", _add_partial),
    ("runs: events that refer to checkpoints", _references),
]
