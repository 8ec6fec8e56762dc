"""What a graph's channels tell, and the strict allow-list made of it."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, NamedTuple, NewType, NotRequired, Optional, Required

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.func import entrypoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send
from pydantic import BaseModel
from typing_extensions import TypedDict

from deerflow_lite.graphs.channels import channel_names, message_types, mode, titled
from tests import sample_graphs


class Colour(Enum):
    """A value of a field."""

    RED = 1


class Leaf(BaseModel):
    """A Pydantic value."""

    colour: Colour = Colour.RED
    children: "list[Leaf]" = []


@dataclass
class Item:
    """A dataclass value."""

    leaf: Leaf | None = None


class Pair(NamedTuple):
    """A named tuple value."""

    left: int
    right: Item


class Private(BaseModel):
    """The input of one node only."""

    text: str


class Nested(TypedDict):
    """A typed dict inside a channel."""

    item: Item


Wrapped = NewType("Wrapped", Private)


def compiled(**channels: Any) -> Any:
    state = TypedDict("state", channels)  # type: ignore[operator]
    return StateGraph(state).add_node("one", lambda state: {}).add_edge(START, "one").compile()


def own_types(graph: Any) -> list[str]:
    return [name for module, name in message_types(graph) if module == __name__]


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (str, True),
        (str | None, True),
        (Optional[str], True),  # noqa: UP045
        (NotRequired[str], True),
        (Required[str | None], True),
        (NotRequired[Annotated[str, "a note"]], True),
        (Annotated[str, operator.add], False),
        (int, False),
        (str | int, False),
        (list[str], False),
    ],
)
def test_a_title_is_a_plain_string_channel_of_that_name(kind: Any, wanted: bool) -> None:
    assert titled(compiled(title=kind)) is wanted


def test_a_graph_without_a_title_channel_has_no_title() -> None:
    assert [titled(graph) for graph in (sample_graphs.chat, sample_graphs.noop)] == [True, False]


def test_one_delta_channel_makes_the_mode_delta() -> None:
    delta = compiled(other=str, log=Annotated[list[str], DeltaChannel(lambda state, writes: state)])
    assert (mode(delta), mode(sample_graphs.chat)) == ("delta", "full")


def test_channel_names_leave_out_the_bookkeeping() -> None:
    assert {"messages", "approved"} < channel_names(sample_graphs.ask)


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (Leaf, ["Colour", "Leaf"]),
        (list[Item], ["Colour", "Item", "Leaf"]),
        (dict[str, Item | None], ["Colour", "Item", "Leaf"]),
        (Annotated[list[Item], operator.add], ["Colour", "Item", "Leaf"]),
        (Annotated[list[Item], DeltaChannel(lambda state, writes: state)], ["Colour", "Item", "Leaf"]),
        (Annotated[Sequence[tuple[Colour, ...]], ["unhashable"]], ["Colour"]),
        (Pair, ["Colour", "Item", "Leaf", "Pair"]),
        (Nested, ["Colour", "Item", "Leaf"]),
        (NotRequired[Wrapped], ["Private"]),
        (int, []),
        (Any, []),
    ],
)
def test_every_class_a_channel_can_hold_is_listed(kind: Any, wanted: list[str]) -> None:
    assert own_types(compiled(value=kind)) == wanted


def test_classes_of_subgraphs_and_of_a_nodes_own_input_are_listed() -> None:
    def fan(state: MessagesState) -> list[Send]:
        return [Send("private", Private(text="x"))]

    def private(state: Private) -> dict[str, Any]:
        return {}

    builder = StateGraph(MessagesState).add_node("inner", compiled(value=Colour)).add_node("private", private)
    graph = builder.add_edge(START, "inner").add_conditional_edges("inner", fan, ["private"]).compile()
    assert own_types(graph) == ["Colour", "Private"]


def test_classes_of_a_functional_graph_are_listed() -> None:
    @entrypoint()
    def work(item: Item) -> Item:
        return item

    assert own_types(work) == ["Colour", "Item", "Leaf"]


def test_pydantic_and_dataclass_values_survive_the_strict_serializer_over_two_turns() -> None:
    strict = JsonPlusSerializer(allowed_msgpack_modules=message_types(sample_graphs.typed))
    graph = sample_graphs.typed.copy(update={"checkpointer": InMemorySaver(serde=strict)})
    config = {"configurable": {"thread_id": "1"}}
    for _ in range(2):
        graph.invoke({"messages": [("user", "go")]}, config)
    home = sample_graphs.Place(name="home", mood=sample_graphs.Mood.BUSY)
    plus = sample_graphs.Place(name="home+", mood=sample_graphs.Mood.BUSY)
    values = graph.get_state(config).values
    assert (values["place"], values["places"]) == (plus, {"home+": plus})
    assert values["steps"] == [sample_graphs.Step(1, home), sample_graphs.Step(2, plus)]
