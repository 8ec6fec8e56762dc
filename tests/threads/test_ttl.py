"""A thread's time to live, over both stores: what counts it anew, what holds it, and how it ends."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from deerflow_lite.threads.model import Thread
from deerflow_lite.threads.ttl import expired, expires_at
from tests.service import Service

HOUR = timedelta(hours=1)


@pytest.fixture(params=["sqlite", "memory"])
def service(request: pytest.FixtureRequest, serve: Callable[..., Service]) -> Service:
    return serve(store=request.param)


def stored(service: Service, thread_id: str) -> Thread:
    return service.gateway.threads.get(None, thread_id)


def later(time: str, more: timedelta = HOUR) -> str:
    return (datetime.fromisoformat(time) + more).isoformat(timespec="microseconds")


def test_a_time_to_live_is_shown_where_it_is_asked_for_and_kept_through_other_changes(service: Service) -> None:
    thread_id = service.thread(ttl={"ttl": 60})
    shown = service.get(thread_id, "?include=ttl")
    expiry = later(shown["updated_at"])
    assert shown["ttl"] == {"strategy": "delete", "ttl_minutes": 60, "expires_at": expiry}
    assert "ttl" not in service.get(thread_id)
    changed = service.ask("PATCH", f"/threads/{thread_id}", {"ttl": {"ttl": 0.5, "strategy": "keep_latest"}})
    expiry = later(changed["updated_at"], timedelta(seconds=30))
    assert service.get(thread_id, "?include=ttl")["ttl"] == {
        "strategy": "keep_latest", "ttl_minutes": 0.5, "expires_at": expiry,
    }  # fmt: skip
    renamed = service.ask("PATCH", f"/threads/{thread_id}", {"title": "kept"})
    assert service.get(thread_id, "?include=ttl")["ttl"]["expires_at"] == later(
        renamed["updated_at"], timedelta(seconds=30)
    )
    assert service.get(service.thread(), "?include=ttl")["ttl"] is None


def test_null_takes_a_time_to_live_away_and_moves_no_time(service: Service) -> None:
    thread_id = service.thread(ttl={"ttl": 60, "strategy": "keep_latest"})
    before = service.get(thread_id)
    for _ in range(2):
        assert service.ask("PATCH", f"/threads/{thread_id}", {"ttl": None}) == before
        assert service.get(thread_id, "?include=ttl") == before | {"ttl": None}
        assert service.gateway.threads.with_ttl(None) == []
    service.ask("PATCH", f"/threads/{thread_id}", {"ttl": {"ttl": 5}})
    assert service.get(thread_id, "?include=ttl")["ttl"]["strategy"] == "delete"
    named = service.ask("PATCH", f"/threads/{thread_id}", {"ttl": None, "title": "kept"})
    assert named["updated_at"] > before["updated_at"] and stored(service, thread_id).ttl_minutes is None


@pytest.mark.parametrize(
    ("ttl", "reason"),
    [
        (5, "must be an object"), ({}, "ttl must be a number"), ({"ttl": True}, "ttl must be a number"),
        ({"ttl": "5"}, "ttl must be a number"), ({"ttl": 0}, "more than 0"), ({"ttl": -1}, "more than 0"),
        ({"ttl": 1e9}, "at most"), ({"ttl": 1, "strategy": "burn"}, "must be one of delete, keep_latest"),
    ],
)  # fmt: skip
def test_a_bad_time_to_live_is_refused_by_name_and_writes_nothing(
    serve: Callable[..., Service], ttl: Any, reason: str
) -> None:
    service = serve()
    thread_id = service.thread(ttl={"ttl": 7})
    before = service.counts()
    for method, path in (("POST", "/threads"), ("PATCH", f"/threads/{thread_id}")):
        refused = service.ask(method, path, {"ttl": ttl}, 422)
        assert refused["detail"].startswith("ttl: ") and reason in refused["detail"]
    assert service.counts() == before
    assert stored(service, thread_id).ttl_minutes == 7


def test_restoring_and_unpinning_count_it_anew_and_it_never_ends_while_archived_pinned_or_busy(
    service: Service,
) -> None:
    thread_id = service.thread(ttl={"ttl": 60})
    first = stored(service, thread_id)
    end = later(first.updated_at)
    assert not expired(first, first.updated_at) and expired(first, end)
    for flag in ("deerflow_archived", "deerflow_pinned"):
        service.ask("PATCH", f"/threads/{thread_id}", {"metadata": {flag: True}})
        assert not expired(stored(service, thread_id), "9999")
        service.ask("PATCH", f"/threads/{thread_id}", {"metadata": {flag: False}})
        freed = stored(service, thread_id)
        assert freed.updated_at == first.updated_at
        assert freed.ttl_from is not None and expires_at(freed) == later(freed.ttl_from)
        assert expires_at(freed) > end and expired(freed, "9999")
        end = expires_at(freed) or ""
    for archived in (True, False):
        service.ask("POST", "/threads/archive", {"thread_ids": [thread_id], "archived": archived})
    assert (expires_at(stored(service, thread_id)) or "") > end


def test_a_run_in_flight_holds_it_and_the_end_of_the_run_counts_it_anew(service: Service, gate: Any) -> None:
    thread_id = service.thread(ttl={"ttl": 60})
    run = service.start(thread_id, "held", gate.text)
    gate.await_reached()
    busy = stored(service, thread_id)
    assert not expired(busy, "9999")
    gate.open()
    service.join(thread_id, run["run_id"])
    done = stored(service, thread_id)
    assert (expires_at(done) or "") > (expires_at(busy) or "")


def test_what_has_lived_its_time_is_deleted_or_cut_down_on_the_next_round(service: Service) -> None:
    short = {"ttl": 1e-9}
    gone, held, kept = service.thread(ttl=short), service.thread(ttl=short), service.thread(ttl={"ttl": 60})
    latest = service.thread()
    for text in ("one", "two"):
        values = service.wait(latest, "chat", text)
    service.ask("PATCH", f"/threads/{latest}", {"ttl": short | {"strategy": "keep_latest"}})
    service.ask("PATCH", f"/threads/{held}", {"metadata": {"deerflow_pinned": True}})
    for _ in range(2):
        service.gateway.ticker.round()
        left = {row["thread_id"] for row in service.ask("POST", "/threads/search", {})}
        assert left == {held, kept, latest}
        assert len(service.history(latest)) == 2
        assert service.state(latest)["values"]["messages"] == values["messages"]
    service.ask("GET", f"/threads/{gone}", status=404)


def test_a_copy_and_a_branch_have_no_time_to_live(service: Service) -> None:
    thread_id = service.thread(ttl={"ttl": 60})
    answer = service.wait(thread_id, "chat", "hello")["messages"][-1]["id"]
    copied = service.ask("POST", f"/threads/{thread_id}/copy")["thread_id"]
    branched = service.ask("POST", f"/threads/{thread_id}/branches", {"message_id": answer})["thread_id"]
    assert stored(service, copied).ttl_minutes is None and stored(service, branched).ttl_minutes is None
