"""Branches: a new thread from any answered turn, in both checkpoint modes."""

from collections.abc import Callable

import pytest

from tests.lifecycle.branches import MODES, REFUSAL, answers, branch, path, refused, regenerate, talk
from tests.service import Service, texts


@MODES
def test_a_branch_has_the_branch_keys_and_none_of_the_sources_flags_or_metadata(service: Service, graph: str) -> None:
    thread = talk(service, graph, "h1")
    flags = {"deerflow_pinned": True, "deerflow_archived": True, "own": 1}
    service.ask("PATCH", f"/threads/{thread}", {"metadata": flags})
    made = branch(service, thread, answers(service, thread)[-1])
    shown, source = service.get(made["thread_id"]), service.get(thread)
    created = shown["metadata"].pop("branch_created_at")
    assert created <= shown["created_at"] and created >= source["updated_at"]
    assert shown["metadata"] == {
        "graph_id": graph,
        "assistant_id": source["metadata"]["assistant_id"],
        "deerflow_branch": True,
        "branch_parent_thread_id": thread,
        "branch_parent_checkpoint_id": made["parent_checkpoint_id"],
        "branch_parent_message_id": made["branched_from_message_id"],
    }
    assert (shown["status"], shown["title"], texts(shown["values"])) == ("idle", "h1", ["h1", "echo: h1"])
    assert shown["updated_at"] == shown["created_at"] and service.get(made["thread_id"], "/runs") == []


@MODES
def test_an_older_turn_is_where_the_branch_ends(service: Service, graph: str) -> None:
    thread = talk(service, graph, "h1", "h2", "h3")
    made = branch(service, thread, answers(service, thread)[0])["thread_id"]
    assert path(service, made) == ["h1", "echo: h1"]
    anchor = service.state(made)["parent_checkpoint_id"]
    assert service.state(made, anchor)["values"].get("messages", []) == []
    assert texts(service.wait(made, graph, "h2b")) == ["h1", "echo: h1", "h2b", "echo: h2b"]
    assert path(service, thread) == ["h1", "echo: h1", "h2", "echo: h2", "h3", "echo: h3"]


@MODES
def test_the_inherited_turn_is_answered_again_from_the_anchor_and_earlier_turns_stay(
    service: Service, graph: str
) -> None:
    thread = talk(service, graph, "h1", "h2")
    made = branch(service, thread, answers(service, thread)[-1])["thread_id"]
    head = service.state(made)
    again = regenerate(service, made, graph, head["parent_checkpoint_id"], "h2")
    assert again == ["h1", "echo: h1", "h2", "echo: h2"] == path(service, made)
    assert answers(service, made)[0] == answers(service, thread)[0]
    assert answers(service, made)[1] != answers(service, thread)[1]
    assert texts(service.state(made, head["checkpoint_id"])["values"]) == texts(head["values"])


@MODES
def test_inherited_history_stays_when_the_branch_goes_on(service: Service, graph: str) -> None:
    thread = talk(service, graph, "h1", "h2")
    made = branch(service, thread, answers(service, thread)[-1])["thread_id"]
    service.wait(made, graph, "h3")
    assert path(service, made) == ["h1", "echo: h1", "h2", "echo: h2", "h3", "echo: h3"]
    assert service.get(made)["status"] == "idle"
    assert path(service, thread) == ["h1", "echo: h1", "h2", "echo: h2"]


@MODES
def test_a_branch_is_branched_at_its_own_turn_and_at_the_last_inherited_one(service: Service, graph: str) -> None:
    thread = talk(service, graph, "h1", "h2")
    first = branch(service, thread, answers(service, thread)[-1])["thread_id"]
    service.wait(first, graph, "h3")
    found = answers(service, first)
    own = branch(service, first, found[2])
    inherited = branch(service, first, found[1])
    assert path(service, own["thread_id"]) == ["h1", "echo: h1", "h2", "echo: h2", "h3", "echo: h3"]
    assert path(service, inherited["thread_id"]) == ["h1", "echo: h1", "h2", "echo: h2"]
    assert (own["parent_thread_id"], inherited["parent_thread_id"]) == (first, first)
    base = service.state(own["thread_id"])["parent_checkpoint_id"]
    assert regenerate(service, own["thread_id"], graph, base, "h3b")[-2:] == ["h3b", "echo: h3b"]


@MODES
def test_a_turn_off_the_selected_lineage_is_branched_too(service: Service, graph: str) -> None:
    thread = talk(service, graph, "h1", "h2")
    old = answers(service, thread)[-1]
    shown = [one for one in service.history(thread) if not one["next"]]
    base = next(one for one in shown if texts(one["values"]) == ["h1", "echo: h1"])
    regenerate(service, thread, graph, base["checkpoint_id"], "h2b")
    assert path(service, thread) == ["h1", "echo: h1", "h2b", "echo: h2b"]
    assert path(service, branch(service, thread, old)["thread_id"]) == ["h1", "echo: h1", "h2", "echo: h2"]
    now = branch(service, thread, answers(service, thread)[-1])["thread_id"]
    assert path(service, now) == ["h1", "echo: h1", "h2b", "echo: h2b"]
    shared = branch(service, thread, answers(service, thread)[0])
    assert path(service, shared["thread_id"]) == ["h1", "echo: h1"]
    assert shared["parent_checkpoint_id"] == base["checkpoint_id"]


def test_tool_calls_and_their_results_go_with_the_turn_and_are_no_target(service: Service) -> None:
    thread = talk(service, "agent", "What is 2*(3+4)?")
    messages = service.state(thread)["values"]["messages"]
    tools = [one["id"] for one in messages if one["type"] == "tool"]
    assert len(tools) == 1
    assert refused(service, thread, tools[0]) == REFUSAL
    made = branch(service, thread, messages[-1]["id"])["thread_id"]
    assert service.state(made)["values"]["messages"] == messages


@pytest.mark.parametrize("store", ["sqlite", "memory"])
def test_a_branch_is_listed_read_goes_on_and_is_deleted_over_both_stores(
    serve: Callable[..., Service], store: str
) -> None:
    service = serve(store=store)
    thread = talk(service, "chat", "h1")
    made = branch(service, thread, answers(service, thread)[-1])["thread_id"]
    assert {one["thread_id"] for one in service.ask("POST", "/threads/search", {})} == {thread, made}
    assert texts(service.wait(made, "chat", "h2")) == ["h1", "echo: h1", "h2", "echo: h2"]
    service.ask("DELETE", f"/threads/{thread}", status=204)
    assert path(service, made) == ["h1", "echo: h1", "h2", "echo: h2"]
    service.ask("DELETE", f"/threads/{made}", status=204)
    assert service.counts()["checkpoints"] == service.counts()["writes"] == 0
