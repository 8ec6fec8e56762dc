"""A branch: a new thread that goes on from one answered turn of another; the source is not changed.

Invariants: row, anchor, head and the head's values are one transaction, everything is read before it; the new thread
has exactly two checkpoints, both settled, the turn's replay base as the parent of its end.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import orjson

from deerflow_lite import clock
from deerflow_lite.checkpoints import tables, turn_ids
from deerflow_lite.checkpoints.messages import messages_at, visible
from deerflow_lite.errors import BranchRefused, LineageBroken, MessageUnknown, ReplayRefused, ThreadUnknown
from deerflow_lite.lifecycle import base
from deerflow_lite.runs import gate, heads
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Change, HeadValues, NewThread, Thread
from deerflow_lite.threads.titles import clean_title

REFUSAL: Final = "This turn can no longer be branched from."
_PREFIX: Final = re.compile(r"^(?:\s*branch:)+\s*", re.IGNORECASE)
_KEPT: Final = ("graph_id", "assistant_id")


@dataclass(frozen=True, slots=True)
class Branch:
    """What a branch is made from; `parent_checkpoint_id` is the newest settled checkpoint of the turn."""

    thread_id: str
    parent_thread_id: str
    parent_checkpoint_id: str
    branched_from_message_id: str
    workspace_clone_mode: str
    history_seed_mode: str

    def as_json(self) -> dict[str, str]:
        """Give the fields as clients know them."""
        return asdict(self)


class Branching:
    """Makes branches of one owner's threads."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def branch(
        self,
        owner: str | None,
        thread_id: str,
        message_id: str,
        message_ids: Sequence[str] = (),
        title: str | None = None,
    ) -> Branch:
        """Make a thread that ends with the turn of these answers; a title given is set by hand.

        Raises ThreadUnknown, Invalid (title), BranchRefused, ModeMismatch, GraphBroken, TypeBlocked.
        """
        source = self._rooms.threads.get(owner, thread_id)
        given = None if title is None else clean_title(title)
        gate.refuse_mode(self._rooms, source, gate.graph_id(self._rooms, source))
        rooms = replace(self._rooms, savers=self._rooms.savers.remembering())
        found = self._found(rooms, source, {message_id, *message_ids}, message_id)
        made = Branch(clock.new_id(), thread_id, found.turn.newest, message_id, "not_found", "seeded")
        self._write(rooms, source, found, made, given)
        return made

    def _found(self, rooms: Rooms, source: Thread, targets: set[str], message_id: str) -> base.ReplayBase:
        """Find the turn on the selected lineage, else on any other; there is no window of newest checkpoints."""
        for head in self._heads(source, message_id):
            try:
                found = base.replay_base(rooms, source, message_id, head=head)
            except (ReplayRefused, MessageUnknown, LineageBroken):
                continue
            if _ends(found.turn, targets):
                return found
        raise self._refused(source, message_id)

    def _heads(self, source: Thread, message_id: str) -> Iterator[str]:
        """Give the head, then the ends of the other lineages, the newest first: those that hold the message."""
        if source.head is not None:
            yield source.head
        with self._rooms.db.reading() as connection:
            ends = tables.leaves(connection, source.thread_id)
        for one in ends:
            if one != source.head and self._holds(source, one, message_id):
                yield one

    def _holds(self, source: Thread, checkpoint_id: str, message_id: str) -> bool:
        with self._rooms.db.reading() as connection:
            try:
                found = messages_at(connection, source.thread_id, checkpoint_id)
                return any(one.id == message_id for one in found)
            except LineageBroken:
                return False

    def _refused(self, source: Thread, message_id: str) -> BranchRefused:
        """Make the refusal; a turn that a branch was given with its anchor stands in the thread it came from."""
        parent = orjson.loads(source.metadata).get("branch_parent_thread_id")
        if parent is None or source.root is None or not self._holds(source, source.root, message_id):
            return BranchRefused(REFUSAL)
        return BranchRefused(f"{REFUSAL} It was made in thread {parent}: branch there.")

    def _write(self, rooms: Rooms, source: Thread, found: base.ReplayBase, made: Branch, title: str | None) -> None:
        from deerflow_lite.checkpoints import mutation

        graph_id = gate.graph_id(rooms, source)
        pair = (found.checkpoint_id, made.parent_checkpoint_id)
        for one in pair:
            gate.refuse_mode(rooms, source, graph_id, one)
        with rooms.graphs.opened(graph_id) as graph:
            saver = rooms.savers.saver(graph_id, graph)
            states = [
                found.state or mutation.carried(graph, saver, source.thread_id, pair[0]),
                mutation.carried(graph, saver, source.thread_id, pair[1]),
            ]
            if not all(state.settled for state in states):
                raise BranchRefused(REFUSAL)
            draft = mutation.ChainView(saver, None)
            origin = {"branch_parent_thread_id": source.thread_id, "branch_parent_checkpoint_id": pair[1]}
            anchor, _ = mutation.write_chain(graph, draft, made.thread_id, [state.values for state in states], origin)
            place: Any = {"configurable": {"thread_id": made.thread_id, "checkpoint_ns": ""}}
            values = heads.of_snapshot(graph, graph.copy(update={"checkpointer": draft}).get_state(place))
            with rooms.db.writing() as connection:
                self._add(source, made, anchor, values, title)
                draft.store(connection)
                # A question without an answer right before the turn would else be taken for a part of it.
                asked = found.turn.user_ids[0]
                name = {(values.checkpoint_id, asked): f"{values.checkpoint_id}.{asked}"}
                turn_ids.record(connection, made.thread_id, name)

    def _add(self, source: Thread, made: Branch, anchor: str, values: HeadValues, title: str | None) -> None:
        """Add the row; raises ThreadUnknown where the source went while it was read."""
        if self._rooms.threads.by_row(source.row) is None:
            raise ThreadUnknown(source.thread_id)
        stored = orjson.loads(source.metadata)
        metadata = {key: stored[key] for key in _KEPT if key in stored} | {
            "deerflow_branch": True,
            "branch_parent_thread_id": source.thread_id,
            "branch_parent_checkpoint_id": made.parent_checkpoint_id,
            "branch_parent_message_id": made.branched_from_message_id,
            "branch_created_at": clock.now(),
        }
        name, by_hand = (title, True) if title is not None else _inherited(source, stored)
        new = NewThread(made.thread_id, metadata, name, by_hand, root=anchor, head=values.checkpoint_id)
        self._rooms.threads.create(source.owner, new)
        self._rooms.threads.change(source.owner, made.thread_id, Change(values=values, touch=False))


def _ends(turn: base.Turn, targets: set[str]) -> bool:
    """Say whether the targets are answers of the turn and its last visible message is among them."""
    shown = [message for message in turn.messages if visible(message)]
    answers = {message.id for message in shown if message.type == "ai"}
    return targets <= answers and shown[-1].id in targets


def _inherited(source: Thread, metadata: dict[str, Any]) -> tuple[str | None, bool]:
    """Give the source's title and whether it was set by hand; a branch of a branch does not pile up prefixes."""
    if source.title is None or metadata.get("deerflow_branch") is not True:
        return source.title, source.title_manual
    name = _PREFIX.sub("", source.title, count=1) or None
    return name, source.title_manual and name is not None
