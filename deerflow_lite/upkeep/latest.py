"""A thread cut down to what it stands on: its empty root and its head; every earlier base is given up."""

import dataclasses
from collections.abc import Sequence

from deerflow_lite.checkpoints import chains, removal, tables
from deerflow_lite.errors import LineageBroken
from deerflow_lite.lifecycle import turn_names
from deerflow_lite.lifecycle.tree import Reading
from deerflow_lite.runs import gate
from deerflow_lite.runs.keeping import Keeping
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Change, Thread


class Latest:
    """Keeps the latest checkpoint of one owner's threads."""

    def __init__(self, rooms: Rooms, keeping: Keeping) -> None:
        self._rooms, self._keeping = rooms, keeping

    def keep_all(self, owner: str | None, thread_ids: Sequence[str]) -> int:
        """Cut threads down and give their number; raises RunActive, before any is touched, and what `keep` raises."""
        for thread_id in thread_ids:
            self._rooms.ledger.refuse_active(self._rooms.threads.get(owner, thread_id))
        for thread_id in thread_ids:
            self.keep(owner, thread_id)
        return len(thread_ids)

    def keep(self, owner: str | None, thread_id: str) -> int:
        """Drop all but root and head and give how many were; a delta head is made whole first.

        Raises ThreadUnknown, RunActive, LineageBroken, ModeMismatch, HeadStale where the thread changed meanwhile.
        """
        rooms = self._rooms
        thread = rooms.threads.get(owner, thread_id)
        rooms.ledger.refuse_active(thread)
        if thread.head is None:
            return 0
        gate.refuse_mode(rooms, thread, gate.graph_id(rooms, thread))
        with rooms.db.reading() as connection:
            known = chains.links(connection, thread_id)
        if ("", thread.head) not in known:
            raise LineageBroken(f"checkpoint {thread.head}, the head, is not stored; see `doctor`")
        root = thread.root if ("", thread.root) in known and thread.root != thread.head else None
        gone = {found for namespace, found in known if not namespace} - {thread.head, root}
        if not gone:
            return 0
        rewritten = self._whole(thread, thread.head)
        self._keeping.tidy(thread.row)
        self._keeping.write_out(thread, gone)
        with rooms.db.writing() as connection:
            now = gate.unchanged(rooms, thread, known)
            self._keeping.write_out(now, gone)  # of events that came to refer to them meanwhile
            if rewritten:
                tables.rewrite(connection, [rewritten])
                self._tell_mode(now)
            read = Reading(connection, now)
            turn_names.record(connection, read, {thread.head, *([root] if root else [])})
            removal.drop(connection, thread_id, gone, {thread.head: root})
        return len(gone)

    def _whole(self, thread: Thread, head: str) -> tuple[object, ...] | None:
        from deerflow_lite.checkpoints.whole import whole

        graph_id = gate.graph_id(self._rooms, thread)
        with self._rooms.graphs.opened(graph_id) as graph:
            row = whole(graph, self._rooms.savers.saver(graph_id, graph), thread.thread_id, "", head)
        return None if row is None else (row.kind, row.blob, row.metadata, thread.thread_id, "", head)

    def _tell_mode(self, thread: Thread) -> None:
        values = self._rooms.threads.values([thread]).get(thread.row)
        if values is not None:
            change = Change(values=dataclasses.replace(values, mode="full"), touch=False)
            self._rooms.threads.change(None, thread.thread_id, change, row=thread.row)
