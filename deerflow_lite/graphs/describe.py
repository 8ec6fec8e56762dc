"""A compiled graph told in JSON: its drawing, its schemas, its subgraphs; it never runs the graph.

The shapes are those that LangGraph's own server answers. A type that no JSON schema can tell gives null.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deerflow_lite.graphs.factories import Graph

JsonObject = dict[str, Any]


def graph_json(graph: "Graph", xray: bool | int = False) -> JsonObject:
    """Give `{nodes, edges}`; `xray` opens subgraphs, a number only that many levels deep."""
    drawing: JsonObject = graph.get_graph(xray=xray).to_json()
    return {"nodes": [_node(node) for node in drawing["nodes"]], "edges": [_edge(edge) for edge in drawing["edges"]]}


def schemas(graph: "Graph", graph_id: str) -> JsonObject:
    """Give `{graph_id, input_schema, output_schema, state_schema, config_schema, context_schema}`."""
    return {"graph_id": graph_id, **_schemas(graph)}


def subgraphs(graph: "Graph", namespace: str | None = None, recurse: bool = False) -> JsonObject:
    """Give the schemas of the subgraphs by their namespace (`parent|child`), or of the one named."""
    return {name: _schemas(inner) for name, inner in graph.get_subgraphs(namespace=namespace, recurse=recurse)}


def _node(node: JsonObject) -> JsonObject:
    told: JsonObject = {key: node[key] for key in ("id", "type") if key in node}
    if "data" in node:
        # The class behind a runnable is no business of a client and changes with the library's version.
        data = {"name": node["data"].get("name", node["id"])} if isinstance(node["data"], dict) else node["data"]
        told["data"] = data
    return told


def _edge(edge: JsonObject) -> JsonObject:
    return {key: edge[key] for key in ("source", "target", "data", "conditional") if key in edge}


def _schemas(graph: Any) -> JsonObject:
    return {
        "input_schema": _told(graph, "get_input_jsonschema"),
        "output_schema": _told(graph, "get_output_jsonschema"),
        "state_schema": _state(graph),
        "config_schema": {},
        "context_schema": _told(graph, "get_context_jsonschema"),
    }


def _told(graph: Any, method: str) -> JsonObject | None:
    from pydantic.errors import PydanticUserError

    try:
        schema: JsonObject | None = getattr(graph, method)()
    except (AttributeError, NameError, PydanticUserError, TypeError, ValueError):
        return None
    return schema


def _state(graph: Any) -> JsonObject:
    """One optional property a channel, as an update of the state may name any of them."""
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    adapters: dict[str, TypeAdapter[Any]] = {}
    told: dict[str, JsonObject] = {}
    for name in graph.stream_channels_list:
        try:
            adapters[name] = TypeAdapter(graph.channels[name].UpdateType)
            adapters[name].json_schema()
        except (NameError, PydanticUserError, TypeError, ValueError):
            adapters.pop(name, None)
            told[name] = {}
    parts, shared = TypeAdapter.json_schemas([(name, "validation", adapter) for name, adapter in adapters.items()])
    told |= {name: schema for (name, _), schema in parts.items()}
    properties = {name: _property(name, told[name]) for name in graph.stream_channels_list}
    definitions = {"$defs": shared["$defs"]} if "$defs" in shared else {}
    return {**definitions, "properties": properties, "title": f"{graph.get_name()}_state", "type": "object"}


def _property(name: str, schema: JsonObject) -> JsonObject:
    title = {} if "$ref" in schema else {"title": name.replace("_", " ").title()}
    return {"default": None, **schema, **title}
