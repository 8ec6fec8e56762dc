"""What of the logs of ended runs is kept, and how they are read then; nothing here touches a run in flight.

Invariants: a log reads the same before and after its values became references, also while the checkpoints that it
refers to are taken out; what is trimmed leaves the first and the last events, the last values, and the text that an
interrupted run had streamed.
"""

import logging
import sqlite3
import time
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
from deerflow_lite.threads.model import Thread

BATCH: Final = 10
SWEEP_SECONDS: Final = 0.5
AHEAD: Final = 8
PARTIAL: Final = ("interrupted", "error", "timeout")
_HOLDING: Final = "ref IS NULL AND event IN ('values', 'checkpoints', 'tasks', 'debug')"
_TRIM: Final = """DELETE FROM events WHERE run = :run AND event NOT IN ('metadata', 'error', 'end')
    AND id <> coalesce((SELECT max(id) FROM events WHERE run = :run AND event = 'values'), 0)
    AND NOT (:partial AND event LIKE 'messages%')"""
_log = logging.getLogger(__name__)

Row = tuple[int, str, bytes, str | None]
Told = tuple[int, bytes, str | None]


class Keeping:
    """Keeps the logs of ended runs."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def sweep(self) -> None:
        """Let logs of runs that ended refer to their checkpoints, and trim those that are older than EVENT_KEEP.

        It works on for a little while at most: the rest waits for the next round.
        """
        until = time.monotonic() + SWEEP_SECONDS
        while self._tidy(BATCH) and time.monotonic() < until:
            pass

    def tidy(self, thread_row: int) -> None:
        """Do for all logs of a thread at once what `sweep` does."""
        self._tidy(-1, thread_row)

    def _tidy(self, most: int, thread_row: int | None = None) -> bool:
        """Say whether more may wait."""
        whole = self._rooms.ledger.logs("whole", clock.now(), most, thread_row)
        for run in whole:
            self._refer(run)
        old = self._rooms.ledger.logs("kept", clock.later(-self._rooms.config.event_keep), most, thread_row)
        for run in old:
            self._trim(run)
        return most in (len(whole), len(old))

    def _refer(self, run: Run) -> None:
        try:
            taken = self._taken_apart(run)
        except (DeerflowError, TypeError, ValueError) as error:  # its graph or its rows cannot be read: it stays whole
            _log.info("the log of run %s stays whole: %s", run.run_id, type(error).__name__)
            taken = []
        with self._rooms.db.writing() as connection:
            _store(connection, run, taken)
            self._rooms.ledger.log_is(run, "kept")

    def _taken_apart(self, run: Run) -> list[Told]:
        """Give (id, data, checkpoint) of the events that a checkpoint can stand for."""
        with self._rooms.db.reading() as connection:
            statement = f"SELECT id, event, data FROM events WHERE run = ? AND {_HOLDING} ORDER BY id"
            events = [Event(*row) for row in connection.execute(statement, (run.row,)).fetchall()]
            chain = self._chain(connection, run) if events else []
        if not chain:
            return []
        taken, passed = list[Told](), 0
        with references.recalling(self._rooms, run) as values:
            for event in events:
                told = references.told_of(event) if event.event != "values" else None
                near = [told] if told in chain else chain[passed : passed + AHEAD]
                # the last one first: it mostly holds all, and outlives the others
                if (found := references.referring(event, (chain[-1], *near), values)) is not None:
                    data, ref = found
                    taken.append((event.id, data, ref))
                    passed = chain.index(ref) if ref in near else passed
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

    def _whole(self, run: Run, rows: Sequence[Row], ids: list[int]) -> Iterator[Event]:
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
                    yield self._written_out(run, event, ref) or _gap(run, event_id, ids)

    def _written_out(self, run: Run, event: Event, ref: str) -> Event | None:
        """Give an event that was stored otherwise since it was read, None where it still refers to the same."""
        with self._rooms.db.reading() as connection:
            statement = "SELECT id, event, data, ref FROM events WHERE run = ? AND id = ?"
            rows = connection.execute(statement, (run.row, event.id)).fetchall()
        # A reference that is no UTF-8 is compared as it is read: SQL would call it another one each time.
        return next(self._whole(run, [row for row in rows if row[3] != ref], [event.id]), None)

    def write_out(self, thread: Thread, checkpoint_ids: Collection[str]) -> None:
        """Let events refer to these checkpoints no more; call it before they go.

        They refer to the end of their run or to the head where one of these stays and holds most, else they are whole.
        """
        for run in self._rooms.ledger.of_thread(thread.row):
            with self._rooms.db.reading() as connection:
                statement = "SELECT id, event, data, ref FROM events WHERE run = ? AND ref IS NOT NULL ORDER BY id"
                rows = [row for row in connection.execute(statement, (run.row,)) if row[3] in checkpoint_ids]
            whole = [event for event in self._whole(run, rows, []) if event.event != "gap"]
            if whole:
                staying = [one for one in (run.last_root, thread.head) if one and one not in checkpoint_ids]
                reduced = self._reduced(run, whole, staying)
                with self._rooms.db.writing() as connection:
                    _store(connection, run, reduced)

    def _reduced(self, run: Run, events: Sequence[Event], refs: Sequence[str]) -> list[Told]:
        """Give (id, data, checkpoint or None) of events."""
        with references.recalling(self._rooms, run) as values:
            told = [(event, references.referring(event, refs, values)) for event in events]
        return [(event.id, *(found or (event.data, None))) for event, found in told]


def _store(connection: sqlite3.Connection, run: Run, told: Sequence[Told]) -> None:
    """Store events otherwise; one whose checkpoint was taken out meanwhile stays as it is."""
    refs = {ref for _, _, ref in told if ref is not None}
    gone = {ref for ref in refs if not tables.exists(connection, run.thread_id, ref)}
    connection.executemany(
        "UPDATE events SET data = ?, ref = ? WHERE run = ? AND id = ?",
        [(data, ref, run.row, event_id) for event_id, data, ref in told if ref not in gone],
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
