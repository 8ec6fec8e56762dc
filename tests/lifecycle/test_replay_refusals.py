"""Each reason for which an answer is not given again or a question not edited, in both modes; nothing is written."""

from typing import Any

import pytest

from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.lifecycle.conftest import Shared
from tests.lifecycle.prepared import again, answer, edited

HIDDEN = {"additional_kwargs": {"hide_from_ui": True}}


@pytest.fixture(params=["full", "delta"])
def talk(request: pytest.FixtureRequest, shared: Shared) -> Talk:
    return Talk(shared(graphs=GRAPHS), request.param)


def put(talk: Talk, *messages: dict[str, Any]) -> None:
    """Put messages at the end of the conversation by hand."""
    talk.service.update(talk.id, {"messages": list(messages)}, as_node="answer")


def test_each_refused_target_has_its_reason_and_the_head(talk: Talk) -> None:
    talk.say("one", "h1")
    call = {"id": "c1", "name": "look", "args": {}}
    put(
        talk,
        {"type": "human", "content": "<reminder/>", "id": "u1", **HIDDEN},
        {"type": "ai", "content": "unseen", "id": "a1", **HIDDEN},
        {"type": "system", "content": "rules", "id": "s1"},
        {"type": "ai", "content": "", "id": "a2", "tool_calls": [call]},
        {"type": "tool", "content": "2", "id": "t1", "tool_call_id": "c1"},
    )
    said = answer(talk, 0)
    reasons = {
        "u1": "message u1 is hidden", "a1": "message a1 is hidden",
        "s1": "message s1 is of type system, neither human nor ai",
        "t1": "message t1 is of type tool, neither human nor ai",
    }  # fmt: skip
    before, head = talk.service.counts(), talk.head()
    for target, reason in reasons.items():
        for refused in (again(talk, target, 409), edited(talk, target, 409)):
            assert refused["detail"] == f"message_id: {reason}; the head is {head}"
    assert "only an answer can be regenerated" in again(talk, "h1", 409)["detail"]
    assert "only a question can be edited" in edited(talk, said, 409)["detail"]
    path = f"/threads/{talk.id}/runs/edit"
    for text, reason in ((" \n", "is blank"), (" one ", "is what the message says already")):
        body = {"human_message_id": "h1", "replacement_text": text}
        assert reason in talk.service.ask("POST", path, body, 409)["detail"]
    assert [again(talk, "nowhere", 404)["detail"], edited(talk, "nowhere", 404)["detail"]] == [
        "message_id: message nowhere does not exist in this thread",
        "human_message_id: message nowhere does not exist in this thread",
    ]
    assert talk.service.counts() == before


def test_a_tool_call_without_its_result_keeps_a_turn_from_being_replayed(talk: Talk) -> None:
    talk.say("one", "h1")
    put(talk, {"type": "ai", "content": "", "id": "a2", "tool_calls": [{"id": "c1", "name": "look", "args": {}}]})
    before = talk.service.counts()
    for refused in (again(talk, "a2", 409), again(talk, answer(talk, 0), 409), edited(talk, "h1", 409)):
        assert "the turn has a tool call without its result" in refused["detail"]
    assert talk.service.counts() == before
    put(talk, {"type": "tool", "content": "2", "id": "t1", "tool_call_id": "c1"})
    assert again(talk, "a2")["checkpoint"] == edited(talk, "h1")["checkpoint"]


def test_a_thread_without_a_checkpoint_of_its_own_has_no_message_to_replay(talk: Talk) -> None:
    before = talk.service.counts()
    assert [again(talk, "h1", 404)["detail"], edited(talk, "h1", 404)["detail"]] == [
        "message_id: message h1 does not exist in this thread",
        "human_message_id: message h1 does not exist in this thread",
    ]
    assert talk.service.counts() == before
