"""The gate before a state is read or gone on from: the graph must hold all of it; only raw rows are looked at."""

import orjson

from deerflow_lite.checkpoints import modes
from deerflow_lite.errors import ChannelLost
from deerflow_lite.graphs import channels
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
    if row is not None and modes.mode(row) == "delta":
        with rooms.graphs.opened(graph_id) as graph:
            modes.refuse_mismatch(thread.thread_id, "delta", channels.mode(graph))


def refuse_loss(rooms: Rooms, thread: Thread, request: RunRequest) -> None:
    """Raise ModeMismatch or ChannelLost where a run could not carry all of the state it starts from.

    A branch only carries foreign channels; a caller may name channels to drop in `configurable.drop_channels`.
    """
    refuse_mode(rooms, thread, request.graph_id, request.checkpoint_id if not request.checkpoint_ns else None)
    row = _row(rooms, thread, request.checkpoint_id if not request.checkpoint_ns else None)
    if row is None or '"deerflow_branch":true' in thread.metadata:
        return
    dropped = (request.config.get("configurable") or {}).get("drop_channels") or ()
    with rooms.graphs.opened(request.graph_id) as graph:
        lost = modes.filled_channels(row) - channels.channel_names(graph) - set(dropped)
    if lost:
        raise ChannelLost(
            f"assistant_id: graph {request.graph_id} has no channel {', '.join(sorted(lost))} and would lose it;"
            " name it in config.configurable.drop_channels to go on without"
        )
