"""The empty settled checkpoint every thread starts from; it imports nothing of LangGraph, which takes a second.

`test_saver.py` compares the row with the one that LangGraph's saver writes for its `empty_checkpoint()`.
"""

import sqlite3
from typing import Any

import ormsgpack
import uuid_utils

_METADATA = b'{"source": "input", "step": -1, "parents": {}}'


def new_checkpoint_id() -> str:
    """Give a UUIDv6 as text, as LangGraph numbers checkpoints: ids made later sort later."""
    return str(uuid_utils.uuid6())


def root_row(thread_id: str, checkpoint_id: str, at: str) -> tuple[Any, ...]:
    """Give the row of a root checkpoint, its columns as a saver's put orders them; `at` is the time it carries."""
    checkpoint = {
        "v": 2,
        "id": checkpoint_id,
        "ts": at,
        "channel_values": {},
        "channel_versions": {},
        "versions_seen": {},
        "pending_sends": [],
        "updated_channels": None,
    }
    return ormsgpack.packb(checkpoint), "msgpack", _METADATA, thread_id, "", checkpoint_id, None


def write_root(connection: sqlite3.Connection, thread_id: str, checkpoint_id: str, at: str) -> None:
    """Write the root checkpoint of a thread."""
    connection.execute(
        "INSERT INTO checkpoints (checkpoint, type, metadata, thread_id, checkpoint_ns, checkpoint_id,"
        " parent_checkpoint_id) VALUES (?, ?, ?, ?, ?, ?, ?)",
        root_row(thread_id, checkpoint_id, at),
    )
