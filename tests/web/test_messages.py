"""The messages of the selected path as DeerFlow's page reads them: rows, numbers, pages, refusals, owners."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.service import Service

ROW = ["thread_id", "run_id", "seq", "event_type", "category", "content", "created_at", "metadata", "feedback"]
KINDS = ["llm.human.input", "llm.ai.response"]


@pytest.fixture(params=["full", "delta"])
def talk(serve: Callable[..., Service], request: pytest.FixtureRequest) -> Talk:
    return Talk(serve(graphs=GRAPHS), request.param)


def page(talk: Talk, query: str = "") -> Any:
    return talk.service.get(talk.id, "/messages/page" + query)


def shown(answer: Any) -> list[tuple[int, str]]:
    return [(row["seq"], row["content"]["content"]) for row in answer["data"]]


def test_a_row_is_what_deerflows_page_reads(talk: Talk) -> None:
    run = talk.say("one", "h1")
    answer = page(talk)
    assert list(answer) == ["data", "has_more", "next_before_seq"]
    assert (answer["has_more"], answer["next_before_seq"]) == (False, None)
    assert [list(row) for row in answer["data"]] == [ROW, ROW]
    assert [row["content"] for row in answer["data"]] == talk.service.state(talk.id)["values"]["messages"]
    assert [(row["seq"], row["event_type"]) for row in answer["data"]] == list(enumerate(KINDS, 1))
    [turn] = talk.turns()["turns"]
    for row in answer["data"]:
        assert (row["thread_id"], row["run_id"], row["created_at"]) == (talk.id, run, turn["created_at"])
        assert (row["category"], row["metadata"], row["feedback"]) == ("message", {"caller": "lead_agent"}, None)


def test_an_empty_thread_has_an_empty_page(talk: Talk) -> None:
    assert page(talk) == {"data": [], "has_more": False, "next_before_seq": None}


def test_pages_go_back_from_the_newest_through_turns_and_each_message_comes_once(talk: Talk) -> None:
    for number in range(4):
        talk.say(f"m{number}", f"h{number}")
    whole = shown(page(talk))
    assert [seq for seq, _ in whole] == list(range(1, 9))
    seen: list[tuple[int, str]] = []
    query, lengths = "?limit=3", []
    while True:
        answer = page(talk, query)
        seen = shown(answer) + seen
        lengths.append(len(answer["data"]))
        if not answer["has_more"]:
            break
        query = f"?limit=3&before_seq={answer['next_before_seq']}"
    assert (seen, lengths, answer["next_before_seq"]) == (whole, [3, 3, 2], None)
    assert page(talk, "?before_seq=1") == {"data": [], "has_more": False, "next_before_seq": None}
    assert shown(page(talk, "?before_seq=900")) == whole


def test_numbers_stay_while_the_conversation_grows(talk: Talk) -> None:
    talk.say("one", "h1")
    before = shown(page(talk))
    talk.say("two", "h2")
    assert shown(page(talk))[:2] == before


def test_another_answer_takes_the_place_of_the_first_and_the_head_chooses(talk: Talk) -> None:
    talk.say("one", "h1")
    base = talk.head()
    talk.say("two", "h2")
    old = shown(page(talk))
    end = talk.head()
    talk.say("other", "e2", base)
    assert shown(page(talk)) == [*old[:2], (3, "other"), (4, "echo: other")]
    talk.select(end)
    assert shown(page(talk)) == old


def test_messages_of_no_run_have_the_id_of_their_turn(talk: Talk) -> None:
    talk.say("one", "h1")
    answer = {"message_id": page(talk)["data"][1]["content"]["id"]}
    there = talk.service.ask("POST", f"/threads/{talk.id}/branches", answer)["thread_id"]
    branch = Talk(talk.service, talk.graph, there)
    [turn] = branch.turns()["turns"]
    assert [row["run_id"] for row in page(branch)["data"]] == [turn["turn_id"]] * 2


def test_a_tool_result_and_a_hidden_reminder_are_rows_that_say_what_they_are(serve: Callable[..., Service]) -> None:
    talk = Talk(serve(), "agent")
    talk.say("What is 6*7?", "h1")
    rows = page(talk)["data"]
    kinds = [(row["event_type"], row["content"]["type"]) for row in rows]
    assert ("llm.tool.result", "tool") in kinds
    assert [row["content"] for row in rows] == talk.service.state(talk.id)["values"]["messages"]


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "before_seq=0", "before_seq=x", "after_seq=1"])
def test_a_bad_page_is_refused_by_its_field(service: Service, query: str) -> None:
    refused = service.ask("GET", f"/threads/{service.thread()}/messages/page?{query}", status=422)
    assert list(refused["errors"]) == [query.partition("=")[0]]


def test_the_messages_of_an_unknown_thread_are_not_found(service: Service) -> None:
    refused = service.ask("GET", "/threads/nobody/messages/page", status=404)
    assert refused == {"detail": "thread_id: thread nobody does not exist"}


@pytest.mark.parametrize("mount", ["", "/api", "/api/langgraph"])
def test_deerflows_page_finds_its_models_at_every_mount(service: Service, mount: str) -> None:
    told = service.ask("GET", mount + "/models")
    assert (list(told), told["token_usage"]) == (["models", "token_usage"], {"enabled": False})
    [model] = told["models"]
    assert list(model) == [
        "name", "model", "display_name", "description", "supports_thinking", "supports_reasoning_effort",
    ]  # fmt: skip
    assert (model["supports_thinking"], model["supports_reasoning_effort"]) == (False, False)
