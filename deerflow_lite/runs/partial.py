"""What a run said before it was stopped or failed, by the chunks that it streamed; it follows no run.

It is kept with the run, not in its log, so that it is there as long as the run is. What reached a checkpoint as well is
told twice: whoever shows it leaves that out by the message's id.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any, Final

import orjson

from deerflow_lite.checkpoints import messages

INTERRUPTED: Final = "deerflow_interrupted"
_SAID = "SELECT data FROM events WHERE run = ? AND event IN ('messages', 'messages/partial') ORDER BY id"


def keep(connection: sqlite3.Connection, row: int) -> None:
    """Keep what a run has said in its logged events, in the transaction that ends it."""
    found = spoken(data for (data,) in connection.execute(_SAID, (row,)).fetchall())
    if found:
        connection.execute("UPDATE runs SET partial = ? WHERE row = ?", (orjson.dumps(found).decode(), row))


def of_thread(connection: sqlite3.Connection, thread_row: int) -> dict[str, list[dict[str, Any]]]:
    """Give run ids to what those runs of a thread said that did not succeed."""
    statement = "SELECT run_id, partial FROM runs WHERE thread_row = ? AND partial IS NOT NULL"
    rows = connection.execute(statement, (thread_row,)).fetchall()
    return {run_id: orjson.loads(text) for run_id, text in rows}


def spoken(events: Iterable[bytes]) -> list[dict[str, Any]]:
    """Give the answers that streamed messages make, in their order, each with its text alone and marked as cut off.

    Those of subgraphs are no answers.
    """
    texts: dict[str, str] = {}
    for data in events:
        message = orjson.loads(data)[0]
        kind, message_id = message.get("type"), message.get("id")
        if kind in ("ai", "AIMessageChunk") and isinstance(message_id, str):
            before = texts.get(message_id, "") if kind != "ai" else ""
            texts[message_id] = before + "".join(messages.texts(message.get("content")))
    return [
        {"type": "ai", "id": message_id, "content": text, "additional_kwargs": {INTERRUPTED: True}}
        for message_id, text in texts.items()
    ]
