"""A thread made with a history: LangGraph's supersteps, written with the thread or not at all.

The graph's code runs before the transaction, on a root checkpoint that is written inside it.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deerflow_lite import clock
from deerflow_lite.checkpoints import root
from deerflow_lite.errors import Invalid
from deerflow_lite.graphs import call
from deerflow_lite.runs import gate, heads
from deerflow_lite.runs.naming import made_title
from deerflow_lite.runs.opening import IfExists, Opening
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import ABSENT, Change, NewThread, Thread


@dataclass(frozen=True, slots=True)
class Step:
    """One update of a superstep: values or a command, as if `as_node` had given them; `field` is its place."""

    field: str
    values: Any
    command: dict[str, Any] | None
    as_node: str | None


class Seeding:
    """Makes threads that begin with a history."""

    def __init__(self, rooms: Rooms, opening: Opening) -> None:
        self._rooms, self._opening = rooms, opening

    def create(self, owner: str, new: NewThread, supersteps: Sequence[Sequence[Step]], if_exists: IfExists) -> Thread:
        """Give the thread, whose head is what the last superstep made; one that exists is given unchanged.

        Raises ThreadExists, ThreadIdTaken, Invalid, TooLarge, GraphBroken, GraphRefused.
        """
        if not supersteps or self._rooms.threads.owned(owner, new.thread_id):
            return self._opening.create(owner, new, if_exists=if_exists)[0]
        from deerflow_lite.checkpoints import mutation
        from deerflow_lite.checkpoints.view import DraftView

        rooms, named = self._rooms, new.metadata.get("graph_id")
        graph_id = named if isinstance(named, str) else rooms.graphs.first
        new = dataclasses.replace(new, root=root.new_checkpoint_id())
        with rooms.graphs.opened(graph_id) as graph:
            _check(graph, graph_id, supersteps)
            draft = DraftView(rooms.savers.saver(graph_id, graph), None)
            draft.begin_at(root.root_row(new.thread_id, new.root or "", clock.now()))
            steps = [[(_given(one), one.as_node) for one in step] for step in supersteps]
            mutation.advance(graph, draft, new.thread_id, steps)
            place: Any = {"configurable": {"thread_id": new.thread_id, "checkpoint_ns": ""}}
            change = heads.standing(graph, graph.copy(update={"checkpointer": draft}).get_state(place))
        return self._write(owner, new, draft, change, if_exists)

    def _write(self, owner: str, new: NewThread, draft: Any, change: Change, if_exists: IfExists) -> Thread:
        title = None if change.values is ABSENT else made_title(change.values)
        with self._rooms.db.writing() as connection:
            thread, made = self._opening.create(owner, new, if_exists=if_exists)
            if not made:
                return thread
            draft.store(connection)
            change = dataclasses.replace(change, auto_title=title, touch=False)
            return self._rooms.threads.change(owner, thread.thread_id, change, row=thread.row)


def _check(graph: Any, graph_id: str, supersteps: Sequence[Sequence[Step]]) -> None:
    """Refuse every value that goes into no channel, or would be taken for a marker; raises Invalid."""
    known, problems = gate.own_channels(graph), dict[str, list[str]]()
    for one in (one for step in supersteps for one in step):
        command = one.command or {}
        written = {f"{one.field}.values": one.values, f"{one.field}.command.update": command.get("update")}
        for field, values in written.items():
            call.refuse_overwrites(field, values)
            names = sorted(name for name in values if name not in known) if isinstance(values, dict) else ()
            problems |= {f"{field}.{name}": [f"graph {graph_id} has no such channel"] for name in names}
        call.refuse_goto(command.get("goto"), f"{one.field}.command.goto")
    if problems:
        raise Invalid(problems)


def _given(one: Step) -> Any:
    return one.values if one.command is None else call.command(one.command)
