"""Checkpoints that no head and no turn's base needs are taken out of a thread; what every turn can do stays.

In full mode a turn keeps its end and what other turns stand on; in delta mode a step in between holds what its
descendants are made of, so only whole branches that nothing needs are taken. Invariants: the turns, their ids, their
bases and their messages are the same afterwards, or nothing was written; an interrupted head keeps its rows.
"""

import dataclasses
import logging
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from deerflow_lite.checkpoints import chains, removal, tables
from deerflow_lite.checkpoints.family import Family, metadata
from deerflow_lite.checkpoints.modes import COUNTERS
from deerflow_lite.errors import Conflict, LineageBroken, NotFound
from deerflow_lite.lifecycle import turn_names
from deerflow_lite.lifecycle.shown import TreeTurn
from deerflow_lite.lifecycle.states import States
from deerflow_lite.lifecycle.tree import Reading
from deerflow_lite.runs import gate
from deerflow_lite.runs.keeping import Keeping
from deerflow_lite.runs.rooms import Rooms

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was, or would be, taken out of a thread: `removed` of its `checkpoints` in the root namespace."""

    thread_id: str
    checkpoints: int
    removed: int


class Pruning:
    """Prunes threads of one owner."""

    def __init__(self, rooms: Rooms, states: States, keeping: Keeping) -> None:
        self._rooms, self._states, self._keeping = rooms, states, keeping
        self._left: dict[int, int] = {}
        self._ended: set[int] = set()
        rooms.ledger.on_end.append(lambda run: self._ended.add(run.thread_row))

    def plan(self, owner: str | None, thread_id: str) -> Pruned:
        """Say what `prune` would do; nothing is written. Raises ThreadUnknown, LineageBroken, ModeMismatch."""
        thread = self._rooms.threads.get(owner, thread_id)
        gate.refuse_mode(self._rooms, thread, self._states.graph_id(thread))
        with self._rooms.db.reading() as connection:
            read = self._read(connection, thread.thread_id)
            return Pruned(thread_id, len(read.family.order), len(unneeded(connection, read)))

    def prune(self, owner: str | None, thread_id: str) -> Pruned:
        """Take out what is not needed, in one transaction; its logs refer to what is kept.

        Raises ThreadUnknown, RunActive, LineageBroken, ModeMismatch, HeadStale where the thread changed meanwhile.
        """
        rooms = self._rooms
        thread = rooms.threads.get(owner, thread_id)
        rooms.ledger.refuse_active(thread)
        gate.refuse_mode(rooms, thread, self._states.graph_id(thread))
        self._keeping.tidy(thread.row)
        with rooms.db.reading() as connection:
            known = chains.links(connection, thread_id)
            before = self._read(connection, thread_id)
            gone = unneeded(connection, before)
        if gone:
            self._keeping.write_out(thread, gone)
            with rooms.db.writing() as connection:
                now = gate.unchanged(rooms, thread, known)
                turn_names.record(connection, before, before.family.parents.keys() - gone)
                self._keeping.write_out(now, gone)  # of events that came to refer to them meanwhile
                removal.drop(connection, thread_id, gone, relinked(before.family, gone))
                _refuse_difference(before, self._read(connection, thread_id))
        return Pruned(thread_id, len(before.family.order), len(gone))

    def sweep(self) -> None:
        """Prune the threads of ended runs that have stored PRUNE_AFTER checkpoints since they were pruned last."""
        ended, self._ended = self._ended, set()
        for row in ended if self._rooms.config.prune_after else ():
            thread = self._rooms.threads.by_row(row)
            if thread is None:
                continue
            with self._rooms.db.reading() as connection:
                stored = tables.count(connection, thread.thread_id)
            if stored - self._left.get(row, 0) < self._rooms.config.prune_after:
                continue
            self._left[row] = stored
            try:
                pruned = self.prune(None, thread.thread_id)
                self._left[row] = pruned.checkpoints - pruned.removed
            except (NotFound, Conflict) as error:  # a run is in flight: its end will ask again
                _log.info("thread %s was not pruned: %s", thread.thread_id, type(error).__name__)

    def _read(self, connection: sqlite3.Connection, thread_id: str) -> Reading:
        thread = self._rooms.threads.get(None, thread_id)
        read = Reading(connection, thread)
        broken = next(iter(read.tree().broken), None)
        if broken is not None:
            raise LineageBroken(f"checkpoint {broken.checkpoint_id}: {broken.reason}; see `doctor`")
        return read


def unneeded(connection: sqlite3.Connection, read: Reading) -> set[str]:
    """Give the root checkpoints that nothing needs."""
    kept = _needed(read)
    gone = set(_branches(read, kept))
    return gone | set(_between(connection, read, kept, gone))


def relinked(family: Family, gone: set[str]) -> dict[str, str | None]:
    """Give the nearest kept ancestor of each kept checkpoint that loses its parent."""
    found: dict[str, str | None] = {}
    for checkpoint_id in family.order:
        parent = family.parents[checkpoint_id]
        if checkpoint_id not in gone and parent in gone:
            found[checkpoint_id] = next((one for one in family.lineage(parent) if one not in gone), None)
    return found


def _needed(read: Reading) -> set[str]:
    found: set[str | None] = {read.thread.head, read.thread.root}
    for turn in read.tree().turns:
        found |= {turn.checkpoint_id, turn.base_checkpoint_id}
    found |= {read.pieces[turn.pieces[-1]].rows[-1] for turn in read.turns}
    for run in read.runs.values():
        found |= {run.base, run.last_root}
    return {one for one in found if one is not None}


def _branches(read: Reading, kept: set[str]) -> Iterator[str]:
    """Give the ends of branches where nobody said anything, from the tips down."""
    speaking = {number for turn in read.turns for number, messages in turn.parts if messages}
    standing: set[int | None] = set()
    for number, piece in reversed([*enumerate(read.pieces)]):
        if number in standing or number in speaking or kept.intersection(piece.rows):
            standing.add(piece.above)
        else:
            yield from piece.rows


def _between(connection: sqlite3.Connection, read: Reading, kept: set[str], gone: set[str]) -> Iterator[str]:
    """Give the steps in between of runs in full mode."""
    ends = metadata(connection, read.thread.thread_id, [piece.rows[-1] for piece in read.pieces])
    for piece in read.pieces:
        # Where no run is named the steps alone tell where a turn began and ended.
        if piece.run_id is None or piece.rows[-1] in gone or COUNTERS in ends.get(piece.rows[-1], {}):
            continue
        for checkpoint_id in piece.rows[:-1]:
            if checkpoint_id not in kept and len(read.family.children[checkpoint_id]) == 1:
                yield checkpoint_id


def _refuse_difference(before: Reading, after: Reading) -> None:
    """Raise LineageBroken, which undoes the transaction, where a turn is not what it was."""
    for turn, same in zip(before.tree().turns, after.tree().turns, strict=False):
        if _shown(turn) != _shown(same):
            raise LineageBroken(f"turn {turn.turn_id} would not stay what it is; the thread is left as it was")
    if len(before.turns) != len(after.turns):
        raise LineageBroken("turns would be lost; the thread is left as it was")


def _shown(turn: TreeTurn) -> TreeTurn:
    return dataclasses.replace(turn, created_at=None)
