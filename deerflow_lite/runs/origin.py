"""Where a run stands that names a checkpoint: some hold the state of their parent alone; it writes nothing.

Clients name the parent of the state that first showed a message. For a question that is the checkpoint that only took
it in, for an answer given anew the copy that it was given on: a run put there would hang below what it is to stand
beside, and what was taken in there would be taken in again.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from deerflow_lite.checkpoints import lineage, modes
from deerflow_lite.checkpoints.messages import SNAPSHOT
from deerflow_lite.errors import CheckpointUnreadable
from deerflow_lite.runs.model import RunRequest


def at_origin(connection: sqlite3.Connection, thread_id: str, request: RunRequest) -> RunRequest:
    """Give the request for the checkpoint whose state it asks to go on from; an answer to a question stays there."""
    if request.checkpoint_id is None or request.checkpoint_ns or request.command is not None:
        return request
    here = modes.row(connection, thread_id, request.checkpoint_id)
    passed: set[str] = set()
    while here is not None and here.parent and here.checkpoint_id not in passed:
        passed.add(here.checkpoint_id)
        parent = modes.row(connection, thread_id, here.parent)
        if parent is None or not _stands_for(here, parent, asks=request.input is not None):
            break
        here = parent
    return request if here is None else replace(request, checkpoint_id=here.checkpoint_id)


def _stands_for(row: modes.Row, parent: modes.Row, *, asks: bool) -> bool:
    """Say whether a run from this row is one from its parent: a copy of it, or new input where input was taken in."""
    try:
        if asks and lineage.unheard(row):
            return True
        copied = orjson.loads(row.metadata).get("source") == "fork"
        return copied and _same_state(modes.unpacked(row), modes.unpacked(parent))
    except (CheckpointUnreadable, orjson.JSONDecodeError):
        return False


def _same_state(copy: Mapping[str, Any], original: Mapping[str, Any]) -> bool:
    """Compare versions; a copy gives what is stored as changes whole, under a version of its own."""
    values = copy.get("channel_values") or {}
    whole = {name for name, value in values.items() if isinstance(value, tuple) and value[0] == SNAPSHOT}
    ours, theirs = (
        {name: version for name, version in checkpoint["channel_versions"].items() if name not in whole}
        for checkpoint in (copy, original)
    )
    return ours == theirs
