"""Declares a route once: what it takes, what it answers, what it says of itself; it serves no route of its own.

The table of routes validates requests (`handler`) and makes the OpenAPI document (`openapi.py`), so the two cannot
differ. Every reason of a refused request is told at once: path, query and body.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from flask import Blueprint, Request, Response, request
from marshmallow import Schema, ValidationError
from marshmallow.exceptions import SCHEMA

from deerflow_lite.accounts import Token
from deerflow_lite.errors import Invalid
from deerflow_lite.gateway import Gateway
from deerflow_lite.web.body import REFUSED, json_list, json_object
from deerflow_lite.web.callers import caller, token_of
from deerflow_lite.web.schemas.paths import PATHS

View = Callable[..., Any]


@dataclass(frozen=True)
class Call:
    """What a view is called with besides its checked values."""

    gateway: Gateway
    owner: str
    request: Request
    token: Token | None

    def welcome(self) -> bool:
        """Say whether the caller may still be answered; a long answer asks again."""
        return self.token is None or self.gateway.accounts.stands(self.token)

    def prefers_minimal(self) -> bool:
        """Say whether the caller asked for an empty answer."""
        return "return=minimal" in self.request.headers.get("Prefer", "").lower().replace(" ", "")


@dataclass(frozen=True)
class Example:
    """One printed exchange; `after` names the views whose examples come before it on a fresh service."""

    answer: Any = None
    body: Any = None
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Route:
    """One row of the table; `path` is a Flask rule, `refusals` are the statuses it may answer besides."""

    method: str
    path: str
    view: View
    tag: str
    body: Schema | None
    query: Schema | None
    answer: Any
    status: int
    refusals: tuple[int, ...]
    example: Example | None
    media: str
    headers: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.view.__name__

    @property
    def about(self) -> str:
        return (self.view.__doc__ or "").strip()


class Routes:
    """The routes of one subject, in the order in which the document shows them."""

    def __init__(self, tag: str, about: str) -> None:
        self.tag = tag
        self.about = about
        self.table: list[Route] = []
        self.unserved: list[str] = []

    def route(
        self,
        method: str,
        path: str,
        *,
        body: type[Schema] | list[type[Schema]] | None = None,
        query: type[Schema] | None = None,
        answer: Any = None,
        status: int = 200,
        refusals: tuple[int, ...] = (),
        example: Example | None = None,
        media: str = "application/json",
        headers: tuple[str, ...] = (),
    ) -> Callable[[View], View]:
        """Declare the view below as this route.

        The view gets a Call, the path's parameters by name, and `body` and `query` as the schemas' records. `answer` is
        a schema class, a list of one (as `body` may be), or a JSON Schema dict; `status` 204 and 202 have no body.
        `headers` are the names of those that the answer may carry.
        """

        def declare(view: View) -> View:
            asked = body[0](many=True) if isinstance(body, list) else None if body is None else body()
            looked = None if query is None else query()
            self.table.append(
                Route(method, path, view, self.tag, asked, looked, answer, status, refusals, example, media, headers)
            )
            return view

        return declare

    def refuse(self, *paths: str) -> None:
        """Declare paths of LangGraph's API that answer 405 to every method."""
        self.unserved.extend(paths)


def blueprint(all_routes: Iterable[Routes], gateway: Gateway) -> Blueprint:
    """Make the one blueprint that is mounted at each prefix."""
    made = Blueprint("api", __name__)
    for routes in all_routes:
        for route in routes.table:
            made.add_url_rule(route.path, route.name, handler(route, gateway), methods=[route.method])
        for path in routes.unserved:
            made.add_url_rule(path, "unserved", _unserved, methods=[])
    return made


def _unserved() -> Response:
    raise AssertionError("a rule without methods is never called")


def handler(route: Route, gateway: Gateway) -> Callable[..., Response]:
    """Make the Flask view of a route: caller, checks, view, answer."""

    def handle(**path: str) -> Response:
        owner = caller(request)
        checked = _checked(route, request, path)
        return respond(route.view(Call(gateway, owner, request, token_of(request)), **checked), route.status)

    return handle


def _checked(route: Route, request: Request, path: Mapping[str, str]) -> dict[str, Any]:
    if (refused := request.environ.get(REFUSED)) is not None:
        raise refused
    problems: dict[str, list[str]] = {}
    values: dict[str, Any] = {}
    for name, text in path.items():
        values[name] = _loaded(PATHS[name].deserialize, text, problems, name) if name in PATHS else text
    if route.query is not None:
        values["query"] = _loaded(route.query.load, _query(route.query, request), problems)
    if route.body is not None:
        parse = json_list if route.body.many else json_object
        values["body"] = _loaded(route.body.load, parse(request.get_data()), problems)
    if problems:
        raise Invalid(problems)
    return values


def _loaded(load: Callable[[Any], Any], given: Any, problems: dict[str, list[str]], name: str = "") -> Any:
    try:
        return load(given)
    except ValidationError as error:
        problems.update(flat(error.messages, name))
        return None


def flat(messages: Any, name: str = "") -> dict[str, list[str]]:
    """Turn marshmallow's nested messages into {dotted field: [reasons]}."""
    if isinstance(messages, dict):
        found: dict[str, list[str]] = {}
        for key, below in messages.items():
            found |= flat(below, name if key == SCHEMA else f"{name}.{key}" if name else str(key))
        return found
    return {name: [str(reason).rstrip(".") for reason in messages]}


def _query(schema: Schema, request: Request) -> dict[str, Any]:
    """Give the parameters that say something: SDKs send the ones they have no value for as empty."""
    lists = {name for name, kind in schema.load_fields.items() if hasattr(kind, "inner")}
    given = {name: [value for value in values if value] for name, values in request.args.lists()}
    return {name: _listed(values) if name in lists else values[-1] for name, values in given.items() if values}


def _listed(values: list[str]) -> list[Any]:
    """Give the entries of a list; LangGraph's JavaScript client sends a whole one as JSON."""
    entries: list[Any] = []
    for value in values:
        try:
            whole = orjson.loads(value)
        except orjson.JSONDecodeError:
            whole = None
        entries += whole if isinstance(whole, list) else [value]
    return entries


def respond(answer: Any, status: int = 200) -> Response:
    """Make a response of what a view answered.

    A Response stays as it is; `(body, status, headers)` sets those; bytes are JSON already; None has no body.
    """
    headers: Mapping[str, str] = {}
    if isinstance(answer, Response):
        return answer
    if isinstance(answer, tuple):
        answer, status, headers = answer
    if answer is None:
        empty = Response(status=204 if status == 200 else status, headers=dict(headers))
        empty.headers.pop("Content-Type", None)
        return empty
    body = answer if isinstance(answer, bytes) else orjson.dumps(answer)
    return Response(body, status, dict(headers), mimetype="application/json")
