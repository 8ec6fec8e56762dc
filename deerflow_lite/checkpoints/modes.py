"""What a stored row tells without its graph: whether it is a delta row, and which channels hold something.

Rows are unpacked without building any object, so a crafted row runs no code and no class need be importable.
"""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson
import ormsgpack

from deerflow_lite.errors import CheckpointUnreadable, ModeMismatch

Mode = Literal["full", "delta"]
COUNTERS: Final = "counters_since_delta_snapshot"
BEGINNING: Final = 640  # bytes: mostly the messages begin before
SNAPSHOT_START: Final = re.compile(
    rb"\xa8messages(?:\xc7(.)|\xc8(..)|\xc9(....))\x07(?:([\x90-\x9f])|(\xdc)(..)|(\xdd)(....))", re.DOTALL
)
_COUNTED: Final = f'"{COUNTERS}"'.encode()
ROOT: Final = "__root__"  # the one channel of a graph whose state is no mapping
_BOOKKEEPING: Final = ("__", "branch:", "join:", "start:")
_ROW: Final = (
    "SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints"
    " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id"
)
_NOTHING: Final[tuple[Any, ...]] = (None, "", [], {})


@dataclass(frozen=True, slots=True)
class Row:
    """One stored checkpoint, undecoded."""

    checkpoint_id: str
    parent: str | None
    kind: str
    blob: bytes
    metadata: bytes

    @classmethod
    def of(cls, found: Sequence[Any]) -> "Row":
        """Another program can store any type in any column; what is none becomes what cannot be decoded."""
        checkpoint_id, parent, kind, blob, metadata = found
        if parent is not None and not isinstance(parent, str):
            parent = repr(parent)
        return cls(checkpoint_id, parent, kind, _bytes(blob), _bytes(metadata))


def row(connection: sqlite3.Connection, thread_id: str, checkpoint_id: str, namespace: str = "") -> Row | None:
    """Read one row, of the root namespace where none is named."""
    found = connection.execute(f"{_ROW} = ?", (thread_id, namespace, checkpoint_id)).fetchone()
    return Row.of(found) if found else None


def rows(connection: sqlite3.Connection, thread_id: str, checkpoint_ids: Sequence[str]) -> dict[str, Row]:
    """Read some rows of the root namespace, by id."""
    asked = orjson.dumps(checkpoint_ids).decode()
    found = connection.execute(f"{_ROW} IN (SELECT value FROM json_each(?))", (thread_id, "", asked)).fetchall()
    return {one[0]: Row.of(one) for one in found}


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else b""


def mode(stored: Row) -> Mode:
    """Tell whether a delta graph wrote the row: its messages are a snapshot, or the writes of its ancestors.

    A branch of a delta thread is a snapshot that says nothing of it in its metadata.
    """
    counted = _COUNTED in stored.metadata
    return "delta" if counted or SNAPSHOT_START.search(stored.blob[:BEGINNING]) else "full"


def whole(stored: Row) -> bool:
    """Tell whether the row holds its messages itself, so that nothing is read of what stands before it."""
    return mode(stored) == "full" or SNAPSHOT_START.search(stored.blob[:BEGINNING]) is not None


def any_delta(connection: sqlite3.Connection, thread_id: str, checkpoint_ids: Sequence[str]) -> bool:
    """Say whether a delta graph wrote one of some rows of the root namespace; their values are not read."""
    found = connection.execute(
        "SELECT checkpoint_id, parent_checkpoint_id, type, substr(checkpoint, 1, ?), metadata FROM checkpoints"
        " WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id IN (SELECT value FROM json_each(?))",
        (BEGINNING, thread_id, orjson.dumps(checkpoint_ids).decode()),
    )
    return any(mode(Row.of(one)) == "delta" for one in found.fetchall())


def filled_channels(stored: Row) -> frozenset[str]:
    """Give the names of the state channels that hold something; raises CheckpointUnreadable."""
    values = unpacked(stored).get("channel_values") or {}
    return frozenset(name for name, value in values.items() if holds_state(name) and not _nothing(value))


def holds_state(channel: str) -> bool:
    """Say by its name whether a channel is a graph's own, none of those that LangGraph schedules work by."""
    return channel == ROOT or not channel.startswith(_BOOKKEEPING)


def unpacked(stored: Row) -> dict[str, Any]:
    """Give the containers of a checkpoint, objects left as (code, bytes); raises CheckpointUnreadable."""
    try:
        found = ormsgpack.unpackb(
            stored.blob, ext_hook=lambda code, data: (code, data), option=ormsgpack.OPT_NON_STR_KEYS
        )
    except (ValueError, TypeError):
        found = None
    if stored.kind != "msgpack" or not isinstance(found, dict):
        raise CheckpointUnreadable(stored.checkpoint_id)
    return found


def _nothing(value: Any) -> bool:
    return any(type(value) is type(empty) and value == empty for empty in _NOTHING)


def refuse_mismatch(thread_id: str, stored: Mode, graph: Mode) -> None:
    """Raise ModeMismatch where delta rows would be read through a full graph, which sees fewer messages."""
    if stored == "delta" and graph == "full":
        raise ModeMismatch(
            f"thread_id: thread {thread_id} has delta checkpoints and its graph reads full ones; start the service with"
            f" CHECKPOINT_MODE=delta, or run `deerflow-lite threads convert {thread_id} --to full`"
        )
