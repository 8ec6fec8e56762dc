"""What the runs of a thread have left on it, without what they were sent; it changes nothing.

A tree reads the runs of a whole conversation: it must not cost more because their inputs are long.
"""

import sqlite3
from dataclasses import dataclass
from typing import Any

import orjson

from deerflow_lite.runs.model import RunStatus


@dataclass(frozen=True, slots=True)
class Trace:
    """Where a run began and ended, and how; the fields are those of `Run`."""

    row: int
    run_id: str
    status: RunStatus
    created_at: str
    base: str | None
    last_root: str | None


def of_thread(connection: sqlite3.Connection, thread_row: int) -> dict[str, Trace]:
    """Give every run of a thread by its id, oldest first."""
    rows = connection.execute(
        "SELECT row, run_id, status, created_at, base, last_root FROM runs WHERE thread_row = ? ORDER BY row",
        (thread_row,),
    ).fetchall()
    return {row[1]: Trace(*row) for row in rows}


def sent(connection: sqlite3.Connection, row: int) -> Any:
    """Give the input that a run was sent; None where it was sent none, or is gone."""
    found = connection.execute("SELECT kwargs FROM runs WHERE row = ?", (row,)).fetchone()
    return None if found is None else orjson.loads(found[0]).get("input")
