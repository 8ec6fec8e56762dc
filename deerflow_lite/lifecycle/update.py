"""A state update by hand: LangGraph's own `update_state` on the head or another checkpoint; a title alone is a rename.

The graph's code runs before the transaction; inside it the seat and the head are checked again, then rows, head and
values are written together.
"""

import dataclasses
from typing import TYPE_CHECKING, Any

from deerflow_lite.errors import GraphRefused, HeadStale, Invalid
from deerflow_lite.graphs import call, channels
from deerflow_lite.lifecycle.states import States
from deerflow_lite.runs import gate, heads
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import ABSENT, Absent, Change, Thread
from deerflow_lite.threads.titles import clean_title

if TYPE_CHECKING:
    from deerflow_lite.checkpoints.view import DraftView

_SPECIAL = ("__start__", "__end__", "__copy__")


class Updating:
    """Updates the state of one owner's threads."""

    def __init__(self, rooms: Rooms, states: States) -> None:
        self._rooms, self._states = rooms, states

    def update(
        self,
        owner: str,
        thread_id: str,
        values: Any,
        as_node: str | None,
        checkpoint_id: str | None,
        namespace: str = "",
    ) -> dict[str, Any]:
        """Give the place of the new checkpoint: {checkpoint, configurable, checkpoint_id}.

        Raises ThreadUnknown, CheckpointUnknown, ParentMissing, RunActive, Invalid, GraphRefused.
        """
        thread = self._rooms.threads.get(owner, thread_id)
        if checkpoint_id is not None:
            self._states.known(thread, checkpoint_id, namespace)
        title = self._title(values)
        if title is not ABSENT and len(values) == 1:
            changed = self._rooms.threads.change(owner, thread_id, Change(title=title), row=thread.row)
            return _place(thread_id, "", changed.head or changed.root or "")
        self._rooms.ledger.refuse_active(thread)
        call.refuse_overwrites("values", values)
        return self._write(thread, values, as_node, checkpoint_id, namespace, title)

    def _title(self, values: Any) -> Any:
        if not isinstance(values, dict) or "title" not in values:
            return ABSENT
        if not isinstance(values["title"], str):
            raise Invalid({"values.title": ["must be a text"]})
        return clean_title(values["title"])

    def _write(
        self,
        thread: Thread,
        values: Any,
        as_node: str | None,
        checkpoint_id: str | None,
        namespace: str,
        title: str | Absent,
    ) -> dict[str, Any]:
        from deerflow_lite.checkpoints import mutation
        from deerflow_lite.checkpoints.view import DraftView

        rooms, graph_id = self._rooms, self._states.graph_id(thread)
        if checkpoint_id is None:
            gate.refuse_lost(rooms, thread)
        gate.refuse_mode(rooms, thread, graph_id, checkpoint_id if not namespace else None)
        with rooms.graphs.opened(graph_id) as graph:
            given = self._checked(graph, graph_id, values, as_node, namespace)
            draft = DraftView(rooms.savers.saver(graph_id, graph), thread.head or thread.root)
            place = {"thread_id": thread.thread_id, "checkpoint_ns": namespace}
            place |= {"checkpoint_id": checkpoint_id} if checkpoint_id else {}
            made = mutation.update(graph, draft, place, given, as_node)
            change = None if namespace else self._lead(graph, draft, thread, title)
            with rooms.db.writing() as connection:
                self._standing(thread)
                draft.store(connection)
                if change is not None:
                    rooms.threads.change(thread.owner, thread.thread_id, change, row=thread.row)
        return _place(thread.thread_id, namespace, made)

    def _standing(self, thread: Thread) -> None:
        """Check in the transaction that nothing happened since the graph was asked."""
        now = self._rooms.threads.by_row(thread.row)
        self._rooms.ledger.refuse_active(thread)
        if now is None or now.head != thread.head:
            raise HeadStale(f"thread_id: the head of thread {thread.thread_id} moved meanwhile")

    def _checked(self, graph: Any, graph_id: str, values: Any, as_node: str | None, namespace: str) -> Any:
        if as_node is not None and not namespace and as_node not in (*graph.nodes, *_SPECIAL):
            raise GraphRefused(f"as_node: graph {graph_id} has no node {as_node}")
        if not isinstance(values, dict) or namespace:
            return values
        known = gate.own_channels(graph)
        given = {name: value for name, value in values.items() if name != "title" or channels.titled(graph)}
        unknown = sorted(name for name in given if name not in known)
        if unknown:
            raise Invalid({f"values.{name}": [f"graph {graph_id} has no such channel"] for name in unknown})
        return given

    def _lead(self, graph: Any, draft: "DraftView", thread: Thread, title: str | Absent) -> Change:
        """Give the change that makes the kept checkpoint the head, with its values."""
        place = {"configurable": {"thread_id": thread.thread_id, "checkpoint_ns": ""}}
        found = graph.copy(update={"checkpointer": draft}).get_state(place)
        return dataclasses.replace(heads.standing(graph, found), title=title)


def _place(thread_id: str, namespace: str, checkpoint_id: str) -> dict[str, Any]:
    place = {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}
    return {"checkpoint": place, "configurable": place, "checkpoint_id": checkpoint_id}
