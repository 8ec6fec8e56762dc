"""Cancelling many runs at once: those that are named, all or none; or whatever of an owner waits or runs."""

from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.runs.test_cancel import ABSENT
from tests.service import Service, texts, until


def crowd(service: Service, gate: Gate) -> tuple[str, str, str, str]:
    """Give a thread with a running and a pending run, these two, and a delayed run of another thread."""
    thread, other = service.thread(), service.thread()
    running = service.start(thread, "held", gate.text)["run_id"]
    gate.await_reached()
    pending = service.start(thread, "held", "b")["run_id"]
    delayed = service.start(other, "held", "c", after_seconds=3600)["run_id"]
    return thread, running, pending, delayed


def statuses(service: Service) -> list[str]:
    return [status for (status,) in service.rows("SELECT status FROM runs ORDER BY row")]


def cancel(service: Service, body: Any, query: str = "", status: int = 204) -> Any:
    return service.ask("POST", f"/runs/cancel{query}", body, status)


def test_runs_that_are_named_end(service: Service, gate: Gate) -> None:
    thread, running, pending, _ = crowd(service, gate)
    assert cancel(service, {"thread_id": thread, "run_ids": [running, pending]}) is None
    until(lambda: statuses(service) == ["interrupted", "interrupted", "pending"])
    assert cancel(service, {"thread_id": thread, "run_ids": [running, pending]}, "?action=interrupt") is None


@pytest.mark.parametrize(
    ("status", "left"),
    [
        ("pending", ["running", "interrupted", "interrupted"]),
        ("running", ["interrupted", "success", "pending"]),
        ("all", ["interrupted", "interrupted", "interrupted"]),
    ],
)
def test_runs_of_a_status_end(service: Service, gate: Gate, status: str, left: list[str]) -> None:
    crowd(service, gate)
    cancel(service, {"status": status})
    until(lambda: statuses(service) == left)
    assert cancel(service, {"status": "running"}) is None


def test_all_are_taken_back(service: Service, gate: Gate) -> None:
    thread, *_ = crowd(service, gate)
    cancel(service, {"status": "all"}, "?action=rollback")
    until(lambda: statuses(service) == [])
    assert (service.state(thread)["values"], service.get(thread)["status"]) == ({}, "idle")


def test_an_unknown_run_among_them_stops_none(service: Service, gate: Gate) -> None:
    thread, running, pending, delayed = crowd(service, gate)
    for run_ids in ([running, ABSENT], [pending, delayed]):
        assert cancel(service, {"thread_id": thread, "run_ids": run_ids}, status=404)["detail"].startswith("run_id: ")
    assert cancel(service, {"thread_id": "nowhere", "run_ids": [running]}, status=404)
    assert statuses(service) == ["running", "pending", "pending"]


@pytest.mark.parametrize(
    "body",
    [
        {}, {"status": None}, {"status": "success"}, {"thread_id": "t"}, {"run_ids": []},
        {"status": "all", "run_ids": []},
        {"thread_id": "t", "run_ids": 5}, {"status": "all", "thread_id": "t", "run_ids": []},
        {"thread_id": "", "run_ids": []},
    ],
)  # fmt: skip
def test_one_selector_is_wanted(service: Service, gate: Gate, body: Any) -> None:
    crowd(service, gate)
    assert cancel(service, body, status=422)["errors"]
    assert statuses(service) == ["running", "pending", "pending"]


def test_the_end_of_a_run_that_waits_is_tried_again_until_the_file_takes_it(
    service: Service, gate: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    thread, running, pending, _ = crowd(service, gate)
    with service.gateway.db.writing() as connection:
        connection.execute("CREATE TRIGGER full BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    service.cancel(thread, pending, "", 202)
    until(lambda: f"the end of run {pending} could not be stored" in caplog.text)
    assert service.status(thread, pending) == "pending"
    with service.gateway.db.writing() as connection:
        connection.execute("DROP TRIGGER full")
    service.reach(thread, pending, "interrupted")
    gate.open()
    assert texts(service.join(thread, running)) == [gate.text, f"echo: {gate.text}"]
