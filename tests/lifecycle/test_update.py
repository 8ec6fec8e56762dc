"""State updates by hand: what they may write, where, and what they leave."""

from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.service import Service, human, texts, until


def grown(service: Service, assistant: str = "noop", *words: str) -> str:
    thread = service.thread()
    for word in words or ("a", "b"):
        service.wait(thread, assistant, word)
    return thread


def test_an_update_is_a_child_of_the_head_and_becomes_it(service: Service) -> None:
    thread = grown(service)
    before, shown = service.state(thread), service.get(thread)
    made = service.update(thread, human("c"), as_node="nothing")
    place = {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": made["checkpoint_id"]}
    assert made == {"checkpoint": place, "configurable": place, "checkpoint_id": made["checkpoint_id"]}
    state = service.state(thread)
    assert (state["checkpoint_id"], state["parent_checkpoint_id"]) == (made["checkpoint_id"], before["checkpoint_id"])
    assert (state["metadata"]["source"], state["next"], texts(state["values"])) == ("update", [], ["a", "b", "c"])
    now = service.get(thread)
    assert (now["head_checkpoint_id"], now["status"], texts(now["values"])) == (
        made["checkpoint_id"],
        "idle",
        ["a", "b", "c"],
    )
    assert now["updated_at"] > shown["updated_at"] and now["state_updated_at"] > shown["state_updated_at"]


def test_reducers_mean_what_langgraph_means_by_them(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "counting", {"n": 4, "notes": ["x"]})
    service.update(thread, {"n": 9, "notes": ["y"]}, as_node="count")
    assert service.state(thread)["values"] == {"n": 9, "notes": ["x", "counted", "y"]}
    thread = grown(service)
    replaced = {"messages": [{"type": "human", "content": "A", "id": "h-a"}]}
    service.update(thread, replaced, as_node="nothing")
    assert texts(service.state(thread)["values"]) == ["A", "b"]
    service.update(thread, {"messages": [{"type": "remove", "content": "", "id": "h-a"}]}, as_node="nothing")
    assert texts(service.state(thread)["values"]) == ["b"]


@pytest.mark.parametrize(
    ("as_node", "following"), [("__start__", ["reply"]), ("reply", []), ("__end__", []), (None, []), ("__copy__", [])]
)
def test_as_node_decides_what_is_scheduled(service: Service, as_node: str | None, following: list[str]) -> None:
    thread = grown(service, "chat", "a")
    values = None if as_node in ("__end__", "__copy__") else human("b")
    service.update(thread, values, **({} if as_node is None else {"as_node": as_node}))
    assert service.state(thread)["next"] == following
    assert service.get(thread)["status"] == ("interrupted" if following else "idle")
    if following:
        assert texts(service.wait(thread, "chat"))[-2:] == ["b", "echo: b"]


def test_an_update_of_a_new_thread_uses_its_graph(service: Service) -> None:
    thread = service.thread(metadata={"graph_id": "noop"})
    service.update(thread, human("seed"), as_node="__start__")
    state = service.state(thread)
    assert (state["next"], texts(state["values"]), service.get(thread)["status"]) == (
        ["nothing"],
        ["seed"],
        "interrupted",
    )
    assert state["parent_checkpoint_id"] == service.history(thread)[-1]["checkpoint_id"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"values": {"ghost": 1}, "as_node": "nothing"}, 422),
        ({"values": {"messages": [], "ghost": 1, "other": 2}}, 422),
        ({"values": {"messages": []}, "as_node": "ghost"}, 400),
        ({"values": None, "as_node": "ghost"}, 400),
        ({"values": {"messages": {"__overwrite__": []}}}, 422),
        ({"values": {"messages": {"type": "__overwrite__", "value": []}}}, 422),
        ({"values": {"messages": {"__overwrite__": [], "x": 1}}}, 422),
        ({"values": [{"messages": []}], "as_node": "nothing"}, 400),
        ({"values": 5, "as_node": "nothing"}, 400),
        ({"values": {"messages": 5}, "as_node": "nothing"}, 400),
        ({"values": {}, "as_node": 5}, 422),
        ({"values": {"title": ""}}, 422),
        ({"values": {"title": 5}}, 422),
        ({"values": {"title": "a\nb"}}, 422),
        ({"values": {"title": "x" * 257}}, 422),
        ({"values": {"title": "\ud83d"}}, 422),
    ],
)
def test_what_is_refused_writes_nothing(service: Service, body: dict[str, Any], status: int) -> None:
    thread = grown(service)
    before = service.counts(), service.get(thread)
    answer = service.ask("POST", f"/threads/{thread}/state", body, status)
    assert isinstance(answer["detail"], str)
    for name in set(body["values"] if isinstance(body["values"], dict) else ()) & {"ghost", "other"}:
        assert name in answer["detail"]
    assert (service.counts(), service.get(thread)) == before


def test_an_overwrite_marker_is_refused_in_updates_inputs_and_commands(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "counting", {"n": 1, "notes": ["x"]})
    service.update(thread, {"notes": {"__overwrite__": []}}, 422, as_node="count")
    service.wait(thread, "counting", {"notes": {"__overwrite__": []}}, status=422)
    service.wait(thread, "counting", status=422, command={"update": {"notes": {"type": "__overwrite__", "value": []}}})
    assert service.state(thread)["values"] == {"n": 2, "notes": ["x", "counted"]}


def test_a_busy_thread_takes_a_rename_and_nothing_else(service: Service, gate: Gate) -> None:
    thread = service.thread()
    run = service.start(thread, "held", gate.text)["run_id"]
    gate.await_reached()
    until(lambda: service.state(thread)["next"] == ["hold"])
    head = service.get(thread)["head_checkpoint_id"]
    service.update(thread, human("c"), 409)
    service.update(thread, {"title": "mine", "messages": []}, 409)
    service.update(thread, None, 409, as_node="__end__")
    service.update(thread, {"title": "mine"})
    shown = service.get(thread)
    assert (shown["title"], shown["status"], shown["values"]["title"]) == ("mine", "busy", "mine")
    assert service.get(thread)["head_checkpoint_id"] == head
    service.update(thread, {"title": "x"}, 404, checkpoint_id="01a22cf9-0000-6000-8000-000000000000")
    assert service.get(thread)["title"] == "mine"
    gate.open()
    service.join(thread, run)
    assert (service.get(thread)["title"], service.get(thread)["status"]) == ("mine", "idle")


def test_an_update_of_an_older_checkpoint_forks_and_moves_the_head(service: Service) -> None:
    thread = grown(service)
    states = service.history(thread)
    older = next(state for state in states if not state["next"] and texts(state["values"]) == ["a"])
    for place in ({"checkpoint": older["checkpoint"]}, {"checkpoint_id": older["checkpoint_id"]}):
        made = service.update(thread, human("c"), as_node="nothing", **place)
        state = service.state(thread)
        assert (state["checkpoint_id"], state["parent_checkpoint_id"]) == (
            made["checkpoint_id"],
            older["checkpoint_id"],
        )
        assert texts(state["values"]) == texts(service.get(thread)["values"]) == ["a", "c"]
    assert texts(service.wait(thread, "noop", "d")) == ["a", "c", "d"]
    assert [state["checkpoint_id"] for state in service.history(thread)][-len(states) :] == [
        state["checkpoint_id"] for state in states
    ]


def test_a_state_update_clears_the_error_of_a_thread(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "boom", "a")
    assert service.get(thread)["status"] == "error"
    service.update(thread, {"title": "still broken"})
    assert service.get(thread)["status"] == "error"
    service.update(thread, None, as_node="__end__")
    shown = service.get(thread)
    assert (shown["status"], shown["error"]) == ("idle", None)


def test_a_state_update_answers_a_question_by_going_past_it(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "ask", "a")
    service.update(thread, {"approved": True}, as_node="gate")
    shown = service.get(thread)
    assert (shown["status"], shown["interrupts"], service.state(thread)["next"]) == ("interrupted", {}, ["act"])
    assert texts(service.wait(thread, "ask"))[-1] == "approved=True"


def test_a_null_update_writes_a_checkpoint_and_keeps_the_values(service: Service) -> None:
    thread = grown(service)
    before = service.state(thread)
    service.update(thread, None)
    assert service.state(thread)["values"] == before["values"]
    assert service.state(thread)["parent_checkpoint_id"] == before["checkpoint_id"]
