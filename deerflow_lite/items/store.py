"""LangGraph's SQLite store on our connections; it knows no owner.

Invariants: a put joins the write transaction that its thread holds; reads see no item that has expired; an item that
is put again keeps its `created_at`; a search leaves out what cannot be read, which another program has written.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from langgraph.store.base import GetOp, Op, PutOp, Result, SearchOp
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.base import NS_MATCH_FUNCTION, _namespace_match

from deerflow_lite import clock
from deerflow_lite.db import Database
from deerflow_lite.errors import Conflict

_PUT: Final = """INSERT INTO store (prefix, key, value, created_at, updated_at, expires_at, ttl_minutes)
    VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6) ON CONFLICT (prefix, key) DO UPDATE SET value = excluded.value,
    created_at = iif(item_time(CAST(created_at AS BLOB)), created_at, excluded.created_at),
    updated_at = max(iif(item_time(CAST(updated_at AS BLOB)), updated_at, ''), excluded.updated_at),
    expires_at = excluded.expires_at, ttl_minutes = excluded.ttl_minutes"""
_DELETE: Final = "DELETE FROM store WHERE prefix = ? AND key = ?"
_EXPIRED: Final = "FROM store WHERE expires_at IS NOT NULL AND expires_at < ?"
_READABLE: Final = """typeof(key) = 'text' AND item_value(CAST(value AS BLOB))
    AND item_time(CAST(created_at AS BLOB)) AND item_time(CAST(updated_at AS BLOB))"""
# The value is hidden as well: a filter that is asked first must not meet it.
_SHOWN: Final = f"""FROM (SELECT prefix, key, iif({_READABLE}, value, NULL) AS value, created_at, updated_at,
    expires_at, ttl_minutes FROM store WHERE {_READABLE})"""
_UNREADABLE: Final = f"SELECT 1 FROM store WHERE prefix = ? AND key = ? AND NOT ({_READABLE})"
Puts = Sequence[tuple[int, PutOp]]


class FileStore(SqliteStore):
    """The items of all owners."""

    def __init__(self, db: Database) -> None:
        super().__init__(db.writer)
        self._db = db
        self.is_setup = True

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do everything asked in one transaction; reads come before puts, as the library orders them.

        Raises Conflict for an item that is asked for by its name.
        """
        asked = list(ops)
        self._refuse_unreadable(op for op in asked if isinstance(op, GetOp))
        if not any(isinstance(op, PutOp) for op in asked) and not self._expired():
            return super().batch(asked)
        with self._db.writing() as connection:
            connection.execute(f"DELETE {_EXPIRED}", (_time(),))
            return super().batch(asked)

    def _refuse_unreadable(self, asked: Iterable[GetOp]) -> None:
        with self._cursor() as cursor:
            for op in asked:
                if cursor.execute(_UNREADABLE, (".".join(op.namespace), op.key)).fetchone():
                    raise Conflict(f"key: item {op.key} is stored and cannot be read; put it anew or delete it")

    def _expired(self) -> bool:
        with self._db.reading() as connection:
            return connection.execute(f"SELECT 1 {_EXPIRED} LIMIT 1", (_time(),)).fetchone() is not None

    @contextmanager
    def _cursor(self, *, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """Lend a cursor: of the writer inside `writing()`, of a reader else."""
        with self._db.reading() as connection:
            connection.create_function(NS_MATCH_FUNCTION, 2, _namespace_match, deterministic=True)
            connection.create_function("item_value", 1, _is_value, deterministic=True)
            connection.create_function("item_time", 1, _is_time, deterministic=True)
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

    def _prepare_batch_search_queries(self, search_ops: Sequence[tuple[int, SearchOp]]) -> tuple[list[Any], list[Any]]:
        """Ask among what can be read."""
        queries, embeddings = super()._prepare_batch_search_queries(search_ops)
        return [(query.replace("FROM store", _SHOWN, 1), *more) for query, *more in queries], embeddings

    def _get_filter_condition(self, key: str, op: str, value: Any) -> tuple[str, list[Any]]:
        """Compare with text: the library binds lists and objects as blobs, which equal no JSON text."""
        condition, params = super()._get_filter_condition(key, op, value)
        return condition, [param.decode() if isinstance(param, bytes) else param for param in params]


def _time(minutes: float = 0) -> str:
    """Give the time in so many minutes, in the form that the library stores."""
    return (datetime.fromisoformat(clock.now()) + timedelta(minutes=minutes)).isoformat(" ", "microseconds")


def _is_value(text: bytes | None) -> bool:
    try:
        return isinstance(orjson.loads(text or b""), dict)
    except ValueError:
        return False


def _is_time(text: bytes | None) -> bool:
    try:
        return bool(datetime.fromisoformat((text or b"").decode()))
    except ValueError:
        return False
