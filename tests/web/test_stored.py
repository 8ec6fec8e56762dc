"""Conversations that LangGraph alone has stored, through the routes: each message has its base or is refused."""

import pytest

from deerflow_lite import create_app
from tests.lifecycle.conftest import Open, stored
from tests.lifecycle.stored import MANIFEST

__all__ = ["stored"]

ANSWERS = [
    (fixture, "b" if fixture.startswith("branch") else "t", message_id, expected)
    for fixture, entry in MANIFEST.items()
    for message_id, expected in entry.get("base", {}).items()
]
BROKEN = {
    "corrupt-parent-cycle": "u2", "corrupt-self-parent": "u2", "corrupt-dangling-parent": "u2",
    "corrupt-dangling-by-api": "u3", "corrupt-foreign-parent": "u2", "corrupt-blob": "u1",
}  # fmt: skip


LINKLESS = ("corrupt-parentless-chain", "corrupt-parentless-head", "corrupt-parent-empty-string")


@pytest.mark.parametrize(("fixture", "thread_id", "message_id", "expected"), ANSWERS)
@pytest.mark.parametrize("graphs", [True, False], ids=["graph", "no graph"])
def test_every_stored_conversation_gives_its_answer_over_http_and_reading_it_writes_nothing(
    stored: Open, fixture: str, thread_id: str, message_id: str, expected: str | None, graphs: bool
) -> None:
    found = stored(fixture)
    thread = found.thread(thread_id, MANIFEST[fixture]["mode"] if graphs else "gone")
    client = create_app(gateway=found.gateway).test_client()
    before = found.rows()
    if message_id.startswith("u"):
        body = {"human_message_id": message_id, "replacement_text": "another text"}
        answer = client.post(f"/api/threads/{thread_id}/runs/edit-regenerate/prepare", json=body)
    else:
        body = {"message_id": message_id}
        answer = client.post(f"/api/threads/{thread_id}/runs/regenerate/prepare", json=body)
    assert found.rows() == before
    if expected is None:
        assert answer.status_code == 409
        assert str(thread.head) in answer.json["detail"]
    else:
        place = {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": expected}
        assert (answer.status_code, answer.json["checkpoint"]) == (200, place)
        assert answer.json["head_checkpoint_id"] == thread.head


@pytest.mark.parametrize(("fixture", "message_id"), BROKEN.items())
def test_a_lineage_that_cannot_be_trusted_is_409_over_http_and_the_rest_of_the_thread_is_shown(
    stored: Open, fixture: str, message_id: str
) -> None:
    found = stored(fixture)
    found.thread("t", "full")
    client = create_app(gateway=found.gateway).test_client()
    before = found.rows()
    body = {"human_message_id": message_id, "replacement_text": "another text"}
    refused = client.post("/api/threads/t/runs/edit-regenerate/prepare", json=body)
    tree = client.get("/api/threads/t/tree")
    state = client.get("/api/threads/t/state")
    assert (refused.status_code, tree.status_code, state.status_code) == (409, 200, 200)
    assert len(tree.json["broken"]) == 1
    assert found.rows() == before


@pytest.mark.parametrize("fixture", LINKLESS)
@pytest.mark.parametrize("graph", ["full", "gone"])
def test_a_conversation_whose_links_were_never_recorded_is_replayed_by_the_order_of_time(
    stored: Open, fixture: str, graph: str
) -> None:
    found = stored(fixture)
    found.thread("t", graph)
    client = create_app(gateway=found.gateway).test_client()
    rows = [state["checkpoint_id"] for state in client.get("/api/threads/t/history").json][::-1]
    bases = []
    for question, answer in (("u1", "ai-1"), ("u2", "ai-2")):
        edit = {"human_message_id": question, "replacement_text": "another text"}
        for kind, body in (("edit-regenerate", edit), ("regenerate", {"message_id": answer})):
            prepared = client.post(f"/api/threads/t/runs/{kind}/prepare", json=body)
            bases.append(prepared.json["checkpoint"]["checkpoint_id"])
    assert bases == [rows[0], rows[0], rows[3], rows[3]]
