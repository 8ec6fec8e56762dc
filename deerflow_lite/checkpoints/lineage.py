"""The parent links of a thread's root namespace, and what a raw row tells about scheduled work; it chooses no base.

Invariants: a walk follows recorded links only and visits each checkpoint once; a link to a row that does not stand in
this thread and namespace, a cycle and a walk beyond its limit each fail with an error of their own.
"""

import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from deerflow_lite.checkpoints import modes
from deerflow_lite.checkpoints.messages import plain
from deerflow_lite.errors import CheckpointUnreadable, LineageCycle, LineageTooDeep, ParentMissing

Fetch = Callable[[str], modes.Row | None]
NULL_TASK: Final = "00000000-0000-0000-0000-000000000000"
UNTOLD: Final = sys.maxsize  # a walk ends by itself: it visits no checkpoint twice
_START: Final = "__start__"
_SENDS: Final = "__pregel_tasks"
_TRIGGERS: Final = (_START, "branch:", "start:", "join:")
_NO_NODES: Final = ("__input__", "__interrupt__")


def ancestors(connection: sqlite3.Connection, thread_id: str, head: str, depth: int) -> Iterator[modes.Row]:
    """Give the head and its ancestors, nearest first, until a checkpoint records no parent.

    `depth` is the number of links that may be followed. Raises ParentMissing, LineageCycle, LineageTooDeep.
    """
    return followed(lambda wanted: modes.row(connection, thread_id, wanted), head, depth)


def followed(fetch: Fetch, head: str, depth: int, taken: int = 0) -> Iterator[modes.Row]:
    """Follow parent links over rows that `fetch` gives by id; promises and refusals are those of `ancestors`.

    `taken` steps have been made before.
    """
    seen: set[str] = set()
    wanted: str | None = head
    while wanted:
        if wanted in seen:
            raise LineageCycle(wanted)
        if taken + len(seen) > depth:
            raise LineageTooDeep(depth)
        seen.add(wanted)
        found = fetch(wanted)
        if found is None:
            raise ParentMissing(wanted)
        yield found
        wanted = found.parent


def refuse_broken(connection: sqlite3.Connection, thread_id: str, checkpoint_id: str, namespace: str = "") -> None:
    """Raise LineageBroken where a delta checkpoint's parents break off or cannot be read before its messages are found.

    LangGraph says nothing of a chain that breaks off: it reads what is left of it.
    """
    for row in followed(lambda wanted: modes.row(connection, thread_id, wanted, namespace), checkpoint_id, UNTOLD):
        modes.unpacked(row)
        if modes.whole(row):
            return


def by_time(connection: sqlite3.Connection, thread_id: str) -> Iterator[modes.Row]:
    """Give every row of the root namespace, oldest first: only for a lineage that records no links."""
    ids = connection.execute(
        "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' ORDER BY checkpoint_id",
        (thread_id,),
    ).fetchall()
    for (checkpoint_id,) in ids:
        found = modes.row(connection, thread_id, checkpoint_id)
        if found is not None:
            yield found


def commanded(connection: sqlite3.Connection, thread_id: str, checkpoint_id: str) -> bool:
    """Say whether a Command wrote on the checkpoint itself: what it wrote would be taken into every run from there."""
    return (
        connection.execute(
            "SELECT 1 FROM writes WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ? AND task_id = ?",
            (thread_id, checkpoint_id, NULL_TASK),
        ).fetchone()
        is not None
    )


def at_rest(connection: sqlite3.Connection, thread_id: str, checkpoint_id: str | None) -> bool:
    """Say from the raw row whether nothing is scheduled on a checkpoint; nothing can be told of an unreadable one."""
    row = None if checkpoint_id is None else modes.row(connection, thread_id, checkpoint_id)
    try:
        return row is None or not pending(row)
    except CheckpointUnreadable:
        return True


def pending(row: modes.Row) -> bool:
    """Say whether work is known to be scheduled on a checkpoint; raises CheckpointUnreadable."""
    return not settled(modes.unpacked(row))


def unheard(row: modes.Row) -> bool:
    """Say whether a checkpoint only took input in, which no node has heard yet; raises CheckpointUnreadable."""
    checkpoint = modes.unpacked(row)
    values: Mapping[str, Any] = checkpoint.get("channel_values") or {}
    if _START not in values or not _due(_START, values[_START], checkpoint):
        return False
    rest = {name: value for name, value in values.items() if name != _START}
    return not scheduled({**checkpoint, "channel_values": rest})


def settled(checkpoint: Mapping[str, Any]) -> bool:
    """Say whether an unpacked checkpoint may be taken for settled."""
    told = scheduled(checkpoint)
    if told is None:
        return True  # nothing tells: absence of evidence stays permissive, where a graph can be asked it decides
    return not told


def scheduled(checkpoint: Mapping[str, Any]) -> bool | None:
    """Say whether an unpacked checkpoint has work scheduled, None where its channels' names do not tell.

    A node is due when a channel that triggers it holds something newer than the node has seen.
    """
    values: Mapping[str, Any] = checkpoint.get("channel_values") or {}
    if values.get(_SENDS) or checkpoint.get("pending_sends"):
        return True
    if due(checkpoint):
        return True
    return None if _nameless(values, checkpoint) else False


def due(checkpoint: Mapping[str, Any]) -> list[str]:
    """Give the nodes that the channels of an unpacked checkpoint trigger by their names, `__start__` for an input."""
    values: Mapping[str, Any] = checkpoint.get("channel_values") or {}
    named = (name for name, value in values.items() if name.startswith(_TRIGGERS) and _due(name, value, checkpoint))
    return [name if name == _START else name.rpartition(":")[2] for name in named]


def _due(channel: str, value: Any, checkpoint: Mapping[str, Any]) -> bool:
    versions, seen = checkpoint.get("channel_versions") or {}, checkpoint.get("versions_seen") or {}
    if not _available(channel, value):
        return False
    version = versions.get(channel)
    nodes = set(seen).difference(_NO_NODES) if channel == _START else {channel.rpartition(":")[2]}
    known = [seen[node][channel] for node in nodes if channel in (seen.get(node) or {})]
    return version is None or all(_newer(version, one) for one in known)


def _newer(version: Any, other: Any) -> bool:
    return type(version) is not type(other) or bool(version > other)


def _available(channel: str, value: Any) -> bool:
    """Say whether a trigger can fire: a barrier waits for all its names, a deferred one for the end of the step."""
    held = plain(value, "") if isinstance(value, tuple | list) else value
    finished = True
    if isinstance(held, list) and len(held) == 2 and isinstance(held[1], bool):
        held, finished = held
    if not channel.startswith("join:"):
        return finished
    names = channel.removeprefix("join:").rpartition(":")[0]
    arrived = held if isinstance(held, list) else []
    return finished and sum(len(str(name)) + 1 for name in arrived) - 1 == len(names)


def _nameless(values: Mapping[str, Any], checkpoint: Mapping[str, Any]) -> bool:
    """Say whether nodes are triggered by channels of other names: those of nodes (old files), or of a custom graph."""
    nodes = {node for node, seen in (checkpoint.get("versions_seen") or {}).items() if seen}.difference(_NO_NODES)
    if any(values.get(node) == node for node in nodes):
        return True
    versions = checkpoint.get("channel_versions") or {}
    worked = nodes - {_START}
    return bool(worked) and not any(name.startswith(_TRIGGERS) for name in versions)
