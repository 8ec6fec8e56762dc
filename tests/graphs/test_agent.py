"""The embedded agent as a graph, in both checkpoint modes and over two savers."""

import asyncio
import sqlite3
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from deerflow_lite.config import Config
from deerflow_lite.graphs.channels import message_types, mode, titled
from deerflow_lite.graphs.embedded.agent import build_agent
from deerflow_lite.graphs.embedded.context import title_of
from deerflow_lite.graphs.embedded.state import reduce_messages
from deerflow_lite.graphs.loader import Graphs

THREAD: Any = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
MODES = ("full", "delta")
Days = list[date]


@pytest.fixture(params=[(mode, saver) for mode in MODES for saver in ("memory", "sqlite")], ids="-".join)
def made(request: pytest.FixtureRequest) -> Iterator[tuple[Any, Days]]:
    """The agent over a saver, and the list whose last day is its today."""
    kind, place = request.param
    days = [date(2026, 1, 2)]
    graph = build_agent(Config(checkpoint_mode=kind, snapshot_frequency=3), lambda: days[-1])
    serde = JsonPlusSerializer(allowed_msgpack_modules=message_types(graph))
    with sqlite3.connect(":memory:", check_same_thread=False) as connection:
        saver: Any = InMemorySaver(serde=serde) if place == "memory" else SqliteSaver(connection, serde=serde)
        yield graph.copy(update={"checkpointer": saver}), days
    connection.close()


@pytest.fixture
def agent(made: tuple[Any, Days]) -> Any:
    return made[0]


def say(agent: Any, *messages: Any) -> dict[str, Any]:
    result: dict[str, Any] = agent.invoke({"messages": list(messages)}, THREAD)
    return result


def told(values: dict[str, Any]) -> list[tuple[str, str]]:
    """(id, text) of the messages, answers and tools by their type instead of the id."""
    return [(m.id if m.type == "human" else m.type, m.text) for m in values["messages"]]


def reminder(day: str) -> str:
    return f"<system-reminder>\nToday is {day}.\n</system-reminder>"


@pytest.mark.parametrize("kind", MODES)
def test_the_setting_decides_the_mode_and_the_title_is_plain(kind: str) -> None:
    agent = build_agent(Config(checkpoint_mode=kind))
    assert (mode(agent), titled(agent), agent.name) == (kind, True, "agent")


def test_the_first_prompt_moves_behind_the_reminder_and_later_ones_stay(agent: Any) -> None:
    say(agent, HumanMessage("hello", id="X"))
    values = say(agent, HumanMessage("again", id="Y"))
    assert [pair for pair in told(values) if pair[0] != "ai"] == [
        ("X", reminder("Friday, 2026-01-02")),
        ("X__user", "hello"),
        ("Y", "again"),
    ]
    assert [m.type for m in values["messages"]] == ["human", "human", "ai", "human", "ai"]
    assert values["messages"][0].additional_kwargs == {
        "hide_from_ui": True,
        "dynamic_context_reminder": True,
        "reminder_date": "2026-01-02",
    }
    assert agent.get_state(THREAD).values == values


def test_a_turn_is_four_checkpoints_and_a_round_of_tools_two_more(agent: Any) -> None:
    say(agent, HumanMessage("hello", id="X"))
    assert [snapshot.next for snapshot in agent.get_state_history(THREAD)] == [
        (),
        ("model",),
        ("context",),
        ("__start__",),
    ]
    say(agent, HumanMessage("1+1", id="Y"))
    assert len(list(agent.get_state_history(THREAD))) == 10


def test_on_another_day_the_next_prompt_gets_a_new_reminder_and_nothing_else_moves(made: tuple[Any, Days]) -> None:
    agent, days = made
    say(agent, HumanMessage("hello", id="X"))
    days.append(date(2026, 1, 3))
    values = say(agent, HumanMessage("again", id="Y"))
    values = say(agent, HumanMessage("more", id="Z"))
    assert [pair for pair in told(values) if pair[0] != "ai"] == [
        ("X", reminder("Friday, 2026-01-02")),
        ("X__user", "hello"),
        ("Y", reminder("Saturday, 2026-01-03")),
        ("Y__user", "again"),
        ("Z", "more"),
    ]


def test_of_several_prompts_only_the_first_moves_and_the_order_stays(agent: Any) -> None:
    values = say(agent, HumanMessage("one", id="X"), HumanMessage("two", id="Y"))
    assert [pair[0] for pair in told(values)] == ["X", "X__user", "Y", "ai"]
    assert [pair[1] for pair in told(agent.get_state(THREAD).values)][1:3] == ["one", "two"]


def test_a_prompt_that_has_the_suffix_already_keeps_its_id(agent: Any) -> None:
    assert [pair[0] for pair in told(say(agent, HumanMessage("one", id="X__user")))] == ["X", "X__user", "ai"]


def test_a_prompt_that_was_never_answered_does_not_move_twice(made: tuple[Any, Days]) -> None:
    agent, days = made
    agent.invoke({"messages": [HumanMessage("one", id="X")]}, THREAD, interrupt_before=["model"])
    days.append(date(2026, 1, 3))
    values = say(agent, HumanMessage("two", id="Y"))
    assert [pair[0] for pair in told(values)] == ["X", "X__user", "Y", "Y__user", "ai"]


def test_a_hidden_message_is_neither_moved_nor_made_the_title(agent: Any) -> None:
    hidden = HumanMessage("hidden", id="H", additional_kwargs={"hide_from_ui": True})
    values = say(agent, hidden, HumanMessage("seen", id="X"))
    assert [pair[0] for pair in told(values)] == ["H", "X", "X__user", "ai"]
    assert values["title"] == "seen"


def test_the_first_text_makes_the_title_once(agent: Any) -> None:
    assert say(agent, HumanMessage("hello \n there", id="X"))["title"] == "hello there"
    assert say(agent, HumanMessage("other", id="Y"))["title"] == "hello there"


def test_a_title_that_is_given_stays(agent: Any) -> None:
    assert agent.invoke({"messages": [("user", "hello")], "title": "Mine"}, THREAD)["title"] == "Mine"


def test_a_title_is_cut_between_what_a_reader_sees() -> None:
    family = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
    assert title_of(family * 61) == family * 60
    assert title_of("  a\0b\t\n c ") == "ab c"
    assert title_of(" \n ") == ""


def test_tools_are_called_and_their_results_stated(agent: Any) -> None:
    values = say(agent, HumanMessage("what is 2*(3+4)?", id="X"))
    assert told(values)[2:] == [("ai", ""), ("tool", "2*(3+4) = 14"), ("ai", "This is what I found. 2*(3+4) = 14")]
    values = say(agent, HumanMessage("find 2*(3+4)", id="Y"))
    assert told(values)[-2] == (
        "tool",
        "Messages that contain '2*(3+4)': 2\nuser: what is 2*(3+4)?\nassistant: This is what I found. 2*(3+4) = 14",
    )
    ids = [message.id for message in values["messages"]]
    assert len(set(ids)) == len(ids)
    assert [message.id for message in agent.get_state(THREAD).values["messages"]] == ids


@pytest.mark.parametrize("kind", MODES)
def test_the_answer_is_streamed_in_words_with_one_id(kind: str) -> None:
    agent = build_agent(Config(checkpoint_mode=kind)).copy(update={"checkpointer": InMemorySaver()})

    async def run() -> tuple[list[Any], dict[str, Any]]:
        chunks, values = [], {}
        stream: Any = agent.astream({"messages": [("user", "hello")]}, THREAD, stream_mode=["messages", "values"])
        async for name, part in stream:
            if name == "values":
                values = part
            elif part[0].type == "AIMessageChunk":
                chunks.append(part[0])
        return chunks, values

    chunks, values = asyncio.run(run())
    final = values["messages"][-1]
    assert len(chunks) > 20
    assert "".join(chunk.text for chunk in chunks) == final.text
    assert {chunk.id for chunk in chunks} == {final.id}


def shapes() -> list[Any]:
    return [HumanMessage("a"), {"role": "user", "content": "b"}, ("user", "c"), ["user", "d"], "e"]


@pytest.mark.parametrize("shape", range(len(shapes())))
def test_a_message_without_an_id_gets_one_that_later_reads_give_again(agent: Any, shape: int) -> None:
    first = [message.id for message in say(agent, shapes()[shape])["messages"]]
    second = [message.id for message in say(agent, shapes()[shape])["messages"]]
    assert second[: len(first)] == first
    assert len(set(second)) == 5
    assert [message.id for message in agent.get_state(THREAD).values["messages"]] == second


def test_an_update_of_the_state_replaces_and_removes_by_id(agent: Any) -> None:
    answer = say(agent, HumanMessage("hello", id="X"))["messages"][-1]
    agent.update_state(THREAD, {"messages": [AIMessage("other", id=answer.id)]}, as_node="model")
    assert told(agent.get_state(THREAD).values)[-1] == ("ai", "other")
    agent.update_state(THREAD, {"messages": [RemoveMessage(id=answer.id)]}, as_node="model")
    assert [pair[0] for pair in told(agent.get_state(THREAD).values)] == ["X", "X__user"]


def test_going_on_from_an_earlier_checkpoint_leaves_the_other_answer_out(agent: Any) -> None:
    first = say(agent, HumanMessage("hello", id="X"))
    base = agent.get_state(THREAD).config
    say(agent, HumanMessage("left", id="Y"))
    values = agent.invoke({"messages": [HumanMessage("right", id="Z")]}, base)
    assert values["messages"][:3] == first["messages"]
    assert [message.id for message in values["messages"]][3:-1] == ["Z"]


def test_a_missing_provider_names_what_to_install() -> None:
    for provider, package in (("ollama", "deerflow-lite[ollama]"), ("groq", "langchain langchain-groq")):
        graphs = Graphs(Config(model=f"{provider}:small"))
        graphs.load()
        assert graphs.assistant("agent").error == (
            f"MODEL={provider}:small needs a package that is not installed: pip install '{package}'"
        )


def writes() -> list[Any]:
    return [
        [HumanMessage("a", id="1"), "b"],
        ("user", "b"),
        [AIMessage("c", id="1"), RemoveMessage(id="absent")],
        [RemoveMessage(id="1"), HumanMessage("d", id="1")],
        [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("e", id="5")],
        [("user", "b"), HumanMessage("f", id="5")],
    ]


def test_the_reducer_gives_the_same_for_any_grouping_of_the_writes() -> None:
    for end in range(len(writes()) + 1):
        whole = reduce_messages([], writes()[:end])
        for cut in range(end + 1):
            parts = reduce_messages(reduce_messages([], writes()[:cut]), writes()[cut:end])
            assert [(m.id, m.text) for m in parts] == [(m.id, m.text) for m in whole]
