"""The replay base: the settled checkpoint that a turn is regenerated, edited or branched from; it writes nothing.

Raw rows propose, the thread's graph confirms. Invariants: the base lies on the lineage of the head that was given; a
lineage that cannot be trusted refuses, it is never guessed around; only a link that is explicitly absent may be
replaced by the order of time.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import orjson

from deerflow_lite.checkpoints import fold, lineage, modes, turn_ids
from deerflow_lite.checkpoints.mentions import mentioned
from deerflow_lite.checkpoints.messages import prompt, visible
from deerflow_lite.errors import GraphBroken, MessageUnknown, ParentMissing, ReplayRefused
from deerflow_lite.graphs import channels
from deerflow_lite.lifecycle.entering import Entry, holds, survey
from deerflow_lite.lifecycle.spoken import Spoken, Turn
from deerflow_lite.runs import gate
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Thread

if TYPE_CHECKING:
    from deerflow_lite.checkpoints.mutation import Carried

__all__ = ["ReplayBase", "Turn", "replay_base", "turns_of"]


@dataclass(frozen=True, slots=True)
class ReplayBase:
    """Where a turn is replayed from; `state` is what the graph read there, None where none can be built."""

    checkpoint_id: str
    turn: Turn
    state: "Carried | None"


def turns_of(rooms: Rooms, thread: Thread, head: str) -> list[Turn]:
    """Give the turns of one head, oldest first; raises LineageBroken and its kinds, ModeMismatch."""
    with ExitStack() as stack:
        graph = _graph(stack, rooms, thread)
        with rooms.db.reading() as connection:
            reader = _reader(connection, rooms, thread)
            spoken, steps = _read(reader, head, _gate(thread, graph))
            found = survey(steps, spoken.prompts, lambda known: len(known.entered) == len(set(spoken.prompts)))
    return spoken.turns(found)


def replay_base(rooms: Rooms, thread: Thread, message_id: str, *, head: str) -> ReplayBase:
    """Give the checkpoint from which the turn of a visible message of `head` is replayed.

    Raises MessageUnknown where the id is nowhere in the thread, ReplayRefused where it is and no base is found,
    LineageBroken and its kinds, ModeMismatch.
    """
    with ExitStack() as stack:
        graph = _graph(stack, rooms, thread)
        search = _Search(rooms, thread, head, graph)
        with rooms.db.reading() as connection:
            reader = _reader(connection, rooms, thread)
            turn = search.turn_of(reader, message_id)
            found = search.proposed(reader)
        # While the graph reads by a connection of its own none is held: they are few.
        while not search.confirmed(found):
            with rooms.db.reading() as connection:
                found = search.proposed(_reader(connection, rooms, thread))
    if missing := search.missing(found):
        raise search.refused(f"the checkpoint before the turn of message {message_id} lacks message {missing}")
    return ReplayBase(found.row.checkpoint_id, turn, search.state)


class _Search:
    """The search for one base; what the graph did not confirm is not proposed again."""

    def __init__(self, rooms: Rooms, thread: Thread, head: str, graph: Any) -> None:
        self._rooms, self._thread, self._head, self._graph = rooms, thread, head, graph
        self._gate = _gate(thread, graph)
        self._unsettled: set[str] = set()
        self._keys: list[str] = []
        self._before: list[str] = []
        self._start = Entry(head, 0, None)
        self.state: Carried | None = None

    def turn_of(self, reader: fold.Reader, message_id: str) -> Turn:
        """Find the turn of a message on the head's lineage, and where to look for its base."""
        spoken, steps = _read(reader, self._head, self._gate)
        asked = spoken.asked_before(self._place(reader, spoken, message_id))
        if asked is None:
            raise self.refused(f"no user message stands before message {message_id}")
        found = survey(steps, spoken.prompts, spoken.enough(asked))
        turn, self._start = spoken.turn(found, asked)
        self._keys = [prompt(one) for one in turn.user_ids]
        self._before = spoken.visible_before(turn.user_ids[0])
        return turn

    def _place(self, reader: fold.Reader, spoken: Spoken, message_id: str) -> int:
        place = spoken.place(message_id)
        if place is None:
            if mentioned(reader.connection, reader.thread_id, message_id):
                raise self.refused(f"message {message_id} is not on the lineage of the head")
            raise MessageUnknown(message_id)
        message = spoken.messages[place]
        if message.hidden:
            raise self.refused(f"message {message_id} is hidden")
        if not visible(message):
            raise self.refused(f"message {message_id} is of type {message.type}, neither human nor ai")
        return place

    def proposed(self, reader: fold.Reader) -> fold.Held:
        """Give the nearest ancestor that the raw rows allow as a base; raises ReplayRefused where there is none."""
        for held in self._fitting(reader):
            if held.row.checkpoint_id not in self._unsettled:
                return held
        raise self.refused(f"no settled checkpoint stands before the turn of {', '.join(self._keys)}")

    def _fitting(self, reader: fold.Reader) -> Iterator[fold.Held]:
        for held in islice(reader.walk(self._start.checkpoint_id, self._gate, self._start.step), 1, None):
            if not self._asks(held) and _settled(reader, held):
                yield held
        # Only an explicitly absent link leads here: every other end of the walk has raised.
        yield from self._by_time(reader)

    def _by_time(self, reader: fold.Reader) -> Iterator[fold.Held]:
        """Give the settled checkpoints before the first that holds the turn, the last one first."""
        before: list[str] = []
        for row in lineage.by_time(reader.connection, reader.thread_id):
            self._gate(row)
            held = reader.held(row)
            if self._asks(held):
                break
            if _settled(reader, held):
                before.append(row.checkpoint_id)
        for checkpoint_id in reversed(before):
            found = modes.row(reader.connection, reader.thread_id, checkpoint_id)
            if found is not None:
                yield reader.held(found)

    def _asks(self, held: fold.Held) -> bool:
        return any(holds(held, key) for key in self._keys)

    def confirmed(self, found: fold.Held) -> bool:
        """Ask the graph whether nothing is scheduled; where none can be built, the raw row has told."""
        if self._graph is None:
            return True
        from deerflow_lite.checkpoints import mutation

        checkpoint_id = found.row.checkpoint_id
        saver = self._rooms.savers.saver(gate.graph_id(self._rooms, self._thread), self._graph)
        self.state = mutation.carried(self._graph, saver, self._thread.thread_id, checkpoint_id)
        if not self.state.settled:
            self._unsettled.add(checkpoint_id)
        return self.state.settled

    def missing(self, found: fold.Held) -> str | None:
        """Give a visible message that stands before the turn and that the base lacks, None where it has all."""
        absent = (one for one in self._before if not found.folded.has(one) and prompt(one) not in self._keys)
        return next((one for one in absent if not holds(found, prompt(one))), None)

    def refused(self, reason: str) -> ReplayRefused:
        """Make the refusal, with the head; a branch names the thread that its first turns were taken from."""
        source = orjson.loads(self._thread.metadata).get("branch_parent_thread_id")
        inherited = f"; it may stand in thread {source}, of which this one is a branch" if source else ""
        return ReplayRefused(f"message_id: {reason}{inherited}; the head is {self._head}")


def _graph(stack: ExitStack, rooms: Rooms, thread: Thread) -> Any:
    """Open the thread's graph, None where it cannot be built."""
    try:
        return stack.enter_context(rooms.graphs.opened(gate.graph_id(rooms, thread)))
    except GraphBroken:
        return None


def _gate(thread: Thread, graph: Any) -> Callable[[modes.Row], None]:
    """Refuse a delta row wherever a walk meets one that the graph would read short."""
    graph_mode = "delta" if graph is None else channels.mode(graph)
    return lambda row: modes.refuse_mismatch(thread.thread_id, modes.mode(row), graph_mode)


def _reader(connection: sqlite3.Connection, rooms: Rooms, thread: Thread) -> fold.Reader:
    return fold.Reader(connection, thread.thread_id, rooms.config.lineage_depth)


def _read(reader: fold.Reader, head: str, gate: Callable[[modes.Row], None]) -> tuple[Spoken, Iterator[fold.Held]]:
    """Give the messages of a head, and the walk from it, the head itself included."""
    steps = reader.walk(head, gate)
    first = next(steps, None)
    if first is None:
        raise ParentMissing(head)
    names = turn_ids.recorded(reader.connection, reader.thread_id)
    return Spoken(first, names), chain([first], steps)


def _settled(reader: fold.Reader, held: fold.Held) -> bool:
    return lineage.settled(held.checkpoint) and not lineage.commanded(
        reader.connection, reader.thread_id, held.row.checkpoint_id
    )
