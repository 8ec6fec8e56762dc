"""The tables of the thread room, with the triggers that keep what is derived from them; it reads and writes no row.

Invariants: triggers, types and checks hold for every program that writes the file, one wrong value would end every
list; `threads` is never rebuilt by a tool that does not know triggers and generated columns; `thread_meta` holds the
top-level scalars of metadata as SQLite reads them, of long texts only the beginning.
"""

import sqlite3
from typing import Final

from deerflow_lite.db import Migration
from deerflow_lite.threads.entries import LONG, LONG_TEXT
from deerflow_lite.threads.flags import ARCHIVED, PINNED, column_sql

_TABLES: Final = (
    f"""CREATE TABLE threads (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        thread_id TEXT NOT NULL UNIQUE,
        owner TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        state_updated_at TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('idle', 'busy', 'interrupted', 'error')),
        archived INTEGER GENERATED ALWAYS AS ({column_sql(ARCHIVED)}) STORED,
        pinned INTEGER GENERATED ALWAYS AS ({column_sql(PINNED)}) STORED,
        head TEXT,
        root TEXT,
        title_manual INTEGER NOT NULL DEFAULT 0,
        title TEXT,
        title_folded TEXT,
        described INTEGER NOT NULL DEFAULT 0,
        metadata TEXT NOT NULL CHECK (json_valid(metadata) AND json_type(metadata) = 'object'),
        interrupts TEXT NOT NULL DEFAULT '{{}}' CHECK (json_valid(interrupts)),
        error TEXT CHECK (error IS NULL OR json_valid(error))
    ) STRICT""",
    """CREATE TABLE head_values (
        row INTEGER PRIMARY KEY,
        checkpoint_id TEXT NOT NULL,
        titled INTEGER NOT NULL,
        own_title TEXT CHECK (own_title IS NULL OR json_valid(own_title)),
        settled INTEGER NOT NULL,
        mode TEXT NOT NULL,
        created_at TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        body TEXT NOT NULL CHECK (json_valid(body) AND substr(body, 1, 1) = '{')
    ) STRICT""",
    "CREATE TABLE IF NOT EXISTS deleted_threads (thread_id TEXT PRIMARY KEY) WITHOUT ROWID",
    """CREATE TABLE thread_totals (
        owner TEXT PRIMARY KEY, total INTEGER NOT NULL, archived INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT""",
    """CREATE TABLE thread_meta (
        row INTEGER NOT NULL, key TEXT NOT NULL, owner TEXT NOT NULL, type TEXT NOT NULL, value ANY NOT NULL,
        PRIMARY KEY (row, key)
    ) WITHOUT ROWID, STRICT""",
)

_INDEXES: Final = (
    """CREATE INDEX threads_list ON threads
        (owner, pinned DESC, updated_at DESC, thread_id DESC, archived, status, title_folded)""",
    """CREATE INDEX threads_archived ON threads
        (owner, archived, pinned DESC, updated_at DESC, thread_id DESC, status, title_folded)""",
    """CREATE INDEX threads_active ON threads
        (owner, status, pinned DESC, updated_at DESC, thread_id DESC, archived) WHERE status <> 'idle'""",
    "CREATE INDEX threads_thread_id ON threads (owner, thread_id)",
    "CREATE INDEX threads_created_at ON threads (owner, created_at, thread_id)",
    "CREATE INDEX threads_updated_at ON threads (owner, updated_at, thread_id)",
    "CREATE INDEX threads_state_updated_at ON threads (owner, state_updated_at, thread_id)",
    "CREATE INDEX thread_meta_values ON thread_meta (owner, key, type, value, row)",
)


# A store that files its own changes counts `described` up in the same UPDATE; 0 says that another program wrote last.
# Of two equal keys json_extract reads the first, so that is the one that is kept.
_ENTRIES: Final = f"""SELECT NEW.id, key, NEW.owner,
        CASE WHEN type IN ('integer', 'real') THEN 'number'
             WHEN type = 'text' AND length(value) > {LONG_TEXT} THEN '{LONG}' ELSE type END AS type,
        CASE WHEN type IN ('integer', 'real') THEN value
             WHEN type = 'text' THEN substr(value, 1, {LONG_TEXT}) ELSE '' END AS value
    FROM (SELECT key, type, value, min(id) FROM json_each(NEW.metadata) GROUP BY key)
    WHERE type NOT IN ('object', 'array') AND length(key) BETWEEN 1 AND 64"""
_DESCRIBE: Final = f"""INSERT INTO thread_meta (row, key, owner, type, value) {_ENTRIES}
        ON CONFLICT (row, key) DO UPDATE SET owner = excluded.owner, type = excluded.type, value = excluded.value
        WHERE (owner, type, value) IS NOT (excluded.owner, excluded.type, excluded.value)"""
_ADD: Final = """INSERT INTO thread_totals (owner, total, archived) VALUES (NEW.owner, 1, NEW.archived)
        ON CONFLICT (owner) DO UPDATE SET total = total + 1, archived = archived + NEW.archived"""
_TAKE: Final = """UPDATE thread_totals SET total = total - 1, archived = archived - OLD.archived
        WHERE owner = OLD.owner"""

_TRIGGERS: Final = (
    f"""CREATE TRIGGER threads_added AFTER INSERT ON threads BEGIN
        {_ADD};
        {_DESCRIBE};
    END""",
    f"""CREATE TRIGGER threads_removed AFTER DELETE ON threads BEGIN
        {_TAKE};
        DELETE FROM thread_meta WHERE row = OLD.id;
        DELETE FROM head_values WHERE row = OLD.id;
    END""",
    """CREATE TRIGGER threads_archived_total AFTER UPDATE OF metadata ON threads
    WHEN OLD.archived <> NEW.archived AND OLD.owner = NEW.owner AND OLD.id = NEW.id BEGIN
        UPDATE thread_totals SET archived = archived + NEW.archived - OLD.archived WHERE owner = NEW.owner;
    END""",
    f"""CREATE TRIGGER threads_described AFTER UPDATE OF metadata ON threads
    WHEN OLD.metadata IS NOT NEW.metadata AND OLD.described = NEW.described
        AND OLD.owner = NEW.owner AND OLD.id = NEW.id BEGIN
        DELETE FROM thread_meta WHERE row = OLD.id AND key NOT IN
            (SELECT key FROM json_each(NEW.metadata) WHERE type NOT IN ('object', 'array'));
        {_DESCRIBE};
        UPDATE threads SET described = 0 WHERE id = NEW.id;
    END""",
    f"""CREATE TRIGGER threads_handed_over AFTER UPDATE OF owner, id ON threads
    WHEN OLD.owner <> NEW.owner OR OLD.id <> NEW.id BEGIN
        {_TAKE};
        {_ADD};
        DELETE FROM thread_meta WHERE row = OLD.id;
        {_DESCRIBE};
        UPDATE threads SET described = 0 WHERE id = NEW.id;
    END""",
)


def _create(connection: sqlite3.Connection) -> None:
    for statement in (*_TABLES, *_INDEXES, *_TRIGGERS):
        connection.execute(statement)


def _let_expire(connection: sqlite3.Connection) -> None:
    for column in ("ttl_minutes REAL", "ttl_strategy TEXT", "ttl_from TEXT"):
        connection.execute(f"ALTER TABLE threads ADD COLUMN {column}")
    connection.execute("CREATE INDEX threads_ttl ON threads (id) WHERE ttl_minutes IS NOT NULL")


MIGRATIONS: Final[list[Migration]] = [("threads", _create), ("threads: time to live", _let_expire)]
