"""What of the logs of ended runs is kept, and how they are read then; nothing here touches a run in flight.

Invariants: a log reads the same before and after its values became references; what is trimmed leaves the first and
the last events, the last values, and the text that an interrupted run had streamed.
"""

import logging
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from typing import Final

import orjson

from deerflow_lite import clock
from deerflow_lite.checkpoints import tables
from deerflow_lite.errors import DeerflowError
from deerflow_lite.runs import references
from deerflow_lite.runs.model import Event, Run
from deerflow_lite.runs.rooms import Rooms

BATCH: Final = 10
AHEAD: Final = 8
PARTIAL: Final = ("interrupted", "error", "timeout")
_HOLDING: Final = "ref IS NULL AND event IN ('values', 'checkpoints', 'debug')"
_TRIM: Final = """DELETE FROM events WHERE run = :run AND event NOT IN ('metadata', 'error', 'end')
    AND id <> coalesce((SELECT max(id) FROM events WHERE run = :run AND event = 'values'), 0)
    AND NOT (:partial AND event LIKE 'messages%')"""
_log = logging.getLogger(__name__)


class Keeping:
    """Keeps the logs of ended runs."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def sweep(self) -> None:
        """Let logs of runs that ended refer to their checkpoints, and trim those that are older than EVENT_KEEP."""
        for run in self._rooms.ledger.logs("whole", clock.now(), BATCH):
            self._refer(run)
        for run in self._rooms.ledger.logs("kept", clock.later(-self._rooms.config.event_keep), BATCH):
            self._trim(run)

    def _refer(self, run: Run) -> None:
        try:
            taken = self._taken_apart(run)
        except (DeerflowError, TypeError, ValueError) as error:  # its graph or its rows cannot be read: it stays whole
            _log.info("the log of run %s stays whole: %s", run.run_id, type(error).__name__)
            taken = []
        with self._rooms.db.writing() as connection:
            for event_id, data, ref in taken:
                if tables.exists(connection, run.thread_id, ref):
                    statement = "UPDATE events SET data = ?, ref = ? WHERE run = ? AND id = ?"
                    connection.execute(statement, (data, ref, run.row, event_id))
            self._rooms.ledger.log_is(run, "kept")

    def _taken_apart(self, run: Run) -> list[tuple[int, bytes, str]]:
        """Give (id, data, checkpoint) of the events that a checkpoint can stand for."""
        with self._rooms.db.reading() as connection:
            statement = f"SELECT id, event, data FROM events WHERE run = ? AND {_HOLDING} ORDER BY id"
            events = [Event(*row) for row in connection.execute(statement, (run.row,)).fetchall()]
            chain = self._chain(connection, run) if events else []
        if not chain:
            return []
        taken, passed = [], 0
        with references.recalling(self._rooms, run) as values:
            for event in events:
                told = references.told_of(event) if event.event != "values" else None
                near = [told] if told in chain else chain[passed : passed + AHEAD]
                for ref in (chain[-1], *near):  # the last one first: it mostly holds all, and outlives the others
                    if ref is not None and (data := references.less(event, values(ref))) is not None:
                        taken.append((event.id, data, ref))
                        passed = chain.index(ref) if ref in near else passed
                        break
        return taken

    def _chain(self, connection: sqlite3.Connection, run: Run) -> list[str]:
        """Give the root checkpoints of a run in their order, and where it started."""
        chain: list[str] = []
        here = run.last_root or run.start
        while here is not None and here not in chain:
            chain.append(here)
            here = tables.parent(connection, run.thread_id, here) if here not in (run.base, run.start) else None
        return chain[::-1]

    def _trim(self, run: Run) -> None:
        with self._rooms.db.writing() as connection:
            before = {row[0] for row in connection.execute("SELECT id FROM events WHERE run = ?", (run.row,))}
            connection.execute(_TRIM, {"run": run.row, "partial": run.status in PARTIAL})
            left = connection.execute("SELECT id, event FROM events WHERE run = ?", (run.row,)).fetchall()
            gone = before - {event_id for event_id, _ in left}
            if gone and run.last_root is not None and "values" not in [event for _, event in left]:
                statement = "INSERT INTO events (run, id, event, data, ref) VALUES (?, ?, 'values', ?, ?)"
                connection.execute(statement, (run.row, max(gone), references.ALL, run.last_root))
            self._rooms.ledger.log_is(run, "trimmed")

    def events(self, run: Run, after: int) -> Iterator[Event]:
        """Give the kept events of an ended run after an id; a `gap` first where what came after it is gone."""
        with self._rooms.db.reading() as connection:
            rows = connection.execute(
                "SELECT id, event, data, ref FROM events WHERE run = ? ORDER BY id", (run.row,)
            ).fetchall()
        ids = [row[0] for row in rows]
        if ids and 0 < after < ids[-1] and after not in ids:
            yield _gap(run, after, ids)
        left = [row for row in rows if row[0] > after] or rows[-1:]
        yield from self._whole(run, left, ids)

    def _whole(self, run: Run, rows: Sequence[tuple[int, str, bytes, str | None]], ids: list[int]) -> Iterator[Event]:
        with ExitStack() as stack:
            values: references.Values | None = None
            for event_id, name, data, ref in rows:
                event = Event(event_id, name, data)
                if ref is None:
                    yield event
                    continue
                try:
                    values = values or stack.enter_context(references.recalling(self._rooms, run))
                    yield references.more(event, values(ref))
                except DeerflowError:  # its graph, or its checkpoint, is gone
                    yield _gap(run, event_id, ids)

    def write_out(self, thread_row: int, checkpoint_ids: Collection[str]) -> None:
        """Store events whole that refer to these checkpoints; call it before they go."""
        for run in self._rooms.ledger.of_thread(thread_row):
            with self._rooms.db.reading() as connection:
                statement = "SELECT id, event, data, ref FROM events WHERE run = ? AND ref IS NOT NULL ORDER BY id"
                rows = [row for row in connection.execute(statement, (run.row,)) if row[3] in checkpoint_ids]
            whole = [event for event in self._whole(run, rows, []) if event.event != "gap"]
            with self._rooms.db.writing() as connection:
                connection.executemany(
                    "UPDATE events SET data = ?, ref = NULL WHERE run = ? AND id = ?",
                    [(event.data, run.row, event.id) for event in whole],
                )


def _gap(run: Run, asked: int, ids: Sequence[int]) -> Event:
    """Give the event by which DeerFlow's page knows that it must read the state anew."""
    told = {
        "code": "stream_replay_gap",
        "run_id": run.run_id,
        "requested_event_id": str(asked),
        "earliest_available_event_id": str(ids[0]) if ids else None,
        "latest_available_event_id": str(ids[-1]) if ids else None,
        "recovery": "reload_durable_state",
    }
    return Event(asked, "gap", orjson.dumps(told))
