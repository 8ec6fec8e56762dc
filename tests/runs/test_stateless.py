"""Runs without a thread: they answer as others do, and nothing of them is left behind unless it is asked for."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deerflow_lite.errors import RunUnknown, ThreadUnknown
from tests.runs.gates import Gate
from tests.runs.test_restart import killed
from tests.service import Service, frames, human, texts, until

MODES = ["values", "updates", "messages-tuple", "custom", "checkpoints", "tasks", "debug", "events", "messages"]


def asked(text: Any, assistant: str = "held", **more: Any) -> dict[str, Any]:
    return {"assistant_id": assistant, "input": human(text) if isinstance(text, str) else text} | more


def rows(service: Service) -> dict[str, int]:
    """Count all that is stored; which row numbers were given is no trace of a run."""
    return {table: count for table, count in service.counts().items() if table != "sqlite_sequence"}


def gone(service: Service, before: dict[str, int]) -> None:
    until(lambda: rows(service) == before)


@pytest.mark.parametrize("assistant", ["held", "held_delta", "nested", "typed"])
def test_waiting_gives_the_values_and_leaves_nothing(service: Service, assistant: str) -> None:
    before = rows(service)
    said = texts(service.ask("POST", "/runs/wait", asked("a", assistant)))
    assert (said[0], len(said)) == ("a", 2)
    gone(service, before)


def test_a_stream_has_every_mode_and_leaves_nothing(service: Service) -> None:
    before = rows(service)
    with service.call("POST", "/runs/stream", asked("a", "chat", stream_mode=MODES)) as answer:
        got = list(frames(iter([answer.get_data()])))
        place = answer.headers["Content-Location"]
        assert answer.headers["Location"] == f"{place}/stream"
    assert place == f"/runs/{got[0].data['run_id']}"
    assert [frame.id for frame in got] == list(range(1, len(got) + 1))
    shown = {mode.replace("-tuple", "") for mode in MODES}
    assert shown <= {frame.event.partition("/")[0] for frame in got} and got[-1].event == "end"
    gone(service, before)


def test_a_failure_is_told_and_leaves_nothing(service: Service) -> None:
    before = rows(service)
    failed = {"error": "ValueError", "message": "boom"}
    assert service.ask("POST", "/runs/wait", asked("a", "boom")) == {"__error__": failed}
    with service.call("POST", "/runs/stream", asked("a", "boom")) as answer:
        got = list(frames(iter([answer.get_data()])))
    assert [(frame.event, frame.data) for frame in got[-2:]] == [("error", failed), ("end", None)]
    gone(service, before)


def test_a_question_is_shown_in_the_values(service: Service) -> None:
    answered = service.ask("POST", "/runs/wait", asked("a", "ask"))
    assert answered["__interrupt__"][0]["value"] == {"question": "approve?", "options": ["yes", "no"]}


def test_a_run_in_the_background_is_known_until_it_ends(service: Service, gate: Gate) -> None:
    before = rows(service)
    run = service.ask("POST", "/runs", asked(gate.text))
    gate.await_reached()
    paths = [f"/runs/{run['run_id']}", f"/threads/{run['thread_id']}/runs/{run['run_id']}"]
    for path in paths:
        assert service.ask("GET", path)["status"] == "running"
    assert service.ask("GET", f"/threads/{run['thread_id']}", status=404)
    got: list[Any] = []
    joining = [
        threading.Thread(target=lambda path=path: got.append(service.ask("GET", f"{path}/join"))) for path in paths
    ]
    followed = [service.call("GET", f"{path}/stream", buffered=False) for path in paths]
    for one in joining:
        one.start()
    until(lambda: service.gateway.runs.streams_open == 4)
    gate.open()
    for one in joining:
        one.join(20)
    assert [texts(values) for values in got] == [[gate.text, f"echo: {gate.text}"]] * 2
    for answer in followed:
        assert [frame.event for frame in frames(answer.iter_encoded())] == ["metadata", "values", "values", "end"]
    gone(service, before)
    for path in paths:
        assert service.ask("GET", path, status=404)


@pytest.mark.parametrize("action", ["interrupt", "rollback"])
@pytest.mark.parametrize("by_thread", [False, True])
def test_it_can_be_cancelled(service: Service, gate: Gate, action: str, by_thread: bool) -> None:
    before = rows(service)
    run = service.ask("POST", "/runs", asked(gate.text))
    gate.await_reached()
    path = f"/threads/{run['thread_id']}/runs/{run['run_id']}" if by_thread else f"/runs/{run['run_id']}"
    assert service.ask("POST", f"{path}/cancel?wait=1&action={action}") == {}
    assert rows(service) == before


def test_a_client_that_leaves_stops_it_if_it_asked_to(service: Service, gate: Gate) -> None:
    before = rows(service)
    answer = service.call("POST", "/runs/stream", asked(gate.text, on_disconnect="cancel"), buffered=False)
    assert next(frames(answer.iter_encoded())).event == "metadata"
    gate.await_reached()
    answer.close()
    gone(service, before)


def test_stateless_runs_do_not_wait_for_each_other(service: Service, gate: Gate) -> None:
    run = service.ask("POST", "/runs", asked(gate.text))
    gate.await_reached()
    assert texts(service.ask("POST", "/runs/wait", asked("b"))) == ["b", "echo: b"]
    assert service.ask("GET", f"/runs/{run['run_id']}")["status"] == "running"


def test_what_is_to_be_kept_has_a_thread_with_its_root(service: Service) -> None:
    with service.call("POST", "/runs/wait", asked("a", on_completion="keep")) as answer:
        assert texts(answer.get_json()) == ["a", "echo: a"]
        place = answer.headers["Content-Location"]
    thread, run = place.split("/")[2], place.split("/")[4]
    assert service.status(thread, run) == "success"
    assert texts(service.get(thread)["values"]) == ["a", "echo: a"]
    assert [state["metadata"]["step"] for state in service.history(thread)] == [2, 1, 0, -1]
    assert texts(service.wait(thread, "held", "b"))[-2:] == ["b", "echo: b"]
    kept = service.ask("POST", "/runs", asked("c", on_completion="keep"))
    assert service.join(kept["thread_id"], kept["run_id"])["messages"][0]["content"] == "c"


def test_a_batch_starts_all_or_none(service: Service) -> None:
    before = rows(service)
    runs = service.ask("POST", "/runs/batch", [asked("a"), asked("b", "noop"), asked("c", on_completion="keep")])
    assert [run["status"] for run in runs] == ["running"] * 3
    assert len({run["thread_id"] for run in runs}) == 3
    assert texts(service.join(runs[2]["thread_id"], runs[2]["run_id"])) == ["c", "echo: c"]
    until(lambda: rows(service)["runs"] == before["runs"] + 1)
    then = rows(service)
    refused = service.ask("POST", "/runs/batch", [asked("a"), asked("b", "ghost"), asked({}, stream_mode="x")], 422)
    assert list(refused["errors"]) == ["1.assistant_id"] or list(refused["errors"]) == ["2.stream_mode"]
    assert service.ask("POST", "/runs/batch", asked("a"), 422)["errors"] == {"body": ["must be a JSON array"]}
    assert service.ask("POST", "/runs/batch", [], 200) == []
    assert rows(service) == then


def test_a_batch_over_the_queue_is_refused_whole(serve: Callable[..., Service], gate: Gate) -> None:
    service = serve(run_concurrency=1, run_queue=1)
    service.ask("POST", "/runs", asked(gate.text))
    gate.await_reached()
    with service.call("POST", "/runs/batch", [asked("a"), asked("b")]) as answer:
        assert answer.status_code == 503
    assert rows(service)["runs"] == 1
    gate.open()
    assert texts(service.ask("POST", "/runs/wait", asked("c"))) == ["c", "echo: c"]


def test_a_failure_before_the_first_step_is_told_as_it_is(service: Service) -> None:
    before = rows(service)
    empty = {"error": "EmptyInputError", "message": "Received no input for __start__"}
    assert service.ask("POST", "/runs/wait", asked(None, "noop")) == {"__error__": empty}
    unfit = asked(None, "noop", command={"update": {"messages": None}})
    assert service.ask("POST", "/runs/wait", unfit)["__error__"]["error"] == "ValueError"
    gone(service, before)


def test_what_needs_a_thread_is_refused(service: Service) -> None:
    before = rows(service)
    nowhere = "1f1ecb71-2a4a-642b-8002-f9df3d037f62"
    assert service.ask("POST", "/runs/wait", asked("a", checkpoint_id=nowhere), 404)
    command = {"assistant_id": "ask", "command": {"resume": "yes"}}
    assert service.ask("POST", "/runs/wait", command, 409)
    assert rows(service) == before


def test_a_delayed_one_waits_and_outlives_a_restart_and_one_that_ran_is_gone(
    service: Service, serve: Callable[..., Service], gate: Gate, tmp_path: Path
) -> None:
    before = rows(service)
    late = service.ask("POST", "/runs", asked("late", after_seconds=86_400))
    soon = service.ask("POST", "/runs", asked("soon", after_seconds=1))
    ran = service.ask("POST", "/runs", asked(gate.text))
    gate.await_reached()
    again = serve(instance=killed(service, tmp_path / "killed"))
    assert again.ask("GET", f"/runs/{ran['run_id']}", status=404)
    until(lambda: again.call("GET", f"/runs/{soon['run_id']}").status_code == 404)
    assert again.ask("GET", f"/runs/{late['run_id']}")["status"] == "pending"
    again.ask("POST", f"/runs/{late['run_id']}/cancel?wait=1")
    gone(again, before)


def test_another_owner_knows_nothing_of_it(service: Service, gate: Gate) -> None:
    run = service.ask("POST", "/runs", asked(gate.text))
    gate.await_reached()
    desk = service.gateway.runs
    with pytest.raises(RunUnknown):
        desk.owned("another", run["run_id"])
    with pytest.raises(ThreadUnknown):
        desk.get("another", run["thread_id"], run["run_id"])
    with pytest.raises(ThreadUnknown):
        desk.get("default", "elsewhere", run["run_id"])
