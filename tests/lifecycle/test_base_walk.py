"""The resolver against a walk that reads every ancestor, on threads that grew at random and on the stored ones."""

import os
import random

import pytest
from flask.testing import FlaskClient

from deerflow_lite import create_app
from deerflow_lite.checkpoints import fold, lineage
from deerflow_lite.checkpoints.family import family
from deerflow_lite.lifecycle import base
from deerflow_lite.threads.model import Thread
from tests.lifecycle.conftest import Open
from tests.lifecycle.growing import Growing
from tests.lifecycle.stored import MANIFEST, NAMES, Stored
from tests.lifecycle.walked import Walked

SEED = int(os.environ.get("LINEAGE_SEED") or random.randrange(1_000_000))
WHOLE = [name for name in MANIFEST if not name.startswith("corrupt-")]


def answers(
    stored: Stored, client: FlaskClient, thread: Thread, head: str, messages: dict[str, str]
) -> dict[str, str | None]:
    """Ask for the base of each message through HTTP; a refusal for a missing base is None."""
    found: dict[str, str | None] = {}
    stored.execute("UPDATE threads SET head = ? WHERE id = ?", head, thread.row)
    for message_id, kind in messages.items():
        edit = {"human_message_id": message_id, "replacement_text": "another text"}
        verb, body = ("edit-regenerate", edit) if kind == "human" else ("regenerate", {"message_id": message_id})
        prepared = client.post(f"/threads/{thread.thread_id}/runs/{verb}/prepare", json=body)
        assert prepared.status_code in (200, 409) and head in prepared.get_data(as_text=True)
        found[message_id] = prepared.json["checkpoint"]["checkpoint_id"] if prepared.status_code == 200 else None
    return found


def compared(stored: Stored, client: FlaskClient, walked: Walked, thread: Thread, head: str) -> None:
    shown = {
        message.id: message.type
        for message in walked.chain(head)[0].messages
        if message.type in ("human", "ai") and not message.additional_kwargs.get("hide_from_ui")
    }
    assert answers(stored, client, thread, head, shown) == {one: walked.base(head, one) for one in shown}
    turns = base.turns_of(stored.gateway.rooms, thread, head)
    assert [[*turn.user_ids] for turn in turns] == walked.turns(head)
    with stored.gateway.db.reading() as connection:
        steps = [*fold.Reader(connection, thread.thread_id, 1000).walk(head)]
    assert [(held.row.checkpoint_id, held.ids, not lineage.settled(held.checkpoint)) for held in steps] == [
        (step.checkpoint_id, [message.id for message in step.messages], step.pending) for step in walked.chain(head)
    ]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("name", NAMES)
def test_the_base_is_what_a_walk_with_get_state_over_all_ancestors_gives(stored: Open, name: str, number: int) -> None:
    print(f"LINEAGE_SEED={SEED}")
    found = stored()
    growing = Growing(found, found.reading(name), random.Random(f"{SEED} {name} {number}"))
    for _ in range(14):
        growing.grow()
    thread, walked = found.thread("t", name), Walked(growing.graph, "t")
    client = create_app(gateway=found.gateway).test_client()
    heads = list(dict.fromkeys(growing.heads[1:]))
    for head in heads:
        compared(found, client, walked, thread, head)
    with found.gateway.db.reading() as connection:
        held = fold.descended(connection, "t", family(connection, "t"))
    for step in (step for head in heads for step in walked.chain(head)):
        assert [one.id for one in held[step.checkpoint_id].outlines] == [one.id for one in step.messages]


@pytest.mark.parametrize("fixture", WHOLE)
def test_the_base_of_every_message_at_every_stored_checkpoint_is_what_a_walk_gives(stored: Open, fixture: str) -> None:
    found, name = stored(fixture), MANIFEST[fixture]["mode"]
    client = create_app(gateway=found.gateway).test_client()
    for thread_id, rows in MANIFEST[fixture]["threads"].items():
        thread, walked = found.thread(thread_id, name), Walked(found.reading(name), thread_id)
        for row in rows:
            compared(found, client, walked, thread, row["id"])
