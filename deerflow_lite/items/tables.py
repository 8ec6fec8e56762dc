"""The tables of LangGraph's SqliteStore, as its own `setup` leaves them; it reads and writes no item.

`store_migrations` is filled too, so that another program's SqliteStore can open the file.
"""

import sqlite3
from typing import Final

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS store_migrations (v INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS store (
  prefix TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (prefix, key));
CREATE INDEX IF NOT EXISTS store_prefix_idx ON store (prefix);
"""
_LATER: Final = (("expires_at", "TIMESTAMP"), ("ttl_minutes", "REAL"))
_EXPIRY: Final = "CREATE INDEX IF NOT EXISTS idx_store_expires_at ON store (expires_at) WHERE expires_at IS NOT NULL"
VERSIONS: Final = 5


def _make(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    known = {row[1] for row in connection.execute("PRAGMA table_info(store)")}
    for name, kind in _LATER:
        if name not in known:
            connection.execute(f"ALTER TABLE store ADD COLUMN {name} {kind}")
    connection.execute(_EXPIRY)
    numbers = [(number,) for number in range(VERSIONS)]
    connection.executemany("INSERT OR IGNORE INTO store_migrations (v) VALUES (?)", numbers)


MIGRATIONS: Final = [("items: tables of the store", _make)]
