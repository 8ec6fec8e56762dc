"""Honesty after a restart: what ran when the service stopped is an error with that reason; it executes nothing."""

from deerflow_lite.checkpoints import state
from deerflow_lite.runs import gate, heads
from deerflow_lite.runs.ending import FORGOTTEN, STOPPED, Ending
from deerflow_lite.runs.model import Run
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.runs.seat import Seat
from deerflow_lite.threads.model import Change


def recover(rooms: Rooms) -> list[Run]:
    """End the runs that no process executes any more, in one transaction; pending ones stay to be started.

    A pending run that had credentials cannot start: they were never stored.
    """
    ended: list[Run] = []
    with rooms.db.writing() as connection:
        for run in rooms.ledger.in_flight():
            if run.status == "running" or run.credentials:
                reason = STOPPED if run.status == "running" else FORGOTTEN
                seat = Seat(rooms.db, rooms.threads, rooms.ledger, run)
                ending = Ending(rooms, run, rooms.log.open(run.row), seat, None, None)
                ending.action(reason, None)(connection)
                ended.append(run)
            else:
                rooms.log.open(run.row)  # whoever asks for it before it begins waits for its end
    return ended


def refresh(rooms: Rooms, run: Run) -> None:
    """Store the values of the head that a stopped run left, once the graphs are loaded."""
    thread = rooms.threads.by_row(run.thread_row)
    if thread is None or thread.head is None or rooms.threads.values([thread]).get(thread.row):
        return
    gate.refuse_mode(rooms, thread, run.graph_id)
    with rooms.graphs.opened(run.graph_id) as graph:
        view = rooms.savers.reading(run.graph_id, graph, thread.head)
        found = state.snapshot(view, thread.thread_id, None)
        values = heads.of_snapshot(graph, found)
    change = Change(values=values, interrupts=heads.interrupts(found), touch=False)
    with rooms.db.writing():
        now = rooms.threads.by_row(run.thread_row)
        if now is not None and now.head == values.checkpoint_id:
            rooms.threads.change(now.owner, now.thread_id, change, row=now.row)
