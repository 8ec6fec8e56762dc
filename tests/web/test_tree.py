"""Turns, their tree and the head as clients see them: shapes, pages, refusals, owners."""

import re
from collections.abc import Callable

import pytest

from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.service import Service

TURN = [
    "turn_id", "parent_turn_id", "human_message_id", "message_ids", "checkpoint_id", "base_checkpoint_id", "run_id",
    "created_at", "status", "sibling_index", "sibling_count", "on_selected_path",
]  # fmt: skip
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")


@pytest.fixture
def talk(serve: Callable[..., Service]) -> Talk:
    return Talk(serve(graphs=GRAPHS), "full")


@pytest.fixture
def long(talk: Talk) -> Talk:
    """Five turns and one beside the third."""
    for number in range(5):
        talk.say(f"m{number}", f"h{number}")
    end = talk.head()
    talk.say("other", "e2", talk.tree()["turns"][1]["checkpoint_id"])
    talk.select(end)
    return talk


def test_a_tree_and_a_page_of_turns_have_these_fields(talk: Talk) -> None:
    talk.say("one", "h1")
    tree, page = talk.tree(), talk.turns()
    assert [list(tree), list(page)] == [["turns", "head_checkpoint_id", "broken"], ["turns", "has_more"]]
    [turn], [said] = tree["turns"], page["turns"]
    assert list(turn) == TURN
    assert TIME.fullmatch(turn["created_at"])
    assert said == turn | {"messages": talk.service.state(talk.id)["values"]["messages"]}
    assert page["has_more"] is False


def test_pages_of_turns_go_back_from_the_newest_and_each_turn_comes_once(long: Talk) -> None:
    path = long.selected()
    page = long.turns("?limit=2")
    assert ([turn["turn_id"] for turn in page["turns"]], page["has_more"]) == (path[3:], True)
    page = long.turns(f"?limit=2&before={path[3]}")
    assert ([turn["turn_id"] for turn in page["turns"]], page["has_more"]) == (path[1:3], True)
    page = long.turns(f"?limit=2&before={path[1]}")
    assert ([turn["turn_id"] for turn in page["turns"]], page["has_more"]) == (path[:1], False)
    assert long.turns(f"?before={path[0]}") == {"turns": [], "has_more": False}


def test_a_page_before_a_turn_beside_the_path_is_refused_with_the_head(long: Talk) -> None:
    [beside] = [turn["turn_id"] for turn in long.tree()["turns"] if not turn["on_selected_path"]]
    refused = long.service.ask("GET", f"/threads/{long.id}/turns?before={beside}", status=409)
    assert long.head() in refused["detail"]
    assert "nobody" in long.service.ask("GET", f"/threads/{long.id}/turns?before=nobody", status=404)["detail"]


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "after=1"])
def test_a_bad_page_is_refused_by_its_field(talk: Talk, query: str) -> None:
    refused = talk.service.ask("GET", f"/threads/{talk.id}/turns?{query}", status=422)
    assert list(refused["errors"]) == [query.partition("=")[0]]


@pytest.mark.parametrize("body", [{}, {"checkpoint_id": None}, {"checkpoint_id": 5}, {"checkpoint_id": "  "}])
def test_a_head_is_named_by_a_text(talk: Talk, body: dict[str, object]) -> None:
    refused = talk.service.ask("PUT", f"/threads/{talk.id}/head", body, 422)
    assert list(refused["errors"]) == ["checkpoint_id"]


def test_an_unknown_thread_is_not_found_on_every_verb(talk: Talk) -> None:
    for method, rest, body in (
        ("GET", "/tree", None), ("GET", "/turns", None), ("PUT", "/head", {"checkpoint_id": "x"}),
        ("DELETE", "/turns/x", None),
    ):  # fmt: skip
        refused = talk.service.ask(method, f"/threads/nobody{rest}", body, 404)
        assert refused == {"detail": "thread_id: thread nobody does not exist"}


def test_an_edit_of_a_first_turn_outlives_a_reload_at_every_mount(talk: Talk) -> None:
    talk.say("one", "h1")
    old = talk.head()
    talk.say("edited", "h2", talk.root)
    talk.select(old)
    for mount in ("", "/api", "/api/langgraph"):
        turns = talk.service.ask("GET", f"{mount}/threads/{talk.id}/tree")["turns"]
        assert [(turn["human_message_id"], turn["sibling_index"], turn["on_selected_path"]) for turn in turns] == [
            ("h1", 0, True),
            ("h2", 1, False),
        ]


def test_a_tree_tells_the_first_words_of_each_turn_where_they_are_asked_for(talk: Talk) -> None:
    talk.say("one  \n two", "h1")
    talk.say("x" * 500, "h2", talk.root)
    plain, told = talk.tree(), talk.service.get(talk.id, "/tree?texts=true")
    first, second = told["turns"]
    assert [first["question"], first["answer"]] == ["one two", "echo: one two"]
    assert second["question"] == "x" * 119 + "…"
    assert second["answer"] == "echo: " + "x" * 113 + "…"
    assert told == plain | {"turns": [turn | {key: of[key] for key in ("question", "answer")}
                                      for turn, of in zip(plain["turns"], told["turns"], strict=True)]}  # fmt: skip


def test_a_turn_without_an_answer_or_a_text_tells_no_words(talk: Talk) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    talk.service.wait(talk.id, "full", {"messages": [{"type": "human", "id": "h1", "content": [image]}]},
                      interrupt_before=["answer"])  # fmt: skip
    [turn] = talk.service.get(talk.id, "/tree?texts=1")["turns"]
    assert [turn["question"], turn["answer"], turn["status"]] == ["", "", "interrupted"]


@pytest.mark.parametrize("query", ["texts=maybe", "text=true"])
def test_a_bad_look_at_a_tree_is_refused_by_its_field(talk: Talk, query: str) -> None:
    refused = talk.service.ask("GET", f"/threads/{talk.id}/tree?{query}", status=422)
    assert list(refused["errors"]) == [query.partition("=")[0]]
