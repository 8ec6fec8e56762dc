"""The resolver against a walk that reads every ancestor, on threads that grew at random and on the stored ones."""

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from flask.testing import FlaskClient

from deerflow_lite import create_app
from deerflow_lite.checkpoints import fold
from deerflow_lite.checkpoints.family import family
from deerflow_lite.threads.model import Thread
from tests.lifecycle.bases import Bases, compared
from tests.lifecycle.conftest import Open
from tests.lifecycle.growing import Growing
from tests.lifecycle.stored import MANIFEST, NAMES, Stored
from tests.lifecycle.walked import Walked

SEED = int(os.environ.get("LINEAGE_SEED") or random.randrange(1_000_000))
WHOLE = [name for name in MANIFEST if not name.startswith("corrupt-")]


@dataclass(frozen=True)
class Http:
    """Asks for bases through HTTP, where the head that is asked for is the thread's."""

    client: FlaskClient

    def __call__(self, stored: Stored, thread: Thread, head: str, messages: Mapping[str, str]) -> Bases:
        stored.execute("UPDATE threads SET head = ? WHERE id = ?", head, thread.row)
        return {one: self.base(thread.thread_id, head, one, kind) for one, kind in messages.items()}

    def base(self, thread_id: str, head: str, message_id: str, kind: str) -> str | None:
        edit = {"human_message_id": message_id, "replacement_text": "another text"}
        verb, body = ("edit-regenerate", edit) if kind == "human" else ("regenerate", {"message_id": message_id})
        prepared = self.client.post(f"/threads/{thread_id}/runs/{verb}/prepare", json=body)
        assert prepared.status_code in (200, 409) and head in prepared.get_data(as_text=True)
        return str(prepared.json["checkpoint"]["checkpoint_id"]) if prepared.status_code == 200 else None


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("name", NAMES)
def test_the_base_is_what_a_walk_with_get_state_over_all_ancestors_gives(stored: Open, name: str, number: int) -> None:
    print(f"LINEAGE_SEED={SEED}")
    found = stored()
    growing = Growing(found, found.reading(name), random.Random(f"{SEED} {name} {number}"))
    for _ in range(14):
        growing.grow()
    thread, walked = found.thread("t", name), Walked(growing.graph, "t")
    http = Http(create_app(gateway=found.gateway).test_client())
    heads = list(dict.fromkeys(growing.heads[1:]))
    for head in heads:
        compared(found, walked, thread, head, http)
    with found.gateway.db.reading() as connection:
        held = fold.descended(connection, "t", family(connection, "t"))
    for step in (step for head in heads for step in walked.chain(head)):
        assert [one.id for one in held[step.checkpoint_id].outlines] == [one.id for one in step.messages]


@pytest.mark.parametrize("fixture", WHOLE)
def test_the_base_of_every_message_at_every_stored_checkpoint_is_what_a_walk_gives(stored: Open, fixture: str) -> None:
    found, name = stored(fixture), MANIFEST[fixture]["mode"]
    http = Http(create_app(gateway=found.gateway).test_client())
    for thread_id, rows in MANIFEST[fixture]["threads"].items():
        thread, walked = found.thread(thread_id, name), Walked(found.reading(name), thread_id)
        for row in rows:
            compared(found, walked, thread, row["id"], http)
