"""The bases of a head's messages, asked one by one and held against a walk over all ancestors."""

from collections.abc import Callable, Iterable
from typing import Any

from deerflow_lite.checkpoints import fold, lineage
from deerflow_lite.errors import ReplayRefused
from deerflow_lite.lifecycle import base
from deerflow_lite.threads.model import Thread
from tests.lifecycle.stored import Stored
from tests.lifecycle.walked import Walked

Bases = dict[str, str | None]


def answers(stored: Stored, thread: Thread, head: str, messages: Iterable[str]) -> Bases:
    """Ask for the base of each message; a refusal for a missing base is None."""
    found: Bases = {}
    for message_id in messages:
        try:
            found[message_id] = base.replay_base(stored.gateway.rooms, thread, message_id, head=head).checkpoint_id
        except ReplayRefused:
            found[message_id] = None
    return found


def compared(
    stored: Stored,
    walked: Walked,
    thread: Thread,
    head: str,
    ask: Callable[[Stored, Thread, str, Any], Bases] = answers,
) -> None:
    """Hold the bases, the turns and the messages of a head against what a walk gives."""
    shown = {
        message.id: message.type
        for message in walked.chain(head)[0].messages
        if message.type in ("human", "ai") and not message.additional_kwargs.get("hide_from_ui")
    }
    assert ask(stored, thread, head, shown) == {one: walked.base(head, one) for one in shown}
    turns = base.turns_of(stored.gateway.rooms, thread, head)
    assert [[*turn.user_ids] for turn in turns] == walked.turns(head)
    with stored.gateway.db.reading() as connection:
        steps = [*fold.Reader(connection, thread.thread_id, 1000).walk(head)]
    assert [(held.row.checkpoint_id, held.ids, not lineage.settled(held.checkpoint)) for held in steps] == [
        (step.checkpoint_id, [message.id for message in step.messages], step.pending) for step in walked.chain(head)
    ]
