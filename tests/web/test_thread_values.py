"""The values of heads in thread answers: spliced as stored, within a budget, and only where they are asked for."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from deerflow_lite.errors import ThreadUnknown
from deerflow_lite.threads.model import Change, HeadValues, NewThread

BODY = {"messages": [{"type": "human", "id": "h1", "content": "  Hello \n there "}], "n": 1.50, "s": "é"}
HIDDEN = {"type": "human", "content": "hidden", "additional_kwargs": {"hide_from_ui": True}}
PARTS = {
    "type": "human",
    "content": [{"type": "image_url"}, {"type": "text", "text": "What"}, {"type": "text", "text": "is"}],
}


@pytest.fixture
def app(make: Callable[..., Flask], store: str) -> Flask:
    return make(store=store)


def stand(app: Flask, thread_id: str, body: str, *, title: str | None = None, own: str | None = None) -> None:
    """Put a thread on a head with these values."""
    values = HeadValues("c1", body, titled=True, own_title=own, settled=True, mode="full", created_at="")
    gateway = app.extensions["deerflow_lite"]
    with gateway.db.writing():
        gateway.opening.create("default", NewThread(thread_id, {}), if_exists="do_nothing")
        gateway.threads.change("default", thread_id, Change(head="c1", values=values, auto_title=title))


def test_values_are_the_stored_text_with_the_title_of_the_column(app: Flask) -> None:
    client = app.test_client()
    stand(app, "t", json.dumps(BODY), title="Named", own='"its own"')
    for answer in (
        client.get("/threads/t"),
        client.patch("/threads/t", json={}),
        client.post("/threads", json={"thread_id": "t"}),
    ):
        assert answer.json["values"] == BODY | {"title": "Named"}
        assert answer.json["head_checkpoint_id"] == "c1"
        assert '"n": 1.5' in answer.text
    assert client.post("/threads/search").json[0]["values"] == BODY | {"title": "Named"}
    assert client.patch("/threads/t", json={"title": "Mine"}).json["values"]["title"] == "Mine"


def test_values_of_a_head_without_anything_hold_the_title_alone(app: Flask) -> None:
    stand(app, "t", "{}")
    assert app.test_client().get("/threads/t").json["values"] == {"title": None}


@pytest.mark.parametrize(
    ("messages", "own", "title"),
    [
        (BODY["messages"], '"The graph\'s own"', "The graph's own"),
        (BODY["messages"], None, "Hello there"),
        (BODY["messages"], '{"odd": 1}', "Hello there"),
        ([HIDDEN, {"type": "ai", "content": "no"}, PARTS], None, "What is"),
        ([{"type": "human", "content": "   "}, {"type": "human", "content": "x" * 100}], None, "x" * 60),
        ([HIDDEN, 1, None, {"type": "human"}], None, None),
        ("no list", None, None),
        (None, None, None),
    ],
)
def test_a_title_given_back_is_made_from_the_head(
    app: Flask, messages: Any, own: str | None, title: str | None
) -> None:
    client = app.test_client()
    stand(app, "t", json.dumps({"messages": messages}), own=own)
    client.patch("/threads/t", json={"title": "Mine"})
    assert client.patch("/threads/t", json={"title": None}).json["title"] == title
    assert client.get("/threads/t").json["values"]["title"] == title


def test_rows_beyond_the_budget_of_an_answer_show_their_title_alone(app: Flask) -> None:
    client = app.test_client()
    for number in range(3):
        stand(app, f"t{number}", json.dumps({"text": "x" * 4_000_000}), title=f"T{number}")
    rows = client.post("/threads/search", json={"extract": {"n": "values.title"}}).json
    assert [(row["thread_id"], sorted(row["values"]), row["extracted"]["n"]) for row in rows] == [
        ("t2", ["text", "title"], "T2"), ("t1", ["text", "title"], "T1"), ("t0", ["title"], "T0"),
    ]  # fmt: skip


def test_values_are_filtered_by_equality_on_one_top_level_value(app: Flask) -> None:
    client = app.test_client()
    stand(app, "a", json.dumps({"n": 1, "s": "x"}), title="A")
    stand(app, "b", json.dumps({"n": True}), title="B")

    def found(values: dict[str, Any]) -> list[str]:
        body = {"values": values}
        rows = client.post("/threads/search", json=body).json
        assert client.post("/threads/count", json=body).json == len(rows)
        return [row["thread_id"] for row in rows]

    assert found({"n": 1}) == found({"n": 1.0, "s": "x"}) == found({"title": "A"}) == ["a"]
    assert found({"n": True}) == ["b"]
    assert found({"n": 1, "s": "y"}) == found({"title": "a"}) == []


def test_a_list_without_values_never_reads_the_bodies(make: Callable[..., Flask]) -> None:
    app = make()
    stand(app, "t", json.dumps(BODY), title="T")
    app.extensions["deerflow_lite"].db.writer.execute("DROP TABLE head_values")
    body = {"select": ["thread_id", "title", "metadata"], "extract": {"m": "metadata.k"}, "metadata": {}, "query": "t"}
    answer = app.test_client().post("/threads/search", json=body)
    assert answer.json == [{"thread_id": "t", "title": "T", "metadata": {}, "extracted": {"m": None}}]


def test_another_owners_thread_answers_as_one_that_does_not_exist(app: Flask) -> None:
    client, gateway = app.test_client(), app.extensions["deerflow_lite"]
    gateway.opening.create("other", NewThread("theirs", {"a": 1}), if_exists="raise")
    for method, end, body in (
        ("GET", "", None), ("PATCH", "", {"title": "x"}), ("DELETE", "", None), ("POST", "/copy", None),
    ):  # fmt: skip
        answer = client.open(f"/threads/theirs{end}", method=method, json=body)
        unknown = client.open(f"/threads/nobody{end}", method=method, json=body)
        assert (answer.status_code, answer.text.replace("theirs", "nobody")) == (404, unknown.text)
    archive = client.post("/threads/archive", json={"thread_ids": ["theirs"], "archived": True})
    assert (archive.status_code, archive.json) == (404, {"detail": "thread_id: thread theirs does not exist"})
    assert client.post("/threads/search", json={"ids": ["theirs"]}).json == []
    for if_exists in ("do_nothing", "raise"):
        taken = client.post("/threads", json={"thread_id": "theirs", "if_exists": if_exists})
        assert (taken.status_code, taken.json) == (409, {"detail": "thread_id is not available"})
    assert gateway.threads.get("other", "theirs").title is None
    with pytest.raises(ThreadUnknown):
        gateway.threads.get("default", "theirs")
