"""What a service finds that was killed: the file is copied while a run stands in the middle, and opened anew."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deerflow_lite.runs.model import RunRequest
from tests.runs import gates
from tests.runs.gates import Gate
from tests.service import Service, frames, human, texts, until

REASON = {"error": "ServiceStopped", "message": "the service stopped while this run was running"}


def killed(service: Service, folder: Path) -> Path:
    """Give a folder whose file is what a kill -9 at this moment would leave."""
    folder.mkdir()
    source, target = sqlite3.connect(service.gateway.config.database), sqlite3.connect(folder / "deerflow.sqlite")
    source.backup(target)
    source.close()
    target.close()
    return folder


@pytest.fixture
def left(service: Service, gate: Gate, tmp_path: Path) -> tuple[str, str, str, Path]:
    """One finished turn, a run in the middle of the next, one waiting behind it: (thread, running, pending, folder)."""
    thread = service.thread()
    service.wait(thread, "held", "a")
    running = service.start(thread, "held", gate.text, stream_mode=["custom", "values"])["run_id"]
    gate.await_reached()
    pending = service.start(thread, "held", "c")["run_id"]
    until(lambda: service.rows("SELECT count(*) FROM events WHERE event = 'custom'") == [(1,)])
    until(lambda: texts(service.state(thread)["values"])[-1] == gate.text)
    return thread, running, pending, killed(service, tmp_path / "killed")


def test_the_running_run_is_an_error_with_its_reason_and_the_pending_one_starts(
    serve: Callable[..., Service], gate: Gate, left: tuple[str, str, str, Path]
) -> None:
    thread, running, pending, folder = left
    again = serve(instance=folder)
    run = again.get(thread, f"/runs/{running}")
    assert (run["status"], run["error"]) == ("error", REASON)
    assert texts(again.join(thread, pending)) == ["a", "echo: a", gate.text, "c", "echo: c"]
    assert again.status(thread, pending) == "success"
    shown = again.get(thread)
    assert (shown["status"], shown["error"], texts(shown["values"])[-1]) == ("idle", None, "echo: c")
    assert again.join(thread, running) == {"__error__": REASON}


def test_its_stream_ends_with_the_reason_and_repeats_nothing(
    service: Service, serve: Callable[..., Service], left: tuple[str, str, str, Path]
) -> None:
    thread, running, _, folder = left
    before = [row[0] for row in service.rows(
        "SELECT e.id FROM events e JOIN runs r ON e.run = r.row WHERE r.run_id = ? ORDER BY e.id", running
    )]  # fmt: skip
    again = serve(instance=folder)
    whole = again.rejoin(thread, running)
    assert [frame.id for frame in whole] == list(range(1, len(before) + 3))
    assert [(frame.event, frame.data) for frame in whole[-2:]] == [("error", REASON), ("end", None)]
    for cut in range(len(whole)):
        assert again.rejoin(thread, running, str(cut)) == whole[cut:]


def test_a_thread_whose_only_run_was_running_is_an_error_and_not_busy(
    service: Service, serve: Callable[..., Service], gate: Gate, tmp_path: Path
) -> None:
    thread = service.thread()
    run = service.start(thread, "held", gate.text)["run_id"]
    gate.await_reached()
    until(lambda: texts(service.state(thread)["values"]) == [gate.text])
    again = serve(instance=killed(service, tmp_path / "killed"))
    shown = again.get(thread)
    assert (shown["status"], shown["error"]) == ("error", REASON)
    until(lambda: texts(again.get(thread)["values"] or {}) == [gate.text])
    assert (again.state(thread)["next"], again.status(thread, run)) == (["hold"], "error")
    assert texts(again.wait(thread, "held", "b")) == [gate.text, "b", "echo: b"]
    assert again.get(thread)["status"] == "idle"


def test_a_service_stopped_at_once_leaves_no_thread_at_work_on_its_file(
    serve: Callable[..., Service], left: tuple[str, str, str, Path]
) -> None:
    again = serve(instance=left[-1])
    assert "refresh" in [thread.name for thread in threading.enumerate()]
    again.gateway.stop(0)
    again.gateway.close()
    assert "refresh" not in [thread.name for thread in threading.enumerate()]


def test_nothing_is_recovered_beside_a_running_service(
    serve: Callable[..., Service], left: tuple[str, str, str, Path]
) -> None:
    thread, running, pending, folder = left
    beside = serve(instance=folder, executing=False)
    assert [beside.status(thread, run) for run in (running, pending)] == ["running", "pending"]
    assert beside.get(thread)["status"] == "busy"


def test_values_of_the_last_finished_turn_are_readable_at_once(
    serve: Callable[..., Service], left: tuple[str, str, str, Path]
) -> None:
    thread, _, pending, folder = left
    beside = serve(instance=folder, executing=False)
    assert texts(beside.state(thread)["values"])[:2] == ["a", "echo: a"]
    assert [texts(state["values"]) for state in beside.history(thread) if not state["next"]][0] == ["a", "echo: a"]


def test_a_pending_run_whose_credentials_are_not_kept_is_an_error(
    service: Service, serve: Callable[..., Service], gate: Gate, tmp_path: Path
) -> None:
    thread = service.thread()
    service.start(thread, "held", gate.text)
    gate.await_reached()
    config: Any = {"configurable": {"api_key": "s3cr3t", "max_tokens": 5}}
    run = service.start(thread, "held", "b", config=config, context={"my-token": "t0k3n"})["run_id"]
    stored = service.get(thread, f"/runs/{run}")["kwargs"]
    assert stored["config"]["configurable"] == {"max_tokens": 5} and stored["context"] == {}
    folder = killed(service, tmp_path / "killed")
    assert b"s3cr3t" not in (folder / "deerflow.sqlite").read_bytes()
    assert b"t0k3n" not in (folder / "deerflow.sqlite").read_bytes()
    again = serve(instance=folder)
    assert again.status(thread, run) == "error"
    assert "credentials are not kept" in again.get(thread, f"/runs/{run}")["error"]["message"]
    assert again.get(thread)["status"] == "error"


def test_credentials_of_a_run_reach_the_graph_and_no_row(service: Service) -> None:
    thread = service.thread()
    config: Any = {"configurable": {"openai_api_key": "s3cr3t", "Authorization": "b34r3r", "name": "kept"}}
    modes = ["values", "messages-tuple", "debug", "checkpoints", "tasks", "events", "custom", "updates", "messages"]
    got = service.stream(thread, "nested", "a", config=config, context={"password": "p4ss"}, stream_mode=modes)
    assert got[-1].event == "end" and "error" not in [frame.event for frame in got]
    for table, column in (
        ("checkpoints", "metadata"),
        ("checkpoints", "checkpoint"),
        ("writes", "value"),
        ("events", "data"),
    ):
        for (value,) in service.rows(f"SELECT {column} FROM {table}"):
            assert not [word for word in (b"s3cr3t", b"b34r3r", b"p4ss") if word in value], (table, column, value)
    assert not service.rows("SELECT 1 FROM runs WHERE kwargs LIKE '%s3cr3t%' OR kwargs LIKE '%p4ss%'")


def test_a_stopped_service_leaves_its_runs_ended_and_starts_what_waited(
    serve: Callable[..., Service], gate: Gate
) -> None:
    service = serve()
    thread = service.thread()
    first = service.start(thread, "held", gate.text)["run_id"]
    gate.await_reached()
    second = service.start(thread, "held", "b")["run_id"]
    service.gateway.stop(0)
    assert [service.status(thread, run) for run in (first, second)] == ["error", "pending"]
    refused = service.call("POST", f"/threads/{thread}/runs", {"assistant_id": "held", "input": human("c")})
    assert refused.status_code == 503 and "Retry-After" in refused.headers
    service.gateway.close()
    again = serve()
    assert texts(again.join(thread, second)) == [gate.text, "b", "echo: b"]
    assert again.status(thread, first) == "error"


def test_who_follows_a_run_that_waits_is_told_that_the_service_stops(serve: Callable[..., Service], gate: Gate) -> None:
    service = serve()
    thread = service.thread()
    service.start(thread, "held", gate.text)
    gate.await_reached()
    pending = service.start(thread, "held", "b")["run_id"]
    answer = service.call("GET", f"/threads/{thread}/runs/{pending}/stream", buffered=False)
    followed = frames(answer.iter_encoded())
    assert next(followed).event == "metadata"
    service.gateway.stop(0)
    assert [(frame.id, frame.event, frame.data["error"]) for frame in followed] == [(1, "stopping", "ServiceStopped")]
    service.gateway.close()
    again = serve()
    assert [frame.event for frame in again.rejoin(thread, pending, "1")][-1] == "end"


def test_a_run_that_begins_as_the_service_stops_is_an_error_with_its_reason(
    serve: Callable[..., Service], gate: Gate
) -> None:
    service = serve()
    gateway, thread = service.gateway, service.thread()
    before = service.start(service.thread(), "held", gate.text)["run_id"]
    gate.await_reached()
    with gates.new() as second:
        assistant = gateway.graphs.assistant("held")
        request = RunRequest(assistant.assistant_id, "held", input=human(second.text))
        stopping = threading.Thread(target=gateway.stop, args=(gates.SECONDS,))
        with gateway.db.writing():
            run, live = gateway.runs.post("default", thread, request)
            stopping.start()
            until(lambda: gateway.runs._runner._stopping)
        gate.open()
        stopping.join()
    assert [event.event for event in live.events] == ["metadata", "error", "end"]
    assert gateway.runs.get("default", thread, run.run_id).error is not None
    ended = dict(service.rows("SELECT run_id, status FROM runs"))
    assert ended == {before: "success", run.run_id: "error"}
