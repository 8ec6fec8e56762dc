"""One run at a time on a thread, whatever arrives together."""

import threading
from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.service import Service, human, texts, until


def together(service: Service, bodies: list[dict[str, Any]], path: str) -> list[tuple[int, Any]]:
    """Send the requests at the same instant, and give status and JSON of each."""
    barrier, answers = threading.Barrier(len(bodies)), [(0, None)] * len(bodies)

    def send(number: int) -> None:
        barrier.wait(10)
        answer = service.call("POST", path, bodies[number])
        answers[number] = (answer.status_code, answer.get_json())

    senders = [threading.Thread(target=send, args=(number,)) for number in range(len(bodies))]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join(20)
    return answers


def turn(text: str, **more: Any) -> dict[str, Any]:
    return {"assistant_id": "held", "input": human(text)} | more


def test_of_two_runs_at_the_same_instant_reject_takes_exactly_one(service: Service, gate: Gate) -> None:
    thread = service.thread()
    answers = together(service, [turn(gate.text, multitask_strategy="reject")] * 2, f"/threads/{thread}/runs")
    assert sorted(status for status, _ in answers) == [200, 409]
    assert len(service.get(thread, "/runs")) == 1
    gate.open()
    service.join(thread, service.get(thread, "/runs")[0]["run_id"])
    assert texts(service.state(thread)["values"]) == [gate.text, f"echo: {gate.text}"]
    assert service.start(thread, "held", "b", multitask_strategy="reject")["multitask_strategy"] == "reject"


def test_runs_at_the_same_instant_are_queued_and_no_turn_is_interleaved_or_lost(service: Service) -> None:
    thread = service.thread()
    names = [str(number) for number in range(6)]
    bodies = [turn(name, multitask_strategy="enqueue") for name in names]
    answers = together(service, bodies, f"/threads/{thread}/runs")
    assert [status for status, _ in answers] == [200] * 6
    posted = [run["run_id"] for run in service.get(thread, "/runs")][::-1]
    for run in posted:
        service.join(thread, run)
    text_of = {run["run_id"]: run["kwargs"]["input"]["messages"][0]["content"] for _, run in answers}
    order = [text_of[run] for run in posted]
    assert sorted(order) == names
    assert texts(service.state(thread)["values"]) == [part for name in order for part in (name, f"echo: {name}")]
    settled = [state for state in service.history(thread) if not state["next"]]
    assert [len(state["values"].get("messages", [])) for state in settled] == [12, 10, 8, 6, 4, 2, 0]


def test_a_queued_run_waits_for_the_one_before_and_goes_on_from_its_head(service: Service, gate: Gate) -> None:
    thread = service.thread()
    first = service.start(thread, "held", gate.text)["run_id"]
    gate.await_reached()
    second, third = (service.start(thread, "held", text)["run_id"] for text in ("b", "c"))
    assert service.start(thread, "held", "d", status=409, multitask_strategy="reject")
    assert [(run["run_id"], run["status"]) for run in service.get(thread, "/runs")] == [
        (third, "pending"), (second, "pending"), (first, "running"),
    ]  # fmt: skip
    gate.open()
    assert texts(service.join(thread, second)) == [gate.text, f"echo: {gate.text}", "b", "echo: b"]
    assert texts(service.join(thread, third))[-2:] == ["c", "echo: c"]
    assert service.get(thread)["status"] == "idle"


def test_a_queued_run_that_names_the_base_of_the_one_in_flight_goes_on_from_the_head(
    service: Service, gate: Gate
) -> None:
    thread = service.thread()
    service.wait(thread, "held", "a")
    seen = service.state(thread)["checkpoint"]
    service.start(thread, "held", gate.text, checkpoint=seen)
    gate.await_reached()
    last = service.start(thread, "held", "c", checkpoint=seen)["run_id"]
    gate.open()
    assert texts(service.join(thread, last)) == ["a", "echo: a", gate.text, f"echo: {gate.text}", "c", "echo: c"]


@pytest.mark.parametrize("named", ["checkpoint", "checkpoint_id"])
def test_a_run_from_an_older_checkpoint_moves_the_head_to_its_own_line(service: Service, named: str) -> None:
    thread = service.thread()
    service.wait(thread, "held", "a")
    older = service.state(thread)["checkpoint_id"]
    service.wait(thread, "held", "b")
    place = {"checkpoint": {"checkpoint_id": older, "thread_id": "elsewhere"}, "checkpoint_id": older}[named]
    assert texts(service.wait(thread, "held", "c", **{named: place})) == ["a", "echo: a", "c", "echo: c"]
    assert texts(service.get(thread)["values"]) == ["a", "echo: a", "c", "echo: c"]
    assert service.state(thread)["checkpoint_id"] == service.get(thread)["head_checkpoint_id"]
    assert texts(service.wait(thread, "held", "d")) == ["a", "echo: a", "c", "echo: c", "d", "echo: d"]


def test_a_failed_run_from_an_older_checkpoint_leaves_the_head_and_the_status(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "noop", "a")
    older = service.state(thread)["checkpoint_id"]
    service.wait(thread, "noop", "b")
    head = service.state(thread)
    frames = service.stream(thread, "boom", "c", checkpoint_id=older)
    assert [frame.event for frame in frames][-3:] == ["error", "values", "end"] or [frame.event for frame in frames][
        -3:
    ] == ["values", "error", "end"]
    assert [texts(frame.data) for frame in frames if frame.event == "values"][-1] == ["a", "b"]
    shown = service.get(thread)
    assert (shown["status"], shown["error"], shown["head_checkpoint_id"]) == ("idle", None, head["checkpoint_id"])
    assert service.state(thread) == head
    assert [texts(state["values"]) for state in service.history(thread)].count(["a", "c"]) == 1


def test_a_cancelled_run_from_an_older_checkpoint_leaves_the_head(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.wait(thread, "held", "a")
    older = service.state(thread)["checkpoint_id"]
    service.wait(thread, "held", "b")
    head = service.state(thread)
    run = service.start(thread, "held", gate.text, checkpoint_id=older)["run_id"]
    gate.await_reached()
    assert service.state(thread) == head
    service.cancel(thread, run)
    assert service.state(thread) == head
    assert (service.get(thread)["status"], service.history(thread)[0]["checkpoint_id"]) == (
        "idle",
        head["checkpoint_id"],
    )
    assert texts(service.wait(thread, "held", "c")) == ["a", "echo: a", "b", "echo: b", "c", "echo: c"]


def test_other_threads_run_while_one_is_busy(service: Service, gate: Gate) -> None:
    held, free = service.thread(), service.thread()
    run = service.start(held, "held", gate.text)["run_id"]
    gate.await_reached()
    assert texts(service.wait(free, "held", "a")) == ["a", "echo: a"]
    assert service.status(held, run) == "running"
    gate.open()
    until(lambda: service.get(held)["status"] == "idle")
