"""The OpenAPI 3.1 document, made of the table of routes; it serves nothing and validates nothing.

Whatever a schema refuses is in the document, since both read the same field. `x-after` on an operation names the
operations whose examples come before its own on a fresh service.
"""

import re
from collections.abc import Iterable
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin, resolver
from marshmallow import fields

from deerflow_lite.web.callers import CSRF_HEADER, OPEN, SESSION_COOKIE
from deerflow_lite.web.contract import Example, Route, Routes
from deerflow_lite.web.schemas.fields import JsonObject
from deerflow_lite.web.schemas.paths import PATHS

JsonDict = dict[str, Any]
ABOUT = """The conversations of LangGraph agents, kept on one machine. The same paths answer under `/api`, under `/` and
under `/api/langgraph`, as LangGraph's SDK clients ask them. Every error is `{"detail": sentence}`."""
REASONS = {
    401: "no token, or one that is unknown, revoked or expired (only with AUTH=tokens)",
    400: "the graph refused it",
    404: "it does not exist",
    409: "the state of the thread does not allow it",
    413: "too large",
    422: "bad input; `errors` names the fields",
    503: "may work later, see Retry-After",
}
HEADERS = {
    "X-Pagination-Total": "number of matches",
    "X-Pagination-Total-Capped": "true where there are more matches than the total tells",
    "X-Pagination-Next": "offset of the next page, absent at the end",
    "X-Next-Cursor": "cursor of the next page, absent at the end",
    "Content-Location": "path of the run",
    "Location": "path of the run's stream",
}
WHO: dict[str, JsonDict] = {
    "token": {"type": "http", "scheme": "bearer", "description": "Only with AUTH=tokens"},
    "key": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "The same token"},
    "session": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE,
                "description": f"Of the sign-in page; a write also needs the header {CSRF_HEADER}"},
}  # fmt: skip
PROBLEM: JsonDict = {
    "type": "object",
    "required": ["detail"],
    "properties": {
        "detail": {"type": "string"},
        "errors": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
    },
}


def document(all_routes: Iterable[Routes], version: str) -> JsonDict:
    """Give the document as a dict."""
    plugin = MarshmallowPlugin(schema_name_resolver=resolver)
    spec = APISpec(
        "DeerFlow Lite", version, "3.1.0", [plugin], info={"description": ABOUT, "license": {"name": "MIT"}},
        security=[{}, *({name: []} for name in WHO)],
        servers=[{"url": "/api"}, {"url": "/"}, {"url": "/api/langgraph"}],
    )  # fmt: skip
    assert plugin.converter is not None
    plugin.converter.field_mapping[JsonObject] = ("object", None)
    spec.components.schema("Problem", PROBLEM)
    for name, scheme in WHO.items():
        spec.components.security_scheme(name, scheme)
    subjects = tuple(all_routes)
    for tag, about in {routes.tag: routes.about for routes in subjects}.items():
        spec.tag({"name": tag, "description": about})
    for routes in subjects:
        for route in routes.table:
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route.path)
            spec.path(path, operations={route.method.lower(): _operation(route, path, plugin)})
    return spec.to_dict()


def _operation(route: Route, path: str, plugin: MarshmallowPlugin) -> JsonDict:
    operation: JsonDict = {
        "operationId": route.name,
        "tags": [route.tag],
        "summary": route.about.split("\n")[0].rstrip("."),
        "responses": _responses(route),
    }
    if "\n" in route.about:
        operation["description"] = re.sub(r"\s+", " ", route.about.partition("\n")[2]).strip()
    if parameters := [*_path_parameters(route, path, plugin), *_query_parameters(route, plugin)]:
        operation["parameters"] = parameters
    if route.body is not None:
        operation["requestBody"] = _request_body(route)
    if route.example is not None and route.example.after:
        operation["x-after"] = list(route.example.after)
    return operation


def _request_body(route: Route) -> JsonDict:
    assert route.body is not None
    required = any(kind.required for kind in route.body.fields.values())
    body = {"type": "array", "items": route.body} if route.body.many else route.body
    return {"required": required, "content": {"application/json": _content(body, route.example, "body")}}


def _content(schema: Any, example: Example | None, part: str) -> JsonDict:
    content: JsonDict = {"schema": schema}
    if example is not None and getattr(example, part) is not None:
        content["example"] = getattr(example, part)
    return content


def _responses(route: Route) -> JsonDict:
    good: JsonDict = {"description": "as asked"}
    if route.media == "text/event-stream":
        good["content"] = {route.media: {}}  # a schema here would be one of the whole stream or of one event
    elif route.media != "application/json":
        good["content"] = {route.media: {"schema": {"type": "string"}}}
    elif route.answer is not None:
        good["content"] = {route.media: _content(_answer(route.answer), route.example, "answer")}
        if route.body is not None and "stream" in route.body.fields:  # the caller chooses
            good["content"]["text/event-stream"] = {}
    if route.headers:
        told = {name: {"description": HEADERS[name], "schema": {"type": "string"}} for name in route.headers}
        good["headers"] = told
    refusals = set(route.refusals)
    refusals |= set() if route.name in OPEN else {401}
    refusals |= {422} if route.body or route.query or "<" in route.path else set()
    problem = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {str(route.status): good} | {
        str(status): {"description": REASONS[status], "content": problem} for status in sorted(refusals)
    }


def _answer(answer: Any) -> Any:
    if isinstance(answer, list):
        return {"type": "array", "items": answer[0]}
    return answer


def _path_parameters(route: Route, path: str, plugin: MarshmallowPlugin) -> list[JsonDict]:
    return [_parameter("path", name, PATHS.get(name), route, plugin) for name in re.findall(r"\{(\w+)\}", path)]


def _query_parameters(route: Route, plugin: MarshmallowPlugin) -> list[JsonDict]:
    kinds = route.query.fields.items() if route.query is not None else ()
    return [_parameter("query", name, kind, route, plugin) for name, kind in kinds]


def _parameter(
    place: str, name: str, kind: "fields.Field[Any] | None", route: Route, plugin: MarshmallowPlugin
) -> JsonDict:
    schema: JsonDict = {"type": "string"}
    if kind is not None:
        assert plugin.converter is not None
        schema = dict(plugin.converter.field2property(kind))
    required = place == "path" or (kind is not None and kind.required)
    parameter: JsonDict = {"name": name, "in": place, "required": required, "schema": schema}
    if about := schema.pop("description", ""):
        parameter["description"] = about
    printed = getattr(route.example, place, {}) if route.example is not None else {}
    if name in printed:
        parameter["example"] = printed[name]
    return parameter
