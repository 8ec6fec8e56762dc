"""The gate before a state is read or gone on from: the graph must hold all of it; only raw rows are looked at."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import orjson

from deerflow_lite.checkpoints import chains, lineage, modes, tables
from deerflow_lite.checkpoints.chains import Place
from deerflow_lite.errors import ChannelLost, GraphBroken, HeadStale, NothingToResume, ParentMissing
from deerflow_lite.graphs import call, channels
from deerflow_lite.runs.model import RunRequest
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Thread


def graph_id(rooms: Rooms, thread: Thread) -> str:
    """Give the name of a thread's graph, the first one where none is recorded."""
    name = orjson.loads(thread.metadata).get("graph_id")
    return name if isinstance(name, str) else rooms.graphs.first


def _row(rooms: Rooms, thread: Thread, checkpoint_id: str | None) -> modes.Row | None:
    wanted = checkpoint_id or thread.head
    if wanted is None:
        return None
    with rooms.db.reading() as connection:
        return modes.row(connection, thread.thread_id, wanted)


def refuse_mode(rooms: Rooms, thread: Thread, graph_id: str, checkpoint_id: str | None = None) -> None:
    """Raise ModeMismatch where the graph would read fewer messages than are stored."""
    row = _row(rooms, thread, checkpoint_id)
    if row is not None:
        refusing_delta(rooms, thread, graph_id)(row)


def refusing_delta(rooms: Rooms, thread: Thread, graph_id: str) -> Callable[[modes.Row], None]:
    """Give what raises ModeMismatch for a delta row where the graph is full; the graph is opened once, if at all."""

    @cache
    def refuse() -> None:
        with suppress(GraphBroken), rooms.graphs.opened(graph_id) as graph:  # no graph reads nothing short
            modes.refuse_mismatch(thread.thread_id, "delta", channels.mode(graph))

    return lambda row: refuse() if modes.mode(row) == "delta" else None


def refuse_lost(rooms: Rooms, thread: Thread) -> None:
    """Raise ParentMissing for a head that is not stored: LangGraph would read it as empty, and go on from nothing."""
    with rooms.db.reading() as connection:
        if thread.head is not None and not tables.exists(connection, thread.thread_id, thread.head):
            raise ParentMissing(thread.head)


def unchanged(rooms: Rooms, thread: Thread, known: Mapping[Place, str | None]) -> Thread:
    """Give a thread as the open write transaction sees it, at rest and with the head and the parent links seen before.

    Raises ThreadUnknown, RunActive, HeadStale.
    """
    now = rooms.threads.get(None, thread.thread_id)
    rooms.ledger.refuse_active(now)
    with rooms.db.reading() as connection:
        links = chains.links(connection, thread.thread_id)
    if (now.row, now.head) != (thread.row, thread.head) or links != known:
        raise HeadStale(f"thread_id: thread {thread.thread_id} changed meanwhile")
    return now


def own_channels(graph: Any) -> frozenset[str]:
    """Give the names of the channels that hold a graph's state."""
    return frozenset(name for name in channels.channel_names(graph) if modes.holds_state(name))


def refuse_modes(rooms: Rooms, thread: Thread, graph: Any, checkpoint_ids: Sequence[str]) -> None:
    """Raise ModeMismatch where the graph would read fewer messages than are stored on one of these checkpoints."""
    if channels.mode(graph) == "full":
        with rooms.db.reading() as connection:
            delta = modes.any_delta(connection, thread.thread_id, checkpoint_ids)
        modes.refuse_mismatch(thread.thread_id, "delta" if delta else "full", "full")


def refuse_loss(rooms: Rooms, thread: Thread, request: RunRequest) -> None:
    """Raise what `refuse_lost` and `refuse_lossy` raise, before a run is taken in; a factory gets the run's config."""
    if request.checkpoint_id is None:
        refuse_lost(rooms, thread)
    if _row(rooms, thread, place := _root(request)) is not None:
        fixed = {"thread_id": thread.thread_id}
        config = call.run_config(request.config, request.context, fixed, {}, rooms.config.recursion_limit)
        with rooms.graphs.opened(request.graph_id, config) as graph:
            refuse_lossy(rooms, thread, request, graph, place)


def _root(request: RunRequest) -> str | None:
    return None if request.checkpoint_ns else request.checkpoint_id


def refuse_lossy(rooms: Rooms, thread: Thread, request: RunRequest, graph: Any, checkpoint_id: str | None) -> None:
    """Raise ModeMismatch, LineageBroken or ChannelLost where a run could not carry all of the state it starts from.

    Raises NothingToResume for an answer to a node that the graph has not: LangGraph would drop it without a word.

    A branch only carries foreign channels; a caller may name channels to drop in `configurable.drop_channels`.
    """
    row = _row(rooms, thread, checkpoint_id)
    if row is None:
        return
    modes.refuse_mismatch(thread.thread_id, modes.mode(row), channels.mode(graph))
    if not modes.whole(row):
        with rooms.db.reading() as connection:
            lineage.refuse_broken(connection, thread.thread_id, row.checkpoint_id)
    if (request.command or {}).get("resume") is not None:
        _refuse_unheard(request.graph_id, graph, row)
    if orjson.loads(thread.metadata).get("deerflow_branch") is True:
        return
    dropped = (request.config.get("configurable") or {}).get("drop_channels") or ()
    lost = modes.filled_channels(row) - own_channels(graph) - set(dropped)
    if lost:
        raise ChannelLost(
            f"assistant_id: graph {request.graph_id} has no channel {', '.join(sorted(lost))} and would lose it;"
            " name it in config.configurable.drop_channels to go on without"
        )


def _refuse_unheard(graph_id: str, graph: Any, row: modes.Row) -> None:
    waiting = lineage.due(modes.unpacked(row))
    if waiting and not any(name in graph.nodes for name in waiting):
        names = ", ".join(sorted(waiting))
        raise NothingToResume(f"command.resume: graph {graph_id} has no node {names}, which waits for the answer")
