"""Whether a message of an id is stored anywhere in a thread, on any lineage and in any namespace; it gives no message.

Most of a thread's bytes are full checkpoints that repeat the messages of the one before. Such a one need not be read
where its child has as many messages more as were written on it: then none went, and the child has them all.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any, Final

import orjson

from deerflow_lite.checkpoints.family import family
from deerflow_lite.checkpoints.messages import CHANNEL, SNAPSHOT, entries, outline_of, unpacked
from deerflow_lite.checkpoints.prefix import full_length
from deerflow_lite.errors import CheckpointUnreadable

_MANY: Final = 2**40
_UNLIKE: Final = frozenset({"", "remove", "__overwrite__"})


def mentioned(connection: sqlite3.Connection, thread_id: str, message_id: str) -> bool:
    """Say whether a message of this id is stored anywhere in the thread."""
    needle = message_id.encode("utf-8", "replace")
    blobs = _written(connection, thread_id), _stored(connection, thread_id)
    return any(needle in blob and _names(blob, message_id) for found in blobs for blob in found)


def _written(connection: sqlite3.Connection, thread_id: str) -> Iterable[bytes]:
    rows = connection.execute("SELECT value FROM writes WHERE thread_id = ?", (thread_id,)).fetchall()
    return (blob for (blob,) in rows if isinstance(blob, bytes))


def _stored(connection: sqlite3.Connection, thread_id: str) -> Iterable[bytes]:
    """Give the checkpoints that no other one repeats."""
    rows = connection.execute(
        "SELECT checkpoint FROM checkpoints WHERE thread_id = ? AND (checkpoint_ns <> ''"
        " OR checkpoint_id NOT IN (SELECT value FROM json_each(?)))",
        (thread_id, orjson.dumps(repeated(connection, thread_id)).decode()),
    )
    return (blob for (blob,) in rows if isinstance(blob, bytes))


def repeated(connection: sqlite3.Connection, thread_id: str) -> list[str]:
    """Give the root checkpoints whose messages all stand in the child of each."""
    known = family(connection, thread_id)
    counts = {one: full_length(start) for one, start in known.starts.items()}
    written, found = _counted(connection, thread_id), []
    for one, count in counts.items():
        more = written.get(one, 0)
        # Where nothing is told of a step, neither here nor on the child, it may have been many steps.
        after = [counts[child] for child in known.children.get(one, ()) if more or child in written]
        if count is not None and count + more in after:
            found.append(one)
    return found


def _counted(connection: sqlite3.Connection, thread_id: str) -> dict[str, int]:
    """Count the messages that were written on each checkpoint that carries any write."""
    rows = connection.execute(
        "SELECT checkpoint_id, CASE channel WHEN ? THEN value END FROM writes"
        " WHERE thread_id = ? AND checkpoint_ns = ''",
        (CHANNEL, thread_id),
    ).fetchall()
    counts: dict[str, int] = {}
    for checkpoint_id, value in rows:
        counts[checkpoint_id] = counts.get(checkpoint_id, 0) + (0 if value is None else _messages(value))
    return counts


def _messages(value: Any) -> int:
    """Count the messages of a write; what does more than append them is counted as more than there can be."""
    try:
        types = [outline_of(one, "").type for one in entries(unpacked(value, ""), "")]
    except CheckpointUnreadable:
        return _MANY
    return _MANY if _UNLIKE.intersection(types) else len(types)


def _names(blob: bytes, message_id: str) -> bool:
    waiting: list[Any] = [(SNAPSHOT, blob)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, tuple):
            try:
                value = unpacked(value[1], "")
            except CheckpointUnreadable:
                continue
        if isinstance(value, dict) and value.get("id") == message_id and ("role" in value or "type" in value):
            return True
        waiting.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return False
