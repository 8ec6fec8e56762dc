"""A second run on a busy thread: what becomes of the first, as its strategy is named; and runs that are taken back."""

from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.runs.test_seat import together, turn
from tests.service import Service, frames, human, texts, until

GRAPHS = ["held", "held_delta"]


def busy(service: Service, gate: Gate, assistant: str) -> tuple[str, str]:
    """One answered turn, and a run that stands at the gate: (thread, run)."""
    thread = service.thread()
    service.wait(thread, assistant, "a")
    run = service.start(thread, assistant, gate.text)["run_id"]
    gate.await_reached()
    return thread, run


def stored(service: Service) -> list[Any]:
    """Give all that is stored of states and runs."""
    return [
        service.rows("SELECT * FROM checkpoints ORDER BY thread_id, checkpoint_ns, checkpoint_id"),
        service.rows("SELECT * FROM writes ORDER BY thread_id, checkpoint_ns, checkpoint_id, task_id, idx"),
        service.rows("SELECT run_id FROM runs ORDER BY row"),
        service.rows("SELECT * FROM events ORDER BY run, id"),
    ]


def shown(service: Service, thread: str) -> list[Any]:
    """Give what clients see of a thread, but for the times that a run's end moves."""
    times = ("updated_at", "state_updated_at")
    return [
        {name: value for name, value in service.get(thread).items() if name not in times},
        service.state(thread), service.history(thread), service.get(thread, "/tree"),
    ]  # fmt: skip


@pytest.mark.parametrize("assistant", GRAPHS)
def test_interrupt_stops_the_run_in_flight_and_goes_on_from_what_it_left(
    service: Service, gate: Gate, assistant: str
) -> None:
    thread, first = busy(service, gate, assistant)
    answered = service.wait(thread, assistant, "c", multitask_strategy="interrupt")
    assert texts(answered) == ["a", "echo: a", gate.text, "c", "echo: c"]
    assert service.status(thread, first) == "interrupted"
    assert (service.get(thread)["status"], service.state(thread)["next"]) == ("idle", [])


@pytest.mark.parametrize("assistant", GRAPHS)
def test_rollback_takes_the_run_in_flight_back_and_goes_on_from_where_it_began(
    service: Service, gate: Gate, assistant: str
) -> None:
    thread, first = busy(service, gate, assistant)
    answered = service.wait(thread, assistant, "c", multitask_strategy="rollback")
    assert texts(answered) == ["a", "echo: a", "c", "echo: c"]
    assert service.ask("GET", f"/threads/{thread}/runs/{first}", status=404)
    assert gate.text not in [text for state in service.history(thread) for text in texts(state["values"])]
    assert len(service.get(thread, "/runs")) == 2


@pytest.mark.parametrize(("strategy", "left"), [("interrupt", ["interrupted"] * 3), ("rollback", [])])
def test_runs_that_wait_make_way_too(service: Service, gate: Gate, strategy: str, left: list[str]) -> None:
    thread = service.thread()
    runs = [service.start(thread, "held", gate.text)["run_id"]]
    gate.await_reached()
    runs += [service.start(thread, "held", text)["run_id"] for text in ("b", "c")]
    assert texts(service.wait(thread, "held", "d", multitask_strategy=strategy))[-2:] == ["d", "echo: d"]
    assert [run["status"] for run in service.get(thread, "/runs")[1:]] == left
    assert {"b", "c"}.isdisjoint(texts(service.state(thread)["values"]))


@pytest.mark.parametrize(("strategy", "left"), [("interrupt", ["interrupted"] * 5), ("rollback", [])])
def test_of_runs_at_the_same_instant_the_last_one_taken_in_stays(
    service: Service, gate: Gate, strategy: str, left: list[str]
) -> None:
    thread, first = busy(service, gate, "held")
    bodies = [turn("", multitask_strategy=strategy) | {"input": human(gate.text, f"h{number}")} for number in range(5)]
    answers = together(service, bodies, f"/threads/{thread}/runs")
    assert [status for status, _ in answers] == [200] * 5
    until(lambda: [run["status"] for run in service.get(thread, "/runs") if run["run_id"] == first] == left[:1])
    gate.open()
    runs = service.get(thread, "/runs")
    said = service.join(thread, runs[0]["run_id"])["messages"]
    last = runs[0]["kwargs"]["input"]["messages"][0]["id"]
    assert [said[-2]["id"], said[-1]["content"]] == [last, f"echo: {gate.text}"]
    assert [run["status"] for run in service.get(thread, "/runs")] == ["success", *left, "success"]
    assert service.get(thread)["status"] == "idle"
    assert len(said) == 4 or strategy == "interrupt"


@pytest.mark.parametrize("assistant", GRAPHS)
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_run_that_is_rolled_back_leaves_nothing(
    service: Service, gate: Gate, assistant: str, durability: str
) -> None:
    thread = service.thread()
    service.wait(thread, assistant, "a")
    before = stored(service), shown(service, thread)
    run = service.start(thread, assistant, gate.text, durability=durability)["run_id"]
    gate.await_reached()
    assert service.cancel(thread, run, "?wait=1&action=rollback") == {}
    assert (stored(service), shown(service, thread)) == before
    assert service.ask("GET", f"/threads/{thread}/runs/{run}", status=404)
    assert service.cancel(thread, run, "?action=rollback", 404)
    assert texts(service.wait(thread, assistant, "b")) == ["a", "echo: a", "b", "echo: b"]


@pytest.mark.parametrize("assistant", GRAPHS)
def test_a_first_run_that_is_rolled_back_leaves_an_empty_thread(service: Service, gate: Gate, assistant: str) -> None:
    thread = service.thread()
    before = stored(service)
    run = service.start(thread, assistant, gate.text)["run_id"]
    gate.await_reached()
    assert service.get(thread)["title"] == gate.text
    service.cancel(thread, run, "?wait=1&action=rollback")
    assert (stored(service), service.history(thread), service.state(thread)["values"]) == (before, [], {})
    thread_now = service.get(thread)
    assert [thread_now[name] for name in ("status", "title", "head_checkpoint_id")] == ["idle", None, None]


@pytest.mark.parametrize("assistant", GRAPHS)
def test_a_turn_on_a_cancelled_one_is_rolled_back_to_where_that_one_stopped(
    service: Service, gate: Gate, assistant: str
) -> None:
    thread, first = busy(service, gate, assistant)
    service.cancel(thread, first)
    before = stored(service), shown(service, thread)
    gate.reached.clear()
    run = service.start(thread, assistant, {"messages": [{"type": "human", "content": gate.text, "id": "h9"}]})
    gate.await_reached()
    service.cancel(thread, run["run_id"], "?wait=1&action=rollback")
    assert (stored(service), shown(service, thread)) == before


@pytest.mark.parametrize("resume", ["left", "right"])
def test_an_answer_that_is_rolled_back_is_asked_for_again(service: Service, gate: Gate, resume: str) -> None:
    thread = service.thread()
    service.wait(thread, "asking_then_held", gate.text)
    before = stored(service), shown(service, thread)
    run = service.start(thread, "asking_then_held", command={"resume": resume})["run_id"]
    gate.await_reached()
    service.cancel(thread, run, "?wait=1&action=rollback")
    assert (stored(service), shown(service, thread)) == before
    gate.open()
    assert texts(service.wait(thread, "asking_then_held", command={"resume": "b"}))[-1] == "b"


def test_a_run_from_an_older_checkpoint_is_rolled_back_and_the_head_stays(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.wait(thread, "held", "a")
    older = service.state(thread)["checkpoint_id"]
    service.wait(thread, "held", "b")
    before = stored(service), shown(service, thread)
    run = service.start(thread, "held", gate.text, checkpoint_id=older)["run_id"]
    gate.await_reached()
    service.cancel(thread, run, "?wait=1&action=rollback")
    assert (stored(service), shown(service, thread)) == before


def test_the_follower_of_a_run_that_is_rolled_back_sees_the_head_that_stands_and_the_end(
    service: Service, gate: Gate
) -> None:
    thread, run = busy(service, gate, "held")
    answer = service.call("GET", f"/threads/{thread}/runs/{run}/stream", buffered=False)
    followed = frames(answer.iter_encoded())
    assert next(followed).event == "metadata"
    service.cancel(thread, run, "?wait=1&action=rollback")
    last = list(followed)[-2:]
    assert [frame.event for frame in last] == ["values", "end"]
    assert texts(last[0].data) == ["a", "echo: a"]


def test_a_run_that_finished_first_cannot_be_rolled_back(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "held", "a")
    before = stored(service), service.get(thread)
    run = service.get(thread, "/runs")[0]["run_id"]
    for query in ("?action=rollback", "?wait=1&action=rollback"):
        assert service.cancel(thread, run, query, 202) is None
    assert (stored(service), service.get(thread)) == before


def test_subgraphs_of_a_run_that_is_rolled_back_are_taken_out_too(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.wait(thread, "nested_held", "a")
    before = stored(service)
    run = service.start(thread, "nested_held", gate.text)["run_id"]
    gate.await_reached()
    service.gateway.rooms.journal.ask(lambda _: None).result(20)
    assert service.rows("SELECT 1 FROM checkpoints WHERE checkpoint_ns <> ''")
    service.cancel(thread, run, "?wait=1&action=rollback")
    assert stored(service) == before


def test_a_queued_run_that_names_the_unsettled_head_it_saw_goes_on_from_the_head(service: Service, gate: Gate) -> None:
    thread, first = busy(service, gate, "held")
    service.cancel(thread, first)
    seen = service.state(thread)["checkpoint"]
    gate.reached.clear()
    service.start(thread, "held", human(gate.text, "h9"))
    gate.await_reached()
    last = service.start(thread, "held", "c", checkpoint=seen)["run_id"]
    gate.open()
    assert texts(service.join(thread, last))[-4:] == [gate.text, f"echo: {gate.text}", "c", "echo: c"]
