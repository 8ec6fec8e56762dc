"""Another answer and another question, through HTTP: what is sent again, from where, and what stays."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service import Service, human, texts

MODES = ("full", "delta")


@pytest.fixture(params=MODES)
def agent(request: pytest.FixtureRequest, serve: Callable[..., Service]) -> Service:
    """The embedded agent, which rewrites ids, in both checkpoint modes."""
    return serve(checkpoint_mode=request.param)


def talk(service: Service, *questions: str, graph: str = "agent") -> str:
    thread = service.thread()
    for number, text in enumerate(questions, 1):
        service.wait(thread, graph, human(text, f"h{number}"))
    return thread


def shown(service: Service, thread: str) -> list[tuple[str, str]]:
    """Give (type, id or text) of what people see: a question's id and text, an answer's type alone."""
    messages = service.state(thread)["values"]["messages"]
    seen = [m for m in messages if m["type"] in ("human", "ai") and not m["additional_kwargs"].get("hide_from_ui")]
    return [(m["id"], m["content"]) if m["type"] == "human" else ("ai", "") for m in seen]


def answers(service: Service, thread: str) -> list[str]:
    return [m["id"] for m in service.state(thread)["values"]["messages"] if m["type"] == "ai" and m["content"]]


def replay(service: Service, thread: str, kind: str, status: int = 200, **body: Any) -> Any:
    run = service.ask("POST", f"/threads/{thread}/runs/{kind}", body, status)
    if status == 200:
        service.join(thread, run["run_id"])
        return service.get(thread, f"/runs/{run['run_id']}")
    return run


def test_a_regenerate_gives_another_answer_in_the_same_thread_and_the_question_stands_once(agent: Service) -> None:
    thread = talk(agent, "one", "two")
    first, second = answers(agent, thread)
    assert replay(agent, thread, "regenerate", message_id=second)["status"] == "success"
    assert shown(agent, thread) == [("h1__user", "one"), ("ai", ""), ("h2", "two"), ("ai", "")]
    assert answers(agent, thread)[0] == first
    assert answers(agent, thread)[1] != second


def test_a_first_turn_whose_id_was_rewritten_is_edited_and_nothing_of_the_old_question_is_left(agent: Service) -> None:
    thread = talk(agent, "one", "two")
    assert replay(agent, thread, "edit", human_message_id="h1__user", replacement_text=" uno ")["status"] == "success"
    messages = agent.state(thread)["values"]["messages"]
    assert [m["content"] for m in messages if m["type"] == "human"][1:] == ["uno"]
    assert len(messages) == 3
    assert agent.get(thread)["title"] == "uno"


def test_any_turn_may_be_edited_and_what_came_after_it_is_off_the_path_but_kept(agent: Service) -> None:
    thread = talk(agent, "one", "two", "three", "four", "five")
    before = agent.get(thread)["head_checkpoint_id"]
    replay(agent, thread, "edit", human_message_id="h2", replacement_text="zwei")
    assert [text for _, text in shown(agent, thread) if text] == ["one", "zwei"]
    kept = agent.state(thread, before)["values"]["messages"]
    assert [m["content"] for m in kept if m["type"] == "human"][1:] == ["one", "two", "three", "four", "five"]


def test_seven_edits_of_one_question_all_start_from_the_same_base(agent: Service) -> None:
    thread = talk(agent, "one", "two")
    bases, target = set(), "h2"
    for number in range(7):
        body = {"human_message_id": target, "replacement_text": f"two {number}"}
        prepared = agent.ask("POST", f"/threads/{thread}/runs/edit-regenerate/prepare", body)
        bases.add(prepared["checkpoint"]["checkpoint_id"])
        replay(agent, thread, "edit", **body)
        target = shown(agent, thread)[2][0]
    assert len(bases) == 1
    assert [text for _, text in shown(agent, thread) if text] == ["one", "two 6"]


def test_a_prepared_regenerate_carries_the_question_under_its_own_id_without_bookkeeping(agent: Service) -> None:
    thread = talk(agent, "one")
    head = agent.get(thread)["head_checkpoint_id"]
    root = agent.history(thread)[-1]["checkpoint_id"]
    run = agent.get(thread, "/runs")[0]["run_id"]
    (answer,) = answers(agent, thread)
    before = agent.counts()
    prepared = agent.ask("POST", f"/threads/{thread}/runs/regenerate/prepare", {"message_id": answer})
    assert agent.counts() == before
    assert prepared == {
        "input": {"messages": [{"type": "human", "id": "h1", "content": "one", "additional_kwargs": {}}]},
        "checkpoint": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": root},
        "metadata": {
            "head_checkpoint_id": head, "regenerate_from_message_id": answer, "regenerate_from_run_id": run,
        },
        "target_run_id": run,
        "head_checkpoint_id": head,
    }  # fmt: skip


def test_a_prepared_edit_posted_as_a_run_does_what_the_one_step_does(agent: Service) -> None:
    thread = talk(agent, "one", "two")
    body = {"human_message_id": "h2", "replacement_text": "zwei"}
    prepared = agent.ask("POST", f"/threads/{thread}/runs/edit-regenerate/prepare", body)
    assert prepared["source_message_ids"] == ["h2"]
    checkpoint, metadata = prepared["checkpoint"], prepared["metadata"]
    agent.wait(thread, "agent", prepared["input"], checkpoint=checkpoint, metadata=metadata)
    new = ("ai", "")
    assert shown(agent, thread) == [
        ("h1__user", "one"), new, (prepared["replacement_human_message_id"], "zwei"), new,
    ]  # fmt: skip


def test_a_replay_prepared_for_a_head_that_moved_is_stale(agent: Service) -> None:
    thread = talk(agent, "one")
    (answer,) = answers(agent, thread)
    prepared = agent.ask("POST", f"/threads/{thread}/runs/regenerate/prepare", {"message_id": answer})
    agent.wait(thread, "agent", human("two", "h2"))
    head = agent.get(thread)["head_checkpoint_id"]
    more = {"checkpoint": prepared["checkpoint"], "metadata": prepared["metadata"]}
    refused = agent.start(thread, "agent", prepared["input"], status=409, **more)
    assert refused == {"detail": f"metadata.head_checkpoint_id: stale, the head is {head} by now"}


def test_a_manual_title_outlives_an_edit_and_an_automatic_one_is_made_anew(agent: Service) -> None:
    named, unnamed = talk(agent, "one"), talk(agent, "one")
    agent.ask("PATCH", f"/threads/{named}", {"title": "Mine"})
    for thread in (named, unnamed):
        replay(agent, thread, "edit", human_message_id="h1__user", replacement_text="uno")
    assert [agent.get(thread)["title"] for thread in (named, unnamed)] == ["Mine", "uno"]
    assert agent.state(named)["values"]["title"] == "Mine"


def test_a_failed_edit_leaves_the_head_and_is_followed_by_a_good_one(service: Service) -> None:
    thread = talk(service, "one", "two", graph="chat")
    head = service.get(thread)["head_checkpoint_id"]
    for _ in range(2):
        run = replay(service, thread, "edit", human_message_id="h2", replacement_text="!boom")
        assert (run["status"], service.get(thread)["head_checkpoint_id"]) == ("error", head)
        assert service.get(thread)["status"] == "idle"
        last = service.rejoin(thread, run["run_id"])[-3:]
        assert [frame.event for frame in last] == ["values", "error", "end"]
        assert texts(last[0].data) == ["one", "echo: one", "two", "echo: two"]
    replay(service, thread, "edit", human_message_id="h2", replacement_text="zwei")
    assert texts(service.state(thread)["values"]) == ["one", "echo: one", "zwei", "echo: zwei"]


def test_a_cancelled_turn_stays_in_context_when_the_next_one_is_replayed(service: Service, gate: Any) -> None:
    thread = service.thread()
    run = service.start(thread, "held", human(gate.text, "h1"))
    assert gate.reached.wait(20)
    service.cancel(thread, run["run_id"])
    service.wait(thread, "chat", human("two", "h2"), config={"configurable": {"drop_channels": []}})
    answer = service.state(thread)["values"]["messages"][-1]["id"]
    replay(service, thread, "regenerate", message_id=answer)
    assert texts(service.state(thread)["values"]) == [gate.text, "two", "echo: two"]


def test_a_streamed_answer_of_a_cancelled_turn_is_regenerated_by_the_id_that_was_streamed(
    service: Service, gate: Any
) -> None:
    thread = service.thread()
    run = service.start(thread, "telling", human(gate.text, "h1"), stream_mode=["messages-tuple"])
    assert gate.reached.wait(20)
    service.cancel(thread, run["run_id"])
    streamed = next(f.data[0]["id"] for f in service.rejoin(thread, run["run_id"]) if f.event == "messages")
    prepared = service.ask("POST", f"/threads/{thread}/runs/regenerate/prepare", {"message_id": streamed})
    assert [m["id"] for m in prepared["input"]["messages"]] == ["h1"]
    unknown = service.ask("POST", f"/threads/{thread}/runs/regenerate/prepare", {"message_id": "nowhere"}, 404)
    assert "nowhere" in unknown["detail"]


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        ("regenerate", {"message_id": "h1"}, "only an answer can be regenerated"),
        ("edit", {"human_message_id": "{answer}", "replacement_text": "x"}, "only a question can be edited"),
        ("edit", {"human_message_id": "h1", "replacement_text": "  "}, "replacement_text is blank"),
        ("edit", {"human_message_id": "h1", "replacement_text": " one "}, "is what the message says already"),
    ],
)
def test_a_refused_replay_names_its_reason_and_the_head(
    service: Service, kind: str, body: dict[str, str], reason: str
) -> None:
    thread = talk(service, "one", graph="chat")
    answer = service.state(thread)["values"]["messages"][-1]["id"]
    given = {key: value.replace("{answer}", answer) for key, value in body.items()}
    before = service.counts()
    refused = replay(service, thread, kind, 409, **given)
    assert reason in refused["detail"]
    assert service.get(thread)["head_checkpoint_id"] in refused["detail"]
    assert service.counts() == before


def test_a_thread_with_a_run_in_flight_prepares_for_the_standing_head_and_refuses_the_one_step(
    service: Service, gate: Any
) -> None:
    thread = talk(service, "one", graph="chat")
    answer = service.state(thread)["values"]["messages"][-1]["id"]
    service.start(thread, "chat", human("!sleep 30", "h2"))
    refused = replay(service, thread, "regenerate", 409, message_id=answer)
    assert refused["detail"] == f"thread_id: thread {thread} has a run in flight; cancel it first"
    path = f"/threads/{thread}/runs/regenerate/prepare"
    assert service.ask("POST", path, {"message_id": answer})["input"]["messages"][0]["id"] == "h1"
