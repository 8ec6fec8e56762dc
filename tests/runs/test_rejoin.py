"""A stream taken up again: nothing is lost and nothing comes twice, wherever it was cut."""

import sqlite3
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.service import Frame, Service, frames, human, until

MODES = ["values", "updates", "messages-tuple", "custom", "checkpoints", "tasks", "debug"]


def lived(service: Service) -> tuple[str, str, list[Frame]]:
    """Run something that streams at least 30 events, and give (thread, run, what was streamed)."""
    thread = service.thread()
    got = service.stream(thread, "chat", "one two three four five six seven eight", stream_mode=MODES)
    assert len(got) >= 30
    return thread, got[0].data["run_id"], got


def test_a_stream_can_be_taken_up_at_every_cut(service: Service) -> None:
    thread, run, whole = lived(service)
    for cut in range(len(whole)):
        assert service.rejoin(thread, run, str(cut)) == whole[cut:]


def test_a_stream_can_be_taken_up_at_every_cut_after_a_restart(serve: Callable[..., Service]) -> None:
    service = serve()
    thread, run, whole = lived(service)
    service.gateway.stop(1)
    service.gateway.close()
    again = serve()
    for cut in range(len(whole)):
        assert again.rejoin(thread, run, str(cut)) == whole[cut:]


def test_a_live_stream_can_be_taken_up_at_every_cut(service: Service, gate: Gate) -> None:
    thread = service.thread()
    run = service.start(thread, "held", gate.text, stream_mode=["values", "custom", "messages-tuple", "debug"])[
        "run_id"
    ]
    gate.await_reached()
    until(lambda: service.rows("SELECT count(*) FROM events WHERE event = 'custom'") == [(1,)])
    so_far = service.rows("SELECT count(*) FROM events")[0][0]
    got: dict[int, list[Frame]] = {}

    def follow(cut: int) -> None:
        got[cut] = service.rejoin(thread, run, str(cut))

    followers = [threading.Thread(target=follow, args=(cut,)) for cut in range(so_far + 1)]
    for follower in followers:
        follower.start()
    gate.open()
    for follower in followers:
        follower.join(20)
    whole = service.rejoin(thread, run)
    assert got == {cut: whole[cut:] for cut in range(so_far + 1)}


@pytest.mark.parametrize("last", [None, "-1", "0", "x", "", "1.5", "-7", "１"])
def test_absent_minus_one_zero_and_what_is_no_number_mean_from_the_first(service: Service, last: str | None) -> None:
    thread = service.thread()
    whole = service.stream(thread, "noop", "a")
    if last == "１":
        last = last.encode().decode("latin-1")
    assert service.rejoin(thread, whole[0].data["run_id"], last) == whole


@pytest.mark.parametrize("last", ["999", "4000000000000000000", "99999999999999999999999"])
def test_an_id_beyond_the_end_of_a_finished_run_answers_end_at_once(service: Service, last: str) -> None:
    thread = service.thread()
    whole = service.stream(thread, "noop", "a")
    assert [frame.event for frame in service.rejoin(thread, whole[0].data["run_id"], last)] == ["end"]


def test_an_id_beyond_the_end_of_a_live_run_follows_from_now(service: Service, gate: Gate) -> None:
    thread = service.thread()
    run = service.start(thread, "held", gate.text, stream_mode=["values", "custom"])["run_id"]
    gate.await_reached()
    until(lambda: service.rows("SELECT count(*) FROM events WHERE event = 'custom'") == [(1,)])
    so_far = service.rows("SELECT count(*) FROM events")[0][0]
    answer = service.call(
        "GET", f"/threads/{thread}/runs/{run}/stream", headers={"Last-Event-ID": "999"}, buffered=False
    )
    gate.open()
    got = list(frames(answer.iter_encoded()))
    assert got == service.rejoin(thread, run)[so_far:]


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("?stream_mode=values", {"values"}),
        ("?stream_mode=values&stream_mode=custom", {"values", "custom"}),
        ('?stream_mode=["values","custom"]', {"values", "custom"}),  # so LangGraph's JavaScript client sends a list
        ("?stream_mode=messages-tuple", {"messages"}),
        ("?stream_mode=updates&checkpoint_id=nowhere", {"updates"}),
        ("?stream_mode=", set(MODES) - {"messages-tuple"} | {"messages"}),
        ("?stream_mode=events", set()),
    ],
)
def test_a_rejoin_may_select_modes(service: Service, query: str, kept: set[str]) -> None:
    thread, run, whole = lived(service)
    expected = [frame for frame in whole if frame.event in kept | {"metadata", "end"}]
    assert service.rejoin(thread, run, query=query) == expected


def test_an_unknown_mode_of_a_rejoin_is_refused(service: Service) -> None:
    thread = service.thread()
    run = service.stream(thread, "noop", "a")[0].data["run_id"]
    for given in ("bogus", '["values","bogus"]', "[5]", '["values"', "[[]]"):
        path = f"/threads/{thread}/runs/{run}/stream"
        assert service.call("GET", path, query_string={"stream_mode": given}).status_code == 422


def test_the_run_has_ended_in_the_store_before_its_stream_ends(service: Service) -> None:
    for assistant, status in (("noop", "success"), ("boom", "error")):
        thread = service.thread()
        body = {"assistant_id": assistant, "input": human("a")}
        answer = service.call("POST", f"/threads/{thread}/runs/stream", body, buffered=False)
        for frame in frames(answer.iter_encoded()):
            if frame.event in ("error", "end"):
                assert service.rows("SELECT status FROM runs WHERE thread_id = ?", thread) == [(status,)]
        assert service.get(thread)["status"] != "busy"


def test_an_event_is_stored_before_it_is_sent_and_its_checkpoint_too(service: Service) -> None:
    thread = service.thread()
    body = {"assistant_id": "twice", "input": human("a"), "stream_mode": ["checkpoints", "values"]}
    answer = service.call("POST", f"/threads/{thread}/runs/stream", body, buffered=False)
    for frame in frames(answer.iter_encoded()):
        assert service.rows("SELECT max(id) >= ? FROM events", frame.id) == [(1,)]
        if frame.event == "checkpoints":
            known = service.rows("SELECT checkpoint_id FROM checkpoints")
            assert (frame.data["config"]["configurable"]["checkpoint_id"],) in known


def test_a_client_that_leaves_does_not_end_the_run_unless_it_asked_to(service: Service, gate: Gate) -> None:
    outcomes: list[Any] = []
    for choice in (None, "continue", "cancel"):
        thread = service.thread()
        body = {"assistant_id": "held", "input": human(gate.text), "stream_mode": "custom", "on_disconnect": choice}
        answer = service.call("POST", f"/threads/{thread}/runs/stream", body, buffered=False)
        run = next(frames(answer.iter_encoded())).data["run_id"]
        until(lambda thread=thread, run=run: service.status(thread, run) == "running")
        answer.close()
        outcomes.append((thread, run))
    service.reach(*outcomes[2], "interrupted")
    assert [service.status(*one) for one in outcomes] == ["running", "running", "interrupted"]
    gate.open()
    for one in outcomes[:2]:
        service.reach(*one, "success")


def test_one_stream_too_many_is_told_to_come_later(serve: Callable[..., Service], gate: Gate) -> None:
    service = serve(streams_max=1)
    thread = service.thread()
    body = {"assistant_id": "held", "input": human(gate.text)}
    first = service.call("POST", f"/threads/{thread}/runs/stream", body, buffered=False)
    run = next(frames(first.iter_encoded())).data["run_id"]
    before = service.rows("SELECT count(*) FROM runs")
    for method, path, given in (
        ("GET", f"/threads/{thread}/runs/{run}/stream", None), ("POST", f"/threads/{thread}/runs/stream", body),
        ("GET", f"/threads/{thread}/runs/{run}/join", None), ("POST", f"/threads/{thread}/runs/wait", body),
        ("POST", f"/threads/{thread}/runs/{run}/cancel?wait=1", None),
    ):  # fmt: skip
        refused = service.call(method, path, given)
        assert refused.status_code == 503 and int(refused.headers["Retry-After"]) >= 1
    assert service.rows("SELECT count(*) FROM runs") == before
    first.close()
    gate.open()
    service.join(thread, run)
    assert service.rejoin(thread, run)[-1].event == "end"
    assert service.call("POST", "/threads/nowhere/runs/stream", body).status_code == 404
    assert service.rejoin(thread, run)[-1].event == "end"


def test_an_event_that_tells_of_a_write_is_stored_after_it(service: Service) -> None:
    rooms, row = service.gateway.rooms, 1_000_000
    live = rooms.log.open(row)

    def known(connection: sqlite3.Connection) -> int:
        return int(connection.execute("SELECT count(*) FROM events WHERE run = ?", (row,)).fetchone()[0])

    with rooms.db.lock:
        rooms.log.append(live, "first", b"1")
        until(rooms.journal._queue.empty)  # it was taken up, and waits for the file
        written = rooms.journal.write(known)
        rooms.log.append(live, "second", b"2", behind=True)
        rooms.log.append(live, "third", b"3")
    assert written.result(20) == 1
    until(lambda: [event.event for event in live.events] == ["first", "second", "third"])
    rooms.log.drop(live)
