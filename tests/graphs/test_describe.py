"""Drawings and schemas in the shapes of LangGraph's own server."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel

from deerflow_lite.graphs.describe import graph_json, schemas, subgraphs
from tests import sample_graphs

SCHEMAS = ["config_schema", "context_schema", "input_schema", "output_schema", "state_schema"]


def runnable(name: str) -> dict[str, Any]:
    return {"id": name, "type": "runnable", "data": {"name": name}}


class Opaque:
    """A class that no schema can tell."""


@dataclass
class Context:
    """What a run is given beside its input."""

    who: str


class OddState(MessagesState):
    """Names that a Pydantic model could not have as fields, and a value without a schema."""

    copy: str
    _hidden: int
    opaque: Opaque


def odd_graph() -> Any:
    builder = StateGraph(OddState, context_schema=Context).add_node("one", lambda state: {}).add_edge(START, "one")
    return builder.add_conditional_edges("one", lambda state: END, ["one", END]).compile(name="odd")


def test_a_graph_is_drawn_by_nodes_and_edges_without_classes() -> None:
    assert graph_json(sample_graphs.noop) == {
        "nodes": [runnable("__start__"), runnable("nothing"), {"id": "__end__"}],
        "edges": [{"source": "__start__", "target": "nothing"}, {"source": "nothing", "target": "__end__"}],
    }


def test_xray_opens_subgraphs() -> None:
    assert graph_json(sample_graphs.nested, xray=True) == {
        "nodes": [runnable("__start__"), runnable("after"), {"id": "__end__"}, runnable("inner:echo")],
        "edges": [
            {"source": "__start__", "target": "inner:echo"},
            {"source": "inner:echo", "target": "after"},
            {"source": "after", "target": "__end__"},
        ],
    }
    closed = graph_json(sample_graphs.nested)
    assert [node["id"] for node in closed["nodes"]] == ["__start__", "inner", "after", "__end__"]
    assert graph_json(sample_graphs.nested, xray=1) == graph_json(sample_graphs.nested, xray=True)


def test_a_conditional_edge_says_so() -> None:
    edges = graph_json(odd_graph())["edges"]
    assert {"source": "one", "target": "__end__", "conditional": True} in edges


def test_schemas_tell_input_output_and_an_optional_state() -> None:
    told = schemas(sample_graphs.chat, "chat")
    assert sorted(told) == sorted(["graph_id", *SCHEMAS])
    assert (told["graph_id"], told["config_schema"], told["context_schema"]) == ("chat", {}, None)
    assert (told["input_schema"]["title"], told["input_schema"]["required"]) == ("ChatState", ["messages", "title"])
    assert told["output_schema"] == told["input_schema"]
    state = told["state_schema"]
    assert sorted(state) == ["$defs", "properties", "title", "type"]
    assert (state["title"], state["type"]) == ("chat_state", "object")
    assert state["properties"]["title"] == {"default": None, "title": "Title", "type": "string"}
    assert state["properties"]["messages"] == {"default": None, **told["input_schema"]["properties"]["messages"]}
    assert state["$defs"] == told["input_schema"]["$defs"]


def test_a_value_without_a_schema_leaves_the_rest_told() -> None:
    told = schemas(odd_graph(), "odd")
    assert told["input_schema"] is None
    assert told["state_schema"]["properties"]["opaque"] == {"default": None, "title": "Opaque"}
    assert told["state_schema"]["properties"]["copy"] == {"default": None, "title": "Copy", "type": "string"}
    assert told["context_schema"]["properties"] == {"who": {"title": "Who", "type": "string"}}


def test_subgraphs_are_told_by_name_and_namespace() -> None:
    outer = StateGraph(MessagesState).add_node("nested", sample_graphs.nested).add_edge(START, "nested").compile()
    assert list(subgraphs(outer)) == ["nested"]
    assert list(subgraphs(outer, recurse=True)) == ["nested", "nested|inner"]
    assert list(subgraphs(outer, "nested|inner", recurse=True)) == ["nested|inner"]
    assert list(subgraphs(outer, "absent")) == []
    assert sorted(subgraphs(outer)["nested"]) == SCHEMAS
    assert subgraphs(outer)["nested"]["state_schema"]["title"] == "nested_state"


@pytest.mark.parametrize("name", ["chat", "ask", "noop", "boom", "slow", "nested", "typed"])
def test_every_description_is_json(name: str) -> None:
    graph = getattr(sample_graphs, name)
    told = [graph_json(graph, xray=True), schemas(graph, name), subgraphs(graph, recurse=True)]
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_two_classes_of_one_name_stay_apart() -> None:
    def made(kind: type[Any]) -> type[BaseModel]:
        return type("Same", (BaseModel,), {"__annotations__": {"value": kind}, "__module__": f"m{kind.__name__}"})

    class Both(MessagesState):
        left: made(int)  # type: ignore[valid-type]
        right: made(str)  # type: ignore[valid-type]

    graph = StateGraph(Both).add_node("one", lambda state: {}).add_edge(START, "one").compile()
    properties = schemas(graph, "both")["state_schema"]["properties"]
    assert properties["left"]["$ref"] != properties["right"]["$ref"]
