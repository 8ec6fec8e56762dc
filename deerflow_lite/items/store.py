"""LangGraph's SQLite store on our connections; it knows no owner.

Invariants: a put joins the write transaction that its thread holds; reads see no item that has expired; an item that
is put again keeps its `created_at`.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from langgraph.store.base import Op, PutOp, Result
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.base import NS_MATCH_FUNCTION, _namespace_match

from deerflow_lite import clock
from deerflow_lite.db import Database

_PUT: Final = """INSERT INTO store (prefix, key, value, created_at, updated_at, expires_at, ttl_minutes)
    VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6) ON CONFLICT (prefix, key) DO UPDATE SET value = excluded.value,
    updated_at = max(updated_at, excluded.updated_at), expires_at = excluded.expires_at,
    ttl_minutes = excluded.ttl_minutes"""
_DELETE: Final = "DELETE FROM store WHERE prefix = ? AND key = ?"
_EXPIRED: Final = "FROM store WHERE expires_at IS NOT NULL AND expires_at < ?"
Puts = Sequence[tuple[int, PutOp]]


class FileStore(SqliteStore):
    """The items of all owners."""

    def __init__(self, db: Database) -> None:
        super().__init__(db.writer)
        self._db = db
        self.is_setup = True

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do everything asked in one transaction; reads come before puts, as the library orders them."""
        asked = list(ops)
        if not any(isinstance(op, PutOp) for op in asked) and not self._expired():
            return super().batch(asked)
        with self._db.writing() as connection:
            connection.execute(f"DELETE {_EXPIRED}", (_time(),))
            return super().batch(asked)

    def _expired(self) -> bool:
        with self._db.reading() as connection:
            return connection.execute(f"SELECT 1 {_EXPIRED} LIMIT 1", (_time(),)).fetchone() is not None

    @contextmanager
    def _cursor(self, *, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """Lend a cursor: of the writer inside `writing()`, of a reader else."""
        with self._db.reading() as connection:
            connection.create_function(NS_MATCH_FUNCTION, 2, _namespace_match, deterministic=True)
            cursor = connection.cursor()
            try:
                yield cursor
            finally:
                cursor.close()

    def _batch_put_ops(self, put_ops: Puts, cur: sqlite3.Cursor) -> None:
        """Write our own rows: the library's lose `created_at`, know seconds only and are blobs, not JSON text."""
        for _, op in put_ops:
            place = (".".join(op.namespace), op.key)
            if op.value is None:
                cur.execute(_DELETE, place)
                continue
            expires = None if op.ttl is None else _time(op.ttl)
            cur.execute(_PUT, (*place, orjson.dumps(dict(op.value)).decode(), _time(), expires, op.ttl))

    def _get_filter_condition(self, key: str, op: str, value: Any) -> tuple[str, list[Any]]:
        """Compare with text: the library binds lists and objects as blobs, which equal no JSON text."""
        condition, params = super()._get_filter_condition(key, op, value)
        return condition, [param.decode() if isinstance(param, bytes) else param for param in params]


def _time(minutes: float = 0) -> str:
    """Give the time in so many minutes, in the form that the library stores."""
    return (datetime.fromisoformat(clock.now()) + timedelta(minutes=minutes)).isoformat(" ", "microseconds")
