"""What one run has put, and what stood there before, so that all of it can be taken out again; it decodes no row.

Checkpoints that the run made go with every write on them. On a checkpoint that stood before, an answered question for
one, only the run's own writes go, and those that they replaced come back.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any, Final

_Row = tuple[Any, ...]
_Place = tuple[str, str, str]
_KEYS: Final = {
    "checkpoints": ("thread_id", "checkpoint_ns", "checkpoint_id"),
    "writes": ("thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx"),
}
_PLACE: Final = _KEYS["checkpoints"]


class Trail:
    """The trail of one run; `checkpoint` and `writes` are called before the rows are put, in their transaction."""

    def __init__(self) -> None:
        self._made: set[_Place] = set()
        self._replaced: dict[tuple[str, _Row], _Row | None] = {}

    def checkpoint(self, connection: sqlite3.Connection, place: _Place) -> None:
        """Note a checkpoint that is about to be put."""
        if self._note(connection, "checkpoints", place) is None:
            self._made.add(place)

    def writes(self, connection: sqlite3.Connection, keys: Iterable[_Row]) -> None:
        """Note writes that are about to be put, by thread, namespace, checkpoint, task and index."""
        for key in keys:
            if key[:3] not in self._made:
                self._note(connection, "writes", key)

    def _note(self, connection: sqlite3.Connection, table: str, key: _Row) -> _Row | None:
        if (table, key) not in self._replaced:
            statement = f"SELECT * FROM {table} WHERE {_where(_KEYS[table])}"
            self._replaced[table, key] = connection.execute(statement, key).fetchone()
        return self._replaced[table, key]

    def undo(self, connection: sqlite3.Connection) -> None:
        """Take out what was put and put back what it replaced, in the open transaction."""
        for table in _KEYS:
            connection.executemany(f"DELETE FROM {table} WHERE {_where(_PLACE)}", sorted(self._made))
        for (table, key), before in self._replaced.items():
            connection.execute(f"DELETE FROM {table} WHERE {_where(_KEYS[table])}", key)
            if before is not None:
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(before))})", before)


def _where(columns: tuple[str, ...]) -> str:
    return " AND ".join(f"{name} = ?" for name in columns)
