"""The turns of a thread as a tree: every turn once, with its siblings, read from raw rows in both modes.

It writes nothing and builds no message. Invariants: a turn stands behind its parent, siblings in the order in which
they were made; what cannot be read or followed is told in `broken`, and the rest is shown. A run that ended before it
stored a checkpoint is no turn: the list of runs has it.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from deerflow_lite.checkpoints import modes, turn_ids
from deerflow_lite.checkpoints.family import Broken, Family, family
from deerflow_lite.checkpoints.growth import Growth
from deerflow_lite.checkpoints.messages import Message, Outline, message_of, user
from deerflow_lite.errors import LineageBroken, ParentMissing
from deerflow_lite.lifecycle.grouping import Grouping, Grown
from deerflow_lite.lifecycle.pieces import Piece, cut, labels
from deerflow_lite.lifecycle.shown import ENDED, Tree, TreeTurn, TurnStatus
from deerflow_lite.lifecycle.states import States
from deerflow_lite.runs import gate, partial, traces
from deerflow_lite.runs.model import ACTIVE
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Thread


class Trees:
    """Reads the trees of one owner's threads."""

    def __init__(self, rooms: Rooms, states: States) -> None:
        self._rooms, self._states = rooms, states

    def tree(self, owner: str | None, thread_id: str) -> Tree:
        """Give the tree of a thread; raises ThreadUnknown, ModeMismatch."""
        with self.reading(owner, thread_id) as read:
            return read.tree()

    @contextmanager
    def reading(self, owner: str | None, thread_id: str) -> "Iterator[Reading]":
        """Read the turns with the checkpoints that they are made of; raises ThreadUnknown, ModeMismatch."""
        rooms = self._rooms
        thread = rooms.threads.get(owner, thread_id)
        graph_id = self._states.graph_id(thread)
        gate.refuse_mode(rooms, thread, graph_id)
        with rooms.db.reading() as connection:
            yield Reading(connection, thread, gate.refusing_delta(rooms, thread, graph_id))


class Reading:
    """One thread's turns, with the checkpoints that they are made of; `refuse` may refuse one that is read."""

    def __init__(
        self, connection: sqlite3.Connection, thread: Thread, refuse: Callable[[modes.Row], None] | None = None
    ) -> None:
        self.thread, self.runs = thread, traces.of_thread(connection, thread.row)
        self._connection, self._growth = connection, Growth(connection, thread.thread_id, refuse)
        self.family: Family = family(connection, thread.thread_id)
        self.broken = list(self.family.broken)
        self._lost = None if thread.head in self.family.parents else thread.head
        self._partial = partial.of_thread(connection, thread.row)
        self._bases: set[str | None] = set()
        named = labels(connection, thread.thread_id, self.family, self.runs.values())
        self.pieces = cut(self.family, named, self._settled)
        ends, above = [piece.rows[-1] for piece in self.pieces], [piece.above for piece in self.pieces]
        self._growth.outline(self.family, ends, above)
        self._readable: list[str | None] = []
        recorded = turn_ids.recorded(connection, thread.thread_id)
        grouping = Grouping(self.pieces, self.runs, self._added, self._sent, self.holder, recorded)
        self.turns = grouping.turns
        lineage = set(self.family.lineage(thread.head))
        self._selected = {number for number, piece in enumerate(self.pieces) if lineage.intersection(piece.rows)}
        newest = max(self._selected, default=None)
        self._path = _path(None if newest is None else grouping.at[newest])
        self._bases = {turn.base for turn in self.turns if turn.run_id in self.runs}
        self._shown = self._show()

    def tree(self) -> Tree:
        """Give what was read as a record; of each broken checkpoint the first reason."""
        reasons = {broken.checkpoint_id: broken for broken in reversed(self.broken)}
        broken = [reasons[checkpoint_id] for checkpoint_id in self.family.order if checkpoint_id in reasons]
        lost = [] if self._lost is None else [Broken(self._lost, "it is the head and is not in this thread")]
        return Tree(tuple(self._shown), self.thread.head, (*lost, *broken))

    def path(self) -> list[TreeTurn]:
        """Give the turns of the selected path, oldest first; raises ParentMissing where its head is not stored."""
        if self._lost is not None:
            raise ParentMissing(self._lost)
        return [shown for turn, shown in zip(self.turns, self._shown, strict=True) if turn in self._path]

    def questions(self) -> dict[str, object]:
        """Give the content of the user's first message of each turn, of those that are stored."""
        found: dict[str, object] = {}
        for turn in self.turns:
            asked = (message.entry for _, part in turn.parts for message in part if user(message))
            said = (message_of(entry, turn.turn_id) for entry in asked)
            found[turn.turn_id] = next((message.data.get("content") for message in said), "")
        return found

    def messages(self, turns: Sequence[TreeTurn]) -> list[list[Message]]:
        """Give the messages of turns, as the head holds them; what it no longer holds as the turn's end does.

        What a run said before it was cut off is held by neither.
        """
        wanted = {message_id for turn in turns for message_id in turn.message_ids}
        held = self._held(self.thread.head, wanted)
        found = []
        for turn in turns:
            lost = set(turn.message_ids) - held.keys()
            here = self._cut_off(turn.run_id) | held | self._held(turn.checkpoint_id, lost) if lost else held
            found.append([here[message_id] for message_id in turn.message_ids if message_id in here])
        return found

    def _cut_off(self, run_id: str | None) -> dict[str, Message]:
        """Give what a run said that did not succeed, by message id."""
        said = self._partial.get(run_id or "", ())
        return {data["id"]: Message(data["id"], data["type"], False, data) for data in said if data["content"]}

    def _held(self, checkpoint_id: str | None, wanted: set[str]) -> dict[str, Message]:
        try:
            return self._growth.chosen(checkpoint_id, wanted) if checkpoint_id else {}
        except LineageBroken:
            return {}

    def rows(self, turn: Grown) -> list[str]:
        """Give the checkpoints that a turn has for its own, not those it shares with an answer beside it."""
        return [checkpoint_id for number in turn.pieces for checkpoint_id in self.pieces[number].rows]

    def _added(self, number: int) -> list[Outline]:
        """Give what a piece adds to its base, by its newest checkpoint that can be read."""
        piece = self.pieces[number]
        base = None if piece.above is None else self._readable[piece.above]
        for checkpoint_id in reversed(piece.rows):
            try:
                found = self._growth.added(checkpoint_id, base)
            except LineageBroken as error:
                self.broken.append(Broken(checkpoint_id, error.detail))
                continue
            self._readable.append(checkpoint_id)
            return found
        self._readable.append(base)
        return []

    def _sent(self, run_id: str) -> object:
        """Give the input that a run was sent, as it came; None where the run is unknown."""
        run = self.runs.get(run_id)
        return None if run is None else traces.sent(self._connection, run.row)

    def holder(self, piece: Piece, message_id: str) -> str:
        """Give the oldest checkpoint of a piece that holds a message."""
        for checkpoint_id in piece.rows:
            try:
                if self._growth.holds(checkpoint_id, message_id):
                    return checkpoint_id
            except LineageBroken:
                continue
        return piece.rows[0]

    def _show(self) -> list[TreeTurn]:
        groups: dict[object, list[Grown]] = {}
        for turn in self.turns:
            first = None if turn.base is not None else turn.pieces[0]
            groups.setdefault((turn.parent, turn.base, first), []).append(turn)
        places = {}
        for group in groups.values():
            group.sort(key=lambda turn: self.family.stored[self.pieces[turn.pieces[0]].rows[0]])
            places.update({turn: (number, len(group)) for number, turn in enumerate(group)})
        return [self._turn(turn, *places[turn]) for turn in self.turns]

    def _turn(self, turn: Grown, index: int, count: int) -> TreeTurn:
        selected = turn in self._path
        own = [number for number in turn.pieces if selected and number in self._selected] or turn.pieces
        newest, settled = self._newest(own)
        return TreeTurn(
            turn_id=turn.turn_id,
            parent_turn_id=None if turn.parent is None else turn.parent.turn_id,
            human_message_id=next((one for number, one in turn.moved if number in self._selected), turn.human),
            message_ids=self._message_ids(turn, own, selected),
            checkpoint_id=newest,
            base_checkpoint_id=turn.base,
            run_id=turn.run_id,
            created_at=self._created(turn),
            status=self._status(turn, settled),
            sibling_index=index,
            sibling_count=count,
            on_selected_path=selected,
        )

    def _message_ids(self, turn: Grown, own: Sequence[int], selected: bool) -> tuple[str, ...]:
        """Give the ids of what a turn holds; what a later step of the turn took out is not of it."""
        parts = [each for each in turn.parts if selected and each[0] in self._selected] or turn.parts
        ids = [(number, message.id) for number, part in parts for message in part if message.id is not None]
        end = self._readable[own[-1]]
        if len(own) > 1 and end is not None:
            left = self._held(end, {message_id for _, message_id in ids})
            ids = [(number, message_id) for number, message_id in ids if number not in own or message_id in left]
        said = self._cut_off(turn.run_id).keys() - {message.id for _, part in turn.parts for message in part}
        return tuple(dict.fromkeys([*(message_id for _, message_id in ids), *sorted(said)]))

    def _newest(self, numbers: Sequence[int]) -> tuple[str, bool]:
        """Give the newest settled checkpoint of a turn, its newest where none is, and whether its newest is settled."""
        ends = [self.pieces[number].rows[-1] for number in reversed(numbers)]
        settled = next((checkpoint_id for checkpoint_id in ends if self._settled(checkpoint_id)), None)
        return settled or ends[0], settled == ends[0]

    def _settled(self, checkpoint_id: str) -> bool:
        """The service begins turns on settled checkpoints only, so that mostly the ends of branches are decoded."""
        return checkpoint_id in self._bases or self._growth.settled(checkpoint_id)

    def _status(self, turn: Grown, settled: bool) -> TurnStatus:
        last = self.runs.get(turn.runs[-1]) if turn.runs else None
        if last is not None and last.status in ACTIVE:
            return "running"
        if last is not None and last.status in ENDED:
            return ENDED[last.status]
        return "done" if settled else "interrupted"

    def _created(self, turn: Grown) -> str | None:
        run = self.runs.get(turn.run_id or "")
        if run is not None:
            return run.created_at
        first = self.pieces[turn.pieces[0]].rows[0]
        return self.family.written_at(first)


def _path(turn: Grown | None) -> set[Grown]:
    found: set[Grown] = set()
    while turn is not None:
        found.add(turn)
        turn = turn.parent
    return found
