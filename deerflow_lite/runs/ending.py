"""How a run ends, in one transaction: last events, its status, the thread's head, values, title and status."""

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deerflow_lite.checkpoints import lineage, tables
from deerflow_lite.journal import settled
from deerflow_lite.runs import heads, partial
from deerflow_lite.runs.events import Live
from deerflow_lite.runs.model import Run, RunStatus
from deerflow_lite.runs.naming import asked_title, made_title
from deerflow_lite.runs.passing import thread_of
from deerflow_lite.runs.seat import Seat
from deerflow_lite.runs.status import thread_status
from deerflow_lite.threads.model import Change, HeadValues, Thread

if TYPE_CHECKING:
    from deerflow_lite.checkpoints.passing import PassingView
    from deerflow_lite.checkpoints.run_view import RunView
    from deerflow_lite.runs.rooms import Rooms

_log = logging.getLogger(__name__)
_FAILED = ("error", "timeout")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a run; `error` is the JSON of its `error` event."""

    status: RunStatus
    error: str | None = None


INTERRUPTED = Outcome("interrupted")
STOPPED = Outcome("error", '{"error":"ServiceStopped","message":"the service stopped while this run was running"}')
FORGOTTEN = Outcome("error", '{"error":"CredentialsForgotten","message":"its credentials are not kept over a restart"}')
UNSTORED = Outcome("error", '{"error":"NotStored","message":"its last checkpoint could not be stored"}')
TIMED_OUT = Outcome("timeout", '{"error":"TimeoutError","message":"the run took longer than RUN_TIMEOUT"}')


@dataclass(frozen=True, slots=True)
class Ending:
    """Stores the end of one run; graph and view are None where the graph could not be opened."""

    rooms: "Rooms"
    run: Run
    live: Live
    seat: Seat
    graph: Any
    view: "RunView | PassingView | None"

    async def store(self, outcome: Outcome) -> None:
        """Close the run's view, read the head it leaves, and commit the end; returns after the commit.

        A file that cannot be written is tried again: until then the run has not ended.
        """
        if self.view is not None:
            self.view.closed = True
        snapshot = await self._snapshot(outcome)
        while True:
            try:
                await settled(self.rooms.journal.write(self.action(outcome, snapshot)))
                return
            except sqlite3.Error:
                _log.error("the end of run %s could not be stored, it is tried again", self.run.run_id, exc_info=True)
                await asyncio.sleep(1)

    async def _snapshot(self, outcome: Outcome) -> Any:
        """Read the head that the run leaves; None where it leaves the head as it was."""
        moved = self.run.continues or outcome.status == "success"
        if self.graph is None or not moved or self.view is None or not self.view.stored:
            return None
        place = {"thread_id": self.run.thread_id, "checkpoint_ns": ""}
        return await self.graph.aget_state({"configurable": place})

    def action(self, outcome: Outcome, snapshot: Any) -> Callable[[sqlite3.Connection], None]:
        """Give the write that ends the run; it changes nothing when the thread is gone or the run had ended."""
        values = heads.of_snapshot(self.graph, snapshot) if snapshot is not None else None

        def act(connection: sqlite3.Connection) -> None:
            self.seat.closed = True  # here, so that what was put before the end is still stored
            self._untold_if_undone()
            thread = thread_of(self.rooms.threads, self.run)
            if self.run.stateless or self.live.rolled_back:
                self._vanish(connection, thread, outcome, values, snapshot)
                return
            ended, left = outcome, values
            if values is not None and not tables.exists(connection, self.run.thread_id, values.checkpoint_id):
                ended, left = UNSTORED, None
            if thread is not None and self.rooms.ledger.end(self.run, ended.status, ended.error):
                after = self._leave(thread, ended, left, snapshot)
                self._tell(ended, after, left, snapshot)
            self.rooms.log.store(connection, self.live, ended=True)
            if outcome.status != "success":
                partial.keep(connection, self.run.row)

        return act

    def _untold_if_undone(self) -> None:
        """Take back what this end notes in the log, should it not be stored: it is tried again."""
        first = self.live.next_id
        self.rooms.db.undo(lambda: self.live.cut(first))

    def _vanish(
        self,
        connection: sqlite3.Connection,
        thread: Thread | None,
        outcome: Outcome,
        values: HeadValues | None,
        snapshot: Any,
    ) -> None:
        """End a run that leaves nothing, not even its row; who follows it hears how it ended."""
        if thread is not None and self.rooms.ledger.delete(self.run.row):
            if self.live.rolled_back:
                self._take_back(connection, thread)
            else:
                self._tell(outcome, thread, values, snapshot)
        self.rooms.log.discard(self.live)

    def _take_back(self, connection: sqlite3.Connection, thread: Thread) -> None:
        """Take out all that the run stored; its thread stands where it stood before."""
        self.live.result = b"{}"
        if not self.run.stateless:
            self.seat.trail.undo(connection)
            if self.run.continues and self.seat.last_root is not None:
                head = None if self.seat.start == thread.root else self.seat.start
                thread = self._change(thread, Change(head=head, touch=False))
            active = self.rooms.ledger.active(thread.row)
            settled = self._settled(thread)
            status = thread_status(busy=bool(active), failed=thread.error is not None, settled=settled)
            values = self.rooms.threads.values([thread]).get(thread.row)
            title = made_title(values) or next(filter(None, map(asked_title, active)), None)
            thread = self._change(thread, Change(status=status, auto_title=title))
            if values is not None:
                self.live.note("values", heads.spliced(values, thread.title))
        self.live.note("end", b"null")

    def _change(self, thread: Thread, change: Change) -> Thread:
        return self.rooms.threads.change(self.run.owner, self.run.thread_id, change, row=thread.row)

    def _leave(self, thread: Thread, outcome: Outcome, values: HeadValues | None, snapshot: Any) -> Thread:
        """Leave the thread as the run ended: head, values, title, status; a failed try elsewhere leaves the head."""
        error = thread.error
        if self.run.continues or values is not None:
            error = outcome.error if outcome.status in _FAILED else None
        busy = any(run.row != self.run.row for run in self.rooms.ledger.active(thread.row))
        settled = values.settled if values is not None else self._settled(thread)
        change = Change(error=error, status=thread_status(busy=busy, failed=error is not None, settled=settled))
        if values is not None:
            asked = heads.interrupts(snapshot)
            change = replace(change, head=values.checkpoint_id, values=values, interrupts=asked)
            if (values.titled or not self.run.continues) and (title := made_title(values)) is not None:
                change = replace(change, auto_title=title)
        elif self.graph is None and self.run.continues and self.seat.last_root is not None:
            change = replace(change, head=self.seat.base)  # the head it left cannot be read: nothing could go on there
        return self._change(thread, change)

    def _settled(self, thread: Thread) -> bool:
        known = self.rooms.threads.settled(thread.row)
        if known is not None:
            return known
        with self.rooms.db.reading() as connection:
            return lineage.at_rest(connection, thread.thread_id, thread.head)

    def _tell(self, outcome: Outcome, thread: Thread, values: HeadValues | None, snapshot: Any) -> None:
        """Log the last events and keep the answer for those who wait for it."""
        if outcome.status != "success" and not self.run.continues:
            standing = self.rooms.threads.values([thread]).get(thread.row)
            if standing is not None:
                self.live.note("values", heads.spliced(standing, thread.title))
        if outcome.error is not None:
            self.live.note("error", outcome.error.encode())
            self.live.result = b'{"__error__":%b}' % outcome.error.encode()
        elif values is not None:
            self.live.result = heads.answer(values, thread.title, snapshot)
        else:
            self.live.result = b"{}"
        self.live.note("end", b"null")
