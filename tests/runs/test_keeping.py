"""Logs of ended runs: their values are kept once, in the checkpoint; after EVENT_KEEP little is left, and told."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.service import Frame, Service, texts, until

MODES = ["values", "updates", "messages-tuple", "custom", "checkpoints", "tasks", "debug"]
REFERRED = "SELECT event, count(*) FROM events WHERE ref IS NOT NULL GROUP BY event ORDER BY event"


def lived(service: Service, assistant: str = "writer", modes: list[str] = MODES) -> tuple[str, str, list[Frame]]:
    """Two turns; the second streams at least 60 events: (thread, run, what was streamed)."""
    thread = service.thread()
    service.wait(thread, assistant, "1")
    got = service.stream(thread, assistant, "60", stream_mode=modes)
    return thread, got[0].data["run_id"], got


def sweep(service: Service) -> None:
    service.gateway.keeping.sweep()


def stored(service: Service) -> int:
    return int(service.rows("SELECT sum(length(data)) FROM events")[0][0])


@pytest.mark.parametrize("assistant", ["writer", "writer_delta"])
def test_a_log_reads_the_same_at_every_cut_once_its_values_are_references(
    serve: Callable[..., Service], assistant: str
) -> None:
    service = serve()
    thread, run, whole = lived(service, assistant)
    assert len(whole) >= 60
    sweep(service)
    assert [event for event, _ in service.rows(REFERRED)] == ["checkpoints", "debug", "tasks", "values"]
    for cut in range(len(whole)):
        assert service.rejoin(thread, run, str(cut)) == whole[cut:]
    service.gateway.stop(1)
    service.gateway.close()
    again = serve()
    for cut in range(len(whole)):
        assert again.rejoin(thread, run, str(cut)) == whole[cut:]


def test_the_values_of_a_long_conversation_are_stored_once(service: Service) -> None:
    thread = service.thread()
    for number in range(20):
        service.wait(thread, "chat", f"{number} {'x' * 1000}", stream_mode=["values", "checkpoints", "debug"])
    before = stored(service)
    runs = [run["run_id"] for run in service.ask("GET", f"/threads/{thread}/runs?limit=99")]
    logs = [service.rejoin(thread, run) for run in runs]
    until(lambda: sweep(service) or not service.rows("SELECT 1 FROM runs WHERE log = 'whole'"))
    assert stored(service) < before / 5
    assert logs == [
        service.rejoin(thread, run["run_id"]) for run in service.ask("GET", f"/threads/{thread}/runs?limit=99")
    ]


@pytest.mark.parametrize("modes", [MODES, ["values"], ["updates"]])
def test_of_an_old_log_the_first_the_values_and_the_end_are_left(
    serve: Callable[..., Service], modes: list[str]
) -> None:
    service = serve(event_keep=0)
    thread, run, whole = lived(service, modes=modes)
    sweep(service)
    sweep(service)
    left = service.rejoin(thread, run)
    assert [frame.event for frame in left] == ["metadata", "values", "end"]
    assert (left[0], left[2]) == (whole[0], whole[-1])
    assert left[1].data == service.join(thread, run)
    assert service.rejoin(thread, run, "1") == left[1:]
    for cut in {2, len(whole) // 2} & set(range(2, left[1].id)):
        gap, *rest = service.rejoin(thread, run, str(cut))
        assert (gap.event, gap.id, rest) == ("gap", cut, [frame for frame in left[1:] if frame.id > cut])
        assert gap.data == {
            "code": "stream_replay_gap", "run_id": run, "requested_event_id": str(cut),
            "earliest_available_event_id": "1", "latest_available_event_id": str(whole[-1].id),
            "recovery": "reload_durable_state",
        }  # fmt: skip
    for last in (whole[-1].id, 999):
        assert service.rejoin(thread, run, str(last)) == left[2:]
    assert service.rejoin(thread, run, query="?stream_mode=updates") == [left[0], left[2]]


def test_a_log_is_kept_until_its_time_has_come(service: Service) -> None:
    thread, run, whole = lived(service)
    for _ in range(2):
        sweep(service)
    assert service.rejoin(thread, run) == whole


def test_the_text_of_a_run_that_was_stopped_is_not_trimmed(serve: Callable[..., Service], gate: Gate) -> None:
    service = serve(event_keep=0)
    thread = service.thread()
    run = service.start(thread, "telling", gate.text, stream_mode=["messages-tuple", "values"])["run_id"]
    gate.await_reached()
    service.cancel(thread, run)
    before = [frame for frame in service.rejoin(thread, run) if frame.event == "messages"]
    for _ in range(2):
        sweep(service)
    left = service.rejoin(thread, run)
    assert [frame for frame in left if frame.event == "messages"] == before and before
    assert [frame.event for frame in left if frame.event != "messages"] == ["metadata", "values", "end"]


def test_why_a_run_failed_is_not_trimmed(serve: Callable[..., Service]) -> None:
    service = serve(event_keep=0)
    thread = service.thread()
    whole = service.stream(thread, "boom", "a", stream_mode=["values", "debug"])
    for _ in range(2):
        sweep(service)
    left = service.rejoin(thread, whole[0].data["run_id"])
    assert [frame.event for frame in left] == ["metadata", "values", "error", "end"]
    assert left[2:] == whole[-2:]


def test_a_run_in_flight_is_left_alone(serve: Callable[..., Service], gate: Gate) -> None:
    service = serve(event_keep=0)
    thread = service.thread()
    run = service.start(thread, "held", gate.text, stream_mode=["values", "debug"])["run_id"]
    gate.await_reached()
    for _ in range(2):
        sweep(service)
    gate.open()
    service.join(thread, run)
    assert [frame.id for frame in service.rejoin(thread, run)] == list(range(1, len(service.rejoin(thread, run)) + 1))


def test_values_that_can_be_read_no_more_are_a_gap(serve: Callable[..., Service]) -> None:
    service = serve()
    thread, run, whole = lived(service, modes=["values", "custom"])
    sweep(service)
    with service.gateway.db.writing() as connection:
        connection.execute("DELETE FROM checkpoints WHERE thread_id = ?", (thread,))
    left = service.rejoin(thread, run)
    assert [frame.id for frame in left] == [frame.id for frame in whole]
    changed = [(new.event, old.event) for new, old in zip(left, whole, strict=True) if new != old]
    assert changed and set(changed) == {("gap", "values")}


def test_events_are_written_out_whole_before_their_checkpoint_goes(service: Service) -> None:
    thread, run, whole = lived(service)
    sweep(service)
    refs = {ref for (ref,) in service.rows("SELECT ref FROM events WHERE ref IS NOT NULL")}
    service.gateway.keeping.write_out(service.gateway.threads.get("default", thread), refs)
    assert service.rows(REFERRED) == []
    assert service.rejoin(thread, run) == whole


def test_a_log_whose_graph_is_not_loaded_any_more_stays_whole(serve: Callable[..., Service], tmp_path: Any) -> None:
    service = serve()
    thread, run, whole = lived(service)
    service.gateway.stop(1)
    service.gateway.close()
    again = serve(graphs="")
    sweep(again)
    assert again.rows(REFERRED) == []
    assert again.rejoin(thread, run) == whole


def test_the_head_of_a_regenerated_answer_is_told_from_its_own_line(service: Service) -> None:
    thread = service.thread()
    said = service.wait(thread, "chat", "a")["messages"]
    run = service.ask("POST", f"/threads/{thread}/runs/regenerate", {"message_id": said[1]["id"]})["run_id"]
    service.join(thread, run)
    whole = service.rejoin(thread, run)
    sweep(service)
    assert service.rejoin(thread, run) == whole
    assert texts(whole[-2].data)[0] == "a"


@pytest.mark.parametrize("assistant", ["chat", "delta", "nested"])
@pytest.mark.parametrize("cut", ["prune", "latest"])
def test_logs_read_the_same_once_checkpoints_were_taken_out(service: Service, assistant: str, cut: str) -> None:
    thread = service.thread()
    logs = [service.stream(thread, assistant, text, stream_mode=MODES) for text in ("a", "b", "c")]
    sweep(service)
    assert service.rows(REFERRED)
    gateway = service.gateway
    gateway.pruning.prune("default", thread) if cut == "prune" else gateway.latest.keep("default", thread)
    assert [service.rejoin(thread, log[0].data["run_id"]) for log in logs] == logs


def test_lists_are_kept_by_their_length_where_they_grew(service: Service) -> None:
    thread = service.thread()
    whole = service.stream(thread, "chat", "a " * 500, stream_mode=["values", "checkpoints"])
    sweep(service)
    refs = service.rows("SELECT DISTINCT ref FROM events WHERE ref IS NOT NULL")
    assert refs == [(service.get(thread)["head_checkpoint_id"],)]
    assert service.rejoin(thread, whole[0].data["run_id"]) == whole


def test_what_a_turn_took_back_is_still_told_by_the_log(service: Service) -> None:
    thread = service.thread()
    said = service.wait(thread, "chat", "a")["messages"]
    gone = {"messages": [{"type": "remove", "id": said[0]["id"], "content": ""}]}
    whole = service.stream(thread, "chat", gone, stream_mode=MODES)
    sweep(service)
    assert service.rejoin(thread, whole[0].data["run_id"]) == whole
