"""Every kind of graph that users write runs here as it does on LangGraph's own server."""

from typing import Any

from tests.service import Service, human, texts


def test_a_context_reaches_a_graph_with_a_context_schema(service: Service) -> None:
    for more, name in (({"context": {"name": "Ada"}}, "Ada"), ({}, "nobody")):
        assert texts(service.wait(service.thread(), "contextual", "a", **more)) == ["a", f"hello {name}"]
    both: Any = {"context": {"name": "Ada"}, "config": {"recursion_limit": 50}}
    assert texts(service.wait(service.thread(), "contextual", "a", **both))[-1] == "hello Ada"


def test_a_graph_may_send_work_and_go_elsewhere(service: Service) -> None:
    sent = service.wait(service.thread(), "sending", {"words": ["a", "b", "c"]})
    assert sent == {"words": ["a", "b", "c"], "done": ["A", "B", "C"]}
    thread = service.thread()
    assert service.wait(thread, "going", {"words": []}) == {"words": [], "done": ["first", "second"]}
    assert service.state(thread)["next"] == []


def test_a_graph_without_messages_is_run_and_listed(service: Service) -> None:
    thread = service.thread()
    assert service.wait(thread, "counting", {"n": 1, "notes": ["x"]}) == {"n": 2, "notes": ["x", "counted"]}
    assert service.wait(thread, "counting", {"n": 5}) == {"n": 6, "notes": ["x", "counted", "counted"]}
    shown = service.get(thread)
    assert (shown["title"], shown["values"]["n"], shown["status"]) == (None, 6, "idle")


def test_a_delta_graph_keeps_every_turn(service: Service) -> None:
    thread, expected = service.thread(), []
    for text in ("a", "b", "c", "d", "e"):
        expected += [text, f"echo: {text}"]
        assert texts(service.wait(thread, "delta", text)) == expected
    assert texts(service.state(thread)["values"]) == texts(service.get(thread)["values"]) == expected
    settled = [texts(state["values"]) for state in service.history(thread) if not state["next"]]
    assert settled == [expected[: 2 * turns] for turns in (5, 4, 3, 2, 1, 0)]
    for state in service.history(thread):
        assert service.state(thread, state["checkpoint_id"])["values"] == state["values"]
    older = next(
        state for state in service.history(thread) if texts(state["values"]) == expected[:4] and not state["next"]
    )
    assert texts(service.wait(thread, "delta", "x", checkpoint=older["checkpoint"])) == [*expected[:4], "x", "echo: x"]


def test_a_delta_thread_is_refused_to_a_full_graph(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "delta", "a")
    before = service.counts()
    refused = service.wait(thread, "noop", "b", status=409)["detail"]
    assert "CHECKPOINT_MODE=delta" in refused and f"deerflow-lite threads convert {thread} --to full" in refused
    assert service.counts() == before
    service.ask("PATCH", f"/threads/{thread}", {"metadata": {"graph_id": "noop"}})
    head = service.get(thread)["head_checkpoint_id"]
    for method, path, body in (
        ("GET", "/state", None), ("GET", f"/state/{head}", None), ("POST", "/history", {}),
        ("POST", "/state", {"values": None}),
        ("POST", "/state/checkpoint", {"checkpoint": {"checkpoint_id": head}}),
    ):  # fmt: skip
        assert "CHECKPOINT_MODE=delta" in service.ask(method, f"/threads/{thread}{path}", body, 409)["detail"]
    assert service.get(thread)["thread_id"] == thread


def test_a_full_thread_goes_on_as_delta(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "held", "a")
    assert texts(service.wait(thread, "delta", "b")) == ["a", "echo: a", "b", "echo: b"]
    service.ask("PATCH", f"/threads/{thread}", {"metadata": {"graph_id": "delta"}})
    assert texts(service.state(thread)["values"]) == ["a", "echo: a", "b", "echo: b"]


def test_a_run_whose_graph_lacks_a_filled_channel_is_refused_unless_it_may_drop_it(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "ask", "a")
    service.wait(thread, "ask", command={"resume": "yes"})
    before = service.counts()
    assert "approved" in service.wait(thread, "noop", "b", status=409)["detail"]
    assert service.counts() == before
    config: Any = {"configurable": {"drop_channels": ["approved"]}}
    assert texts(service.wait(thread, "noop", "b", config=config))[-1] == "b"
    assert "approved" not in service.state(thread)["values"]
    assert service.history(thread)[-1]["values"] == {"messages": []} or service.history(thread)[-1]["values"] == {}


def test_a_commands_update_on_a_settled_head_is_run_on_a_settled_copy_of_it(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "held", "a")
    head = service.state(thread)
    writes = service.rows("SELECT count(*) FROM writes WHERE checkpoint_id = ?", head["checkpoint_id"])
    service.wait(thread, "held", command={"update": human("b"), "goto": "hold"})
    assert texts(service.state(thread)["values"]) == ["a", "echo: a", "b", "echo: b"]
    assert service.state(thread, head["checkpoint_id"])["values"] == head["values"]
    assert service.rows("SELECT count(*) FROM writes WHERE checkpoint_id = ?", head["checkpoint_id"]) == writes
    states = {state["checkpoint_id"]: state for state in service.history(thread)}
    (copied,) = [state for state in states.values() if state["parent_checkpoint_id"] == head["checkpoint_id"]]
    assert (copied["metadata"]["source"], texts(states[head["checkpoint_id"]]["values"])) == (
        "update",
        ["a", "echo: a"],
    )


def test_a_commands_goto_alone_on_a_settled_head_is_run_on_a_copy_too(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "held", "a")
    head = service.state(thread)
    service.wait(thread, "held", command={"goto": ["hold"]})
    assert texts(service.state(thread)["values"]) == ["a", "echo: a", "echo: echo: a"]
    assert service.state(thread, head["checkpoint_id"]) == head | {
        "tasks": service.state(thread, head["checkpoint_id"])["tasks"]
    }
    assert texts(service.wait(thread, "held", "b"))[-2:] == ["b", "echo: b"]


def test_a_recursion_limit_ends_a_run_as_an_error_and_is_capped(service: Service) -> None:
    thread = service.thread()
    answered = service.wait(thread, "twice", "a", config={"recursion_limit": 1})
    assert answered["__error__"]["error"] == "GraphRecursionError"
    assert texts(service.wait(service.thread(), "twice", "a", config={"recursion_limit": 10**6}))[-1] == "echo: echo: a"
    for limit in (0, -1, "5", 1.5, True):
        service.wait(thread, "twice", "a", status=422, config={"recursion_limit": limit})


def test_every_durability_keeps_the_last_state(service: Service) -> None:
    rows = {}
    for durability in ("sync", "async", "exit"):
        thread = service.thread()
        assert texts(service.wait(thread, "twice", "a", durability=durability)) == ["a", "echo: a", "echo: echo: a"]
        assert texts(service.wait(thread, "twice", "b", durability=durability))[-1] == "echo: echo: b"
        assert len(texts(service.state(thread)["values"])) == len(texts(service.get(thread)["values"])) == 6
        rows[durability] = len(service.history(thread))
    assert rows == {"sync": 9, "async": 9, "exit": 3}
