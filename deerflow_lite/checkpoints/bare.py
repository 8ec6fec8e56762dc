"""A state from its raw row alone, for a thread whose graph cannot be built; it asks no graph and builds no object.

What only a graph could tell is left out: tasks and what they ask. Channels that hold nothing are not shown.
"""

import sqlite3
from typing import Any

import orjson

from deerflow_lite.checkpoints import fold, lineage, modes, state
from deerflow_lite.checkpoints.messages import CHANNEL, message_of, plain
from deerflow_lite.errors import CheckpointUnknown


def bare(connection: sqlite3.Connection, thread_id: str, checkpoint_id: str) -> dict[str, Any]:
    """Give the state of a root checkpoint as its step began; raises CheckpointUnknown, LineageBroken."""
    row = modes.row(connection, thread_id, checkpoint_id)
    if row is None:
        raise CheckpointUnknown(checkpoint_id)
    held = fold.held_at(connection, thread_id, row)
    stored = held.checkpoint.get("channel_values") or {}
    values = {name: plain(value, checkpoint_id) for name, value in stored.items() if modes.holds_state(name)}
    if CHANNEL in (held.checkpoint.get("channel_versions") or {}):
        values[CHANNEL] = [message_of(entry, checkpoint_id).data for entry in held.entries]
    place = {"thread_id": thread_id, "checkpoint_ns": ""}
    return state.EMPTY | {
        "values": values,
        "next": lineage.due(held.checkpoint),
        "metadata": orjson.Fragment(row.metadata or b"{}"),
        "created_at": held.checkpoint.get("ts"),
        "checkpoint": {"checkpoint_id": checkpoint_id, **place},
        "parent_checkpoint": {"checkpoint_id": row.parent, **place} if row.parent else None,
        "checkpoint_id": checkpoint_id,
        "parent_checkpoint_id": row.parent or None,
    }
