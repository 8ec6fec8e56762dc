"""The turn of an answer that was streamed and never stored: found by the log of the run that streamed it."""

from deerflow_lite.checkpoints.messages import user
from deerflow_lite.lifecycle import base
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Thread


def streamed_turn(rooms: Rooms, thread: Thread, message_id: str) -> str | None:
    """Give the id of a user message whose run streamed `message_id` before it stopped; None where no run did."""
    if thread.head is None:
        return None
    runs = rooms.ledger.streamed(thread.row, message_id)
    for turn in base.turns_of(rooms, thread, thread.head):
        if turn.turn_id in runs and any(user(message) for message in turn.messages):
            return turn.user_ids[0]
    return None
