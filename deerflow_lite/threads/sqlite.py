"""Threads in the one SQLite file; how a search becomes SQL is `listing`'s, what a change means is `changing`'s.

Invariants: every read-modify-write stands inside `db.writing()`; a search and its total see one snapshot.
"""

import dataclasses
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import orjson

from deerflow_lite import clock
from deerflow_lite.db import Database
from deerflow_lite.errors import ThreadExists, ThreadIdTaken, ThreadUnknown
from deerflow_lite.threads import bulk, changing, entries, listing, titles
from deerflow_lite.threads.filters import Clause
from deerflow_lite.threads.model import ABSENT, Archived, Change, Found, HeadValues, NewThread, Page, Thread
from deerflow_lite.threads.store import ThreadStore, fitting

_SELECT: Final = f"SELECT {', '.join(listing.COLUMNS)} FROM threads"
_FIELDS: Final = {"id": "row"} | {name: name for name in listing.COLUMNS[1:]}
_INSERT: Final = "INSERT INTO threads ({}) VALUES ({})"
_HELD: Final = tuple(field.name for field in dataclasses.fields(HeadValues))
_BODIES: Final = f"""SELECT json_group_array(json_array(v.row, {", ".join(f"v.{name}" for name in _HELD)}))
    FROM head_values v WHERE v.row IN (SELECT value FROM json_each(?))"""
_SIZES: Final = """SELECT json_group_array(json_array(v.row, v.bytes)) FROM json_each(?) j
    CROSS JOIN threads t ON t.id = j.value
    CROSS JOIN head_values v ON v.row = t.id AND v.checkpoint_id = coalesce(t.head, t.root)"""

_SETTLED: Final = """SELECT v.settled FROM threads t
    JOIN head_values v ON v.row = t.id AND v.checkpoint_id = coalesce(t.head, t.root) WHERE t.id = ?"""


class SqliteThreads(ThreadStore):
    """The thread store of one Database whose migrations are `schema.MIGRATIONS`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        db.function("merge_meta", 2, changing.merge_meta)

    def create(self, owner: str, new: NewThread) -> Thread:
        with self._db.writing() as connection:
            thread = changing.opened(0, owner, new, clock.now())
            taken = connection.execute("SELECT owner FROM threads WHERE thread_id = ?", (new.thread_id,)).fetchone()
            if taken is not None:
                raise ThreadExists(new.thread_id) if taken[0] == owner else ThreadIdTaken()
            columns = _stored(thread) | {"described": 1}
            statement = _INSERT.format(", ".join(columns), ", ".join("?" * len(columns)))
            connection.execute(statement, tuple(columns.values()))
            connection.execute("DELETE FROM deleted_threads WHERE thread_id = ?", (new.thread_id,))
            return _one(connection, owner, new.thread_id)

    def get(self, owner: str | None, thread_id: str) -> Thread:
        with self._db.reading() as connection:
            return _one(connection, owner, thread_id)

    def by_row(self, row: int) -> Thread | None:
        with self._db.reading() as connection:
            found = connection.execute(f"{_SELECT} WHERE id = ?", (row,)).fetchone()
        return None if found is None else listing.read(found)

    def change(self, owner: str | None, thread_id: str, change: Change, *, row: int | None = None) -> Thread:
        with self._db.writing() as connection:
            old = _one(connection, owner, thread_id)
            if row is not None and old.row != row:
                raise ThreadUnknown(thread_id)
            new = changing.applied(old, change, clock.now())
            _update(connection, old, new, change)
            if change.values is not ABSENT:
                _put_values(connection, old.row, change.values)
            return new

    def delete(self, owner: str | None, thread_id: str) -> Thread:
        with self._db.writing() as connection:
            thread = _one(connection, owner, thread_id)
            connection.execute("DELETE FROM threads WHERE id = ?", (thread.row,))
            connection.execute("INSERT OR IGNORE INTO deleted_threads (thread_id) VALUES (?)", (thread_id,))
            return thread

    def search(self, owner: str | None, clauses: Sequence[Clause], page: Page) -> Found:
        with self._snapshot() as connection:
            return listing.search(connection, owner, clauses, page)

    def count(self, owner: str | None, clauses: Sequence[Clause]) -> int:
        with self._snapshot() as connection:
            return listing.count(connection, owner, clauses)

    def archive(
        self, owner: str | None, thread_ids: Sequence[str] | None, older_than: str | None, archived: bool, dry_run: bool
    ) -> Archived:
        with self._snapshot() if dry_run else self._db.writing() as connection:
            if thread_ids is not None:
                rows = bulk.chosen_by_id(connection, owner, thread_ids)
            else:
                rows = bulk.chosen_by_age(connection, owner, older_than or "")
            changed = bulk.differing(rows, archived)
            if not dry_run:
                bulk.archive(connection, changed, archived)
            return bulk.answer(rows, changed)

    def values(self, rows: Sequence[Thread]) -> dict[int, HeadValues]:
        with self._snapshot() as connection:
            asked = orjson.dumps([thread.row for thread in rows]).decode()
            sizes = _json(connection, _SIZES, asked)
            chosen = orjson.dumps(fitting(sizes)).decode()
            return {row[0]: _values(row[1:]) for row in _json(connection, _BODIES, chosen)}

    def settled(self, row: int) -> bool | None:
        with self._db.reading() as connection:
            found = connection.execute(_SETTLED, (row,)).fetchone()
        return None if found is None else bool(found[0])

    def deleted(self, thread_id: str) -> bool:
        with self._db.reading() as connection:
            found = connection.execute("SELECT 1 FROM deleted_threads WHERE thread_id = ?", (thread_id,)).fetchone()
        return found is not None

    def with_ttl(self, owner: str | None) -> list[Thread]:
        with self._db.reading() as connection:
            rows = connection.execute(f"{_SELECT} WHERE ttl_minutes IS NOT NULL").fetchall()
        return [thread for thread in map(listing.read, rows) if owner in (None, thread.owner)]

    @contextmanager
    def _snapshot(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection on which several reads see the same rows."""
        with self._db.reading() as connection:
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")


def _one(connection: sqlite3.Connection, owner: str | None, thread_id: str) -> Thread:
    found = connection.execute(f"{_SELECT} WHERE thread_id = ?", (thread_id,)).fetchone()
    if found is None or (owner is not None and found[2] != owner):
        raise ThreadUnknown(thread_id)
    return listing.read(found)


def _stored(thread: Thread) -> dict[str, Any]:
    columns = {name: getattr(thread, field) for name, field in _FIELDS.items() if name != "id"}
    return columns | {"title_folded": None if thread.title is None else titles.folded(thread.title)}


def _update(connection: sqlite3.Connection, old: Thread, new: Thread, change: Change) -> None:
    """Write only the columns that differ: an index on a column that stays is not visited."""
    before, after = _stored(old), _stored(new)
    changed = {name: value for name, value in after.items() if before[name] != value}
    settings = ", ".join(f"{name} = ?" for name in changed)
    if "metadata" in changed:
        settings += ", described = described + (described > 0)"
    if changed:
        connection.execute(f"UPDATE threads SET {settings} WHERE id = ?", (*changed.values(), old.row))
    if "metadata" in changed:
        _describe(connection, new, change)


def _describe(connection: sqlite3.Connection, thread: Thread, change: Change) -> None:
    """File the keys of a merge; where another program wrote last, the trigger has just filed all of them."""
    (described,) = connection.execute("SELECT described FROM threads WHERE id = ?", (thread.row,)).fetchone()
    if not described:
        connection.execute("UPDATE threads SET described = 1 WHERE id = ?", (thread.row,))
        return
    patch = {} if change.metadata is ABSENT else change.metadata
    if change.defaults is not ABSENT:
        merged = orjson.loads(thread.metadata)
        patch = {key: merged[key] for key in {**patch, **change.defaults}}
    entries.put(connection, thread.row, thread.owner, patch)


def _put_values(connection: sqlite3.Connection, row: int, values: HeadValues) -> None:
    held = {name: getattr(values, name) for name in _HELD} | {"row": row, "bytes": len(values.body.encode())}
    statement = f"INSERT OR REPLACE INTO head_values ({', '.join(held)}) VALUES ({', '.join('?' * len(held))})"
    connection.execute(statement, tuple(held.values()))


def _values(row: Sequence[Any]) -> HeadValues:
    held = dict(zip(_HELD, row, strict=True))
    return HeadValues(**held | {"titled": bool(held["titled"]), "settled": bool(held["settled"])})


def _json(connection: sqlite3.Connection, statement: str, *params: Any) -> Any:
    return orjson.loads(connection.execute(statement, params).fetchone()[0])
