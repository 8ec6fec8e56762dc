"""Threads as clients see them, over both stores."""

import re
from typing import Any

import pytest
from flask.testing import FlaskClient

KEYS = [
    "thread_id", "created_at", "updated_at", "state_updated_at", "metadata", "status", "values", "interrupts", "error",
    "config", "title", "head_checkpoint_id",
]  # fmt: skip
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")


def made(client: FlaskClient, **body: Any) -> dict[str, Any]:
    answer = client.post("/threads", json=body)
    assert answer.status_code == 200, answer.data
    return dict(answer.json)


def test_a_new_thread_is_idle_and_holds_no_values(both: FlaskClient) -> None:
    thread = made(both)
    assert list(thread) == KEYS
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", thread["thread_id"])
    assert TIME.fullmatch(thread["created_at"])
    assert thread["created_at"] == thread["updated_at"] == thread["state_updated_at"]
    assert [thread[key] for key in KEYS[4:]] == [{}, "idle", None, {}, None, {"configurable": {}}, None, None]
    assert both.get(f"/threads/{thread['thread_id']}").json == thread


def test_metadata_is_kept_exactly_as_sent(both: FlaskClient) -> None:
    metadata = {
        "s": "a \"b\" \\ é 日本 😀 \u2028", "i": 2**63 - 1, "n": -(2**63), "f": 0.1, "t": True, "z": None,
        "l": [1, [2]], "owner_id": "U2", "user_id": "U2", "o": {"k": {"k": 1}}, "": "empty", "a'b": 1,
    }  # fmt: skip
    assert made(both, thread_id="t", metadata=metadata)["metadata"] == metadata
    assert both.get("/threads/t").json["metadata"] == metadata


def test_branch_keys_of_a_client_are_dropped(both: FlaskClient) -> None:
    keys = ("deerflow_branch", "branch_parent_thread_id", "branch_parent_checkpoint_id", "branch_parent_message_id")
    thread = made(both, thread_id="t", metadata=dict.fromkeys(keys, "x") | {"a": 1})
    assert thread["metadata"] == {"a": 1}
    patched = both.patch("/threads/t", json={"metadata": dict.fromkeys(keys, "x")})
    assert patched.json == thread


def test_an_assistant_id_stamps_its_graph_into_metadata(both: FlaskClient) -> None:
    thread = made(both, assistant_id="lead_agent", metadata={"a": 1})
    assert thread["metadata"] == {
        "a": 1, "graph_id": "agent", "assistant_id": both.get("/assistants/agent").json["assistant_id"],
    }  # fmt: skip
    unknown = both.post("/threads", json={"assistant_id": "00000000-0000-4000-8000-000000000000"})
    assert unknown.status_code == 404


def test_a_title_is_trimmed_and_stands_in_values(both: FlaskClient) -> None:
    thread = made(both, thread_id="t", title="  A name ")
    assert (thread["title"], thread["values"]) == ("A name", {"title": "A name"})
    renamed = both.patch("/threads/t", json={"title": "x" * 256}).json
    assert (renamed["title"], renamed["values"]) == ("x" * 256, {"title": "x" * 256})
    assert renamed["updated_at"] > thread["updated_at"]
    assert renamed["state_updated_at"] == thread["state_updated_at"]
    given_back = both.patch("/threads/t", json={"title": None}).json
    assert (given_back["title"], given_back["values"]) == (None, None)


def test_a_patch_merges_shallowly_and_stores_null(both: FlaskClient) -> None:
    made(both, thread_id="t", metadata={"a": {"x": 1}, "b": 1})
    patched = both.patch("/threads/t", json={"metadata": {"a": {"y": 2}, "b": None, "c": []}}).json
    assert patched["metadata"] == {"a": {"y": 2}, "b": None, "c": []}


def test_the_flags_alone_and_an_empty_patch_leave_updated_at_as_it_is(both: FlaskClient) -> None:
    before = made(both, thread_id="t")["updated_at"]
    for body in ({}, {"metadata": {}}, {"metadata": {"deerflow_archived": True}},
                 {"metadata": {"deerflow_pinned": True, "deerflow_archived": False}}):  # fmt: skip
        assert both.patch("/threads/t", json=body).json["updated_at"] == before
    assert both.patch("/threads/t", json={"metadata": {"deerflow_pinned": True, "x": 1}}).json["updated_at"] > before


def test_prefer_return_minimal_gets_204_and_the_change_is_made(both: FlaskClient) -> None:
    made(both, thread_id="t")
    answer = both.patch("/threads/t", json={"title": "New"}, headers={"Prefer": "return=minimal"})
    assert (answer.status_code, answer.data) == (204, b"")
    assert both.get("/threads/t").json["title"] == "New"


def test_delete_is_204_once_and_the_id_can_be_made_again_empty(both: FlaskClient) -> None:
    made(both, thread_id="t", title="Old", metadata={"a": 1})
    answer = both.delete("/threads/t")
    assert (answer.status_code, answer.data) == (204, b"")
    assert both.delete("/threads/t").status_code == both.get("/threads/t").status_code == 404
    again = made(both, thread_id="t")
    assert (again["title"], again["metadata"], again["values"]) == (None, {}, None)


def test_a_copy_has_a_new_id_new_times_the_same_title_and_no_flags(both: FlaskClient) -> None:
    metadata = {"a": 1, "deerflow_pinned": True, "deerflow_archived": True}
    source = made(both, thread_id="t", title="Name", metadata=metadata)
    copy = both.post("/threads/t/copy").json
    assert (copy["title"], copy["metadata"], copy["values"], copy["status"]) == (
        "Name", {"a": 1}, {"title": "Name"}, "idle",
    )  # fmt: skip
    assert copy["thread_id"] != "t"
    assert copy["created_at"] > source["created_at"]
    assert both.get("/threads/t").json == source


def test_bulk_archive_tells_what_differs_and_touches_nothing(both: FlaskClient) -> None:
    for name in ("a", "b", "c"):
        made(both, thread_id=name)
    both.patch("/threads/b", json={"metadata": {"deerflow_archived": True}})
    before = {row["thread_id"]: row["updated_at"] for row in both.post("/threads/search").json}
    body = {"thread_ids": ["a", "b", "a"], "archived": True}
    expected = {"matched": 2, "changed": 1, "thread_ids": ["a"]}
    assert both.post("/threads/archive", json=body | {"dry_run": True}).json == expected
    assert both.post("/threads/count", json={"archived": True}).json == 1
    assert both.post("/threads/archive", json=body).json == expected
    assert both.post("/threads/archive", json=body).json == {"matched": 2, "changed": 0, "thread_ids": []}
    assert both.post("/threads/count", json={"archived": True}).json == 2
    assert {row["thread_id"]: row["updated_at"] for row in both.post("/threads/search").json} == before
    assert both.post("/threads/archive", json={"thread_ids": [], "archived": True}).json["matched"] == 0


def test_bulk_archive_by_age_is_strict_and_reads_any_offset(both: FlaskClient) -> None:
    made(both, thread_id="a")
    at = made(both, thread_id="b")["updated_at"]
    older = both.post("/threads/archive", json={"older_than": at, "archived": True}).json
    assert older == {"matched": 1, "changed": 1, "thread_ids": ["a"]}
    for later in ("2999-01-01T00:00:00Z", "2999-01-01T00:00:00.5+05:30"):
        assert both.post("/threads/archive", json={"older_than": later, "archived": False}).json["matched"] == 2
    assert (
        both.post("/threads/archive", json={"older_than": "2001-01-01T00:00Z", "archived": True}).json["matched"] == 0
    )


@pytest.mark.parametrize("flag", [True, False])
def test_archive_and_restore_give_back_the_very_place(both: FlaskClient, flag: bool) -> None:
    for name in ("a", "b", "c"):
        made(both, thread_id=name, metadata={"deerflow_archived": not flag})
    before = both.post("/threads/search").json
    for value in (flag, not flag):
        both.patch("/threads/a", json={"metadata": {"deerflow_archived": value}})
    assert both.post("/threads/search").json == before
