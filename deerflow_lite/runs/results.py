"""The final values of a run, for those who wait for it or ask later; it writes nothing."""

from deerflow_lite.checkpoints import state
from deerflow_lite.checkpoints.wire import to_json
from deerflow_lite.graphs import channels
from deerflow_lite.runs import gate
from deerflow_lite.runs.model import Run
from deerflow_lite.runs.rooms import Rooms


def result(rooms: Rooms, run: Run) -> bytes:
    """Give the values as JSON, `{"__error__": ...}` of a run that failed; questions stand under `__interrupt__`."""
    ended = rooms.ledger.by_row(run.row)
    if ended is not None and ended.error is not None:
        return b'{"__error__":%b}' % ended.error.encode()
    thread = rooms.threads.by_row(run.thread_row)
    if ended is None or thread is None:
        return b"{}"
    # A run that answered one of several questions has stored writes on the head, and no checkpoint.
    left = ended.last_root or (thread.head if ended.continues and ended.status == "success" else None)
    if left is None:
        return b"{}"
    gate.refuse_mode(rooms, thread, run.graph_id, left)
    with rooms.graphs.opened(run.graph_id) as graph:
        view = rooms.savers.reading(run.graph_id, graph, left)
        found = state.snapshot(view, run.thread_id, None)
        titled = channels.titled(graph)
    values = found.values
    if isinstance(values, dict):
        if titled and thread.title is not None and values:
            values = values | {"title": thread.title}
        asked = [one for task in found.tasks for one in task.interrupts]
        values = values | {"__interrupt__": asked} if asked else values
    return to_json(values)
