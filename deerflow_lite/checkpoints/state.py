"""The one door through which states are read: LangGraph's snapshots in the shape its clients know; it writes nothing.

The head's snapshot is the live one (finished tasks counted), any other is read as it stood when its step began.
"""

import logging
import sqlite3
from collections.abc import Generator, Mapping
from typing import Any

import orjson

from deerflow_lite.checkpoints import tables
from deerflow_lite.errors import CheckpointUnreadable, DeerflowError, ParentMissing

_log = logging.getLogger(__name__)


def snapshot(
    graph: Any, thread_id: str, checkpoint_id: str | None, namespace: str = "", subgraphs: bool = False
) -> Any:
    """Read a state through a graph whose checkpointer is a HeadView; None means the head of that view.

    Raises LineageBroken; CheckpointUnreadable also for values that the graph itself refuses.
    """
    place = {"thread_id": thread_id, "checkpoint_ns": namespace}
    if checkpoint_id is None and not namespace:
        try:
            return graph.get_state({"configurable": place}, subgraphs=subgraphs)
        except DeerflowError:
            raise
        except Exception as error:  # what a finished task wrote cannot be counted: a user's reducer refuses it
            head = graph.checkpointer.get_tuple({"configurable": place})
            if head is not None and head.pending_writes:
                checkpoint_id = graph.checkpointer.head
                _log.warning(
                    "checkpoint %s is read as its step began, what was written on it is refused: %s",
                    checkpoint_id, type(error).__name__,
                )  # fmt: skip
    if checkpoint_id is not None:
        place["checkpoint_id"] = checkpoint_id
    try:
        return graph.get_state({"configurable": place}, subgraphs=subgraphs)
    except DeerflowError:
        raise
    except Exception as error:  # a user's reducer refuses what is stored
        _log.warning("checkpoint %s cannot be read: %s", checkpoint_id, type(error).__name__)
        raise CheckpointUnreadable(checkpoint_id or graph.checkpointer.head or "of the head") from None


def shape(found: Any, thread_id: str) -> dict[str, Any]:
    """Give a StateSnapshot as LangGraph's server answers it; values stay objects for `to_json`."""
    asked = [one for task in found.tasks for one in task.interrupts]
    checkpoint, parent = _place(found.config, thread_id), _place(found.parent_config, thread_id)
    return {
        "values": found.values,
        "next": list(found.next),
        "tasks": [_task(task, thread_id) for task in found.tasks],
        "metadata": found.metadata,
        "created_at": found.created_at,
        "checkpoint": checkpoint,
        "parent_checkpoint": parent,
        "interrupts": [_question(one) for one in asked],
        "checkpoint_id": checkpoint and checkpoint["checkpoint_id"],
        "parent_checkpoint_id": parent and parent["checkpoint_id"],
    }


EMPTY: dict[str, Any] = {
    "values": {}, "next": [], "tasks": [], "metadata": None, "created_at": None, "checkpoint": None,
    "parent_checkpoint": None, "interrupts": [], "checkpoint_id": None, "parent_checkpoint_id": None,
}  # fmt: skip


def settled(connection: sqlite3.Connection, thread_id: str, checkpoint_id: str, created_at: str) -> dict[str, Any]:
    """Give the state of a settled checkpoint from its raw row, without values: nothing is decoded or imported.

    Raises ParentMissing, CheckpointUnreadable.
    """
    found = connection.execute(
        "SELECT parent_checkpoint_id, metadata FROM checkpoints"
        " WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?",
        (thread_id, checkpoint_id),
    ).fetchone()
    if found is None:
        raise ParentMissing(checkpoint_id)
    parent_id, metadata = found
    if not isinstance(parent_id, str | None):
        raise CheckpointUnreadable(checkpoint_id)
    place = {"thread_id": thread_id, "checkpoint_ns": ""}
    return EMPTY | {
        "metadata": stored_metadata(checkpoint_id, metadata),
        "created_at": created_at,
        "checkpoint": {"checkpoint_id": checkpoint_id, **place},
        "parent_checkpoint": {"checkpoint_id": parent_id, **place} if parent_id else None,
        "checkpoint_id": checkpoint_id,
        "parent_checkpoint_id": parent_id or None,
    }


def stored_metadata(checkpoint_id: str, text: Any) -> dict[str, Any]:
    """Give the metadata of a stored row; raises CheckpointUnreadable for what is no JSON object."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise CheckpointUnreadable(checkpoint_id)
    return found


def _place(config: Mapping[str, Any] | None, thread_id: str) -> dict[str, Any] | None:
    asked = (config or {}).get("configurable") or {}
    if not asked.get("checkpoint_id"):
        return None
    place = {"checkpoint_id": asked["checkpoint_id"], "thread_id": thread_id}
    place["checkpoint_ns"] = asked.get("checkpoint_ns", "")
    return place | ({"checkpoint_map": asked["checkpoint_map"]} if "checkpoint_map" in asked else {})


def _task(task: Any, thread_id: str) -> dict[str, Any]:
    inner = task.state
    place = inner["configurable"] if isinstance(inner, dict) and "configurable" in inner else None
    return {
        "id": task.id,
        "name": task.name,
        "path": list(task.path),
        "error": repr(task.error) if isinstance(task.error, BaseException) else task.error,
        "interrupts": [_question(one) for one in task.interrupts],
        "checkpoint": place,
        "state": shape(inner, thread_id) if hasattr(inner, "values") and not isinstance(inner, dict) else None,
        "result": task.result,
    }


def _question(one: Any) -> dict[str, Any]:
    return {"id": one.id, "value": one.value}


def history_ids(
    connection: sqlite3.Connection, thread_id: str, head: str | None, before: str | None
) -> Generator[tuple[str, bytes], None, None]:
    """Give (id, metadata) of the root rows in the order of a history, from the one after `before` on.

    The head comes first, then its ancestors down to the newest row's chain, then all other rows, newest first.
    """
    own = _own(connection, thread_id, head)
    if before in own:
        first, bound, skipped = own[own.index(before) + 1 :], None, set(own)
    else:
        first, bound, skipped = ([], before, set(own)) if before else (own, None, set(own))
    for checkpoint_id in first:
        yield checkpoint_id, _metadata(connection, thread_id, checkpoint_id)
    rows = connection.execute(
        "SELECT checkpoint_id, metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
        " AND checkpoint_id < ? ORDER BY checkpoint_id DESC",
        (thread_id, bound or "~"),
    )
    yield from (found for found in rows if found[0] not in skipped)


def _own(connection: sqlite3.Connection, thread_id: str, head: str | None) -> list[str]:
    """Give the head and its ancestors down to the chain of the newest row; nothing where the head is the newest."""
    newest = connection.execute(
        "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''", (thread_id,)
    ).fetchone()[0]
    own: list[str] = []
    at, other, seen = head, newest, set[str]()
    while at is not None and at != other and at not in seen:
        if other is not None and other > at and other not in seen:
            seen.add(other)
            other = tables.parent(connection, thread_id, other)
        else:
            seen.add(at)
            own.append(at)
            at = tables.parent(connection, thread_id, at)
    return own or ([head] if head not in (None, newest) else [])


def _metadata(connection: sqlite3.Connection, thread_id: str, checkpoint_id: str) -> bytes:
    found = connection.execute(
        "SELECT metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?",
        (thread_id, checkpoint_id),
    ).fetchone()
    return found[0] if found else b"{}"
