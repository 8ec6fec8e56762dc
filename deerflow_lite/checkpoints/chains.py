"""Whether a thread's stored checkpoints can be trusted: their parent links hold together, their rows can be decoded.

LangGraph itself says nothing of a broken chain: it reads what is left of it.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import orjson

from deerflow_lite.checkpoints import modes
from deerflow_lite.errors import LineageBroken

Reason = Literal["dangling", "foreign", "cycle"]
Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Fault:
    """A checkpoint whose parent link cannot be followed."""

    namespace: str
    checkpoint_id: str
    parent: str
    reason: Reason


def thread_ids(connection: sqlite3.Connection) -> list[str]:
    """Give the threads that have checkpoints."""
    return [found for (found,) in connection.execute("SELECT DISTINCT thread_id FROM checkpoints ORDER BY 1")]


def links(connection: sqlite3.Connection, thread_id: str) -> dict[Place, str | None]:
    """Give (namespace, checkpoint id) to the parent's id, None where none is recorded, of all namespaces."""
    found = connection.execute(
        "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id FROM checkpoints WHERE thread_id = ? ORDER BY 1, 2",
        (thread_id,),
    )
    return {(namespace, checkpoint_id): parent or None for namespace, checkpoint_id, parent in found}


def faults(connection: sqlite3.Connection, thread_id: str, known: dict[Place, str | None]) -> Iterator[Fault]:
    """Give every link that leads nowhere, into another thread or namespace, or back to its own beginning."""
    for place in sorted(_on_cycles(known)):
        yield Fault(*place, known[place] or "", "cycle")
    for (namespace, checkpoint_id), parent in known.items():
        if parent is not None and (namespace, parent) not in known:
            elsewhere = connection.execute("SELECT 1 FROM checkpoints WHERE checkpoint_id = ?", (parent,)).fetchone()
            yield Fault(namespace, checkpoint_id, parent, "foreign" if elsewhere else "dangling")


def _on_cycles(known: dict[Place, str | None]) -> set[Place]:
    found: set[Place] = set()
    done: set[Place] = set()
    for start in known:
        path: dict[Place, int] = {}
        at: Place | None = start
        while at is not None and at in known and at not in done and at not in path:
            path[at] = len(path)
            parent = known[at]
            at = None if parent is None else (at[0], parent)
        if at is not None and at in path:
            found.update(place for place, number in path.items() if number >= path[at])
        done.update(path)
    return found


def readable(connection: sqlite3.Connection, thread_id: str, place: Place) -> bool:
    """Say whether a row can be decoded; no object is built."""
    found = connection.execute(
        "SELECT checkpoint_id, NULL, type, checkpoint, metadata FROM checkpoints"
        " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
        (thread_id, *place),
    ).fetchone()
    try:
        row = modes.Row.of(found)
        metadata = orjson.loads(row.metadata or b"{}")
        return isinstance(modes.unpacked(row).get("channel_values"), dict) and isinstance(metadata, dict)
    except (LineageBroken, orjson.JSONDecodeError):
        return False
