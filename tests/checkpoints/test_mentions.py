"""Which message ids a thread knows, though not every checkpoint is read: held against a search of every byte."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from typing_extensions import TypedDict

from deerflow_lite.checkpoints import mentions, tables
from deerflow_lite.checkpoints.saver import FileSaver
from deerflow_lite.db import Database

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
ID = re.compile(rb"\xa2id\xd9\x24([0-9a-f-]{36})")
Durability = Literal["sync", "exit"]


def last_five(left: list[AnyMessage], right: Any) -> list[AnyMessage]:
    """Append, and keep the last five."""
    found: Any = add_messages(left, right)  # type: ignore[arg-type]
    return list(found)[-5:]


class Kept(TypedDict):
    """Messages that stay until somebody removes them."""

    messages: Annotated[list[AnyMessage], add_messages]


class Trimmed(TypedDict):
    """Messages of which only the last ones are held."""

    messages: Annotated[list[AnyMessage], last_five]


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[FileSaver]:
    database = Database(tmp_path / "deerflow.sqlite", "normal")
    database.migrate(tables.MIGRATIONS)
    yield FileSaver(database)
    database.close()


def compiled(state: type[Any], saver: FileSaver) -> Any:
    """Compile a graph whose answers are given their ids by the reducer, as its questions are."""
    builder = StateGraph(state)
    builder.add_node("reply", lambda _: {"messages": [AIMessage(content="yes")]})
    builder.add_edge(START, "reply")
    builder.add_edge("reply", END)
    return builder.compile(checkpointer=saver)


def every_id(saver: FileSaver) -> set[str]:
    """Find the ids of a whole thread by their form, in every byte that is stored of it."""
    with saver.db.reading() as connection:
        stored = connection.execute("SELECT checkpoint FROM checkpoints UNION ALL SELECT value FROM writes").fetchall()
    return {one.decode() for (blob,) in stored for one in ID.findall(blob or b"")}


@pytest.mark.parametrize("durability", ["sync", "exit"])
@pytest.mark.parametrize("state", [Kept, Trimmed])
def test_every_id_that_was_ever_stored_is_known(saver: FileSaver, state: type[Any], durability: Durability) -> None:
    graph = compiled(state, saver)
    for number in range(6):
        graph.invoke({"messages": [HumanMessage(content=f"ask {number}")]}, CONFIG, durability=durability)
        if number == 3 and state is Kept:
            last = graph.get_state(CONFIG).values["messages"][-1].id
            graph.update_state(CONFIG, {"messages": [RemoveMessage(id=last)]}, as_node="reply")
        if number == 4 and state is Kept:
            graph.update_state(CONFIG, {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]}, as_node="reply")
    with saver.db.reading() as connection:
        checkpoints = {one for (one,) in connection.execute("SELECT checkpoint_id FROM checkpoints")}
        ids = every_id(saver) - checkpoints
        assert len(ids) >= 6
        assert {one for one in ids if not mentions.mentioned(connection, "t", one)} == set()
        assert not mentions.mentioned(connection, "t", "nowhere")


def test_a_conversation_that_only_grows_is_told_by_few_of_its_checkpoints(saver: FileSaver) -> None:
    graph = compiled(Kept, saver)
    for number in range(20):
        graph.invoke({"messages": [HumanMessage(content=f"ask {number}")]}, CONFIG)
    with saver.db.reading() as connection:
        stored = {one for (one,) in connection.execute("SELECT checkpoint_id FROM checkpoints")}
        assert stored.difference(mentions.repeated(connection, "t")) == {min(stored), max(stored)}
