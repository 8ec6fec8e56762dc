"""Cancelling: idempotent, truthful, and nothing of a cancelled run is stored after it has ended."""

import threading
from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.service import Service, frames, human, texts, until

ABSENT = "01a22cf9-0000-7000-8000-000000000000"


def held(service: Service, gate: Gate, assistant: str = "held") -> tuple[str, str]:
    """Start a run that stands at the gate, and give (thread, run)."""
    thread = service.thread()
    run = service.start(thread, assistant, gate.text)["run_id"]
    gate.await_reached()
    return thread, run


def test_a_cancelled_run_has_ended_when_wait_answers(service: Service, gate: Gate) -> None:
    thread, run = held(service, gate)
    assert service.cancel(thread, run) == {}
    assert service.status(thread, run) == "interrupted"
    shown, state = service.get(thread), service.state(thread)
    assert (shown["status"], texts(shown["values"]), shown["interrupts"]) == ("interrupted", [gate.text], {})
    assert (state["next"], texts(state["values"])) == (["hold"], [gate.text])
    assert service.rejoin(thread, run)[-1].event == "end"


def test_cancel_without_wait_answers_202_at_once(service: Service, gate: Gate) -> None:
    for query in ("", "?wait=0", "?wait=false&action=interrupt"):
        thread = service.thread()
        run = service.start(thread, "held", gate.text)["run_id"]
        assert service.cancel(thread, run, query, 202) is None
        service.reach(thread, run, "interrupted")


def test_cancelling_again_changes_nothing(service: Service, gate: Gate) -> None:
    thread, run = held(service, gate)
    service.cancel(thread, run)
    before, shown = service.get(thread, f"/runs/{run}"), service.get(thread)
    for query in ("?wait=0", "?wait=1"):
        assert service.cancel(thread, run, query, 202) is None
    assert (service.get(thread, f"/runs/{run}"), service.get(thread)) == (before, shown)


def test_a_run_that_finished_first_keeps_its_status(service: Service) -> None:
    for assistant, status in (("noop", "success"), ("boom", "error")):
        thread = service.thread()
        service.wait(thread, assistant, "a")
        before = service.get(thread, "/runs")
        for query in ("", "?wait=1"):
            assert service.cancel(thread, before[0]["run_id"], query, 202) is None
        assert service.get(thread, "/runs") == before and before[0]["status"] == status


def test_a_pending_run_is_cancelled_and_never_starts(service: Service, gate: Gate) -> None:
    thread, first = held(service, gate)
    second, third = (service.start(thread, "held", text)["run_id"] for text in ("b", "c"))
    assert service.cancel(thread, second) == {}
    assert (service.status(thread, first), service.status(thread, second)) == ("running", "interrupted")
    assert service.get(thread)["status"] == "busy"
    assert [frame.event for frame in service.rejoin(thread, second)] == ["metadata", "end"]
    gate.open()
    assert texts(service.join(thread, third)) == [gate.text, f"echo: {gate.text}", "c", "echo: c"]
    assert service.get(thread)["status"] == "idle"


def test_a_pending_run_cancelled_on_a_fresh_thread_leaves_it_idle(service: Service, gate: Gate) -> None:
    thread, first = held(service, gate)
    other = service.thread()
    run = service.start(other, "held", gate.text)["run_id"]
    service.cancel(other, run)
    service.cancel(thread, first)
    assert service.status(other, run) == "interrupted"


def test_unknown_actions_are_refused(service: Service, gate: Gate) -> None:
    thread, run = held(service, gate)
    for query in ("?action=bogus", "?wait=maybe"):
        assert service.cancel(thread, run, query, 422)["errors"]
    assert service.cancel(thread, ABSENT, "?wait=1", 404)
    assert service.status(thread, run) == "running"


def test_a_node_that_stays_is_shown_running_until_it_left(service: Service, gate: Gate) -> None:
    thread, run = held(service, gate, "stubborn")
    assert service.cancel(thread, run, "?wait=0", 202) is None
    assert gate.ignored.wait(20)
    assert service.status(thread, run) == "running"
    assert service.get(thread)["status"] == "busy"
    assert service.start(thread, "noop", "b", status=409, multitask_strategy="reject")
    gate.open()
    until(lambda: service.status(thread, run) != "running")
    ended = service.status(thread, run)
    expected = {"interrupted": [gate.text], "success": [gate.text, "stayed"]}
    assert texts(service.state(thread)["values"]) == expected[ended]
    assert service.get(thread)["status"] == {"interrupted": "interrupted", "success": "idle"}[ended]


def test_a_message_after_a_cancel_is_a_users_turn(service: Service, gate: Gate) -> None:
    thread, run = held(service, gate)
    service.cancel(thread, run)
    assert texts(service.wait(thread, "held", "b")) == [gate.text, "b", "echo: b"]
    state = service.state(thread)
    assert [(one["type"], one["content"]) for one in state["values"]["messages"]] == [
        ("human", gate.text), ("human", "b"), ("ai", "echo: b"),
    ]  # fmt: skip
    assert (state["next"], service.get(thread)["status"]) == ([], "idle")


def test_the_turn_after_a_cancelled_one_begins_on_a_settled_copy(service: Service, gate: Gate) -> None:
    thread, run = held(service, gate)
    service.cancel(thread, run)
    left = service.state(thread)
    service.wait(thread, "held", "b")
    states = {state["checkpoint_id"]: state for state in service.history(thread)}
    first_of_turn = next(state for state in states.values() if state["next"] == ["__start__"])
    base = states[first_of_turn["parent_checkpoint_id"]]
    assert (base["next"], base["parent_checkpoint_id"]) == ([], left["checkpoint_id"])
    assert texts(base["values"]) == [gate.text]
    assert states[left["checkpoint_id"]]["next"] == ["hold"]


def test_a_stop_before_the_first_token_poisons_nothing(service: Service, gate: Gate) -> None:
    thread = service.thread()
    for number in range(3):
        run = service.start(thread, "held", gate.text)["run_id"]
        service.cancel(thread, run)
        assert service.status(thread, run) == "interrupted", number
    answered = service.wait(thread, "held", "b")
    assert texts(answered)[-2:] == ["b", "echo: b"]
    assert not [one for one in answered["messages"] if one["content"] == ""]


def test_text_streamed_before_a_cancel_stays_in_the_log_and_not_in_the_state(service: Service, gate: Gate) -> None:
    thread = service.thread()
    run = service.start(thread, "telling", gate.text, stream_mode=["messages-tuple", "values"])["run_id"]
    gate.await_reached()
    service.cancel(thread, run)
    log = service.rejoin(thread, run)
    streamed = [frame.data[0]["content"] for frame in log if frame.event == "messages"]
    assert "".join(streamed) == f"telling {gate.text}"
    assert [frame.event for frame in log][-1] == "end"
    assert service.rows("SELECT count(*) FROM events") == [(len(log),)]
    assert texts(service.state(thread)["values"]) == [gate.text]


def test_a_run_cancelled_as_soon_as_it_was_posted_has_ended_when_wait_answers(service: Service, gate: Gate) -> None:
    for number in range(40):
        thread = service.thread()
        with service.gateway.db.writing():  # nothing begins before both have been asked for
            run = service.start(thread, "held", gate.text)["run_id"]
            service.cancel(thread, run, "", 202)
        until(lambda thread=thread, run=run: service.status(thread, run) == "interrupted")
        assert service.get(thread)["status"] != "busy", number


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_cancelling_while_the_file_is_slow_stops_nothing_else(service: Service, gate: Gate, durability: str) -> None:
    thread = service.thread()
    run = service.start(thread, "held", gate.text, durability=durability)["run_id"]
    gate.await_reached()
    with service.gateway.db.writing():
        for _ in range(3):
            service.cancel(thread, run, "", 202)
            threading.Event().wait(0.05)  # right whatever happens in it: it only lets each stop arrive by itself
    service.reach(thread, run, "interrupted")
    for text in ("b", "c"):
        run = service.start(thread, "noop", text)["run_id"]
        service.reach(thread, run, "success")
    assert texts(service.state(thread)["values"]) == [gate.text, "b", "c"]


def test_a_run_that_takes_too_long_is_a_timeout_and_its_thread_an_error(serve: Any, gate: Gate) -> None:
    service = serve(run_timeout=1)
    thread = service.thread()
    answer = service.call("POST", f"/threads/{thread}/runs/stream", {"assistant_id": "held", "input": human(gate.text)})
    got = list(frames(answer.iter_encoded()))
    assert [frame.event for frame in got][-2:] == ["error", "end"]
    assert service.get(thread, "/runs")[0]["status"] == "timeout"
    shown = service.get(thread)
    assert (shown["status"], shown["error"]) == ("error", got[-2].data)
    assert texts(service.wait(thread, "noop", "b")) == [gate.text, "b"]
    assert service.get(thread)["status"] == "idle"
