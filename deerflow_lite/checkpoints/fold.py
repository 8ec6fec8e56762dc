"""What each checkpoint of a lineage holds of messages, undecoded; it judges no checkpoint.

A full checkpoint holds its messages itself. A delta one holds none: they are the nearest stored value above it, and the
writes on every ancestor from there, folded upwards once for all the checkpoints in between.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import orjson

from deerflow_lite.checkpoints import lineage, modes
from deerflow_lite.checkpoints.messages import CHANNEL, Outline, entries, outline_of, unpacked
from deerflow_lite.checkpoints.prefix import Prefix
from deerflow_lite.errors import CheckpointUnreadable

REMOVE_ALL: Final = "__remove_all__"
_OVERWRITE: Final = "__overwrite__"
_FIELDS: Final = 2
FOLD_STEPS: Final = 10_000  # LangGraph stores a value of its own accord after 5,000 steps
_WRITES: Final = """
SELECT checkpoint_id, type, value FROM writes WHERE thread_id = ? AND checkpoint_ns = '' AND channel = ?
AND checkpoint_id IN (SELECT value FROM json_each(?)) ORDER BY task_path, task_id, idx
"""
Gate = Callable[[modes.Row], None]
Writes = dict[str, list[Any]]


@dataclass(frozen=True)
class Held:
    """One checkpoint with the ids of its messages and the undecoded messages themselves, in order.

    `checkpoint` is the unpacked row, maybe without messages. Lists are shared between checkpoints and never changed.
    """

    row: modes.Row
    checkpoint: dict[str, Any]
    ids: list[str | None]
    entries: list[Any]
    decoded: list[Outline] | None = None

    @cached_property
    def outlines(self) -> list[Outline]:
        """What decides about each message; raises CheckpointUnreadable."""
        if self.decoded is not None:
            return self.decoded
        return [outline_of(one, self.row.checkpoint_id) for one in self.entries]


def held_at(connection: sqlite3.Connection, thread_id: str, row: modes.Row) -> Held:
    """Give what one checkpoint holds; raises as `Reader.walk` does."""
    return Reader(connection, thread_id, 0).held(row)


class Reader:
    """Reads one thread's checkpoints: a row once, a message once as long as the checkpoints that follow begin with it.

    Few stored values are in memory at a time, and of delta checkpoints those of one fold. `depth` is the number of
    links that a walk may follow.
    """

    def __init__(self, connection: sqlite3.Connection, thread_id: str, depth: int) -> None:
        self.connection, self.thread_id, self._depth = connection, thread_id, depth
        self._folded: dict[str, Held] = {}
        self._prefix = Prefix()
        self._decoded: list[Outline] = []
        self._full: tuple[list[str | None], list[Any]] = [], []
        self._last = self._full

    def walk(self, head: str, gate: Gate | None = None, taken: int = 0) -> Iterator[Held]:
        """Give a head and its ancestors with what they hold, nearest first; `gate` may refuse a row.

        `taken` steps have been made before. Raises what `lineage.ancestors` raises, and CheckpointUnreadable.
        """
        for row in lineage.followed(self._row, head, self._depth, taken):
            if gate is not None:
                gate(row)
            yield self.held(row)

    def _row(self, checkpoint_id: str) -> modes.Row | None:
        folded = self._folded.get(checkpoint_id)
        return folded.row if folded else modes.row(self.connection, self.thread_id, checkpoint_id)

    def held(self, row: modes.Row) -> Held:
        """Give what one checkpoint holds."""
        return self._folded.get(row.checkpoint_id) or self._own(row) or self._fold(row)

    def _own(self, row: modes.Row) -> Held | None:
        """Give what the row holds by itself, None for one whose messages stand in the writes of its ancestors."""
        read = self._prefix.read(row)
        if read is not None:
            count, checkpoint = read
            if count != len(self._last[0]):
                self._last = self._full[0][:count], self._full[1][:count]
            return Held(row, checkpoint, *self._last)
        checkpoint = modes.unpacked(row)
        values = checkpoint.get("channel_values") or {}
        if CHANNEL not in values and CHANNEL in (checkpoint.get("channel_versions") or {}):
            return None
        found = entries(values.get(CHANNEL), row.checkpoint_id)
        same = _common(found, self._full[1])
        self._decoded = self._decoded[:same] + [outline_of(one, row.checkpoint_id) for one in found[same:]]
        self._full = self._last = [one.id for one in self._decoded], found
        self._prefix = Prefix.of(row, found)
        return Held(row, checkpoint, *self._last, self._decoded)

    def _fold(self, row: modes.Row) -> Held:
        passed: list[tuple[modes.Row, dict[str, Any]]] = []
        below: Held | None = None
        for one in lineage.ancestors(self.connection, self.thread_id, row.checkpoint_id, FOLD_STEPS):
            below = self._own(one)
            if below is not None:
                break
            passed.append((one, modes.unpacked(one)))
        if below is None:
            raise CheckpointUnreadable(passed[-1][0].checkpoint_id)
        self._folded = {below.row.checkpoint_id: below}
        writes = self._writes([below.row, *(one for one, _ in passed)])
        for one, checkpoint in reversed(passed):
            below = Held(one, checkpoint, *_written(below, writes.get(below.row.checkpoint_id, ())))
            self._folded[one.checkpoint_id] = below
        return below

    def _writes(self, rows: Sequence[modes.Row]) -> Writes:
        """Give the writes on some checkpoints, each checkpoint's in the order in which LangGraph replays them."""
        found: Writes = {}
        asked = orjson.dumps([row.checkpoint_id for row in rows]).decode()
        rows = self.connection.execute(_WRITES, (self.thread_id, CHANNEL, asked)).fetchall()
        for checkpoint_id, kind, value in rows:
            if kind not in ("msgpack", "null"):
                raise CheckpointUnreadable(checkpoint_id)
            if kind == "msgpack":
                found.setdefault(checkpoint_id, []).append(unpacked(value, checkpoint_id))
        return found


def _written(below: Held, writes: Sequence[Any]) -> tuple[list[str | None], list[Any]]:
    """Give what the child of a checkpoint holds by the writes on it."""
    ids, found = below.ids, below.entries
    for write in writes:
        ids, found = _applied(ids, found, write, below.row.checkpoint_id)
    return ids, found


def _applied(
    ids: list[str | None], found: list[Any], write: Any, checkpoint_id: str
) -> tuple[list[str | None], list[Any]]:
    """Take one write in: a message of a known id replaces, others are appended, removals and resets are honoured."""
    fresh = _overwrite(write, checkpoint_id)
    if fresh is not None:
        return [outline_of(one, checkpoint_id).id for one in fresh], fresh
    ids, found = ids.copy(), found.copy()
    for entry in entries(write, checkpoint_id):
        told = outline_of(entry, checkpoint_id)
        message_id, removes = told.id, told.type == "remove"
        if removes and message_id == REMOVE_ALL:
            ids, found = [], []
        elif removes:
            gone = {ids.index(message_id)} if message_id in ids else set()
            ids, found = _without(ids, gone), _without(found, gone)
        elif message_id is not None and message_id in ids:
            found[ids.index(message_id)] = entry
        else:
            ids.append(message_id)
            found.append(entry)
    return ids, found


def _without(items: list[Any], gone: set[int]) -> list[Any]:
    return [item for place, item in enumerate(items) if place not in gone]


def _overwrite(write: Any, checkpoint_id: str) -> list[Any] | None:
    """Give the messages of LangGraph's Overwrite in any of its three forms, None for another write."""
    value = write
    if isinstance(write, tuple) and write[0] == _FIELDS:
        parts = unpacked(write[1], checkpoint_id)
        value = parts[_FIELDS] if isinstance(parts, list) and len(parts) > _FIELDS else None
    if isinstance(value, dict) and value.get("type") == _OVERWRITE and "value" in value:
        return list(entries(value["value"], checkpoint_id))
    if isinstance(value, dict) and set(value) == {_OVERWRITE}:
        return list(entries(value[_OVERWRITE], checkpoint_id))
    return None


def _common(some: list[Any], others: list[Any]) -> int:
    """Count the equal elements at the beginning of two lists; mostly one begins with the whole of the other."""
    low, high = 0, min(len(some), len(others))
    middle = high
    while low < high:
        if some[low:middle] == others[low:middle]:
            low = middle
        else:
            high = middle - 1
        middle = (low + high + 1) // 2
    return low
