"""Beginning: with the caller's own config, on what stands there by then, and whatever other runs did to the process."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runs.gates import Gate
from tests.runs.test_restart import killed
from tests.service import Service, texts, until

KEY = {"configurable": {"api_key": "k"}}


@pytest.mark.parametrize("assistant", ["leaving", "leaving_the_loop"])
def test_a_node_that_exits_ends_its_run_and_no_other(service: Service, gate: Gate, assistant: str) -> None:
    other, thread = service.thread(), service.thread()
    run = service.start(other, "held", gate.text)["run_id"]
    gate.await_reached()
    failed = {"error": "SystemExit", "message": "3"}
    assert service.wait(thread, assistant, "a") == {"__error__": failed}
    assert (service.get(thread)["status"], service.get(thread)["error"]) == ("error", failed)
    gate.open()
    assert texts(service.join(other, run)) == [gate.text, f"echo: {gate.text}"]
    assert texts(service.wait(thread, "noop", "b")) == ["a", "b"]


def test_a_factory_is_given_the_callers_config_on_every_turn(service: Service) -> None:
    thread, expected = service.thread(), []
    for text in ("a", "b"):
        expected += [text, "made with k"]
        assert texts(service.wait(thread, "keyed", text, config=KEY)) == expected
    assert "KeyError" in service.wait(thread, "keyed", "c", status=409)["detail"]


def test_a_run_that_waited_is_refused_what_it_would_read_short_by_then(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.start(thread, "held", gate.text)
    gate.await_reached()
    delta, full = (service.start(thread, name, "b")["run_id"] for name in ("delta", "noop"))
    gate.open()
    failed = service.join(thread, full)["__error__"]
    assert failed["error"] == "ModeMismatch" and "CHECKPOINT_MODE=delta" in failed["message"]
    expected = [gate.text, f"echo: {gate.text}", "b", "echo: b"]
    assert texts(service.join(thread, delta)) == expected


def test_a_run_that_waited_is_refused_a_channel_that_it_would_lose_by_then(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.start(thread, "held", gate.text)
    gate.await_reached()
    service.start(thread, "numbered", "b")
    lossy = service.start(thread, "noop", "c")["run_id"]
    gate.open()
    failed = service.join(thread, lossy)["__error__"]
    assert failed["error"] == "ChannelLost" and "title" in failed["message"]
    assert texts(service.get(thread)["values"])[-1] == "echo: b"


def test_after_a_restart_in_the_other_mode_nothing_of_a_delta_thread_is_gone_on_with(
    serve: Callable[..., Service], gate: Gate, tmp_path: Path
) -> None:
    delta = serve(checkpoint_mode="delta", run_concurrency=1)
    thread = delta.thread()
    delta.wait(thread, "agent", "a")
    ended = delta.get(thread, "/runs")[0]["run_id"]
    delta.start(delta.thread(), "held", gate.text)
    gate.await_reached()
    waiting = delta.start(thread, "agent", "b")["run_id"]
    full = serve(instance=killed(delta, tmp_path / "killed"), checkpoint_mode="full")
    until(lambda: full.status(thread, waiting) not in ("pending", "running"))
    assert full.join(thread, waiting)["__error__"]["error"] == "ModeMismatch"
    assert "CHECKPOINT_MODE=delta" in full.ask("GET", f"/threads/{thread}/runs/{ended}/join", status=409)["detail"]
