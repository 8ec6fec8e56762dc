"""Assistants as LangGraph's server tells them; they come from the settings, so nothing here writes."""

from collections.abc import Callable
from typing import Any

from deerflow_lite.graphs.describe import graph_json, schemas, subgraphs
from deerflow_lite.graphs.model import Assistant
from deerflow_lite.web.contract import Call, Example, Routes
from deerflow_lite.web.schemas.assistants import (
    AssistantAnswer,
    AssistantFilters,
    AssistantFiltersBody,
    AssistantSearch,
    AssistantSearchBody,
    Drawing,
    DrawingQuery,
    Subgraphs,
    SubgraphsQuery,
)

routes = Routes("Assistants", "The graphs of this service, by the names that clients use")
routes.refuse("/assistants", "/assistants/<assistant_id>/versions", "/assistants/<assistant_id>/latest")
AGENT = {"assistant_id": "agent"}
ANY_OBJECT = {"type": "object"}


def assistant_json(assistant: Assistant) -> dict[str, Any]:
    """Give an assistant as LangGraph's clients know it; a broken one carries its error as well."""
    told = {
        "assistant_id": assistant.assistant_id,
        "graph_id": assistant.graph_id,
        "config": {},
        "context": {},
        "metadata": {"created_by": "system"},
        "name": assistant.name,
        "created_at": assistant.created_at,
        "updated_at": assistant.created_at,
        "version": 1,
        "description": None,
    }
    return told if assistant.error is None else told | {"error": assistant.error}


def _matching(call: Call, asked: AssistantFilters) -> list[dict[str, Any]]:
    tests: list[Callable[[dict[str, Any]], bool]] = [
        lambda told: asked.graph_id in (None, told["graph_id"]),
        lambda told: asked.name is None or asked.name.casefold() in told["name"].casefold(),
        lambda told: all(_same(told["metadata"].get(key), value) for key, value in (asked.metadata or {}).items()),
    ]
    told_all = [assistant_json(assistant) for assistant in call.gateway.graphs.assistants()]
    return [told for told in told_all if all(test(told) for test in tests)]


def _same(stored: Any, wanted: Any) -> bool:
    return type(stored) is type(wanted) and bool(stored == wanted)


@routes.route(
    "POST", "/assistants/search", body=AssistantSearchBody, answer=[AssistantAnswer], example=Example(body={}),
    headers=("X-Pagination-Total", "X-Pagination-Next"),
)  # fmt: skip
def search_assistants(call: Call, body: AssistantSearch) -> Any:
    """List the assistants."""
    found = _matching(call, body)
    if body.sort_by is not None:
        found.sort(key=lambda told: (told[body.sort_by or ""], told["assistant_id"]), reverse=body.sort_order != "asc")
    page = found[body.offset : body.offset + body.limit]
    headers = {"X-Pagination-Total": str(len(found))}
    if body.offset + body.limit < len(found):
        headers["X-Pagination-Next"] = str(body.offset + body.limit)
    if body.select is not None:
        page = [{key: told[key] for key in body.select} for told in page]
    return page, 200, headers


@routes.route("POST", "/assistants/count", body=AssistantFiltersBody, answer={"type": "integer"},
              example=Example(1, body={"graph_id": "agent"}))  # fmt: skip
def count_assistants(call: Call, body: AssistantFilters) -> int:
    """Count the assistants."""
    return len(_matching(call, body))


@routes.route("GET", "/assistants/<assistant_id>", answer=AssistantAnswer, refusals=(404,), example=Example(path=AGENT))
def get_assistant(call: Call, assistant_id: str) -> dict[str, Any]:
    """Give one assistant by its id or the name of its graph."""
    return assistant_json(call.gateway.graphs.assistant(assistant_id))


@routes.route("GET", "/assistants/<assistant_id>/graph", query=DrawingQuery, answer=ANY_OBJECT, refusals=(404, 409),
              example=Example(path=AGENT))  # fmt: skip
def draw_assistant(call: Call, assistant_id: str, query: Drawing) -> dict[str, Any]:
    """Give the nodes and edges of an assistant's graph."""
    graph_id = call.gateway.graphs.assistant(assistant_id).graph_id
    with call.gateway.graphs.opened(graph_id) as graph:
        return graph_json(graph, query.xray)


@routes.route("GET", "/assistants/<assistant_id>/schemas", answer=ANY_OBJECT, refusals=(404, 409),
              example=Example(path=AGENT))  # fmt: skip
def assistant_schemas(call: Call, assistant_id: str) -> dict[str, Any]:
    """Give the JSON schemas of an assistant's graph."""
    graph_id = call.gateway.graphs.assistant(assistant_id).graph_id
    with call.gateway.graphs.opened(graph_id) as graph:
        return schemas(graph, graph_id)


@routes.route("GET", "/assistants/<assistant_id>/subgraphs", query=SubgraphsQuery, answer=ANY_OBJECT,
              refusals=(404, 409),
              example=Example(path=AGENT))  # fmt: skip
def assistant_subgraphs(call: Call, assistant_id: str, query: Subgraphs) -> dict[str, Any]:
    """Give the schemas of the subgraphs of an assistant's graph."""
    return _subgraphs(call, assistant_id, None, query)


@routes.route("GET", "/assistants/<assistant_id>/subgraphs/<namespace>", query=SubgraphsQuery, answer=ANY_OBJECT,
              refusals=(404, 409))  # fmt: skip
def assistant_subgraph(call: Call, assistant_id: str, namespace: str, query: Subgraphs) -> dict[str, Any]:
    """Give the schemas of one subgraph of an assistant's graph."""
    return _subgraphs(call, assistant_id, namespace, query)


def _subgraphs(call: Call, assistant_id: str, namespace: str | None, query: Subgraphs) -> dict[str, Any]:
    graph_id = call.gateway.graphs.assistant(assistant_id).graph_id
    with call.gateway.graphs.opened(graph_id) as graph:
        return subgraphs(graph, namespace, query.recurse)
