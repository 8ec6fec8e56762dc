"""Gives checkpoints that another program wrote the thread row they lack; it changes no checkpoint.

The newest checkpoint of the root namespace becomes the head; what its graph makes of it gives values and title.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, Final

from deerflow_lite.checkpoints import chains, lineage, modes
from deerflow_lite.checkpoints.messages import messages_at, texts, user
from deerflow_lite.errors import Conflict, DeerflowError, Invalid, ThreadExists, ThreadIdTaken
from deerflow_lite.graphs import channels
from deerflow_lite.runs import heads
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.runs.status import thread_status
from deerflow_lite.threads.limits import creatable_id
from deerflow_lite.threads.model import Change, NewThread
from deerflow_lite.threads.titles import auto_title

OWNER: Final = "default"


@dataclass(frozen=True, slots=True)
class Adoption:
    """What is done with checkpoints of no thread; `refusal` says why nothing is, `note` what the graph cannot read."""

    thread_id: str
    head: str | None
    refusal: str | None = None
    note: str | None = None


class Adopting:
    """Adopts into one owner's threads."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def plan(self, thread_id: str) -> Adoption:
        """Say what `adopt` would do; nothing is written."""
        with self._rooms.db.reading() as connection:
            known = chains.links(connection, thread_id)
            head = max((found for namespace, found in known if not namespace), default=None)
            if head is None:
                return Adoption(thread_id, None, "it has no checkpoint of the root namespace")
            if not chains.readable(connection, thread_id, ("", head)):
                return Adoption(thread_id, head, f"its newest checkpoint {head} cannot be decoded")
            if any(fault.reason == "cycle" for fault in chains.faults(connection, thread_id, known)):
                return Adoption(thread_id, head, "its parent links lead in a circle")
        try:
            creatable_id(thread_id)
        except Invalid as error:
            return Adoption(thread_id, head, error.detail)
        return Adoption(thread_id, head)

    def adopt(self, thread_id: str, owner: str = OWNER) -> Adoption:
        """Add the thread row, in one transaction with the values of its head where its graph can read them."""
        planned = self.plan(thread_id)
        if planned.refusal is not None or planned.head is None:
            return planned
        change, note = self._read(thread_id, planned.head)
        try:
            with self._rooms.db.writing():
                title = self._title(thread_id, planned.head)
                self._rooms.threads.create(owner, NewThread(thread_id, {}, title, head=planned.head))
                self._rooms.threads.change(owner, thread_id, change)
        except (ThreadExists, ThreadIdTaken) as error:
            return Adoption(thread_id, planned.head, error.detail)
        return Adoption(thread_id, planned.head, None, note)

    def _read(self, thread_id: str, head: str) -> tuple[Change, str | None]:
        graph_id = self._rooms.graphs.first
        try:
            with self._rooms.graphs.opened(graph_id) as graph:
                self._refuse_mode(thread_id, head, graph)
                view: Any = self._rooms.savers.reading(graph_id, graph, head)
                found = view.get_state({"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}})
                values = heads.of_snapshot(graph, found)
        except Conflict as error:
            return Change(touch=False), error.detail
        # The row knows better than a graph that may not be the one that wrote it.
        values = dataclasses.replace(values, settled=values.settled and not self._pending(thread_id, head))
        status = thread_status(busy=False, failed=False, settled=values.settled)
        return Change(values=values, interrupts=heads.interrupts(found), status=status, touch=False), None

    def _refuse_mode(self, thread_id: str, head: str, graph: Any) -> None:
        row = self._row(thread_id, head)
        if row is not None:
            modes.refuse_mismatch(thread_id, modes.mode(row), channels.mode(graph))

    def _pending(self, thread_id: str, head: str) -> bool:
        row = self._row(thread_id, head)
        return row is not None and lineage.pending(row)

    def _row(self, thread_id: str, head: str) -> modes.Row | None:
        with self._rooms.db.reading() as connection:
            return modes.row(connection, thread_id, head)

    def _title(self, thread_id: str, head: str) -> str | None:
        with self._rooms.db.reading() as connection:
            try:
                asked = next((one for one in messages_at(connection, thread_id, head) if user(one)), None)
            except DeerflowError:
                return None
        return None if asked is None else auto_title(" ".join(texts(asked.data.get("content"))))
