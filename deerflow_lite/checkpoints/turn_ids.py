"""The ids of turns that their checkpoints no longer tell; it groups nothing into turns.

A turn is named by its run, or by the oldest checkpoint that holds its first user message. Where that checkpoint goes,
the id is recorded for the oldest that is left, and stands before what would be told from there.
"""

import sqlite3
from collections.abc import Collection, Mapping

import orjson

Names = Mapping[tuple[str, str], str]


def recorded(connection: sqlite3.Connection, thread_id: str) -> Names:
    """Give (oldest checkpoint, user message id) to the id of a turn, of those that are recorded."""
    rows = connection.execute(
        "SELECT checkpoint_id, message_id, turn_id FROM turn_ids WHERE thread_id = ?", (thread_id,)
    ).fetchall()
    return {(checkpoint_id, message_id): turn_id for checkpoint_id, message_id, turn_id in rows}


def record(connection: sqlite3.Connection, thread_id: str, names: Names) -> None:
    """Record ids of turns, in the transaction that removes what told them."""
    connection.executemany(
        "INSERT OR REPLACE INTO turn_ids (thread_id, checkpoint_id, message_id, turn_id) VALUES (?, ?, ?, ?)",
        [(thread_id, *place, turn_id) for place, turn_id in names.items()],
    )


def forget(connection: sqlite3.Connection, thread_id: str, checkpoint_ids: Collection[str]) -> None:
    """Remove what is recorded for checkpoints that go."""
    asked = orjson.dumps(list(checkpoint_ids)).decode()
    connection.execute(
        "DELETE FROM turn_ids WHERE thread_id = ? AND checkpoint_id IN (SELECT value FROM json_each(?))",
        (thread_id, asked),
    )
