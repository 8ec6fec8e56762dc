"""Threads that are met by a graph of another checkpoint mode, or by none: refused whole, or readable whole."""

from collections.abc import Callable
from typing import Any

import pytest

from deerflow_lite import create_app
from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.lifecycle.conftest import Open
from tests.lifecycle.stored import ids
from tests.service import Service, texts

Serve = Callable[..., Service]


def again(service: Service, serve: Serve, **settings: Any) -> Service:
    """Stop a service and start another one on its file."""
    service.gateway.stop(0)
    service.gateway.close()
    return serve(**settings)


def refused(service: Service, thread: str, method: str, path: str, body: Any = None) -> None:
    detail = service.ask(method, f"/threads/{thread}{path}", body, 409)["detail"]
    assert "CHECKPOINT_MODE=delta" in detail and f"threads convert {thread} --to full" in detail, path


def test_a_history_that_meets_a_delta_checkpoint_is_refused_to_a_full_graph(serve: Serve) -> None:
    full = serve(checkpoint_mode="full")
    thread = Talk(full, "agent").id
    full.wait(thread, "agent", "one")
    head = full.get(thread)["head_checkpoint_id"]
    delta = again(full, serve, checkpoint_mode="delta", snapshot_frequency=100)
    delta.wait(thread, "agent", "two")
    newest = delta.get(thread)["head_checkpoint_id"]
    delta.ask("PUT", f"/threads/{thread}/head", {"checkpoint_id": head})
    whole = delta.history(thread)
    full = again(delta, serve, checkpoint_mode="full")
    own = next(number for number, one in enumerate(whole) if one["checkpoint_id"] == newest)
    assert full.history(thread, limit=own) == whole[:own]
    refused(full, thread, "POST", "/history", {"limit": own + 1})
    refused(full, thread, "GET", "/history")
    refused(full, thread, "POST", "/history", {"checkpoint_id": newest})
    refused(full, thread, "GET", "/tree")
    refused(full, thread, "GET", "/turns")
    assert texts(full.state(thread)["values"]) == texts(whole[0]["values"])


@pytest.mark.parametrize("graph", ["full", "gone", "delta"])
def test_a_chain_that_turns_to_delta_below_a_full_head_is_refused_to_a_full_graph_at_the_step_where_it_does(
    stored: Open, graph: str
) -> None:
    found, named = stored("chat-precreated-delta"), ids("chat-precreated-delta")
    # The newest row is one that a full graph reads well: it holds its messages itself, and tells no counters.
    place = {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": named["c6"]}
    made = found.reading("full").update_state({"configurable": place}, {}, as_node="after")
    head, service = made["configurable"]["checkpoint_id"], Service(create_app(gateway=found.gateway))
    assert found.thread("t", graph).head == head
    again, other = {"message_id": "ai-2"}, {"human_message_id": "u1", "replacement_text": "x"}
    if graph == "full":
        for method, path, body in (
            ("GET", "/tree", None), ("GET", "/turns", None), ("GET", "/messages/page", None), ("GET", "/history", None),
            ("POST", "/runs/regenerate/prepare", again), ("POST", "/runs/edit-regenerate/prepare", other),
            ("POST", "/runs/regenerate", again), ("POST", "/runs/edit", other), ("POST", "/branches", again),
        ):  # fmt: skip
            refused(service, "t", method, path, body)
        return
    assert [turn["human_message_id"] for turn in service.get("t", "/tree")["turns"]] == ["u1", "u2"]
    assert [turn["message_ids"] for turn in service.get("t", "/turns")["turns"]] == [["u1", "ai-1"], ["u2", "ai-2"]]
    prepared = service.ask("POST", "/threads/t/runs/regenerate/prepare", again)
    assert prepared["checkpoint"]["checkpoint_id"] == named["c3"]


@pytest.mark.parametrize("frequency", [1, 100])
def test_a_branch_of_a_delta_thread_is_refused_to_a_full_graph_though_it_holds_its_messages_itself(
    serve: Serve, frequency: int
) -> None:
    delta = serve(checkpoint_mode="delta", snapshot_frequency=frequency)
    talk = Talk(delta, "agent")
    talk.say("one", "h1")
    answer = delta.state(talk.id)["values"]["messages"][-1]["id"]
    branch = delta.ask("POST", f"/threads/{talk.id}/branches", {"message_id": answer})["thread_id"]
    state = delta.state(branch)
    head = state["checkpoint_id"]
    full = again(delta, serve, checkpoint_mode="full")
    before = full.counts()
    for method, path, body in (
        ("GET", "/state", None), ("GET", f"/state/{head}", None), ("POST", "/history", {}), ("GET", "/tree", None),
        ("GET", "/turns", None), ("POST", "/branches", {"message_id": answer}),
        ("PUT", "/head", {"checkpoint_id": head}),
        ("POST", "/runs/regenerate", {"message_id": answer}), ("POST", "/state", {"values": None}),
        ("POST", "/runs/edit", {"human_message_id": "h1__user", "replacement_text": "x"}),
        ("POST", "/runs/wait", {"assistant_id": "agent", "input": None}),
    ):  # fmt: skip
        refused(full, branch, method, path, body)
    assert full.counts() == before
    full.gateway.converting.convert(None, branch, "full")
    assert full.state(branch)["values"] == state["values"]


@pytest.mark.parametrize("graph", ["full", "delta"])
def test_a_thread_whose_graph_is_gone_stays_readable_at_every_checkpoint(serve: Serve, graph: str) -> None:
    service = serve(graphs=GRAPHS)
    talk = Talk(service, graph)
    talk.say("one", "h1")
    talk.say("!ask", "h2")
    history, turns = service.history(talk.id), talk.turns()
    gone = again(service, serve, graphs="gone=tests.no_such_module:graph")
    gone.ask("PATCH", f"/threads/{talk.id}", {"metadata": {"graph_id": "gone"}})
    shown = gone.history(talk.id)
    assert gone.state(talk.id)["values"] == history[0]["values"]
    assert gone.get(talk.id)["values"]["messages"] == history[0]["values"]["messages"]
    assert Talk(gone, graph, talk.id).turns() == turns
    told = ("next", "created_at", "checkpoint", "parent_checkpoint", "metadata", "checkpoint_id")
    for old, new in zip(history, shown, strict=True):
        assert {key: new[key] for key in told} == {key: old[key] for key in told}
        assert new["values"] == {name: value for name, value in old["values"].items() if value != []}
        assert gone.state(talk.id, new["checkpoint_id"]) == new
    assert "gone" in gone.update(talk.id, None, 409)["detail"]
