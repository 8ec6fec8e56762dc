"""What a run still writes after it has ended, or after its thread is gone, is refused."""

from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.service import Service, texts


def held(service: Service, gate: Gate, assistant: str = "held") -> tuple[str, str]:
    """Start a run that stands at the gate, and give (thread, run)."""
    thread = service.thread()
    run = service.start(thread, assistant, gate.text)["run_id"]
    gate.await_reached()
    return thread, run


def test_a_cancel_does_not_wait_for_a_node_that_sleeps_in_a_thread(service: Service, gate: Gate) -> None:
    thread, run = held(service, gate, "sleeper")
    assert service.cancel(thread, run) == {}
    assert service.status(thread, run) == "interrupted"
    assert texts(service.wait(thread, "noop", "b")) == [gate.text, "b"]
    kept, rows = service.history(thread), service.counts()
    gate.open()
    assert gate.passed.wait(20)
    assert texts(service.wait(thread, "noop", "c")) == [gate.text, "b", "c"]
    assert service.history(thread)[-len(kept) :] == kept
    assert (
        service.counts()["writes"] - rows["writes"]
        == service.rows("SELECT count(*) FROM writes WHERE checkpoint_id > ?", kept[0]["checkpoint_id"])[0][0]
        + service.rows("SELECT count(*) FROM writes WHERE checkpoint_id = ?", kept[0]["checkpoint_id"])[0][0]
    )


@pytest.mark.parametrize("deleted", [False, True])
def test_what_a_cancelled_node_still_writes_in_a_subgraph_is_refused(
    service: Service, gate: Gate, deleted: bool
) -> None:
    thread, run = held(service, gate, "digging")
    service.cancel(thread, run)
    if deleted:
        assert service.ask("DELETE", f"/threads/{thread}", status=204) is None
    tables = ("checkpoints", "writes", "threads")
    before = [service.rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in tables]
    gate.open()
    assert gate.passed.wait(20)
    assert [service.rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in tables] == before
    assert service.rows("SELECT count(*) FROM checkpoints WHERE checkpoint_ns <> ''") == [(0,)]


def test_a_deleted_thread_cannot_be_revived_by_a_late_checkpoint(service: Service, gate: Gate) -> None:
    thread, run = held(service, gate, "sleeper")
    assert service.ask("DELETE", f"/threads/{thread}", status=409)["detail"].startswith("thread_id")
    service.cancel(thread, run)
    assert service.ask("DELETE", f"/threads/{thread}", status=204) is None
    gate.open()
    assert gate.passed.wait(20)
    service.wait(service.thread(), "noop", "a")
    for table in ("threads", "checkpoints", "writes", "runs"):
        assert service.rows(f"SELECT count(*) FROM {table} WHERE thread_id = ?", thread) == [(0,)]
    assert service.call("GET", f"/threads/{thread}").status_code == 404


def test_a_thread_made_again_with_the_same_id_is_out_of_the_old_runs_reach(service: Service, gate: Gate) -> None:
    thread, run = held(service, gate, "digging")
    service.cancel(thread, run)
    service.ask("DELETE", f"/threads/{thread}", status=204)
    made: Any = service.ask("POST", "/threads", {"thread_id": thread})
    gate.open()
    assert gate.passed.wait(20)
    assert service.get(thread) == made
    assert (service.history(thread), service.get(thread, "/runs")) == ([], [])
    assert service.call("GET", f"/threads/{thread}/runs/{run}").status_code == 404
    assert service.rows("SELECT count(*) FROM checkpoints WHERE thread_id = ?", thread) == [(1,)]
    assert texts(service.wait(thread, "noop", "b")) == ["b"]


def test_a_write_that_is_refused_fails_the_run(service: Service) -> None:
    thread = service.thread()
    with service.gateway.db.writing() as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON checkpoints"
            " WHEN json_extract(CAST(NEW.metadata AS TEXT), '$.step') = 2 BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
    answered = service.wait(thread, "noop", "a")
    assert list(answered) == ["__error__"]
    assert service.get(thread, "/runs")[0]["status"] == "error"
    head = service.get(thread)["head_checkpoint_id"]
    assert service.rows("SELECT count(*) FROM checkpoints WHERE checkpoint_id = ?", head) == [(1,)]
    assert service.call("GET", f"/threads/{thread}/state").status_code == 200
