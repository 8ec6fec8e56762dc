"""The document: valid, complete, and every exchange that it prints happens as printed."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from openapi_spec_validator import OpenAPIV31SpecValidator

NOT_API = {"static", "openapi", "docs", "page", "sign_in_page", "sign_in", "sign_out"}
MOVING = (
    re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00"),
    re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-6[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"),
)


@pytest.fixture
def document(client: FlaskClient) -> dict[str, Any]:
    return dict(client.get("/api/openapi.json").json)


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def test_the_document_is_valid_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    assert [str(error.message) for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_every_route_is_in_the_document_and_nothing_else_is(app: Flask, document: dict[str, Any]) -> None:
    served = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        if rule.endpoint not in NOT_API and rule.endpoint.startswith("root.")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert served == {(path, method) for path, method, _ in operations(document)}


def test_every_mount_serves_the_same_routes(app: Flask) -> None:
    mounts: dict[str, set[tuple[str, str]]] = {"": set(), "/api": set(), "/api/langgraph": set()}
    for rule in app.url_map.iter_rules():
        name, _, endpoint = rule.endpoint.partition(".")
        if endpoint:
            prefix = {"root": "", "api": "/api", "langgraph": "/api/langgraph"}[name]
            assert rule.rule.startswith(prefix)
            mounts[prefix].add((rule.rule[len(prefix) :], endpoint))
    assert mounts[""] == mounts["/api"] == mounts["/api/langgraph"] != set()


def test_every_operation_says_what_it_does_and_what_it_answers(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names))
    for path, method, operation in operations(document):
        assert operation["summary"], (path, method)
        good = [code for code in operation["responses"] if code.startswith("2")]
        assert len(good) == 1, (path, method)
        if good[0] not in ("202", "204"):
            assert operation["responses"][good[0]]["content"], (path, method)


def test_what_answers_with_events_on_demand_says_so(document: dict[str, Any]) -> None:
    on_demand = {}
    for _, _, operation in operations(document):
        good = next(said for code, said in operation["responses"].items() if code.startswith("2"))
        if len(good.get("content", {})) > 1:
            on_demand[operation["operationId"]] = [*good["content"]]
    assert on_demand == dict.fromkeys(("regenerate", "edit"), ["application/json", "text/event-stream"])


def same(printed: Any, given: Any) -> bool:
    """Say whether an answer is as printed; ids and times may be others of their kind."""
    if isinstance(printed, dict) and isinstance(given, dict):
        return printed.keys() == given.keys() and all(same(value, given[key]) for key, value in printed.items())
    if isinstance(printed, list) and isinstance(given, list):
        return len(printed) == len(given) and all(map(same, printed, given))
    if isinstance(printed, str) and isinstance(given, str):
        moving = any(kind.fullmatch(printed) and kind.fullmatch(given) for kind in MOVING)
        return moving or printed == given
    return type(printed) is type(given) and bool(printed == given)


def run(client: FlaskClient, document: dict[str, Any], name: str) -> None:
    """Run the printed exchange of an operation, after those that it says come before."""
    path, method, operation = next(found for found in operations(document) if found[2]["operationId"] == name)
    for before in operation.get("x-after", []):
        run(client, document, before)
    query = {}
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", parameter["example"])
        elif "example" in parameter:
            query[parameter["name"]] = parameter["example"]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
    answer = client.open("/api" + path, method=method.upper(), json=body, query_string=query)
    printed = operation["responses"].get(str(answer.status_code))
    assert printed is not None, (name, answer.status_code, answer.data)
    content = printed.get("content", {}).get(answer.mimetype, {})
    if "example" in content:
        assert same(content["example"], answer.json), (content["example"], answer.json)


def test_every_printed_exchange_happens_as_printed(make: Callable[..., Flask], document: dict[str, Any]) -> None:
    printed = [
        operation["operationId"]
        for path, _, operation in operations(document)
        if "{" not in path or all("example" in one for one in operation["parameters"] if one["in"] == "path")
    ]
    assert {"create_thread", "search_threads", "get_thread", "change_thread", "delete_thread"} <= set(printed)
    for name in printed:
        app = make()
        app.extensions["deerflow_lite"].start()
        run(app.test_client(), document, name)


def test_the_docs_page_uses_local_files_alone(client: FlaskClient) -> None:
    page = client.get("/docs")
    assert (page.status_code, page.mimetype) == (200, "text/html")
    assets = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert assets and all(asset.startswith("/") for asset in assets)
    for asset in assets:
        assert client.get(asset, buffered=True).status_code == 200
    assert re.findall(r"<script(?![^>]*\bsrc=)", page.text) == []
