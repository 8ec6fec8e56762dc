"""Every route, asked by nobody, by another owner and by the owner; a route without a row here fails.

What is another owner's and what does not exist give the same bytes, apart from the ids that the caller sent.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from werkzeug.test import TestResponse

from deerflow_lite import clock
from deerflow_lite.web.app import ROUTES
from tests.conftest import serving
from tests.runs.gates import Gate
from tests.service import Service, human
from tests.web.owned import BODY, ROWS, Ids, Row

# an owner's name is no pattern, whoever is asked for
OWNER, OTHER, THIRD = "a_1", "ax1", "A_1"
TABLE = {route.name: route for routes in ROUTES for route in routes.table}
CASES = [(name, row) for name, rows in ROWS.items() for row in rows]
PRIVATE = {"tokens", "sessions"}


class World:
    """One service with three owners: the first two have a thread of two turns and an item each."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.owner, self.other, self.third = (service.of(name) for name in (OWNER, OTHER, THIRD))
        self.hers, self.theirs = self.things(self.owner), self.things(self.other)

    def things(self, of: Service) -> dict[str, str]:
        """Make a thread of two turns with a run that has ended, and give every id in it."""
        thread = of.thread(title="alice", metadata={"secret": "of alice"})
        of.wait(thread, "chat", human("a", clock.new_id()))
        said = of.wait(thread, "chat", human("b", clock.new_id()))["messages"]
        [run, _] = of.get(thread, "/runs")
        of.ask("PUT", "/store/items", {"namespace": ["notes"], "key": "k", "value": {"by": thread}}, 204)
        return {
            "thread_id": thread, "run_id": run["run_id"], "turn_id": run["run_id"], "answer": said[-1]["id"],
            "question": said[-2]["id"], "checkpoint_id": of.get(thread)["head_checkpoint_id"],
        }  # fmt: skip

    def ask(self, by: Service, name: str, row: Row, ids: Ids) -> TestResponse:
        """Ask a route for things."""
        path, body, query = asked(name, row, ids)
        with by.call(TABLE[name].method, path, body, query_string=query) as answer:
            answer.get_data()
        return answer

    def rows(self) -> dict[str, list[Any]]:
        """Give every row of the file, but those of who may call."""
        names = self.service.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
        return {name: self.service.rows(f'SELECT * FROM "{name}"') for (name,) in names if name not in PRIVATE}


def asked(name: str, row: Row, ids: Ids) -> tuple[str, Any, Any]:
    """Give path, body and query of a question for things."""
    known = {**ids, "assistant_id": "chat", "namespace": "x"}
    path = re.sub(r"<(?:\w+:)?(\w+)>", lambda part: known[part[1]], TABLE[name].path)
    return path, row.body(ids), row.query(ids)


def unknown(ids: Ids) -> dict[str, str]:
    """Give ids of the same kinds that nobody has; what was equal stays so."""
    made = {one: clock.new_id() for one in ids.values()}
    return {name: made[one] for name, one in ids.items()}


def told(answer: TestResponse, sent: Ids) -> tuple[int, bytes, list[tuple[str, str]]]:
    """Give what an answer tells, with the ids that were sent, and the id of the request, left out."""
    body = answer.get_data()
    for name, one in sent.items():
        body = body.replace(one.encode(), f"<{name}>".encode())
    passing = {"x-request-id", "content-length"}
    return answer.status_code, body, [(name, value) for name, value in answer.headers if name.lower() not in passing]


@pytest.fixture
def world(serve: Callable[..., Service]) -> World:
    return World(serve(auth="tokens"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One world for all who leave the things of the first two owners as they are."""
    with serving(tmp_path_factory.mktemp("owners")) as serve:
        yield World(serve(auth="tokens"))


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Another one, for an owner who uses every route: each time on things of their own."""
    with serving(tmp_path_factory.mktemp("used")) as serve:
        yield World(serve(auth="tokens"))


def test_every_route_has_a_row_and_every_row_a_route() -> None:
    assert sorted(ROWS) == sorted(TABLE)


@pytest.mark.parametrize(("name", "row"), [(name, row) for name, row in CASES if row.kind != "open"])
def test_nobody_gets_the_same_refusal_whatever_is_asked(kept: World, name: str, row: Row) -> None:
    nobody = Service(kept.service.app)
    before = kept.rows()
    for ids in (kept.hers, unknown(kept.hers)):
        answer = kept.ask(nobody, name, row, ids)
        detail = "authorization: a token is needed, as `Authorization: Bearer` or `X-Api-Key`"
        assert (answer.status_code, answer.json) == (401, {"detail": detail})
    assert kept.rows() == before


@pytest.mark.parametrize(("name", "row"), [(name, row) for name, row in CASES if row.kind == "hidden"])
def test_what_is_another_owners_cannot_be_told_from_what_does_not_exist(kept: World, name: str, row: Row) -> None:
    before = kept.rows()
    nothing = unknown(kept.hers)
    foreign, missing = (kept.ask(kept.other, name, row, ids) for ids in (kept.hers, nothing))
    assert told(foreign, kept.hers) == told(missing, nothing)
    assert (foreign.status_code, list(foreign.json)) == (404, ["detail"])
    # the thread is the caller's own, everything that is named in it another owner's
    mine = {"thread_id": kept.theirs["thread_id"]}
    hers, nothing = kept.hers | mine, nothing | mine
    if asked(name, row, hers) != asked(name, row, nothing):
        foreign, missing = (kept.ask(kept.other, name, row, ids) for ids in (hers, nothing))
        assert told(foreign, hers) == told(missing, nothing)
        assert (foreign.status_code, list(foreign.json)) == (409 if name == "branch_thread" else 404, ["detail"])
    assert kept.rows() == before


@pytest.mark.parametrize(("name", "row"), [(name, row) for name, row in CASES if row.kind == "apart"])
def test_what_lists_shows_each_owner_what_is_theirs(kept: World, name: str, row: Row) -> None:
    before = kept.rows()
    empty, full = kept.ask(kept.third, name, row, kept.hers), kept.ask(kept.other, name, row, kept.hers)
    hers = [one.encode() for one in kept.hers.values()]
    for answer in (empty, full):
        assert answer.status_code == 200
        assert [one for one in hers if one in answer.get_data()] == []
    nothing = [0, None, [], {"items": []}, {"namespaces": []}, {"matched": 0, "changed": 0, "thread_ids": []}]
    nothing.append({"pruned_count": 0})
    assert empty.json in nothing
    assert empty.headers.get("X-Pagination-Total", "0") == "0"
    stored = kept.service.rows("SELECT * FROM threads WHERE owner = ?", OWNER)
    assert stored == [one for one in before["threads"] if OWNER in one]


@pytest.mark.parametrize(("name", "row"), CASES)
def test_the_owner_is_answered(used: World, name: str, row: Row) -> None:
    answer = used.ask(used.owner, name, row, used.things(used.owner))
    assert answer.status_code == row.owner, answer.get_data()


@pytest.mark.parametrize(("name", "row"), [(name, row) for name, row in CASES if row.kind in ("open", "shared")])
def test_what_is_nobodys_is_the_same_for_all(kept: World, name: str, row: Row) -> None:
    answers = [kept.ask(by, name, row, kept.hers).get_data() for by in (kept.owner, kept.other, kept.third)]
    assert answers[0] == answers[1] == answers[2]
    assert [one for one in kept.hers.values() if one.encode() in answers[0]] == []


def test_the_metrics_name_no_owner_and_no_thread(kept: World) -> None:
    shown = kept.ask(kept.third, "metrics", ROWS["metrics"][0], kept.hers).get_data()
    names = [OWNER, OTHER, THIRD, *kept.hers.values(), *kept.theirs.values()]
    assert [name for name in names if name.encode() in shown] == []


@pytest.mark.parametrize(("name", "row"), [(name, row) for name, row in CASES if row.kind in ("taken", "created")])
def test_creating_by_a_foreign_id_says_that_it_is_not_available_and_no_more(kept: World, name: str, row: Row) -> None:
    before = kept.rows()
    answer = kept.ask(kept.other, name, row, kept.hers)
    assert (answer.status_code, answer.json) == (409, {"detail": "thread_id is not available"})
    assert kept.rows() == before


@pytest.mark.parametrize("name", ["put_item", "delete_item"])
def test_an_item_of_the_same_name_is_another_for_each_owner(world: World, name: str) -> None:
    def stored(by: Service) -> Any:
        return by.ask("GET", "/store/items?namespace=notes&key=k")["value"]

    hers = stored(world.owner)
    assert world.ask(world.third, name, ROWS[name][0], world.hers).status_code == 204
    assert world.ask(world.other, name, ROWS[name][0], world.hers).status_code == 204
    assert stored(world.owner) == hers == {"by": world.hers["thread_id"]}


def test_a_deleted_thread_is_nobodys_and_its_id_may_be_taken_by_anybody(world: World) -> None:
    thread = world.hers["thread_id"]
    world.owner.ask("DELETE", f"/threads/{thread}", status=204)
    for by in (world.owner, world.other):
        for method, rest in (("GET", ""), ("DELETE", ""), ("PATCH", ""), ("GET", "/state"), ("GET", "/runs")):
            assert by.call(method, f"/threads/{thread}{rest}", {} if method == "PATCH" else None).status_code == 404
    made = world.other.ask("POST", "/threads", {"thread_id": thread})
    assert (made["metadata"], made["values"], made["title"]) == ({}, None, None)
    assert world.other.get(thread, "/runs") == world.other.history(thread) == []
    assert world.owner.call("GET", f"/threads/{thread}").status_code == 404


def test_a_run_without_a_thread_and_the_thread_that_it_kept_are_its_callers(world: World) -> None:
    run = world.owner.ask("POST", "/runs", BODY | {"on_completion": "keep"})
    path = f"/runs/{run['run_id']}"
    assert world.owner.call("GET", path + "/join").status_code == 200
    assert world.owner.call("GET", f"/threads/{run['thread_id']}").status_code == 200
    for missing in (path, path + "/join", path + "/stream", f"/threads/{run['thread_id']}"):
        assert world.other.call("GET", missing).status_code == 404
    assert run["thread_id"] not in str(world.other.ask("POST", "/threads/search", {}))


def test_the_same_idempotency_key_is_another_for_each_owner(world: World) -> None:
    body = BODY | {"on_completion": "keep"}  # the key of a run that leaves nothing goes with the run
    sent = {"headers": {"Idempotency-Key": "k"}}
    first = world.owner.ask("POST", "/runs", body, **sent)
    assert world.owner.ask("POST", "/runs", body, **sent)["run_id"] == first["run_id"]
    assert world.other.ask("POST", "/runs", body, **sent)["run_id"] != first["run_id"]


def test_a_run_in_flight_of_another_owner_is_neither_followed_nor_stopped(world: World, gate: Gate) -> None:
    thread = world.owner.thread()
    run = world.owner.start(thread, "held", gate.text)["run_id"]
    gate.await_reached()
    for method, rest in (("POST", "/cancel?wait=1"), ("GET", "/join"), ("GET", "/stream"), ("DELETE", "")):
        answer = world.other.call(method, f"/threads/{thread}/runs/{run}{rest}")
        assert answer.status_code == 404
        answer = world.other.call(method, f"/threads/{world.theirs['thread_id']}/runs/{run}{rest}")
        assert (answer.status_code, answer.json) == (404, {"detail": f"run_id: run {run} does not exist"})
    world.other.call("POST", "/runs/cancel", {"status": "all"})
    assert world.owner.status(thread, run) == "running"
    world.owner.cancel(thread, run)
