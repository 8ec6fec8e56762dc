"""States of subgraphs: beside their task where they are asked for, and read and written by their own namespace."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service import Service, texts

GRAPH = "asking"
ABSENT = "01a22cf9-0000-6000-8000-000000000000"


@pytest.fixture
def asked(serve: Callable[..., Service]) -> tuple[Service, str]:
    """A thread whose subgraph waits for an answer."""
    service = serve(graphs="asking=tests.lifecycle.subgraphs:asking")
    thread = service.thread()
    service.wait(thread, GRAPH, "a")
    return service, thread


def inner(service: Service, thread: str) -> Any:
    """Give the state of the subgraph as it stands beside its task."""
    [task] = service.get(thread, "/state?subgraphs=true")["tasks"]
    assert task["checkpoint"] is None
    return task["state"]


def test_a_state_without_subgraphs_names_the_place_of_theirs(asked: tuple[Service, str]) -> None:
    service, thread = asked
    [task] = service.state(thread)["tasks"]
    assert task["state"] is None
    assert task["checkpoint"]["checkpoint_ns"].startswith("inner:")
    assert [one["value"]["question"] for one in task["interrupts"]] == ["approve?"]


def test_a_state_with_subgraphs_holds_theirs(asked: tuple[Service, str]) -> None:
    service, thread = asked
    state = inner(service, thread)
    assert (state["next"], texts(state["values"])) == (["gate"], ["a", "may I?"])
    namespace = service.state(thread)["tasks"][0]["checkpoint"]["checkpoint_ns"]
    assert (state["checkpoint"]["checkpoint_ns"], state["checkpoint"]["thread_id"]) == (namespace, thread)


def test_the_state_of_a_subgraph_is_read_at_its_own_checkpoint(asked: tuple[Service, str]) -> None:
    service, thread = asked
    state = inner(service, thread)
    body = {"checkpoint": state["checkpoint"]}
    read = service.ask("POST", f"/threads/{thread}/state/checkpoint", body)
    assert {**read, "interrupts": [], "tasks": []} == {**state, "interrupts": [], "tasks": []}
    assert [task["name"] for task in read["tasks"]] == ["gate"]
    parent = {"checkpoint": state["parent_checkpoint"]}
    before = service.ask("POST", f"/threads/{thread}/state/checkpoint", parent)
    assert (before["next"], texts(before["values"])) == (["propose"], ["a"])


@pytest.mark.parametrize("changed", [{"checkpoint_ns": ""}, {"checkpoint_ns": "inner:x"}, {"checkpoint_id": ABSENT}])
def test_a_checkpoint_of_another_namespace_is_404(asked: tuple[Service, str], changed: dict[str, str]) -> None:
    service, thread = asked
    place = inner(service, thread)["checkpoint"] | changed
    for path, body in (("/state/checkpoint", {"checkpoint": place}), ("/state", {"values": {}, "checkpoint": place})):
        service.ask("POST", f"/threads/{thread}{path}", body, 404)


def test_a_history_with_a_namespace_is_refused_and_that_of_the_root_is_whole(asked: tuple[Service, str]) -> None:
    service, thread = asked
    place = inner(service, thread)["checkpoint"]
    service.ask("POST", f"/threads/{thread}/history", {"checkpoint": place}, 422)
    assert [state["next"] for state in service.history(thread)] == [["inner"], ["__start__"], []]


def test_an_update_inside_a_subgraph_is_seen_when_it_goes_on(asked: tuple[Service, str]) -> None:
    service, thread = asked
    head = service.get(thread)["head_checkpoint_id"]
    place = inner(service, thread)["checkpoint"]
    given = {"messages": [{"type": "ai", "content": "really?", "id": "r"}]}
    made = service.update(thread, given, checkpoint=place, as_node="propose")
    assert made["checkpoint"]["checkpoint_ns"] == place["checkpoint_ns"]
    assert service.get(thread)["head_checkpoint_id"] == head
    assert texts(inner(service, thread)["values"]) == ["a", "may I?", "really?"]
    said = texts(service.wait(thread, GRAPH, None, command={"resume": "yes"}))
    assert said[:3] == ["a", "may I?", "really?"]
    assert service.get(thread)["status"] == "idle"
