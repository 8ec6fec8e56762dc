"""Turns keep their ids when checkpoints are pruned: what told an id is recorded before it goes; it removes nothing.

Whoever removes root checkpoints and links the ones that stay calls `record` first, in the same transaction, with the
reading of the thread as it stands. `removal.remove_below` takes whole subtrees and needs no such call.
"""

import sqlite3
from collections.abc import Collection, Iterator

from deerflow_lite.checkpoints import turn_ids
from deerflow_lite.lifecycle.grouping import Grown
from deerflow_lite.lifecycle.tree import Reading


def record(connection: sqlite3.Connection, read: Reading, kept: Collection[str]) -> None:
    """Record the ids of the turns that could not be told from the checkpoints that are `kept`."""
    owners = {row: turn for turn in read.turns for row in read.rows(turn)}
    names: dict[tuple[str, str], str] = {}
    for turn in read.turns:
        if turn.human is not None:
            names.update({(row, turn.human): turn.turn_id for row in _oldest(read, turn, owners, kept)})
    told = {place for place, name in names.items() if name in (_run(owners, place[0]), ".".join(place))}
    turn_ids.record(connection, read.thread.thread_id, {place: names[place] for place in names.keys() - told})


def _oldest(read: Reading, turn: Grown, owners: dict[str, Grown], kept: Collection[str]) -> Iterator[str]:
    """Give the kept checkpoints that will be the oldest to hold a turn's question, on each lineage the first."""
    waiting = [read.holder(read.pieces[turn.pieces[0]], turn.human or "")]
    while waiting:
        one = waiting.pop()
        if one in kept:
            yield one
        else:
            children = read.family.children.get(one, ())
            waiting += [child for child in children if _goes_on(turn, owners.get(child))]


def _goes_on(turn: Grown, below: Grown | None) -> bool:
    """Another turn of the same question has a name of its own."""
    return below is None or below is turn or below.human != turn.human


def _run(owners: dict[str, Grown], checkpoint_id: str) -> str | None:
    owner = owners.get(checkpoint_id)
    return owner.run_id if owner is not None else None
