"""Runs that begin later: until then they hold no seat and no place, and nothing of their thread waits for them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deerflow_lite import clock
from tests.runs.gates import Gate
from tests.runs.test_restart import killed
from tests.service import Service, texts, until

LONG = 86_400


def delayed(service: Service, thread: str, text: str = "later", seconds: int = LONG, **more: Any) -> str:
    return str(service.start(thread, "held", text, after_seconds=seconds, **more)["run_id"])


def make_due(service: Service, run: str) -> None:
    """Let the time of a run come now."""
    with service.gateway.db.writing() as connection:
        connection.execute("UPDATE runs SET due_at = ? WHERE run_id = ?", (clock.now(), run))
    service.start(service.thread(), "noop", "a")


def test_a_run_begins_after_its_seconds(service: Service) -> None:
    thread = service.thread()
    run = delayed(service, thread, seconds=1)
    assert (service.status(thread, run), service.get(thread)["status"]) == ("pending", "idle")
    assert texts(service.join(thread, run)) == ["later", "echo: later"]
    asked = service.get(thread, f"/runs/{run}")
    assert asked["status"] == "success"
    assert clock.seconds_until(asked["created_at"]) == 0.0 and asked["updated_at"][:19] > asked["created_at"][:19]


def test_until_it_is_due_its_thread_is_free(service: Service) -> None:
    thread = service.thread()
    run = delayed(service, thread)
    assert texts(service.wait(thread, "held", "a", multitask_strategy="reject")) == ["a", "echo: a"]
    for strategy in ("interrupt", "rollback"):
        service.wait(thread, "held", strategy, multitask_strategy=strategy)
    service.update(thread, {"messages": []}, as_node="hold")
    assert (service.status(thread, run), service.get(thread)["status"]) == ("pending", "idle")
    make_due(service, run)
    assert texts(service.join(thread, run))[-2:] == ["later", "echo: later"]
    assert len(texts(service.state(thread)["values"])) == 8


def test_it_takes_no_place_of_the_queue_nor_of_those_that_execute(serve: Callable[..., Service]) -> None:
    service = serve(run_concurrency=1, run_queue=0)
    thread = service.thread()
    runs = [delayed(service, thread) for _ in range(3)]
    assert texts(service.wait(thread, "held", "a")) == ["a", "echo: a"]
    assert {service.status(thread, run) for run in runs} == {"pending"}


def test_a_run_that_is_due_on_a_busy_thread_waits_for_its_turn(service: Service, gate: Gate) -> None:
    thread = service.thread()
    run = delayed(service, thread)
    first = service.start(thread, "held", gate.text)["run_id"]
    gate.await_reached()
    make_due(service, run)
    until(lambda: service.rows("SELECT due_at FROM runs WHERE run_id = ?", run) == [(None,)])
    assert (service.status(thread, first), service.status(thread, run)) == ("running", "pending")
    gate.open()
    assert texts(service.join(thread, run)) == [gate.text, f"echo: {gate.text}", "later", "echo: later"]


@pytest.mark.parametrize(("strategy", "left"), [("interrupt", 2), ("rollback", 1)])
def test_a_run_that_is_due_obeys_its_strategy(service: Service, gate: Gate, strategy: str, left: int) -> None:
    thread = service.thread()
    run = delayed(service, thread, multitask_strategy=strategy)
    service.start(thread, "held", gate.text)
    gate.await_reached()
    make_due(service, run)
    assert texts(service.join(thread, run))[-2:] == ["later", "echo: later"]
    assert len(service.get(thread, "/runs")) == left


def test_it_can_be_deleted_and_who_waits_for_it_is_told(service: Service) -> None:
    thread = service.thread()
    run = delayed(service, thread)
    answer = service.call("GET", f"/threads/{thread}/runs/{run}/stream", buffered=False)
    assert service.ask("DELETE", f"/threads/{thread}/runs/{run}", status=204) is None
    assert answer.get_data().count(b"event: end") == 1
    assert service.get(thread, "/runs") == [] and service.rows("SELECT * FROM events") == []
    assert service.get(thread)["status"] == "idle"


def test_it_goes_with_its_thread(service: Service) -> None:
    thread = service.thread()
    run = delayed(service, thread)
    answer = service.call("GET", f"/threads/{thread}/runs/{run}/stream", buffered=False)
    service.ask("DELETE", f"/threads/{thread}", status=204)
    assert answer.get_data().count(b"event: end") == 1
    assert service.rows("SELECT * FROM runs") == []


@pytest.mark.parametrize(("action", "status"), [("interrupt", 200), ("rollback", 404)])
def test_it_can_be_cancelled(service: Service, action: str, status: int) -> None:
    thread = service.thread()
    run = delayed(service, thread)
    assert service.cancel(thread, run, f"?wait=1&action={action}") == {}
    found = service.ask("GET", f"/threads/{thread}/runs/{run}", status=status)
    assert found.get("status") == {"interrupt": "interrupted"}.get(action)
    assert service.get(thread)["status"] == "idle"


def test_it_outlives_a_restart(service: Service, serve: Callable[..., Service], tmp_path: Path) -> None:
    thread = service.thread()
    late, soon = delayed(service, thread), delayed(service, thread, "soon", 1)
    again = serve(instance=killed(service, tmp_path / "killed"))
    assert texts(again.join(thread, soon)) == ["soon", "echo: soon"]
    assert again.status(thread, late) == "pending"


def test_a_thread_that_is_busy_rejects_a_delayed_run_as_any_other(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.start(thread, "held", gate.text)
    assert service.start(thread, "held", "b", status=409, after_seconds=5, multitask_strategy="reject")


@pytest.mark.parametrize("seconds", [-1, 1.5, "5", True, 2**62])
def test_seconds_that_are_none_are_refused(service: Service, seconds: Any) -> None:
    thread = service.thread()
    assert "after_seconds" in service.start(thread, "held", "b", status=422, after_seconds=seconds)["errors"]


@pytest.mark.parametrize("seconds", [None, 0])
def test_no_seconds_are_now(service: Service, seconds: Any) -> None:
    thread = service.thread()
    assert texts(service.wait(thread, "held", "b", after_seconds=seconds)) == ["b", "echo: b"]
