"""The rows of the runs; it executes nothing and reads no event.

Invariants: of one thread at most one run is `running`; a run that has ended never changes its status again.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from deerflow_lite import clock
from deerflow_lite.db import Database
from deerflow_lite.errors import Invalid, RunActive, RunUnknown
from deerflow_lite.runs.model import Repeat, Run, RunStatus
from deerflow_lite.threads.model import Thread

_COLUMNS = (
    "row, run_id, thread_row, thread_id, owner, assistant_id, graph_id, status, created_at, updated_at, kwargs, "
    "metadata, strategy, error, base, continues, last_root, credentials, start, due_at, repeat_key, "
    "repeat_body"
)
_NAMES = tuple(_COLUMNS.split(", "))
_UNENDED = "status IN ('pending', 'running')"
_ACTIVE = f"{_UNENDED} AND due_at IS NULL"
_STARTABLE = f"""
SELECT {_COLUMNS} FROM runs AS r WHERE status = 'pending' AND due_at IS NULL
AND NOT EXISTS (SELECT 1 FROM runs AS o WHERE o.thread_row = r.thread_row AND o.status IN ('pending', 'running')
                AND o.due_at IS NULL AND (o.status = 'running' OR o.row < r.row))
ORDER BY row LIMIT ?
"""


def _run(row: Sequence[Any]) -> Run:
    stored: dict[str, Any] = dict(zip(_NAMES, row, strict=True))
    key, body = stored.pop("repeat_key"), stored.pop("repeat_body")
    stored["continues"], stored["credentials"] = bool(stored["continues"]), bool(stored["credentials"])
    return Run(**stored, repeat=None if key is None else Repeat(key, body))


class Ledger:
    """Adds, reads and ends rows of runs; methods that write join `db.writing()`. `ended` counts ends by status.

    `on_end` are called with each run that has ended, after the commit.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self.ended: Counter[str] = Counter()
        self.on_end: list[Callable[[Run], None]] = []

    def _all(self, where: str, values: Sequence[object]) -> list[Run]:
        with self._db.reading() as connection:
            return [_run(row) for row in connection.execute(f"SELECT {_COLUMNS} FROM runs {where}", values).fetchall()]

    def add(self, run: Run) -> Run:
        """Store a new run and give it with its row number."""
        names = _COLUMNS.removeprefix("row, ")
        repeat = {"repeat_key": run.repeat and run.repeat.key, "repeat_body": run.repeat and run.repeat.body}
        values = [repeat[name] if name in repeat else getattr(run, name) for name in names.split(", ")]
        with self._db.writing() as connection:
            row = connection.execute(
                f"INSERT INTO runs ({names}) VALUES ({', '.join('?' * len(values))}) RETURNING {_COLUMNS}", values
            ).fetchone()
        return _run(row)

    def get(self, thread_row: int, run_id: str) -> Run:
        """Give a run of this thread; raises RunUnknown, also for a run of another thread."""
        found = self._all("WHERE run_id = ? AND thread_row = ?", (run_id, thread_row))
        if not found:
            raise RunUnknown(run_id)
        return found[0]

    def owned(self, owner: str, run_id: str) -> Run:
        """Give a run of an owner, of whatever thread; raises RunUnknown."""
        found = self._all("WHERE run_id = ? AND owner = ?", (run_id, owner))
        if not found:
            raise RunUnknown(run_id)
        return found[0]

    def repeated(self, owner: str, repeat: Repeat) -> Run | None:
        """Give the run that the same post made before; raises Invalid when its body was another."""
        found = self._all("WHERE owner = ? AND repeat_key = ?", (owner, repeat.key))
        if found and found[0].repeat != repeat:
            raise Invalid({"Idempotency-Key": ["was used before with another body"]})
        return found[0] if found else None

    def by_row(self, row: int) -> Run | None:
        """Give the run of a row number, None when it was deleted."""
        found = self._all("WHERE row = ?", (row,))
        return found[0] if found else None

    def listed(self, thread_row: int, status: str | None, limit: int, offset: int) -> tuple[list[Run], int]:
        """Give a page of a thread's runs, newest first, and how many there are."""
        where, values = "WHERE thread_row = ?", list[object]([thread_row])
        if status is not None:
            where, values = f"{where} AND status = ?", [*values, status]
        with self._db.reading() as connection:
            total = connection.execute(f"SELECT count(*) FROM runs {where}", values).fetchone()[0]
        return self._all(f"{where} ORDER BY row DESC LIMIT ? OFFSET ?", [*values, limit, offset]), total

    def of_thread(self, thread_row: int) -> list[Run]:
        """Give every run of a thread, oldest first."""
        return self._all("WHERE thread_row = ? ORDER BY row", (thread_row,))

    def refuse_active(self, thread: Thread) -> None:
        """Raise RunActive while a run of the thread is pending or running."""
        if self.active(thread.row):
            raise RunActive(f"thread_id: thread {thread.thread_id} has a run in flight; cancel it first")

    def active(self, thread_row: int) -> list[Run]:
        """Give the runs of a thread that are pending or running, oldest first; not those that are not due yet."""
        return self._all(f"WHERE thread_row = ? AND {_ACTIVE} ORDER BY row", (thread_row,))

    def in_flight(self) -> list[Run]:
        """Give every run of the service that has not ended, oldest first."""
        return self._all(f"WHERE {_UNENDED} ORDER BY row", ())

    def unended(self, owner: str, statuses: Sequence[str]) -> list[Run]:
        """Give the runs of an owner that have not ended and have one of these statuses, oldest first."""
        chosen = ", ".join("?" * len(statuses))
        return self._all(f"WHERE {_UNENDED} AND owner = ? AND status IN ({chosen}) ORDER BY row", (owner, *statuses))

    def due(self, at: str) -> list[Run]:
        """Give the runs whose time has come, the longest due first."""
        return self._all("WHERE due_at <= ? ORDER BY due_at, row", (at,))

    def next_due(self) -> str | None:
        """Give the time at which the next delayed run is due."""
        with self._db.reading() as connection:
            found = connection.execute("SELECT min(due_at) FROM runs WHERE due_at IS NOT NULL").fetchone()
        return None if found[0] is None else str(found[0])

    def enqueue(self, run: Run) -> None:
        """Let a delayed run wait in the queue from now on."""
        with self._db.writing() as connection:
            connection.execute("UPDATE runs SET due_at = NULL, updated_at = ? WHERE row = ?", (clock.now(), run.row))

    def in_service(self) -> tuple[int, int]:
        """Count the pending and the running runs of the service."""
        with self._db.reading() as connection:
            found = connection.execute(f"SELECT status, count(*) FROM runs WHERE {_ACTIVE} GROUP BY status").fetchall()
        counts: dict[str, int] = dict(found)
        return counts.get("pending", 0), counts.get("running", 0)

    def begin_next(self, most: int) -> list[Run]:
        """Mark pending runs as running, each the first of its thread, until `most` are running, and give them."""
        with self._db.writing() as connection:
            room = max(0, most - self.in_service()[1])
            found = [_run(row) for row in connection.execute(_STARTABLE, (room,)).fetchall()]
            at = clock.now()
            connection.executemany(
                "UPDATE runs SET status = 'running', updated_at = ? WHERE row = ?", [(at, run.row) for run in found]
            )
        return found

    def stored_root(
        self, connection: sqlite3.Connection, run: Run, checkpoint_id: str, base: str | None, start: str | None
    ) -> None:
        """Record the newest root checkpoint of a run, the one that it starts from, and where its thread stood."""
        statement = "UPDATE runs SET last_root = ?, base = coalesce(?, base), start = ? WHERE row = ?"
        connection.execute(statement, (checkpoint_id, base, start, run.row))

    def end(self, run: Run, status: RunStatus, error: str | None = None) -> bool:
        """Give an active run its last status; False when it had ended or was deleted before."""
        with self._db.writing() as connection:
            changed = connection.execute(
                "UPDATE runs SET status = ?, error = ?, due_at = NULL, updated_at = max(?, updated_at)"
                f" WHERE row = ? AND {_UNENDED}",
                (status, error, clock.now(), run.row),
            ).rowcount
            if changed:
                self._db.committed(lambda: self._tell(run, status))
        return changed == 1

    def _tell(self, run: Run, status: RunStatus) -> None:
        self.ended[status] += 1
        for call in self.on_end:
            call(run)

    def logs(self, form: str, until: str, most: int, thread_row: int | None = None) -> list[Run]:
        """Give runs, of a thread or of all, that ended not after a time and whose logs are in a form, oldest first.

        The forms are `whole`, `kept` and `trimmed`; a negative `most` is no limit.
        """
        chosen = "" if thread_row is None else "thread_row = ? AND "
        where = f"WHERE {chosen}log = ? AND updated_at <= ? AND NOT ({_UNENDED}) ORDER BY updated_at LIMIT ?"
        return self._all(where, ([] if thread_row is None else [thread_row]) + [form, until, most])

    def log_is(self, run: Run, form: str) -> None:
        """Record what has become of a run's log."""
        with self._db.writing() as connection:
            connection.execute("UPDATE runs SET log = ? WHERE row = ?", (form, run.row))

    def delete(self, row: int) -> bool:
        """Remove the run of a row number and its events; its checkpoints stay. False when it was gone."""
        with self._db.writing() as connection:
            connection.execute("DELETE FROM events WHERE run = ?", (row,))
            return connection.execute("DELETE FROM runs WHERE row = ?", (row,)).rowcount == 1

    def forget(self, thread_row: int) -> None:
        """Remove every run of a thread, with the events."""
        with self._db.writing() as connection:
            of_thread = "SELECT row FROM runs WHERE thread_row = ?"
            connection.execute(f"DELETE FROM events WHERE run IN ({of_thread})", (thread_row,))
            connection.execute("DELETE FROM runs WHERE thread_row = ?", (thread_row,))
