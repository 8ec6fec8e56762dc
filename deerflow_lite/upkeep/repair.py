"""Removes rows that belong to nothing and frees threads that say they are busy; it touches no lineage and no head.

Invariant: what a run in flight may still need is no leftover.
"""

import sqlite3
from collections.abc import Iterator
from typing import Final

from deerflow_lite.checkpoints import lineage
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.runs.status import thread_status
from deerflow_lite.threads.filters import StatusIs
from deerflow_lite.threads.model import Change, Page, Thread
from deerflow_lite.upkeep.finding import Finding

_RUNS: Final = "status NOT IN ('pending', 'running') AND thread_row NOT IN (SELECT id FROM threads)"
# From one run to the next by the key: the events themselves are most of a file.
_EVENTS: Final = """run IN (WITH RECURSIVE logged(run) AS (SELECT min(run) FROM events
        UNION ALL SELECT (SELECT min(run) FROM events WHERE run > logged.run) FROM logged WHERE run IS NOT NULL)
    SELECT run FROM logged WHERE run NOT IN (SELECT row FROM runs))"""
_WRITES: Final = """NOT EXISTS (SELECT 1 FROM checkpoints AS c WHERE c.thread_id = writes.thread_id
        AND c.checkpoint_ns = writes.checkpoint_ns AND c.checkpoint_id = writes.checkpoint_id)
    AND thread_id NOT IN (SELECT thread_id FROM runs WHERE status IN ('pending', 'running'))"""
_LEFT: Final = {
    "runs": ("thread_id, '', NULL", _RUNS),
    "events": ("'run ' || run, '', NULL", _EVENTS),
    "writes": ("thread_id, checkpoint_ns, checkpoint_id", _WRITES),
}


class Repairing:
    """Repairs what can be repaired without a loss."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def findings(self, connection: sqlite3.Connection) -> Iterator[Finding]:
        """Give what `repair` would set right; nothing is written."""
        for thread in self._stale():
            yield Finding(thread.thread_id, "", None, "busy")
        for table, (columns, where) in _LEFT.items():
            statement = f"SELECT DISTINCT {columns} FROM {table} WHERE {where} ORDER BY 1, 2, 3"
            for thread_id, namespace, checkpoint_id in connection.execute(statement).fetchall():
                yield Finding(thread_id, namespace, checkpoint_id, table)

    def repair(self) -> list[Finding]:
        """Set everything right in one transaction and give what it was."""
        with self._rooms.db.writing() as connection:
            found = [*self.findings(connection)]
            for thread in self._stale():
                self._free(connection, thread)
            for table, (_, where) in _LEFT.items():
                connection.execute(f"DELETE FROM {table} WHERE {where}")
        return found

    def _stale(self) -> list[Thread]:
        busy = self._rooms.threads.search(None, [StatusIs("busy")], Page(limit=1000)).threads
        return [thread for thread in busy if not self._rooms.ledger.active(thread.row)]

    def _free(self, connection: sqlite3.Connection, thread: Thread) -> None:
        known = self._rooms.threads.settled(thread.row)
        settled = lineage.at_rest(connection, thread.thread_id, thread.head) if known is None else known
        status = thread_status(busy=False, failed=thread.error is not None, settled=settled)
        self._rooms.threads.change(None, thread.thread_id, Change(status=status, touch=False), row=thread.row)
