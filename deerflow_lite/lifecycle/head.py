"""Which checkpoint a thread stands on, chosen by hand, and turns taken out of it; it starts no run.

Invariants: only a settled checkpoint is chosen; the head never is among what is taken out; head, values and status are
one transaction. `updated_at` stays: to look at another answer is no activity.
"""

import dataclasses
import sqlite3

from deerflow_lite.checkpoints import modes, removal
from deerflow_lite.checkpoints.lineage import pending
from deerflow_lite.checkpoints.state import snapshot
from deerflow_lite.errors import CheckpointUnknown, HeadUnsettled, ThreadUnknown, TurnSelected, TurnUnknown
from deerflow_lite.lifecycle.states import States
from deerflow_lite.lifecycle.tree import Reading
from deerflow_lite.runs import gate, heads
from deerflow_lite.runs.keeping import Keeping
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Thread


class Heads:
    """Selects the heads of one owner's threads and deletes turns beside them."""

    def __init__(self, rooms: Rooms, states: States) -> None:
        self._rooms, self._states = rooms, states

    def select(self, owner: str | None, thread_id: str, checkpoint_id: str) -> Thread:
        """Make a settled checkpoint the head and give the thread.

        Raises ThreadUnknown, CheckpointUnknown, RunActive, HeadUnsettled, LineageBroken, ModeMismatch.
        """
        rooms = self._rooms
        thread = rooms.threads.get(owner, thread_id)
        self._choosable(thread, checkpoint_id)
        if thread.head is None and checkpoint_id == thread.root:
            return thread
        graph_id = self._states.graph_id(thread)
        gate.refuse_mode(rooms, thread, graph_id, checkpoint_id)
        with rooms.graphs.opened(graph_id) as graph:
            view = rooms.savers.reading(graph_id, graph, checkpoint_id)
            found = snapshot(view, thread_id, None)
            if found.next:
                raise HeadUnsettled(checkpoint_id)
            change = dataclasses.replace(heads.standing(graph, found), touch=False)
        with rooms.db.writing():
            now = rooms.threads.by_row(thread.row)
            if now is None:
                raise ThreadUnknown(thread_id)
            self._choosable(now, checkpoint_id)
            return rooms.threads.change(thread.owner, thread_id, change, row=thread.row)

    def _choosable(self, thread: Thread, checkpoint_id: str) -> None:
        """Refuse by raw rows what cannot be a head."""
        with self._rooms.db.reading() as connection:
            stored = modes.row(connection, thread.thread_id, checkpoint_id)
        if stored is None:
            raise CheckpointUnknown(checkpoint_id)
        self._rooms.ledger.refuse_active(thread)
        if pending(stored):
            raise HeadUnsettled(checkpoint_id)

    def delete_turn(self, owner: str | None, thread_id: str, turn_id: str) -> None:
        """Remove a turn and all that came after it: checkpoints, writes, runs and their logs, in one transaction.

        Raises ThreadUnknown, ModeMismatch, TurnUnknown, RunActive, TurnSelected where the head is among them.
        """
        rooms = self._rooms
        asked = rooms.threads.get(owner, thread_id)
        gate.refuse_mode(rooms, asked, self._states.graph_id(asked))  # it opens the graph: not in the transaction
        with rooms.db.writing() as connection:
            thread = rooms.threads.get(owner, thread_id)
            read = Reading(connection, thread)
            removed = self._below(read, turn_id)
            rooms.ledger.refuse_active(thread)
            if thread.head in removed or thread.root in removed:
                raise TurnSelected(turn_id, thread.head)
            Keeping(rooms).write_out(thread, removed)
            self._remove(connection, read, removed)

    def _below(self, read: Reading, turn_id: str) -> set[str]:
        for turn in read.turns:
            if turn.turn_id == turn_id:
                return read.family.below(read.rows(turn))
        raise TurnUnknown(turn_id)

    def _remove(self, connection: sqlite3.Connection, read: Reading, removed: set[str]) -> None:
        gone = {piece.run_id for piece in read.pieces if piece.rows[0] in removed}
        kept = {piece.run_id for piece in read.pieces if piece.rows[0] not in removed}
        removal.remove_below(connection, read.thread.thread_id, removed)
        for run_id in gone - kept:
            if run_id in read.runs:
                self._rooms.ledger.delete(read.runs[run_id].row)
