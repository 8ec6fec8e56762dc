"""The turn of an answer that was streamed and never stored: found by what is kept of the run that streamed it."""

from deerflow_lite.checkpoints.messages import user
from deerflow_lite.lifecycle import base
from deerflow_lite.runs import partial
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Thread


def streamed_turn(rooms: Rooms, thread: Thread, message_id: str) -> str | None:
    """Give the id of a user message whose run streamed `message_id` before it stopped; None where no run did."""
    if thread.head is None:
        return None
    with rooms.db.reading() as connection:
        said = partial.of_thread(connection, thread.row)
    runs = {run_id for run_id, messages in said.items() if any(one["id"] == message_id for one in messages)}
    for turn in base.turns_of(rooms, thread, thread.head):
        if turn.turn_id in runs and any(user(message) for message in turn.messages):
            return turn.user_ids[0]
    return None
