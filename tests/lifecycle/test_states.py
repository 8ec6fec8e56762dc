"""States and histories as clients read them, and what may be asked of them."""

import json
from typing import Any

import pytest

from deerflow_lite.threads.model import Change
from tests.service import Service, human, texts

ABSENT = "01a22cf9-0000-6000-8000-000000000000"
EMPTY = {
    "values": {}, "next": [], "tasks": [], "metadata": None, "created_at": None, "checkpoint": None,
    "parent_checkpoint": None, "interrupts": [], "checkpoint_id": None, "parent_checkpoint_id": None,
}  # fmt: skip


def ids(states: list[Any]) -> list[str]:
    return [state["checkpoint_id"] for state in states]


def grown(service: Service, assistant: str = "noop", turns: int = 2) -> str:
    thread = service.thread()
    for number in range(turns):
        service.wait(thread, assistant, "abcdef"[number])
    return thread


def stand_on(service: Service, thread_id: str, checkpoint_id: str) -> None:
    """Put a thread on an older checkpoint, as a selected sibling would be."""
    service.gateway.threads.change("default", thread_id, Change(head=checkpoint_id, touch=False))


def test_a_new_thread_has_an_empty_state_and_no_history(service: Service) -> None:
    thread = service.thread(metadata={"graph_id": "chat"}, title="mine")
    assert service.state(thread) == EMPTY
    assert service.get(thread, "/state?subgraphs=true") == EMPTY
    assert (service.history(thread), service.get(thread, "/history")) == ([], [])
    assert service.get(thread)["head_checkpoint_id"] is None


def test_the_root_is_the_oldest_entry_of_a_history(service: Service) -> None:
    thread = grown(service, turns=1)
    states = service.history(thread)
    assert [(state["metadata"]["source"], state["metadata"]["step"], state["next"]) for state in states] == [
        ("loop", 2, []), ("loop", 1, ["nothing"]), ("input", 0, ["__start__"]), ("input", -1, []),
    ]  # fmt: skip
    assert [state["parent_checkpoint_id"] for state in states] == [*ids(states)[1:], None]
    assert [state["parent_checkpoint"] for state in states] == [*(state["checkpoint"] for state in states[1:]), None]
    assert [texts(state["values"]) for state in states] == [["a"], ["a"], [], []]


@pytest.mark.parametrize(
    "assistant", ["noop", "chat", "typed", "nested", "delta", "counting", "numbered", "parallel", "boom"]
)
def test_a_state_read_by_the_id_of_its_head_is_the_same(service: Service, assistant: str) -> None:
    thread = service.thread()
    for text in ("a", "b"):
        service.wait(thread, assistant, {"n": 1} if assistant == "counting" else text)
    head = service.state(thread)
    by_id = service.state(thread, head["checkpoint_id"])
    by_body = service.ask("POST", f"/threads/{thread}/state/checkpoint", {"checkpoint": head["checkpoint"]})
    (listed,) = service.history(thread, limit=1)
    assert by_id == by_body == head
    assert {name: head[name] for name in head if name != "tasks"} == {
        name: listed[name] for name in head if name != "tasks"
    }
    assert head["checkpoint"] == {"checkpoint_id": head["checkpoint_id"], "thread_id": thread, "checkpoint_ns": ""}
    assert head["checkpoint_id"] == service.get(thread)["head_checkpoint_id"]
    assert service.get(thread)["values"] == head["values"] | {"title": service.get(thread)["title"]}


def test_a_stored_state_is_field_by_field_the_decoded_one(service: Service) -> None:
    thread = grown(service, "typed")
    stored = service.state(thread)
    with service.gateway.db.writing() as connection:
        assert connection.execute("DELETE FROM head_values").rowcount == 1
    decoded = service.state(thread)
    assert decoded == stored
    assert (decoded["values"]["place"], decoded["values"]["steps"][1]["number"]) == (
        {"name": "home+", "mood": "busy"},
        2,
    )


def test_a_metadata_of_a_state_tells_its_run(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "noop", "a", metadata={"m": 1})
    run = service.get(thread, "/runs")[0]
    about = service.state(thread)["metadata"]
    assert {name: about[name] for name in ("run_id", "graph_id", "assistant_id", "source", "step", "parents")} == {
        "run_id": run["run_id"], "graph_id": "noop", "assistant_id": run["assistant_id"], "source": "loop", "step": 2,
        "parents": {},
    }  # fmt: skip


def test_reads_write_nothing(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "ask", "a")
    checkpoint = service.state(thread)["checkpoint"]
    run = service.get(thread, "/runs")[0]["run_id"]
    before = service.counts(), service.rows("SELECT * FROM threads"), service.rows("SELECT * FROM checkpoints")
    for path in ("", "/state", "/state?subgraphs=true", f"/state/{checkpoint['checkpoint_id']}", "/history", "/runs",
                 f"/runs/{run}", f"/runs/{run}/join", f"/runs/{run}/stream"):  # fmt: skip
        with service.call("GET", f"/threads/{thread}{path}") as answer:
            assert (answer.status_code, path) == (200, path)
            answer.get_data()
    service.ask("POST", f"/threads/{thread}/state/checkpoint", {"checkpoint": checkpoint, "subgraphs": True})
    service.history(thread, before=checkpoint, metadata={"source": "loop"})
    service.ask("POST", "/threads/search", {})
    service.ask("POST", "/threads/count", {})
    assert (
        service.counts(),
        service.rows("SELECT * FROM threads"),
        service.rows("SELECT * FROM checkpoints"),
    ) == before


def test_a_checkpoint_that_is_unknown_or_anothers_is_404_everywhere(service: Service) -> None:
    thread, other = grown(service), grown(service)
    foreign = service.state(other)["checkpoint_id"]
    before = service.counts()
    for bad in (ABSENT, foreign, "x"):
        for method, path, body in (
            ("GET", f"/state/{bad}", None),
            ("POST", "/state/checkpoint", {"checkpoint": {"checkpoint_id": bad}}),
            ("POST", "/state/checkpoint", {"checkpoint": {"checkpoint_id": bad, "thread_id": other}}),
            ("POST", "/state", {"values": {}, "checkpoint_id": bad}),
            ("POST", "/state", {"values": {"title": "x"}, "checkpoint": {"checkpoint_id": bad}}),
            ("POST", "/history", {"before": bad}),
            ("POST", "/history", {"checkpoint": {"checkpoint_id": bad}}),
            ("GET", f"/history?before={bad}", None),
            ("POST", "/runs", {"assistant_id": "noop", "input": human("c"), "checkpoint_id": bad}),
        ):
            field = "before" if "before" in f"{path} {body}" else "checkpoint_id"
            assert service.ask(method, f"/threads/{thread}{path}", body, 404) == {
                "detail": f"{field}: checkpoint {bad} does not exist in this thread"
            }
    mine = service.state(thread)["checkpoint_id"]
    for path, body in (
        ("/state/checkpoint", {"checkpoint": {"checkpoint_id": mine, "checkpoint_ns": "inner:1"}}),
        ("/runs", {"assistant_id": "noop", "checkpoint": {"checkpoint_id": mine, "checkpoint_ns": "inner:1"}}),
        ("/state", {"values": {}, "checkpoint": {"checkpoint_id": mine, "checkpoint_ns": "inner:1"}}),
    ):
        service.ask("POST", f"/threads/{thread}{path}", body, 404)
    assert service.counts() == before
    for method, path, body in (
        ("GET", "/state", None), ("POST", "/state", {"values": {}}), ("POST", "/history", {}),
        ("GET", "/history", None),
        ("GET", f"/state/{mine}", None), ("POST", "/state/checkpoint", {"checkpoint": {"checkpoint_id": mine}}),
    ):  # fmt: skip
        assert service.ask(method, f"/threads/nowhere{path}", body, 404)["detail"].startswith("thread_id")


def test_a_subgraphs_own_checkpoints_are_read_by_their_namespace(service: Service) -> None:
    thread = grown(service, "nested", 1)
    ((namespace, checkpoint),) = service.rows(
        "SELECT checkpoint_ns, max(checkpoint_id) FROM checkpoints WHERE checkpoint_ns <> '' GROUP BY 1"
    )
    place = {"checkpoint_id": checkpoint, "checkpoint_ns": namespace}
    state = service.ask("POST", f"/threads/{thread}/state/checkpoint", {"checkpoint": place})
    assert (state["next"], texts(state["values"])) == ([], ["a", "echo: a"])
    assert state["checkpoint"]["checkpoint_ns"] == namespace
    service.ask("GET", f"/threads/{thread}/state/{checkpoint}", status=404)


def test_a_history_is_cut_by_limit_and_before(service: Service) -> None:
    thread = grown(service, turns=4)
    everything = service.history(thread)
    assert len(everything) == 13
    assert service.ask("POST", f"/threads/{thread}/history", {}) == service.get(thread, "/history") == everything[:10]
    assert service.get(thread, "/history?limit=2") == service.history(thread, limit=2) == everything[:2]
    for number in (0, 5, 12):
        at = everything[number]["checkpoint"]
        for before in (at["checkpoint_id"], at, {"checkpoint_id": at["checkpoint_id"]}, {"configurable": at}):
            assert service.history(thread, limit=3, before=before) == everything[number + 1 : number + 4]
    for limit in (0, 1001, -1, "2", 1.5, True, None):
        service.ask("POST", f"/threads/{thread}/history", {"limit": limit}, 422)
    for before in (5, [], {}, "", {"configurable": {}}):
        service.ask("POST", f"/threads/{thread}/history", {"before": before}, 422)


def test_a_history_is_filtered_by_metadata_and_checkpoint(service: Service) -> None:
    thread = grown(service)
    everything = service.history(thread)
    inputs = [state for state in everything if state["metadata"]["source"] == "input"]
    assert service.history(thread, metadata={"source": "input"}) == inputs
    assert service.history(thread, metadata={"source": "input"}, limit=1) == inputs[:1]
    assert service.history(thread, metadata={"source": "input", "step": -1}) == everything[-1:]
    assert service.history(thread, metadata={"step": 1}) == [one for one in everything if one["metadata"]["step"] == 1]
    for wrong in ({"step": "1"}, {"step": True}, {"step": 99}, {"ghost": None}, {"source": "input' OR 1=1 --"}):
        assert service.history(thread, metadata=wrong) == []
    assert service.history(thread, metadata={}) == everything
    third = everything[2]
    assert service.history(thread, checkpoint=third["checkpoint"]) == [third]


def test_a_history_begins_with_the_head_and_its_own_line_down_to_the_fork(service: Service) -> None:
    thread = grown(service, turns=2)
    first, second = ids(service.history(thread))[3:], ids(service.history(thread))[:3]
    service.wait(thread, "noop", "c", checkpoint_id=first[0])
    third = ids(service.history(thread))[:3]
    assert ids(service.history(thread)) == third + second + first
    stand_on(service, thread, second[0])
    assert ids(service.history(thread)) == second + third + first
    assert texts(service.state(thread)["values"]) == ["a", "b"]
    assert service.get(thread)["head_checkpoint_id"] == service.state(thread)["checkpoint_id"] == second[0]
    walked, before = [], None
    while page := service.history(thread, limit=2, **({} if before is None else {"before": before})):
        walked += ids(page)
        before = page[-1]["checkpoint"]
    assert walked == second + third + first
    assert texts(service.wait(thread, "noop", "d")) == ["a", "b", "d"]


def test_a_head_inside_the_newest_line_is_still_the_first_entry(service: Service) -> None:
    thread = grown(service, turns=2)
    everything = ids(service.history(thread))
    stand_on(service, thread, everything[3])
    assert ids(service.history(thread)) == [everything[3], *everything[:3], *everything[4:]]
    assert texts(service.wait(thread, "noop", "c")) == ["a", "c"]


def test_answers_are_strict_json(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "going", {"words": ["a"]})
    text = service.call("GET", f"/threads/{thread}/state").get_data(as_text=True)
    assert json.loads(text)["values"] == {"words": ["a"], "done": ["first", "second"]}
