"""States over threads: read, history, update; every one of them stands on the thread's own head.

Invariants: reads write nothing; an unknown checkpoint is CheckpointUnknown, never an empty state; an update is one
transaction with the head it makes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from deerflow_lite.checkpoints import state, tables
from deerflow_lite.checkpoints.wire import to_json
from deerflow_lite.errors import CheckpointUnknown, GraphBroken, ModeMismatch
from deerflow_lite.graphs import channels
from deerflow_lite.runs import gate, heads
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import HeadValues, Thread


class States:
    """Reads the states of one owner's threads."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def graph_id(self, thread: Thread) -> str:
        """Give the name of the thread's graph, the first one where none is recorded."""
        return gate.graph_id(self._rooms, thread)

    def read(
        self, owner: str, thread_id: str, checkpoint_id: str | None = None, namespace: str = "", subgraphs: bool = False
    ) -> bytes:
        """Give a state as JSON, the head's where no checkpoint is named; raises ThreadUnknown, CheckpointUnknown."""
        thread = self._rooms.threads.get(owner, thread_id)
        if checkpoint_id is not None:
            self.known(thread, checkpoint_id, namespace)
        wanted = checkpoint_id if checkpoint_id != thread.head or namespace else None
        if wanted is None and not namespace:
            if thread.head is None:
                return orjson.dumps(state.EMPTY)
            known = self._rooms.threads.values([thread]).get(thread.row)
            if known is not None and known.settled and known.checkpoint_id == thread.head:
                return self._stored(thread, known)
        return self._decoded(thread, wanted, namespace, subgraphs)

    def values(self, threads: Sequence[Thread]) -> dict[int, HeadValues | None]:
        """Give the stored values of heads by row number; None where the thread's graph would read them short."""
        found: dict[int, HeadValues | None] = {**self._rooms.threads.values(threads)}
        for thread in threads:
            stored = found.get(thread.row)
            if stored is not None and stored.mode == "delta" and not self._readable(thread):
                found[thread.row] = None
        return found

    def _readable(self, thread: Thread) -> bool:
        try:
            gate.refuse_mode(self._rooms, thread, self.graph_id(thread))
        except (ModeMismatch, GraphBroken):
            return False
        return True

    def known(self, thread: Thread, checkpoint_id: str, namespace: str = "") -> None:
        """Raise CheckpointUnknown unless the checkpoint stands in this thread and namespace."""
        with self._rooms.db.reading() as connection:
            if not tables.exists(connection, thread.thread_id, checkpoint_id, namespace):
                raise CheckpointUnknown(checkpoint_id)

    def _stored(self, thread: Thread, values: HeadValues) -> bytes:
        """Splice the stored values of a settled head: nothing is decoded."""
        if values.mode == "delta":
            gate.refuse_mode(self._rooms, thread, self.graph_id(thread))
        with self._rooms.db.reading() as connection:
            found = state.settled(connection, thread.thread_id, values.checkpoint_id, values.created_at)
        return orjson.dumps(found | {"values": orjson.Fragment(heads.spliced(values, thread.title))})

    def _decoded(self, thread: Thread, checkpoint_id: str | None, namespace: str, subgraphs: bool) -> bytes:
        graph_id = self.graph_id(thread)
        gate.refuse_mode(self._rooms, thread, graph_id, checkpoint_id if not namespace else None)
        with self._rooms.graphs.opened(graph_id) as graph:
            view = self._rooms.savers.reading(graph_id, graph, thread.head or thread.root)
            found = state.snapshot(view, thread.thread_id, checkpoint_id, namespace, subgraphs)
            return to_json(self._shaped(found, thread, channels.titled(graph)))

    def _shaped(self, found: Any, thread: Thread, titled: bool) -> dict[str, Any]:
        shown = state.shape(found, thread.thread_id)
        if titled and thread.title is not None and isinstance(shown["values"], dict) and shown["values"]:
            shown["values"] = shown["values"] | {"title": thread.title}
        return shown

    def history(
        self,
        owner: str,
        thread_id: str,
        *,
        limit: int,
        before: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        checkpoint_id: str | None = None,
    ) -> bytes:
        """Give a list of states as JSON, the head first; costs grow with `limit`, not with the thread."""
        thread = self._rooms.threads.get(owner, thread_id)
        if thread.head is None:
            return b"[]"
        for named in (before, checkpoint_id):
            if named is not None:
                self.known(thread, named)
        chosen = [checkpoint_id] if checkpoint_id else self._chosen(thread, limit, before, metadata or {})
        graph_id = self.graph_id(thread)
        gate.refuse_mode(self._rooms, thread, graph_id)
        with self._rooms.graphs.opened(graph_id) as graph:
            view = self._rooms.savers.reading(graph_id, graph, thread.head)
            titled = channels.titled(graph)
            found = [state.snapshot(view, thread_id, one) for one in chosen]
            return to_json([self._shaped(one, thread, titled) for one in found])

    def _chosen(self, thread: Thread, limit: int, before: str | None, wanted: Mapping[str, Any]) -> list[str]:
        chosen: list[str] = []
        with self._rooms.db.reading() as connection:
            rows = state.history_ids(connection, thread.thread_id, thread.head, before)
            for checkpoint_id, metadata in rows:
                if wanted and not _holds(orjson.loads(metadata), wanted):
                    continue
                chosen.append(checkpoint_id)
                if len(chosen) == limit:
                    break
        return chosen


def _holds(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Compare by JSON type and value: true is no 1."""
    found = ((metadata.get(key, _holds), value) for key, value in wanted.items())
    return all(type(stored) is type(value) and stored == value for stored, value in found)
