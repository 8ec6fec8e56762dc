"""The route of branches: what it takes, what it refuses before it looks, and whose thread it is."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deerflow_lite.threads.model import NewThread

PATH = "/api/threads/one/branches"


@pytest.fixture
def client(make: Callable[..., Flask]) -> FlaskClient:
    client = make(graphs="chat=tests.sample_graphs:chat").test_client()
    client.post("/api/threads", json={"thread_id": "one", "assistant_id": "chat"})
    return client


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["message_id"]),
        ({"message_id": ""}, ["message_id"]),
        ({"message_id": None}, ["message_id"]),
        ({"message_id": 1, "message_ids": ["a", 2]}, ["message_id", "message_ids.1"]),
        ({"message_id": "a", "message_ids": "a"}, ["message_ids"]),
        ({"message_id": "a", "message_ids": [""]}, ["message_ids.0"]),
        ({"message_id": "a", "title": "x" * 257}, ["title"]),
        ({"message_id": "a", "title": "  "}, ["title"]),
        ({"message_id": "a", "mesage_ids": ["b"]}, ["mesage_ids"]),
    ],
)
def test_a_body_that_is_not_as_written_is_refused_by_field(client: FlaskClient, body: Any, fields: list[str]) -> None:
    answer = client.post(PATH, json=body)
    assert (answer.status_code, sorted(answer.json["errors"])) == (422, fields)


def test_unknown_and_foreign_threads_are_the_same_404(client: FlaskClient) -> None:
    gateway = client.application.extensions["deerflow_lite"]
    gateway.opening.create("somebody else", NewThread("theirs", {}))
    theirs, absent = (
        client.post(f"/api/threads/{one}/branches", json={"message_id": "a"}) for one in ("theirs", "absent")
    )
    assert (theirs.status_code, absent.status_code) == (404, 404)
    assert theirs.json["detail"].replace("theirs", "absent") == absent.json["detail"]


@pytest.mark.parametrize("mount", ["", "/api", "/api/langgraph"])
def test_every_mount_makes_branches_and_null_is_the_same_as_absent(client: FlaskClient, mount: str) -> None:
    values = {"messages": [{"type": "human", "id": "h1", "content": "a"}, {"type": "ai", "id": "a1", "content": "b"}]}
    assert client.post("/api/threads/one/state", json={"values": values, "as_node": "reply"}).status_code == 200
    body = {"message_id": "a1", "message_ids": None, "title": None}
    answer = client.post(f"{mount}/threads/one/branches", json=body)
    assert answer.status_code == 200, answer.data
    assert sorted(answer.json) == [
        "branched_from_message_id", "history_seed_mode", "parent_checkpoint_id", "parent_thread_id", "thread_id",
        "workspace_clone_mode",
    ]  # fmt: skip
    made = client.get(f"{mount}/threads/{answer.json['thread_id']}").json
    assert [one["content"] for one in made["values"]["messages"]] == ["a", "b"]


def test_a_turn_that_cannot_be_branched_is_a_conflict_in_one_sentence(client: FlaskClient) -> None:
    answer = client.post(PATH, json={"message_id": "a"})
    assert (answer.status_code, answer.json) == (409, {"detail": "This turn can no longer be branched from."})
