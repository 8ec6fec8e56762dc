"""What each checkpoint of a lineage holds of messages, undecoded; it judges no checkpoint.

A full checkpoint holds its messages itself. A delta one holds none: they are the nearest stored value above it, and the
writes on every ancestor from there, folded upwards once for all the checkpoints in between.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import orjson

from deerflow_lite.checkpoints import lineage, modes
from deerflow_lite.checkpoints.family import Family
from deerflow_lite.checkpoints.folding import Folded
from deerflow_lite.checkpoints.messages import CHANNEL, SNAPSHOT, Outline, entries, unpacked
from deerflow_lite.checkpoints.prefix import Prefix, snapshot_size
from deerflow_lite.errors import CheckpointUnreadable

BATCH: Final = 64
FOLD_STEPS: Final = 10_000  # LangGraph stores a value of its own accord after 5,000 steps
_WRITES: Final = """
SELECT checkpoint_id, type, value FROM writes WHERE thread_id = ? AND checkpoint_ns = '' AND channel = ?
AND checkpoint_id IN (SELECT value FROM json_each(?)) ORDER BY task_path, task_id, idx
"""
Gate = Callable[[modes.Row], None]
Writes = dict[str, list[tuple[str, Any]]]


@dataclass(frozen=True)
class Held:
    """One checkpoint with its messages, undecoded; `checkpoint` is the unpacked row, maybe without messages."""

    row: modes.Row
    checkpoint: dict[str, Any]
    folded: Folded

    @property
    def entries(self) -> list[Any]:
        """The undecoded messages, in order."""
        return self.folded.entries

    @property
    def outlines(self) -> list[Outline]:
        """What decides about each message."""
        return self.folded.outlines

    @property
    def ids(self) -> list[str | None]:
        """The ids of the messages."""
        return [one.id for one in self.folded.outlines]


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
        self._passed: dict[str, Held] = {}
        self._prefix = Prefix()
        self._full = Folded()

    def walk(self, head: str, gate: Gate | None = None, taken: int = 0) -> Iterator[Held]:
        """Give a head and its ancestors with what they hold, nearest first; `gate` may refuse a row.

        `taken` steps have been made before. Raises what `lineage.ancestors` raises, and CheckpointUnreadable.
        """
        for row in lineage.followed(self._row, head, self._depth, taken):
            if gate is not None:
                gate(row)
            yield self.held(row)

    def _row(self, checkpoint_id: str) -> modes.Row | None:
        passed = self._passed.get(checkpoint_id)
        return passed.row if passed else modes.row(self.connection, self.thread_id, checkpoint_id)

    def held(self, row: modes.Row) -> Held:
        """Give what one checkpoint holds."""
        if row.checkpoint_id in self._passed:
            return self._passed[row.checkpoint_id]
        checkpoint, own = self._own(row)
        return self._fold(row) if own is None else Held(row, checkpoint, own)

    def _own(self, row: modes.Row) -> tuple[dict[str, Any], Folded | None]:
        """Unpack a row, and give what it holds by itself: None where that stands in the writes of its ancestors."""
        read = self._prefix.read(row)
        if read is not None:
            count, checkpoint = read
            return checkpoint, self._full.first(count)
        checkpoint = modes.unpacked(row)
        found = own(self._full, checkpoint, row.checkpoint_id)
        if found is not None:
            self._full, self._prefix = found, Prefix.of(row, found.entries)
        return checkpoint, found

    def _fold(self, row: modes.Row) -> Held:
        """Read up to the nearest stored value, and fold the writes in between back down to the row."""
        passed: list[tuple[modes.Row, dict[str, Any]]] = []
        folded: Folded | None = None
        begun = {row.checkpoint_id: row}
        rows = lineage.followed(lambda one: begun.get(one) or self._row(one), row.checkpoint_id, FOLD_STEPS)
        for one in rows:
            checkpoint, folded = self._own(one)
            passed.append((one, checkpoint))
            if folded is not None:
                break
        if folded is None:
            raise CheckpointUnreadable(passed[-1][0].checkpoint_id)
        writes = _writes(self.connection, self.thread_id, [one.checkpoint_id for one, _ in passed])
        self._passed, above = {}, ""
        for one, checkpoint in reversed(passed):
            folded = folded.written(_unpacked(writes.get(above, ()), above), above)
            self._passed[one.checkpoint_id], above = Held(one, checkpoint, folded), one.checkpoint_id
        return self._passed[row.checkpoint_id]


def descended(connection: sqlite3.Connection, thread_id: str, family: Family) -> dict[str, Folded]:
    """Give what each checkpoint of a thread holds; those that cannot be read are left out.

    Every row and write is read once, for walks from many heads would meet again and again; a snapshot only where its
    size is not that of what was expected there, or where the writes are those of several children.
    """
    found: dict[str, Folded] = {}
    writes: Writes = {}
    sizes = {one: size for one, start in family.starts.items() if (size := snapshot_size(start)) is not None}
    for batch in (family.order[start : start + BATCH] for start in range(0, len(family.order), BATCH)):
        rows = modes.rows(connection, thread_id, [one for one in batch if one not in sizes])
        writes |= _writes(connection, thread_id, batch)
        for one in batch:
            expected = _expected(family.parents[one] or "", found, writes)
            alone = len(family.children.get(family.parents[one], ())) == 1
            if expected is not None and alone and one in sizes and expected.fits(*sizes[one]):
                found[one] = expected
            elif (row := rows.get(one) or modes.row(connection, thread_id, one)) is not None:
                with suppress(CheckpointUnreadable):
                    found[one] = _read(row, expected if row.parent else None)
    return found


def _read(row: modes.Row, expected: Folded | None) -> Folded:
    found = own(expected or Folded(), modes.unpacked(row), row.checkpoint_id) or expected
    if found is None:
        raise CheckpointUnreadable(row.checkpoint_id)
    return found


def _expected(parent: str, above: Mapping[str, Folded], writes: Writes) -> Folded | None:
    held = above.get(parent)
    if held is None or parent not in writes:
        return held
    with suppress(CheckpointUnreadable):
        return held.written(_unpacked(writes[parent], parent), parent)
    return None


def own(expected: Folded, checkpoint: Mapping[str, Any], checkpoint_id: str) -> Folded | None:
    """Give what a checkpoint holds by itself, None where its messages stand in the writes of its ancestors.

    Where it begins as `expected` does, nothing is decoded. Raises CheckpointUnreadable.
    """
    values = checkpoint.get("channel_values") or {}
    if CHANNEL not in values and CHANNEL in (checkpoint.get("channel_versions") or {}):
        return None
    value = values.get(CHANNEL)
    known = expected.begins(value[1]) if isinstance(value, tuple) and value[0] == SNAPSHOT else None
    return known or expected.stored(entries(value, checkpoint_id), checkpoint_id)


def _writes(connection: sqlite3.Connection, thread_id: str, checkpoint_ids: Sequence[str]) -> Writes:
    """Give the writes on some checkpoints, each checkpoint's in the order in which LangGraph replays them."""
    found: Writes = {}
    asked = orjson.dumps(checkpoint_ids).decode()
    for checkpoint_id, *write in connection.execute(_WRITES, (thread_id, CHANNEL, asked)).fetchall():
        found.setdefault(checkpoint_id, []).append((write[0], write[1]))
    return found


def _unpacked(writes: Iterable[tuple[str, Any]], checkpoint_id: str) -> list[Any]:
    found = []
    for kind, value in writes:
        if kind not in ("msgpack", "null"):
            raise CheckpointUnreadable(checkpoint_id)
        found += [unpacked(value, checkpoint_id)] if kind == "msgpack" else []
    return found
