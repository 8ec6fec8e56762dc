"""Whose turn it is: who makes way for a run, which delayed ones are due, which begin next; it executes nothing.

Functions that change something are called inside `db.writing()`. They give the running runs that must be stopped once
that is committed; those that only waited have ended with it.
"""

import sqlite3

from deerflow_lite import clock
from deerflow_lite.runs.ending import INTERRUPTED, Ending
from deerflow_lite.runs.model import Run
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.runs.seat import Seat
from deerflow_lite.threads.model import Change


def make_way(rooms: Rooms, connection: sqlite3.Connection, active: list[Run], strategy: str) -> list[Run]:
    """End what waits and mark what runs on a thread, as the strategy of a new run says."""
    if strategy not in ("interrupt", "rollback"):
        return []
    for run in active:
        live = rooms.log.live(run.row)
        if live is None:
            continue
        if strategy == "rollback":
            mark_rolled_back(rooms, run)
        if run.status == "pending":
            seat = Seat(rooms.db, rooms.threads, rooms.ledger, run)
            Ending(rooms, run, live, seat, None, None).action(INTERRUPTED, None)(connection)
    return [run for run in active if run.status == "running"]


def mark_rolled_back(rooms: Rooms, run: Run) -> None:
    """Let a run leave nothing, however it ends; in the open transaction, so that its end comes before or after."""
    live = rooms.log.live(run.row)
    if live is not None and not live.rolled_back:
        live.rolled_back = True
        rooms.db.undo(lambda: setattr(live, "rolled_back", False))


def begin_next(rooms: Rooms, connection: sqlite3.Connection) -> tuple[list[Run], list[Run]]:
    """Take in what is due and mark what begins now as running; give those that begin, and those that must stop."""
    stopped: list[Run] = []
    for run in rooms.ledger.due(clock.now()):
        thread = rooms.threads.by_row(run.thread_row)
        if thread is not None:
            stopped += make_way(rooms, connection, rooms.ledger.active(thread.row), run.strategy)
            rooms.threads.change(run.owner, run.thread_id, Change(status="busy"), row=thread.row)
        rooms.ledger.enqueue(run)
    return rooms.ledger.begin_next(rooms.config.run_concurrency), stopped
