"""Credentials in `configurable` reach the graph and are in no file and in no log, whatever way the run goes."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.runs.proving import digest
from tests.service import Service, human, until

SECRET = "s3cr3t-Zq81-of-alice"
NAMES = ("api_key", "openai-api-key", "x_auth_token", "SECRET", "db_password", "Authorization")
MODES = ["values", "messages-tuple", "debug", "checkpoints", "tasks", "events", "custom", "updates", "messages"]
CONFIG = {"configurable": {name: SECRET for name in NAMES} | {"max_tokens": 5, "keynote": "kept"}, "recursion_limit": 9}
MORE: dict[str, Any] = {"config": CONFIG, "context": {"user_token": SECRET, "team": "kept"}}
Way = Callable[[Service, str, Gate], Any]


@pytest.fixture
def proving(serve: Callable[..., Service], caplog: pytest.LogCaptureFixture) -> Iterator[Service]:
    """A service whose files, answers and logs are searched when the test has ended its runs."""
    caplog.set_level(logging.DEBUG)
    yield serve(graphs="proving=tests.runs.proving:proving", log_level="debug")


def searched(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    """Look for the secret in every file, and for what must be kept beside it where a run is kept."""
    service.gateway.stop(5)
    kept = service.rows("SELECT kwargs FROM runs")
    assert all("max_tokens" in kwargs and "keynote" in kwargs for (kwargs,) in kept)
    stored = b"".join(path.read_bytes() for path in service.gateway.config.instance.rglob("*") if path.is_file())
    assert SECRET.encode() not in stored
    assert SECRET not in caplog.text
    assert [record for record in caplog.records if SECRET in repr(record.__dict__)] == []


def waited(service: Service, thread: str, gate: Gate) -> Any:
    return service.wait(thread, "proving", "a", **MORE)


def posted(service: Service, thread: str, gate: Gate) -> Any:
    run = service.start(thread, "proving", "a", **MORE)
    assert SECRET not in str(run) and run["kwargs"]["config"]["configurable"] == {"max_tokens": 5, "keynote": "kept"}
    return service.join(thread, run["run_id"])


def streamed(service: Service, thread: str, gate: Gate) -> Any:
    frames = service.stream(thread, "proving", "a", stream_mode=MODES, stream_subgraphs=True, **MORE)
    assert SECRET not in str(frames)
    again = service.rejoin(thread, service.get(thread, "/runs")[0]["run_id"])
    assert again == frames
    return service.state(thread)["values"]


def queued(service: Service, thread: str, gate: Gate) -> Any:
    service.start(thread, "proving", gate.text, **MORE)
    gate.await_reached()
    run = service.start(thread, "proving", "b", **MORE)
    assert SECRET not in str(service.get(thread, "/runs"))
    gate.open()
    return service.join(thread, run["run_id"])


def resumed(service: Service, thread: str, gate: Gate) -> Any:
    service.wait(thread, "proving", "ask", **MORE)
    assert service.get(thread)["status"] == "interrupted"
    return service.wait(thread, "proving", None, command={"resume": "yes"}, **MORE)


def delayed(service: Service, thread: str, gate: Gate) -> Any:
    run = service.start(thread, "proving", "a", after_seconds=1, **MORE)
    return service.join(thread, run["run_id"])


def made_way(service: Service, thread: str, gate: Gate) -> Any:
    service.start(thread, "proving", gate.text, **MORE)
    gate.await_reached()
    run = service.start(thread, "proving", "b", multitask_strategy="interrupt", **MORE)
    return service.join(thread, run["run_id"])


def regenerated(service: Service, thread: str, gate: Gate) -> Any:
    said = service.wait(thread, "proving", "a", **MORE)["messages"]
    run = service.ask("POST", f"/threads/{thread}/runs/regenerate", {"message_id": said[-1]["id"], **MORE})
    return service.join(thread, run["run_id"])


def edited(service: Service, thread: str, gate: Gate) -> Any:
    said = service.wait(thread, "proving", "a", **MORE)["messages"]
    body = {"human_message_id": said[0]["id"], "replacement_text": "b", **MORE}
    return service.join(thread, service.ask("POST", f"/threads/{thread}/runs/edit", body)["run_id"])


def on_a_thread_made_by_the_run(service: Service, thread: str, gate: Gate) -> Any:
    return service.wait("new-one", "proving", "a", if_not_exists="create", **MORE)


BODY = {"assistant_id": "proving", "input": human("a"), **MORE}


def without_a_thread(service: Service, thread: str, gate: Gate) -> Any:
    return service.ask("POST", "/runs/wait", BODY)


def in_a_batch(service: Service, thread: str, gate: Gate) -> Any:
    made = service.ask("POST", "/runs/batch", [BODY | {"on_completion": "keep"}, BODY])
    assert SECRET not in str(made)
    return service.join(made[0]["thread_id"], made[0]["run_id"])


def kept_without_a_thread(service: Service, thread: str, gate: Gate) -> Any:
    return service.ask("POST", "/runs/wait", BODY | {"on_completion": "keep"})


def asked_for_twice(service: Service, thread: str, gate: Gate) -> Any:
    sent = {"headers": {"Idempotency-Key": "k"}}
    once, again = (service.ask("POST", f"/threads/{thread}/runs/wait", BODY, **sent) for _ in range(2))
    assert once == again
    return once


WAYS = (
    waited, posted, streamed, queued, resumed, delayed, made_way, regenerated, edited, on_a_thread_made_by_the_run,
    without_a_thread, in_a_batch, kept_without_a_thread, asked_for_twice,
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_credential_reaches_the_graph_and_stays_nowhere(
    proving: Service, gate: Gate, caplog: pytest.LogCaptureFixture, way: Way
) -> None:
    values = way(proving, proving.thread(), gate)
    assert values["messages"][-1]["content"] == digest(SECRET)
    searched(proving, caplog)


def test_a_run_that_fails_or_is_cancelled_leaves_no_credential(
    proving: Service, gate: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    thread = proving.thread()
    assert proving.wait(thread, "proving", "fail", **MORE)["__error__"]["message"] == "it was to fail"
    run = proving.start(thread, "proving", gate.text, **MORE)["run_id"]
    gate.await_reached()
    waiting = proving.start(thread, "proving", "b", **MORE)["run_id"]
    proving.cancel(thread, waiting)
    proving.cancel(thread, run)
    until(lambda: proving.status(thread, run) == "interrupted")
    searched(proving, caplog)


def test_a_refused_run_leaves_no_credential(proving: Service, caplog: pytest.LogCaptureFixture) -> None:
    thread = proving.thread()
    proving.wait(thread, "proving", "a", **MORE)
    refusals = ((422, {"webhook": "http://x"}), (404, {"checkpoint_id": "none"}), (422, {"stream_mode": "odd"}))
    for status, more in refusals:
        proving.start(thread, "proving", "a", status=status, **MORE, **more)
    proving.ask("POST", "/threads/none/runs", {"assistant_id": "proving", "input": human("a"), **MORE}, 404)
    searched(proving, caplog)
