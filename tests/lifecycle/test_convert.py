"""Conversions: a thread of one checkpoint mode rewritten for a graph of the other, whole or not at all."""

from collections.abc import Callable
from typing import Any

import pytest

from deerflow_lite.errors import HeadStale, LineageBroken, RunActive, ThreadUnknown
from deerflow_lite.lifecycle.base import replay_base as found_base
from deerflow_lite.lifecycle.base import turns_of
from deerflow_lite.lifecycle.convert import Converted
from tests.runs.gates import Gate
from tests.service import Service, human, texts

Serve = Callable[..., Service]
DELTA = "delta=tests.runs.graphs:delta,held=tests.runs.graphs:held"
FULL = "delta=tests.lifecycle.full_graph:full,held=tests.runs.graphs:held"


def again(service: Service, serve: Serve, **settings: Any) -> Service:
    """Start the service again on the same folder."""
    service.gateway.stop(0)
    service.gateway.close()
    return serve(**settings)


def conversation(service: Service, graph: str = "delta") -> str:
    """Talk for five turns, the last one a second try from the fourth."""
    thread = service.thread()
    for text in ("h1", "h2", "h3", "h4", "h5"):
        service.wait(thread, graph, text)
    base = next(one for one in service.history(thread) if len(texts(one["values"])) == 8 and not one["next"])
    service.wait(thread, graph, human("h5b"), checkpoint_id=base["checkpoint_id"])
    return thread


def bases(service: Service, thread_id: str) -> list[tuple[str, str]]:
    """Give (turn, base) of every turn at the head."""
    rooms = service.gateway.rooms
    thread = rooms.threads.get(None, thread_id)
    assert thread.head is not None
    turns = turns_of(rooms, thread, thread.head)
    found = [found_base(rooms, thread, turn.user_ids[0], head=thread.head) for turn in turns]
    return [(one.turn.turn_id, one.checkpoint_id) for one in found]


def stored(service: Service) -> list[Any]:
    tables = {"checkpoints": "1, 2, 3", "writes": "1, 2, 3, 4, 6"}
    return [service.rows(f"SELECT * FROM {table} ORDER BY {order}") for table, order in tables.items()]


def test_a_delta_thread_is_refused_by_a_full_graph_and_read_by_it_after_a_conversion(serve: Serve) -> None:
    delta = serve(graphs=DELTA)
    thread = conversation(delta)
    history, turns = delta.history(thread), bases(delta, thread)
    full = again(delta, serve, graphs=FULL)
    assert "threads convert" in full.ask("GET", f"/threads/{thread}/state", status=409)["detail"]
    before = {name: count for name, count in full.counts().items()}
    converted = full.gateway.converting.convert(None, thread, "full")
    assert converted == Converted(thread, "full", len(history), len(history) - 1)
    assert full.counts() == before
    shown = full.history(thread)
    for old, new in zip(history, shown, strict=True):
        old["metadata"].pop("counters_since_delta_snapshot", None)
        assert (new["values"], new["next"], new["parent_checkpoint_id"]) == (
            old["values"], old["next"], old["parent_checkpoint_id"],
        )  # fmt: skip
        assert new["metadata"] == old["metadata"]
    assert bases(full, thread) == turns and len(turns) == 5
    assert texts(full.state(thread)["values"])[-2:] == ["h5b", "echo: h5b"]
    assert texts(full.wait(thread, "delta", "h6"))[-4:] == ["h5b", "echo: h5b", "h6", "echo: h6"]
    assert full.gateway.converting.convert(None, thread, "full").rewritten == 0


@pytest.mark.parametrize("frequency", [1, 2, 100])
def test_the_embedded_agents_thread_is_converted_whatever_its_snapshots(serve: Serve, frequency: int) -> None:
    delta = serve(checkpoint_mode="delta", snapshot_frequency=frequency)
    thread = delta.thread()
    for text in ("My name is Ada.", "What is 2*(3+4)?", "h3"):
        delta.wait(thread, "agent", text)
    before, turns = delta.history(thread), bases(delta, thread)
    row = delta.get(thread)
    full = again(delta, serve, checkpoint_mode="full")
    full.gateway.converting.convert(None, thread, "full")
    assert [one["values"] for one in full.history(thread)] == [one["values"] for one in before]
    assert bases(full, thread) == turns
    assert full.get(thread) == row
    [body] = full.ask("POST", "/threads/search", {"ids": [thread]})
    assert body["values"] == row["values"]


def test_a_full_thread_goes_on_in_delta_as_it_is(serve: Serve) -> None:
    full = serve(checkpoint_mode="full")
    thread = full.thread()
    for text in ("h1", "h2"):
        full.wait(thread, "agent", text)
    state, turns = full.state(thread)["values"], bases(full, thread)
    delta = again(full, serve, checkpoint_mode="delta")
    rows = stored(delta)
    converted = delta.gateway.converting.convert(None, thread, "delta")
    assert (converted.rewritten, stored(delta)) == (0, rows)
    assert (delta.state(thread)["values"], bases(delta, thread)) == (state, turns)
    delta.wait(thread, "agent", "h3")
    assert bases(delta, thread)[:2] == turns and len(bases(delta, thread)) == 3
    base = bases(delta, thread)[1][1]
    replayed = texts(delta.wait(thread, "agent", human("h2b"), checkpoint_id=base))
    assert (replayed[0], replayed[-2]) == (texts(state)[0], "h2b") and len(replayed) == len(texts(state))


def test_a_thread_of_full_then_delta_checkpoints_is_made_full(serve: Serve) -> None:
    full = serve(checkpoint_mode="full")
    thread = full.thread()
    full.wait(thread, "agent", "h1")
    delta = again(full, serve, checkpoint_mode="delta", snapshot_frequency=100)
    delta.wait(thread, "agent", "h2")
    history = [one["values"] for one in delta.history(thread)]
    full = again(delta, serve, checkpoint_mode="full")
    full.gateway.converting.convert(None, thread, "full")
    assert [one["values"] for one in full.history(thread)] == history


def test_a_conversion_moves_neither_times_nor_head(serve: Serve) -> None:
    service = serve(graphs=DELTA)
    thread = conversation(service)
    row = service.gateway.threads.get(None, thread)
    service.gateway.converting.convert(None, thread, "full")
    assert service.gateway.threads.get(None, thread) == row


def test_a_branch_in_delta_is_converted_too(serve: Serve) -> None:
    service = serve(graphs=DELTA)
    thread = conversation(service)
    answer = service.state(thread)["values"]["messages"][-1]["id"]
    made = service.ask("POST", f"/threads/{thread}/branches", {"message_id": answer})["thread_id"]
    values = service.state(made)["values"]
    full = again(service, serve, graphs=FULL)
    assert full.gateway.converting.convert(None, made, "full").rewritten == 2
    assert full.state(made)["values"] == values


def test_a_thread_with_a_run_in_flight_is_refused(serve: Serve, gate: Gate) -> None:
    service = serve(graphs=DELTA)
    thread = service.thread()
    run = service.start(thread, "held", gate.text)
    gate.await_reached()
    for mode in ("full", "delta"):
        with pytest.raises(RunActive):
            service.gateway.converting.convert(None, thread, mode)  # type: ignore[arg-type]
    gate.open()
    service.join(thread, run["run_id"])


def test_a_broken_lineage_is_refused_and_nothing_is_rewritten(serve: Serve) -> None:
    service = serve(graphs=DELTA)
    thread = conversation(service)
    middle = service.history(thread)[4]["checkpoint_id"]
    with service.gateway.db.writing() as connection:
        connection.execute("DELETE FROM checkpoints WHERE checkpoint_id = ?", (middle,))
    rows = stored(service)
    with pytest.raises(LineageBroken, match="dangling"):
        service.gateway.converting.convert(None, thread, "full")
    assert stored(service) == rows


def test_a_row_that_fails_leaves_the_others_as_they_were(serve: Serve) -> None:
    service = serve(graphs=DELTA)
    thread = conversation(service)
    last = service.state(thread)["checkpoint_id"]
    with service.gateway.db.writing() as connection:
        connection.execute("UPDATE checkpoints SET checkpoint = x'c1' WHERE checkpoint_id = ?", (last,))
    rows = stored(service)
    with pytest.raises(LineageBroken, match=last):
        service.gateway.converting.convert(None, thread, "full")
    assert stored(service) == rows


def test_a_thread_that_changed_meanwhile_is_refused(serve: Serve) -> None:
    service = serve(graphs=DELTA)
    thread = conversation(service)
    converting = service.gateway.converting
    row = service.gateway.threads.get(None, thread)
    known = converting._links(row)
    service.wait(thread, "delta", "h6")
    rows = stored(service)
    with pytest.raises(HeadStale):
        converting._store(row, known, iter([]))
    assert stored(service) == rows


def test_an_unknown_thread_is_unknown(serve: Serve) -> None:
    with pytest.raises(ThreadUnknown):
        serve(graphs=DELTA).gateway.converting.convert(None, "absent", "full")
