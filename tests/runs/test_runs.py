"""Runs as their clients ask for them: create, read, list, wait, join, delete, and one seat a thread."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.service import Service, human, texts, until

ABSENT = "01a22cf9-0000-7000-8000-000000000000"


def test_a_posted_run_is_answered_at_once_in_langgraphs_shape(service: Service, gate: Gate) -> None:
    thread = service.thread(metadata={"mine": 1})
    answer = service.call(
        "POST", f"/threads/{thread}/runs", {"assistant_id": "held", "input": human(gate.text), "metadata": {"m": 1}}
    )
    run = answer.get_json()
    assert answer.status_code == 200
    assert answer.headers["Content-Location"] == f"/threads/{thread}/runs/{run['run_id']}"
    assistant = service.ask("POST", "/assistants/search", {"graph_id": "held"})[0]["assistant_id"]
    assert (run["thread_id"], run["assistant_id"], run["multitask_strategy"]) == (thread, assistant, "enqueue")
    assert run["status"] in ("pending", "running")
    assert run["metadata"] == {"created_by": "system", "graph_id": "held", "assistant_id": assistant, "m": 1}
    assert run["kwargs"]["input"] == human(gate.text)
    assert run["created_at"].endswith("+00:00") and run["updated_at"] == run["created_at"]
    gate.await_reached()
    assert service.get(thread)["status"] == "busy"
    assert service.status(thread, run["run_id"]) == "running"
    gate.open()
    assert texts(service.join(thread, run["run_id"])) == [gate.text, f"echo: {gate.text}"]
    assert service.status(thread, run["run_id"]) == "success"
    shown = service.get(thread)
    assert (shown["status"], shown["metadata"]) == ("idle", {"mine": 1, "graph_id": "held", "assistant_id": assistant})


def test_every_mount_answers_with_places_without_a_prefix(service: Service) -> None:
    thread = service.thread()
    for mount in ("", "/api", "/api/langgraph"):
        base = f"{mount}/threads/{thread}/runs"
        waited = service.call("POST", f"{base}/wait", {"assistant_id": "noop", "input": human("a")})
        place = waited.headers["Content-Location"]
        assert place.startswith(f"/threads/{thread}/runs/") and waited.headers["Location"] == f"{place}/join"
        streamed = service.call("POST", f"{base}/stream", {"assistant_id": "noop", "input": human("a")})
        place = streamed.headers["Content-Location"]
        assert streamed.headers["Location"] == f"{place}/stream"
        assert streamed.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert service.call("GET", f"{mount}{place}/join").headers["Location"] == f"{place}/join"
        assert service.call("GET", f"{mount}{place}/stream").headers["Content-Location"] == place


def test_runs_are_listed_newest_first_by_page_status_and_chosen_fields(service: Service) -> None:
    thread = service.thread()
    runs = []
    for text, assistant in (("a", "noop"), ("b", "boom"), ("c", "noop")):
        runs.append(service.start(thread, assistant, text)["run_id"])
        service.join(thread, runs[-1])
    listed = service.get(thread, "/runs?select=run_id&select=status")
    expected = [
        {"run_id": run, "status": status} for run, status in zip(runs, ("success", "error", "success"), strict=True)
    ]
    assert listed == expected[::-1]
    page = service.call("GET", f"/threads/{thread}/runs?limit=1&offset=1")
    assert [row["run_id"] for row in page.get_json()] == [runs[1]]
    assert (page.headers["X-Pagination-Total"], page.headers["X-Pagination-Next"]) == ("3", "2")
    last = service.call("GET", f"/threads/{thread}/runs?limit=1&offset=2")
    assert last.headers["X-Pagination-Total"] == "3" and "X-Pagination-Next" not in last.headers
    assert [row["run_id"] for row in service.get(thread, "/runs?status=success")] == [runs[2], runs[0]]
    assert service.get(thread, "/runs?status=bogus") == []
    assert service.call("GET", f"/threads/{thread}/runs?limit=0").status_code == 422


def test_a_failing_graph_is_told_in_the_answer_the_run_and_the_thread(service: Service) -> None:
    thread, error = service.thread(), {"error": "ValueError", "message": "boom"}
    assert service.wait(thread, "boom", "a") == {"__error__": error}
    run = service.get(thread, "/runs")[0]
    assert (run["status"], run["error"]) == ("error", error)
    assert service.join(thread, run["run_id"]) == {"__error__": error}
    shown = service.get(thread)
    assert (shown["status"], shown["error"], texts(shown["values"])) == ("error", error, ["a"])
    state = service.state(thread)
    assert (state["next"], state["tasks"][0]["error"]) == (["explode"], "ValueError('boom')")
    assert texts(service.wait(thread, "noop", "b")) == ["a", "b"]
    shown = service.get(thread)
    assert (shown["status"], shown["error"]) == ("idle", None)


def test_a_run_without_input_on_a_fresh_thread_is_the_runs_own_error(service: Service) -> None:
    thread = service.thread()
    assert service.wait(thread, "noop")["__error__"]["error"] == "EmptyInputError"
    assert service.state(thread)["values"] == {}
    assert service.get(thread)["head_checkpoint_id"] is None


def test_what_is_unknown_or_not_served_is_refused_and_nothing_is_written(service: Service) -> None:
    thread, other = service.thread(), service.thread()
    service.wait(other, "noop", "a")
    foreign = service.state(other)["checkpoint_id"]
    before = service.counts()
    wrong = [
        ({"assistant_id": "ghost"}, 422), ({"assistant_id": ABSENT}, 404), ({}, 422), ({"assistant_id": None}, 422),
        ({"assistant_id": "noop", "stream_mode": "tools"}, 422),
        ({"assistant_id": "noop", "stream_mode": ["bogus"]}, 422),
        ({"assistant_id": "noop", "multitask_strategy": "zzz"}, 422), ({"assistant_id": "noop", "webhook": "x"}, 422),
        ({"assistant_id": "noop", "feedback_keys": ["k"]}, 422), ({"assistant_id": "noop", "durability": "never"}, 422),
        ({"assistant_id": "noop", "checkpoint_id": ABSENT}, 404),
        ({"assistant_id": "noop", "checkpoint_id": foreign}, 404),
        ({"assistant_id": "noop", "checkpoint": {"checkpoint_id": foreign, "thread_id": other}}, 404),
        ({"assistant_id": "noop", "checkpoint": {"checkpoint_id": ABSENT, "checkpoint_ns": "x:1"}}, 404),
        ({"assistant_id": "noop", "command": {"resume": 1}, "input": {}}, 422),
        ({"assistant_id": "noop", "input": {"messages": {"__overwrite__": []}}}, 422),
        ({"assistant_id": "noop", "input": {"messages": {"type": "__overwrite__", "value": []}}}, 422),
        ({"assistant_id": "noop", "command": {"update": {"messages": {"__overwrite__": []}}}}, 422),
    ]  # fmt: skip
    for body, status in wrong:
        for verb in ("", "/stream", "/wait"):
            answer = service.call("POST", f"/threads/{thread}/runs{verb}", body)
            assert (answer.status_code, body) == (status, body)
            assert isinstance(answer.get_json()["detail"], str)
    for verb in ("", "/stream", "/wait"):
        assert service.call("POST", f"/threads/nowhere/runs{verb}", {"assistant_id": "noop"}).status_code == 404
    assert service.counts() == before
    assert "ghost" in service.start(thread, "ghost", status=422)["detail"]
    assert "noop" in service.start(thread, "ghost", status=422)["detail"]


def test_null_and_unknown_fields_of_a_run_are_as_if_absent(service: Service) -> None:
    thread = service.thread()
    names = (
        "command", "config", "context", "metadata", "stream_mode", "interrupt_before", "interrupt_after", "webhook",
        "checkpoint", "checkpoint_id", "feedback_keys", "durability", "multitask_strategy",
        "if_not_exists", "after_seconds",
        "on_disconnect", "stream_subgraphs", "stream_resumable",
    )  # fmt: skip
    assert texts(service.wait(thread, "noop", "a", **dict.fromkeys(names), zzz=1)) == ["a"]


def test_unknown_runs_are_404_on_every_verb(service: Service) -> None:
    thread, other = service.thread(), service.thread()
    service.wait(other, "noop", "a")
    foreign = service.get(other, "/runs")[0]["run_id"]
    for run in (ABSENT, foreign, "x"):
        bodies = set()
        for method, verb in (
            ("GET", ""), ("DELETE", ""), ("POST", "/cancel"), ("POST", "/cancel?wait=1"),
            ("GET", "/join"), ("GET", "/stream"),
        ):  # fmt: skip
            answer = service.call(method, f"/threads/{thread}/runs/{run}{verb}")
            assert (answer.status_code, verb) == (404, verb)
            bodies.add(answer.get_data(as_text=True))
        assert len(bodies) == 1
    assert service.status(other, foreign) == "success"


def test_if_not_exists_create_makes_the_thread_with_a_settled_root(service: Service) -> None:
    assert service.wait("made-1", "chat", "a", status=404) == {"detail": "thread_id: thread made-1 does not exist"}
    assert service.wait("made-1", "chat", "a", status=404, if_not_exists="reject")
    assert texts(service.wait("made-1", "chat", "a", if_not_exists="create")) == ["a", "echo: a"]
    assert texts(service.wait("made-1", "chat", "b", if_not_exists="create")) == ["a", "echo: a", "b", "echo: b"]
    oldest = service.history("made-1")[-1]
    assert (oldest["next"], oldest["parent_checkpoint"], oldest["values"].get("messages", [])) == ([], None, [])
    assert (oldest["metadata"]["source"], oldest["metadata"]["step"]) == ("input", -1)
    first = service.history("made-1")[-2]
    assert first["parent_checkpoint_id"] == oldest["checkpoint_id"]
    answer = service.call("POST", "/threads/search!/runs", {"assistant_id": "noop", "if_not_exists": "create"})
    assert answer.status_code in (404, 422)
    for name in ("new", "search", "archived"):
        assert service.start(name, "noop", "a", status=422, if_not_exists="create")["errors"]


def test_a_goto_that_names_no_node_is_refused(service: Service) -> None:
    thread = service.thread()
    for goto in (5, {"input": 1}, ["nothing", 5], True):
        assert service.start(thread, "noop", status=422, command={"goto": goto})["errors"]
    assert service.get(thread, "/runs") == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"assistant_id": "ghost", "input": {}}, 422),
        ({"assistant_id": "noop", "input": {}, "checkpoint_id": ABSENT}, 404),
        ({"assistant_id": "noop", "command": {"resume": 1}}, 409),
        ({"assistant_id": "noop", "input": {"messages": {"__overwrite__": []}}}, 422),
    ],
)
def test_a_refused_run_makes_no_thread(service: Service, body: dict[str, Any], status: int) -> None:
    before = service.counts()
    service.ask("POST", "/threads/made-2/runs", body | {"if_not_exists": "create"}, status)
    assert service.call("GET", "/threads/made-2").status_code == 404
    assert service.counts() == before


def test_an_archived_thread_works_stays_archived_and_moves_up(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.ask("PATCH", f"/threads/{thread}", {"metadata": {"deerflow_archived": True}})
    before = service.get(thread)["updated_at"]
    run = service.start(thread, "held", gate.text)["run_id"]
    gate.await_reached()
    service.ask("PATCH", f"/threads/{thread}", {"metadata": {"deerflow_archived": False}})
    service.ask("PATCH", f"/threads/{thread}", {"metadata": {"deerflow_archived": True}})
    assert service.get(thread)["status"] == "busy" and service.status(thread, run) == "running"
    gate.open()
    service.join(thread, run)
    shown = service.get(thread)
    assert (shown["status"], shown["metadata"]["deerflow_archived"]) == ("idle", True)
    assert shown["updated_at"] > before
    assert [row["thread_id"] for row in service.ask("POST", "/threads/search", {"archived": True})] == [thread]


def test_an_ended_run_can_be_deleted_and_its_checkpoints_stay(service: Service, gate: Gate) -> None:
    thread = service.thread()
    run = service.start(thread, "held", gate.text)["run_id"]
    gate.await_reached()
    assert service.ask("DELETE", f"/threads/{thread}/runs/{run}", status=409)
    assert service.ask("DELETE", f"/threads/{thread}", status=409)
    gate.open()
    service.join(thread, run)
    kept = service.history(thread)
    assert service.call("DELETE", f"/threads/{thread}/runs/{run}").status_code == 204
    assert service.call("DELETE", f"/threads/{thread}/runs/{run}").status_code == 404
    assert service.call("GET", f"/threads/{thread}/runs/{run}/stream").status_code == 404
    assert service.history(thread) == kept and service.get(thread, "/runs") == []
    assert service.rows("SELECT count(*) FROM events") == [(0,)]


def test_the_queue_of_the_service_is_limited(serve: Callable[..., Service], gate: Gate) -> None:
    service = serve(run_concurrency=1, run_queue=1)
    threads = [service.thread() for _ in range(3)]
    first = service.start(threads[0], "held", gate.text)["run_id"]
    gate.await_reached()
    second = service.start(threads[1], "noop", "a")["run_id"]
    answer = service.call("POST", f"/threads/{threads[2]}/runs", {"assistant_id": "noop", "input": human("a")})
    assert answer.status_code == 503 and int(answer.headers["Retry-After"]) >= 1
    assert service.get(threads[2])["status"] == "idle"
    assert service.status(threads[1], second) == "pending"
    gate.open()
    assert texts(service.join(threads[1], second)) == ["a"]
    until(lambda: service.status(threads[0], first) == "success")
    assert texts(service.wait(threads[2], "noop", "a")) == ["a"]
