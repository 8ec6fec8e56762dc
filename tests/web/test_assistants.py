"""Assistants, and what the service says of itself."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

GRAPHS = "chat=tests.sample_graphs:chat,ask=tests.sample_graphs:ask,gone=tests.no_such_module:graph"
CHAT_ID = "eb6db400-e3c8-5d06-a834-015cb89efe69"


@pytest.fixture
def served(make: Callable[..., Flask]) -> FlaskClient:
    return make(graphs=GRAPHS).test_client()


def names(answer: Any) -> list[str]:
    return [assistant["graph_id"] for assistant in answer.json]


def test_the_users_graphs_come_first_and_the_embedded_agent_after_them(served: FlaskClient) -> None:
    answer = served.post("/assistants/search")
    assert (names(answer), answer.headers["X-Pagination-Total"]) == (["chat", "ask", "gone", "agent"], "4")
    chat = answer.json[0]
    assert chat == {
        "assistant_id": CHAT_ID, "graph_id": "chat", "config": {}, "context": {}, "metadata": {"created_by": "system"},
        "name": "chat", "created_at": chat["created_at"], "updated_at": chat["created_at"], "version": 1,
        "description": None,
    }  # fmt: skip
    assert served.get(f"/assistants/{CHAT_ID}").json == chat
    assert served.get("/assistants/chat").json == served.get("/assistants/lead_agent").json == chat


def test_assistants_are_filtered_sorted_paged_and_selected(served: FlaskClient) -> None:
    page = served.post("/assistants/search", json={"limit": 2, "sort_by": "name", "sort_order": "asc"})
    assert (names(page), page.headers["X-Pagination-Next"]) == (["agent", "ask"], "2")
    assert names(served.post("/assistants/search", json={"graph_id": "ask"})) == ["ask"]
    assert names(served.post("/assistants/search", json={"metadata": {"created_by": "system"}, "offset": 3})) == [
        "agent"
    ]
    assert names(served.post("/assistants/search", json={"metadata": {"created_by": "me"}})) == []
    assert served.post("/assistants/search", json={"select": ["name"], "name": "CHA"}).json == [{"name": "chat"}]
    assert served.post("/assistants/count", json={"graph_id": "chat"}).json == 1
    refused = served.post("/assistants/search", json={"graph": "chat", "limit": 0})
    assert (refused.status_code, sorted(refused.json["errors"])) == (422, ["graph", "limit"])


def test_an_unknown_assistant_is_404_by_id_and_422_by_name(served: FlaskClient) -> None:
    for end in ("", "/graph", "/schemas", "/subgraphs", "/subgraphs/x"):
        assert served.get(f"/assistants/00000000-0000-4000-8000-000000000000{end}").status_code == 404
        answer = served.get(f"/assistants/nope{end}")
        assert (answer.status_code, list(answer.json["errors"])) == (422, ["assistant_id"])


def test_a_graph_is_drawn_and_told(served: FlaskClient) -> None:
    drawing = served.get("/assistants/chat/graph").json
    assert sorted(drawing) == ["edges", "nodes"]
    assert drawing["nodes"][0]["id"] == "__start__"
    assert served.get("/assistants/chat/graph?xray=1").json["nodes"] == drawing["nodes"]
    assert served.get("/assistants/chat/graph?xray=maybe").status_code == 422
    told = served.get(f"/assistants/{CHAT_ID}/schemas").json
    assert told["graph_id"] == "chat"
    assert "messages" in told["input_schema"]["properties"]
    assert served.get("/assistants/chat/subgraphs?recurse=true").json == {}


def test_a_broken_graph_stays_listed_with_its_error(served: FlaskClient) -> None:
    answer = served.get("/assistants/gone/graph")
    assert answer.status_code == 409
    assert "gone" in answer.json["detail"]
    assert served.get("/assistants/gone").json["error"]
    assert "error" not in served.get("/assistants/chat").json


def test_the_service_says_that_it_is_up_its_version_and_its_models(client: FlaskClient) -> None:
    assert client.get("/ok").json == {"ok": True}
    info = client.get("/info").json
    assert sorted(info) == ["flags", "host", "langgraph_py_version", "version"]
    assert info["flags"]["assistants"] is True
    models = client.get("/models").json
    assert [sorted(model) for model in models["models"]] == [
        ["description", "display_name", "model", "name", "supports_reasoning_effort", "supports_thinking"]
    ]
    assert models["token_usage"] == {"enabled": False}


@pytest.mark.parametrize("path", ["/", "/chats", "/chats/archived", "/chats/some-thread", "/chats/", "/chats/t/"])
def test_the_page_is_at_each_of_its_paths(client: FlaskClient, path: str) -> None:
    page = client.get(path)
    assert (page.status_code, page.mimetype) == (200, "text/html")
    assert 'href="/docs"' in page.text
    assert "<script>" not in page.text and "style=" not in page.text
