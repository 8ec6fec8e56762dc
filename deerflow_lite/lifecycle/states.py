"""States over threads: read, history, update; every one of them stands on the thread's own head.

Invariants: reads write nothing; an unknown checkpoint is CheckpointUnknown, never an empty state; an update is one
transaction with the head it makes.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any

import orjson

from deerflow_lite.checkpoints import state, tables
from deerflow_lite.checkpoints.bare import bare
from deerflow_lite.checkpoints.wire import to_json
from deerflow_lite.errors import CheckpointUnknown, GraphBroken, LineageBroken, ModeMismatch
from deerflow_lite.graphs import channels
from deerflow_lite.runs import gate, heads
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import HeadValues, Thread
from deerflow_lite.threads.store import VALUES_BYTES


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
        """Give the values of heads by row number, as many as fit an answer; None where they cannot be read whole."""
        found: dict[int, HeadValues | None] = {**self._rooms.threads.values(threads)}
        for thread in threads:
            stored = found.get(thread.row)
            if stored is not None and stored.mode == "delta" and not self._readable(thread):
                found[thread.row] = None
        return found | self._unstored(threads, found)

    def _unstored(
        self, threads: Sequence[Thread], found: Mapping[int, HeadValues | None]
    ) -> dict[int, HeadValues | None]:
        """Decode the heads of which no values are stored: those that a run is at work on.

        A list waits for no graphs to be loaded: until then those rows show their title alone.
        """
        made: dict[int, HeadValues | None] = {}
        left = VALUES_BYTES - sum(len(values.body) for values in found.values() if values is not None)
        for thread in threads if self._rooms.graphs.loaded or len(threads) == 1 else ():
            if thread.row in found or thread.head is None or self._rooms.threads.settled(thread.row) is not None:
                continue
            values = self._head_values(thread)
            if values is None or len(values.body) <= left or len(threads) == 1:
                made[thread.row] = values
                left -= 0 if values is None else len(values.body)
        return made

    def _head_values(self, thread: Thread) -> HeadValues | None:
        """Read the values of a head through its graph, None where they cannot be read."""
        try:
            graph_id = self.graph_id(thread)
            gate.refuse_mode(self._rooms, thread, graph_id)
            gate.refuse_lost(self._rooms, thread)
            with self._rooms.graphs.opened(graph_id) as graph:
                view = self._rooms.savers.reading(graph_id, graph, thread.head)
                return heads.of_snapshot(graph, state.snapshot(view, thread.thread_id, None))
        except (ModeMismatch, GraphBroken, LineageBroken):
            return None

    def _readable(self, thread: Thread) -> bool:
        try:
            gate.refuse_mode(self._rooms, thread, self.graph_id(thread))
        except (ModeMismatch, GraphBroken):
            return False
        return True

    def known(self, thread: Thread, checkpoint_id: str, namespace: str = "", *, field: str = "checkpoint_id") -> None:
        """Raise CheckpointUnknown unless the checkpoint stands in this thread and namespace; `field` asked for it."""
        with self._rooms.db.reading() as connection:
            if not tables.exists(connection, thread.thread_id, checkpoint_id, namespace):
                raise CheckpointUnknown(checkpoint_id, field)

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
        if checkpoint_id is None and not namespace:
            gate.refuse_lost(self._rooms, thread)
        with ExitStack() as stack:
            graph = self._opened(stack, graph_id, namespace)
            if graph is None:
                return to_json(self._bare(thread, [checkpoint_id or thread.head or ""])[0])
            view = self._rooms.savers.reading(graph_id, graph, thread.head or thread.root)
            found = state.snapshot(view, thread.thread_id, checkpoint_id, namespace, subgraphs)
            return to_json(self._shaped(found, thread, channels.titled(graph)))

    def _opened(self, stack: ExitStack, graph_id: str, namespace: str = "") -> Any:
        """Open a graph, None where it cannot be built: what stands in the root namespace is readable without it."""
        try:
            return stack.enter_context(self._rooms.graphs.opened(graph_id))
        except GraphBroken:
            if namespace:
                raise
            return None

    def _bare(self, thread: Thread, checkpoint_ids: Sequence[str]) -> list[dict[str, Any]]:
        with self._rooms.db.reading() as connection:
            return [bare(connection, thread.thread_id, one) for one in checkpoint_ids]

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
        if before is None and checkpoint_id is None:  # a history begins with the head
            gate.refuse_lost(self._rooms, thread)
        for field, named in (("before", before), ("checkpoint_id", checkpoint_id)):
            if named is not None:
                self.known(thread, named, field=field)
        chosen = [checkpoint_id] if checkpoint_id else self._chosen(thread, limit, before, metadata or {})
        graph_id = self.graph_id(thread)
        with ExitStack() as stack:
            graph = self._opened(stack, graph_id)
            if graph is None:
                return to_json(self._bare(thread, chosen))
            gate.refuse_modes(self._rooms, thread, graph, [thread.head, *chosen])
            view = self._rooms.savers.reading(graph_id, graph, thread.head, many=True)
            titled = channels.titled(graph)
            found = [state.snapshot(view, thread_id, one) for one in chosen]
            return to_json([self._shaped(one, thread, titled) for one in found], many=True)

    def _chosen(self, thread: Thread, limit: int, before: str | None, wanted: Mapping[str, Any]) -> list[str]:
        chosen: list[str] = []
        with (
            self._rooms.db.reading() as connection,
            # A statement left half read would show what stood at its time to whoever is lent the connection next.
            closing(state.history_ids(connection, thread.thread_id, thread.head, before)) as rows,
        ):
            for checkpoint_id, metadata in rows:
                if wanted and not _holds(state.stored_metadata(checkpoint_id, metadata), wanted):
                    continue
                chosen.append(checkpoint_id)
                if len(chosen) == limit:
                    break
        return chosen


def _holds(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Compare by JSON type and value: true is no 1."""
    found = ((metadata.get(key, _holds), value) for key, value in wanted.items())
    return all(type(stored) is type(value) and stored == value for stored, value in found)
