"""Where LangGraph's own server errs, ours is right: one test for each of its faults that a client can see."""

from collections.abc import Callable

import pytest

from tests.runs.gates import Gate
from tests.service import Service, human

ABSENT = "01a22cf9-0000-6000-8000-000000000000"


def test_a_filter_by_values_passes_over_threads_without_values(service: Service) -> None:
    service.thread()
    named = service.thread()
    service.wait(named, "chat", "findme")
    body = {"values": {"title": "findme"}}
    assert [row["thread_id"] for row in service.ask("POST", "/threads/search", body)] == [named]
    assert service.ask("POST", "/threads/count", body) == 1


@pytest.mark.parametrize(
    "form",
    [
        lambda one: one, lambda one: {"checkpoint_id": one}, lambda one: {"configurable": {"checkpoint_id": one}},
        lambda one: {"checkpoint_id": one, "thread_id": "x", "checkpoint_ns": ""},
    ],
)  # fmt: skip
def test_a_history_before_a_checkpoint_takes_every_form(service: Service, form: Callable[[str], object]) -> None:
    thread = service.thread()
    service.wait(thread, "noop", "a")
    states = service.history(thread)
    assert service.history(thread, before=form(states[1]["checkpoint_id"])) == states[2:]


def test_an_unknown_checkpoint_is_refused_and_the_thread_stays_whole(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "noop", "a")
    before = service.get(thread), service.history(thread)
    service.wait(thread, "noop", "b", status=404, checkpoint_id=ABSENT)
    service.ask("GET", f"/threads/{thread}/state/{ABSENT}", status=404)
    assert (service.get(thread), service.history(thread)) == before


def test_modes_that_are_repeated_on_a_rejoin_all_count(service: Service) -> None:
    thread = service.thread()
    run = service.start(thread, "chat", "a", stream_mode=["values", "updates", "custom"])["run_id"]
    service.join(thread, run)
    events = [one.event for one in service.rejoin(thread, run, "0", "?stream_mode=updates&stream_mode=custom")]
    assert sorted(set(events)) == ["custom", "end", "metadata", "updates"]


def test_a_run_that_was_deleted_too_early_leaves_no_busy_thread(service: Service, gate: Gate) -> None:
    thread = service.thread()
    run = service.start(thread, "held", gate.text)["run_id"]
    gate.await_reached()
    service.ask("DELETE", f"/threads/{thread}/runs/{run}", status=409)
    service.cancel(thread, run)
    assert service.get(thread)["status"] != "busy"
    service.ask("DELETE", f"/threads/{thread}/runs/{run}", status=204)


def test_what_is_missing_is_404_on_join_and_copy(service: Service) -> None:
    thread = service.thread()
    service.ask("GET", f"/threads/{thread}/runs/{ABSENT}/join", status=404)
    service.ask("GET", f"/threads/{thread}/runs/{ABSENT}/stream", status=404)
    service.ask("POST", f"/threads/{ABSENT}/copy", status=404)


def test_an_update_of_a_busy_thread_is_refused_in_one_sentence(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.start(thread, "held", gate.text)
    gate.await_reached()
    detail = service.update(thread, human("b"), 409)["detail"]
    assert "{" not in detail and "Run(" not in detail and "<" not in detail


def test_an_update_of_an_unknown_channel_is_refused_and_not_ignored(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "noop", "a")
    before = service.history(thread)
    service.update(thread, {"ghost": 1}, 422, as_node="nothing")
    assert service.history(thread) == before
