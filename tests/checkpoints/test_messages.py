"""Messages read from raw rows of both modes, held against what LangGraph reads; nothing is built."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, _messages_delta_reducer
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from deerflow_lite.checkpoints import fold, lineage, modes, tables
from deerflow_lite.checkpoints.family import family
from deerflow_lite.checkpoints.mentions import mentioned
from deerflow_lite.checkpoints.messages import Message, message_of, messages_at, user, visible
from deerflow_lite.checkpoints.saver import FileSaver
from deerflow_lite.db import Database
from deerflow_lite.errors import CheckpointUnreadable, LineageTooDeep, ParentMissing

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


class DeltaState(TypedDict):
    """Messages with a snapshot at every fifth update."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=5)]


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[FileSaver]:
    database = Database(tmp_path / "deerflow.sqlite", "normal")
    database.migrate(tables.MIGRATIONS)
    yield FileSaver(database)
    database.close()


def compiled(state: type[Any], saver: FileSaver) -> Any:
    """Compile a graph that answers every input once."""

    def reply(found: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(content="yes", id=f"ai-{len(found['messages'])}")]}

    builder = StateGraph(state)
    builder.add_node("reply", reply)
    builder.add_edge(START, "reply")
    builder.add_edge("reply", END)
    return builder.compile(checkpointer=saver)


@pytest.fixture(params=[MessagesState, DeltaState], ids=["full", "delta"])
def graph(request: pytest.FixtureRequest, saver: FileSaver) -> Any:
    return compiled(request.param, saver)


def rows(saver: FileSaver) -> list[modes.Row]:
    with saver.db.reading() as connection:
        return [*lineage.by_time(connection, "t")]


def compared(saver: FileSaver, graph: Any) -> None:
    """Compare every checkpoint, read alone, on the walk from every other, and from the first one down."""
    known: dict[str, list[dict[str, Any]]] = {}
    with saver.db.reading() as connection:
        for row in rows(saver):
            place = {**CONFIG["configurable"], "checkpoint_id": row.checkpoint_id}
            found = graph.get_state({"configurable": place}).values.get("messages", [])
            known[row.checkpoint_id] = [message.model_dump() for message in found]
            read = messages_at(connection, "t", row.checkpoint_id)
            assert [message.data for message in read] == known[row.checkpoint_id]
        for head in known:
            for held in fold.Reader(connection, "t", 1000).walk(head):
                wanted = known[held.row.checkpoint_id]
                assert held.ids == [data["id"] for data in wanted]
                assert [outline.type for outline in held.outlines] == [data["type"] for data in wanted]
        descended = fold.descended(connection, "t", family(connection, "t"))
        read = {one: [message_of(entry, one).data for entry in folded.entries] for one, folded in descended.items()}
        assert read == known


def talked(graph: Any, turns: int) -> None:
    for number in range(turns):
        graph.invoke({"messages": [HumanMessage(content=f"ask {number}", id=f"u{number}")]}, CONFIG)


CHANGES: list[Callable[[], Any]] = [
    lambda: [RemoveMessage(id="u1")],
    lambda: [HumanMessage(content="other words", id="u1")],
    lambda: [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage(content="new", id="n1")],
    lambda: [AIMessage(content="said", id="n2"), ToolMessage(content="2", tool_call_id="c", id="n3")],
    lambda: Overwrite([HumanMessage(content="only this", id="n4")]),
    lambda: Overwrite([]),
    lambda: HumanMessage(content="no list", id="n5"),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_messages_are_those_that_langgraph_reads_at_every_checkpoint(saver: FileSaver, graph: Any, number: int) -> None:
    talked(graph, 4)
    middle = rows(saver)[-3].checkpoint_id
    graph.update_state(CONFIG, {"messages": CHANGES[number]()}, as_node="reply")
    talked(graph, 3)
    place = {"configurable": {**CONFIG["configurable"], "checkpoint_id": middle}}
    graph.invoke({"messages": [HumanMessage(content="beside", id="b1")]}, place)
    talked(graph, 1)
    compared(saver, graph)


@pytest.mark.parametrize("durability", ["exit", "async", "sync"])
def test_messages_are_the_same_however_often_a_run_stores(saver: FileSaver, graph: Any, durability: str) -> None:
    for number in range(7):
        given = {"messages": [HumanMessage(content="a", id=f"u{number}")]}
        graph.invoke(given, CONFIG, durability=durability)
    compared(saver, graph)


def test_a_thread_that_went_from_full_to_delta_is_read_through_the_change(saver: FileSaver) -> None:
    for state in (MessagesState, DeltaState):
        builder = StateGraph(state)
        builder.add_node(
            "reply", lambda state: {"messages": [AIMessage(content="b", id=f"ai-{len(state['messages'])}")]}
        )
        builder.add_edge(START, "reply")
        graph = builder.compile(checkpointer=saver)
        for number in range(3):
            graph.invoke({"messages": [HumanMessage(content="a", id=f"{state.__name__}-{number}")]}, CONFIG)
    compared(saver, graph)


def test_only_what_people_see_is_visible() -> None:
    kinds = [("human", False), ("ai", False), ("system", False), ("tool", False), ("human", True), ("ai", True)]
    found = [Message("m", kind, hidden, {}) for kind, hidden in kinds]
    assert [visible(one) for one in found] == [True, True, False, False, False, False]
    assert [user(one) for one in found] == [True, False, False, False, False, False]


def test_a_text_that_looks_like_an_id_is_no_message_of_that_id(saver: FileSaver, graph: Any) -> None:
    graph.invoke({"messages": [HumanMessage(content="u7 ai-9", id="u1", additional_kwargs={"id": "u8"})]}, CONFIG)
    with saver.db.reading() as connection:
        ids = ("u1", "ai-1", "u7", "ai-9", "u8", "", "\ud83d")
        assert [mentioned(connection, "t", one) for one in ids] == [True, True, False, False, False, False, False]
        assert not mentioned(connection, "another", "u1")


def broken(saver: FileSaver, statement: str, *values: object) -> None:
    with saver.db.writing() as connection:
        connection.execute(statement, values)


def test_a_row_that_cannot_be_decoded_is_unreadable_and_not_read_around(saver: FileSaver, graph: Any) -> None:
    talked(graph, 3)
    head, middle = rows(saver)[-1].checkpoint_id, rows(saver)[4].checkpoint_id
    for blob in (b"\xc1\xff\x00", b"", None, "text", rows(saver)[4].blob[:-1], ormsgpack.packb([1])):
        broken(saver, "UPDATE checkpoints SET checkpoint = ? WHERE checkpoint_id = ?", blob, middle)
        with saver.db.reading() as connection, pytest.raises(CheckpointUnreadable, match=middle):
            [*fold.Reader(connection, "t", 1000).walk(head)]


def test_a_snapshot_of_another_size_than_its_writes_make_is_read(saver: FileSaver) -> None:
    graph = compiled(DeltaState, saver)
    talked(graph, 4)
    [stored, *_] = [row for row in rows(saver) if b"\xa8messages\xc8" in row.blob]
    held = modes.unpacked(stored)
    code, packed = held["channel_values"]["messages"]
    left = ormsgpack.unpackb(packed, ext_hook=lambda code, data: ormsgpack.Ext(code, data))[1:]
    held["channel_values"]["messages"] = ormsgpack.Ext(code, ormsgpack.packb(left))
    changed = "UPDATE checkpoints SET checkpoint = ? WHERE checkpoint_id = ?"
    broken(saver, changed, ormsgpack.packb(held), stored.checkpoint_id)
    compared(saver, graph)


def test_a_row_of_another_encoding_is_unreadable(saver: FileSaver, graph: Any) -> None:
    talked(graph, 1)
    head = rows(saver)[-1].checkpoint_id
    broken(saver, "UPDATE checkpoints SET type = 'json'")
    with saver.db.reading() as connection, pytest.raises(CheckpointUnreadable):
        messages_at(connection, "t", head)


def test_delta_messages_over_a_lost_parent_are_refused_and_never_fewer(saver: FileSaver) -> None:
    talked(compiled(DeltaState, saver), 1)
    [*_, middle, head] = rows(saver)
    broken(saver, "UPDATE checkpoints SET parent_checkpoint_id = NULL WHERE checkpoint_id = ?", middle.checkpoint_id)
    with saver.db.reading() as connection, pytest.raises(CheckpointUnreadable, match=middle.checkpoint_id):
        messages_at(connection, "t", head.checkpoint_id)
    broken(saver, "UPDATE checkpoints SET parent_checkpoint_id = 'gone' WHERE checkpoint_id = ?", middle.checkpoint_id)
    with saver.db.reading() as connection, pytest.raises(ParentMissing, match="gone"):
        messages_at(connection, "t", head.checkpoint_id)


def test_the_search_for_a_stored_value_is_bounded(saver: FileSaver, monkeypatch: pytest.MonkeyPatch) -> None:
    talked(compiled(DeltaState, saver), 1)
    head = rows(saver)[-1].checkpoint_id
    with saver.db.reading() as connection:
        monkeypatch.setattr(fold, "FOLD_STEPS", 2)
        assert len(messages_at(connection, "t", head)) == 2
        monkeypatch.setattr(fold, "FOLD_STEPS", 1)
        with pytest.raises(LineageTooDeep):
            messages_at(connection, "t", head)


def test_reading_imports_and_builds_nothing_that_a_crafted_row_names(saver: FileSaver) -> None:
    entry = ormsgpack.packb(["os", "system", {"type": "human", "id": "x", "content": "hi"}, "model_validate_json"])
    message = ormsgpack.Ext(5, entry)
    nested = ormsgpack.Ext(0, ormsgpack.packb(["os", "system", "touch /tmp/never"]))
    blob = {"v": 4, "channel_values": {"messages": [message, nested]}, "channel_versions": {}, "versions_seen": {}}
    statement = "INSERT INTO checkpoints VALUES ('t', '', 'c', NULL, 'msgpack', ?, '{}')"
    broken(saver, statement, ormsgpack.packb(blob))
    with saver.db.reading() as connection:
        found = messages_at(connection, "t", "c")
    assert [(one.id, one.type) for one in found] == [("x", "human"), (None, "")]


def test_a_checkpoint_that_is_not_stored_has_no_messages_to_give(saver: FileSaver) -> None:
    with saver.db.reading() as connection, pytest.raises(ParentMissing):
        messages_at(connection, "t", "nowhere")
