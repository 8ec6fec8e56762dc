"""The messages that a head stands for, one by one, a page at a time; turns beside its path are not shown.

Invariant: a message keeps its number for as long as the path up to it stays, so that pages fit each other while the
conversation grows.
"""

from dataclasses import dataclass

from deerflow_lite.checkpoints.messages import Message
from deerflow_lite.lifecycle.shown import TreeTurn
from deerflow_lite.lifecycle.tree import Trees


@dataclass(frozen=True, slots=True)
class Said:
    """One message as stored with its number on the path, from 1, and its turn."""

    seq: int
    turn: TreeTurn
    message: Message


@dataclass(frozen=True, slots=True)
class MessagesPage:
    """Messages, the oldest first; `before` is where the next older page ends, None where none is left."""

    said: list[Said]
    before: int | None


def messages(trees: Trees, owner: str | None, thread_id: str, before: int | None, limit: int) -> MessagesPage:
    """Give the last messages of the selected path, those numbered below `before` where it is given.

    Raises ThreadUnknown, ModeMismatch, ParentMissing.
    """
    with trees.reading(owner, thread_id) as read:
        path = [(turn, message_id) for turn in read.path() for message_id in turn.message_ids]
        end = len(path) if before is None else min(before - 1, len(path))
        start = max(end - limit, 0)
        turns = list(dict.fromkeys(turn for turn, _ in path[start:end]))
        held = dict(zip(turns, read.messages(turns), strict=True))
    found = {(turn, message.id): message for turn, messages in held.items() for message in messages}
    numbered = enumerate(path[start:end], start + 1)
    said = [Said(seq, place[0], found[place]) for seq, place in numbered if place in found]
    return MessagesPage(said, start + 1 if start else None)
