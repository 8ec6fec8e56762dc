"""Logs that refer to checkpoints, byte by byte, while another process takes those checkpoints out."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from deerflow_lite.errors import HeadStale
from deerflow_lite.gateway import Gateway
from tests.runs.test_keeping import MODES, REFERRED, stored, sweep
from tests.service import Service


def raw(service: Service, thread: str, run: str) -> bytes:
    with service.call("GET", f"/threads/{thread}/runs/{run}/stream") as answer:
        return answer.get_data()


@pytest.fixture
def other(service: Service) -> Iterator[Gateway]:
    """The command line beside the service."""
    with closing(Gateway.open(service.gateway.config, executing=False)) as gateway:
        yield gateway


@pytest.mark.parametrize("assistant", ["writer", "nested", "boom"])
def test_every_byte_of_a_log_is_the_same_once_its_values_are_references(service: Service, assistant: str) -> None:
    thread = service.thread()
    service.wait(thread, "writer", "before")
    run = service.stream(thread, assistant, "3", stream_mode=MODES)[0].data["run_id"]
    before = raw(service, thread, run)
    sweep(service)
    assert service.rows(REFERRED)
    assert raw(service, thread, run) == before


def test_a_log_refers_to_what_stays_of_a_thread_that_is_cut_down(service: Service) -> None:
    thread = service.thread()
    for number in range(12):
        service.wait(thread, "chat", f"{number} {'x' * 1000}", stream_mode=MODES)
    runs = [run["run_id"] for run in service.ask("GET", f"/threads/{thread}/runs?limit=99")]
    logs, before = [raw(service, thread, run) for run in runs], stored(service)
    service.gateway.latest.keep("default", thread)
    head = service.get(thread)["head_checkpoint_id"]
    assert service.rows("SELECT DISTINCT ref FROM events WHERE ref IS NOT NULL") == [(head,)]
    assert stored(service) < before / 5
    assert [raw(service, thread, run) for run in runs] == logs


def test_a_log_whose_checkpoint_another_process_takes_out_before_it_is_stored_has_no_gap(
    service: Service, other: Gateway
) -> None:
    thread = service.thread()
    logs = [service.stream(thread, "chat", text, stream_mode=MODES) for text in ("a", "b", "c")]
    dropped: list[int] = []

    def cut(statement: str) -> None:
        if statement == "BEGIN IMMEDIATE" and not dropped:
            dropped.append(0)
            dropped[0] = other.latest.keep(None, thread)

    service.gateway.db.writer.set_trace_callback(cut)
    sweep(service)
    service.gateway.db.writer.set_trace_callback(None)
    assert dropped[0] > 0
    assert [service.rejoin(thread, log[0].data["run_id"]) for log in logs] == logs


def test_a_log_whose_checkpoint_another_process_takes_out_while_it_is_read_has_no_gap(
    service: Service, other: Gateway
) -> None:
    thread = service.thread()
    whole = service.stream(thread, "chat", "a", stream_mode=MODES)
    service.wait(thread, "chat", "b")
    sweep(service)
    gateway = service.gateway
    run = gateway.runs.get("default", thread, whole[0].data["run_id"])
    expected = [*gateway.keeping.events(run, 0)]
    reading = gateway.keeping.events(run, 0)
    first = next(reading)
    assert other.latest.keep(None, thread) > 0
    assert [first, *reading] == expected
    assert "gap" not in [event.event for event in expected]


def test_a_prune_trims_the_old_logs_of_its_thread_and_of_no_other(serve: Callable[..., Service]) -> None:
    service = serve(event_keep=0)
    service.gateway.ticker.stop()
    pruned, other = (service.thread() for _ in range(2))
    for thread in (pruned, other):
        for text in ("a", "b"):
            service.wait(thread, "chat", text, stream_mode=MODES)
    untouched = "SELECT thread_id FROM runs WHERE log = 'whole' GROUP BY 1"
    assert service.gateway.pruning.prune("default", pruned).removed > 0
    for run in service.get(pruned, "/runs"):
        left = service.rejoin(pruned, run["run_id"])
        assert [frame.event for frame in left] == ["metadata", "values", "end"]
        assert left[1].data == service.join(pruned, run["run_id"])
    assert service.rows(untouched) == [(other,)]


@pytest.mark.parametrize("cut", ["prune", "latest"])
def test_a_thread_that_changes_while_it_is_cut_down_is_left_as_it_is(
    service: Service, other: Gateway, cut: str
) -> None:
    thread = service.thread()
    for text in ("a", "b"):
        service.wait(thread, "chat", text)
    sweep(service)
    names: list[str] = []

    def change(statement: str) -> None:
        if statement == "BEGIN IMMEDIATE" and not names:
            names.append(other.updating.update("default", thread, {"messages": []}, "reply", None) and "updated")

    before = service.rows("SELECT count(*) FROM checkpoints")
    service.gateway.db.writer.set_trace_callback(change)
    with pytest.raises(HeadStale, match="changed meanwhile"):
        gateway = service.gateway
        gateway.pruning.prune("default", thread) if cut == "prune" else gateway.latest.keep("default", thread)
    service.gateway.db.writer.set_trace_callback(None)
    assert (names, service.rows("SELECT count(*) FROM checkpoints")) == (["updated"], [(before[0][0] + 1,)])
