"""Branches that are refused: the reason is told and no row, checkpoint or value is left behind."""

from collections.abc import Callable

import pytest

from deerflow_lite.errors import BranchRefused, ThreadUnknown
from deerflow_lite.threads.model import Change
from tests.lifecycle.branches import MODES, REFUSAL, answers, branch, path, refused, talk
from tests.runs.gates import Gate
from tests.service import Service


@MODES
def test_an_earlier_inherited_turn_is_refused_with_the_source_thread(service: Service, graph: str) -> None:
    thread = talk(service, graph, "h1", "h2")
    made = branch(service, thread, answers(service, thread)[-1])["thread_id"]
    detail = refused(service, made, answers(service, made)[0])
    assert detail.startswith(REFUSAL) and thread in detail


@MODES
def test_a_target_that_is_no_last_answer_of_a_turn_is_refused_and_nothing_is_left(service: Service, graph: str) -> None:
    thread = talk(service, graph, "h1", "h2")
    first, last = answers(service, thread)
    for target in ("h-h2", "h-h1", "absent"):
        assert refused(service, thread, target) == REFUSAL
    assert refused(service, thread, last, message_ids=[first]) == REFUSAL
    assert refused(service, thread, last, message_ids=[last, "h-h2"]) == REFUSAL
    assert refused(service, service.thread(), last) == REFUSAL


def test_an_answer_that_more_follows_in_its_turn_is_half_a_turn(service: Service) -> None:
    thread = talk(service, "twice", "h1")
    first, last = answers(service, thread)
    assert refused(service, thread, first) == REFUSAL
    for ids in (None, [], [first], [last, first, last]):
        assert path(service, branch(service, thread, last, message_ids=ids)["thread_id"]) == path(service, thread)
    assert branch(service, thread, first, message_ids=[last])["branched_from_message_id"] == first


def test_a_turn_that_was_never_finished_is_refused(service: Service, gate: Gate) -> None:
    asked = talk(service, "ask", "h1")
    assert refused(service, asked, answers(service, asked)[-1]) == REFUSAL
    service.wait(asked, "ask", command={"resume": "yes"})
    made = branch(service, asked, answers(service, asked)[-1])["thread_id"]
    assert path(service, made) == ["h1", "may I?", "approved=True"]
    running = talk(service, "held", "h0")
    done = answers(service, running)[-1]
    run = service.start(running, "held", gate.text)
    gate.await_reached()
    assert path(service, branch(service, running, done)["thread_id"]) == ["h0", "echo: h0"]
    gate.open()
    service.join(running, run["run_id"])


def test_a_thread_that_goes_while_it_is_branched_leaves_no_branch(service: Service) -> None:
    thread = talk(service, "chat", "h1")
    last, branching = answers(service, thread)[-1], service.gateway.branching
    source = service.gateway.threads.get("default", thread)
    found = branching._found(service.gateway.rooms, source, {last}, last)
    service.ask("DELETE", f"/threads/{thread}", status=204)
    before = service.counts()
    with pytest.raises(BranchRefused):
        branching._found(service.gateway.rooms, source, {last}, last)
    with pytest.raises(ThreadUnknown):
        branching.branch("default", thread, last)
    assert service.counts() == before and found.turn.newest == source.head


def test_a_delta_thread_is_not_branched_by_a_full_graph(serve: Callable[..., Service]) -> None:
    delta = serve(checkpoint_mode="delta", snapshot_frequency=100)
    thread = talk(delta, "agent", "h1", "h2")
    last = answers(delta, thread)[-1]
    delta.gateway.stop(0)
    delta.gateway.close()
    full = serve(checkpoint_mode="full")
    detail = refused(full, thread, last)
    assert "CHECKPOINT_MODE=delta" in detail and f"threads convert {thread} --to full" in detail


def test_a_graph_that_is_gone_refuses_and_names_itself(service: Service) -> None:
    thread = talk(service, "chat", "h1")
    last = answers(service, thread)[-1]
    service.gateway.threads.change("default", thread, Change(metadata={"graph_id": "gone"}))
    assert "gone" in refused(service, thread, last)
