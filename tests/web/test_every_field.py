"""Whatever stands in a field of a request, the answer is JSON that names the field, or what was asked for.

The fields are those of our own OpenAPI document, so that a new one is tried without being named here.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from tests.service import Service

JsonDict = dict[str, Any]
DEEP: Any = [[]]
for _ in range(100):
    DEEP = [DEEP]
JUNK: tuple[Any, ...] = (
    None, [], {}, "", 0, -1, True, 1e308, 2**63 - 1, "x" * 10_000, "a\0b", "\u202e😀", DEEP, [None], [{}], [[]],
    {"a": [{"b": [None, {"": []}]}]}, {"drop_channels": [{}]}, {"messages": [None]}, {"node": "reply"},
    {"messages": [{"role": "user", "content": "x", "additional_kwargs": "y"}]}, {"checkpoint_id": "\0"},
)  # fmt: skip
TEXTS = ("0", "-1", "null", "[]", "1e308", "9" * 30, "x" * 3000, "a\0b", "\u202e😀", "a b", "t\n", "'; --")
RAW = (
    b"[]", b"null", b'{"a": 1, "a": 2}', b'{"a": NaN}', b'{"a": 1e400}', b'{"a": 9223372036854775808}',
    b'{"a": "\\ud83d"}', b"\xff", b"{", b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}",
)  # fmt: skip
OTHERS = {"thread_id", "path", "body"}
SENTENCES = {"can no longer be branched from", "Subgraph"}  # the contract's own sentence, and one of LangGraph's


class World:
    """A thread with two turns, and a body that each operation takes; made anew after what was accepted."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.document = service.ask("GET", "/api/openapi.json")
        self.renew()

    def renew(self) -> None:
        """Make the thread."""
        self.thread = self.service.thread(title="T")
        self.service.wait(self.thread, "chat", "a")
        said = self.service.wait(self.thread, "chat", "b")["messages"]
        shown = self.service.get(self.thread)
        run = self.service.get(self.thread, "/runs")[0]["run_id"]
        self.path = {
            "thread_id": self.thread, "assistant_id": "chat", "run_id": run, "turn_id": run, "namespace": "x",
            "checkpoint_id": shown["head_checkpoint_id"],
        }  # fmt: skip
        place = {"checkpoint_id": shown["head_checkpoint_id"]}
        answer, question = {"message_id": said[3]["id"]}, {"human_message_id": said[2]["id"], "replacement_text": "c"}
        self.bodies: dict[str, JsonDict] = {
            "RunCreateBody": {"assistant_id": "chat", "input": {"messages": []}}, "StateAtBody": {"checkpoint": place},
            "StateUpdateBody": {"values": {"messages": []}}, "RegenerateBody": answer, "RegenerateRunBody": answer,
            "EditBody": question, "EditRunBody": question, "BranchBody": answer, "HeadBody": place,
            "BulkArchiveBody": {"archived": True, "thread_ids": [self.thread]},
            "ItemPutBody": {"namespace": ["a"], "key": "k", "value": {}},
            "ItemNameBody": {"namespace": ["a"], "key": "k"},
        }  # fmt: skip

    def operations(self) -> Iterator[tuple[str, str, JsonDict, str | None]]:
        """Give (method, path, operation, name of the body's schema)."""
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
                yield method.upper(), path, operation, content.get("schema", {}).get("$ref", "").split("/")[-1] or None

    def fields(self, name: str) -> Iterator[tuple[str, ...]]:
        """Give the fields of a schema, those inside its objects too."""
        for field, about in self.document["components"]["schemas"][name].get("properties", {}).items():
            yield (field,)
            for reference in (about.get("$ref"), *(part.get("$ref") for part in about.get("anyOf", []))):
                if reference:
                    yield from ((field, *inner) for inner in self.fields(reference.split("/")[-1]))

    def url(self, path: str, **odd: str) -> str:
        """Fill in a path."""
        return path.format(**{name: quote(text, safe="") for name, text in {**self.path, **odd}.items()})

    def try_it(self, method: str, url: str, names: tuple[str, ...], **sent: Any) -> None:
        """Ask, and check what every answer promises."""
        rows = self.service.rows("SELECT * FROM threads")
        with self.service.client.open(url, method=method, **sent) as answer:
            status, data = answer.status_code, answer.get_data()
        asked = (method, url[:200], names, str(sent)[:200], status, data[:300])
        assert status < 500, asked
        if status >= 400:
            detail = json.loads(data)["detail"]
            assert any(word in detail for word in (*names, *OTHERS, *SENTENCES)), asked
            settled = [row[:2] for row in self.service.rows("SELECT * FROM threads")]
            assert settled == [row[:2] for row in rows], asked
        elif "/threads" in url and method in ("DELETE", "PUT") or url.endswith(("/regenerate", "/edit")):
            for run in self.service.get(self.thread, "/runs") if method != "DELETE" else ():
                self.service.join(self.thread, run["run_id"])
            self.renew()


@pytest.fixture
def world(service: Service) -> World:
    return World(service)


def test_no_parameter_of_any_path_or_query_makes_it_fail(world: World) -> None:
    for method, path, operation, schema in world.operations():
        for parameter in operation.get("parameters", []):
            name = parameter["name"]
            for text in TEXTS:
                body = {} if schema is None else {"json": world.bodies.get(schema, {})}
                if parameter["in"] == "path":
                    world.try_it(method, world.url(path, **{name: text}), (name,), **body)
                else:
                    asked = [one for one in operation["parameters"] if one["in"] == "query"]
                    query = {one["name"]: "x" for one in asked if one["required"]} | {name: text}
                    world.try_it(method, f"{world.url(path)}?{urlencode(query)}", (name,), **body)


def test_no_field_of_any_body_makes_it_fail(world: World) -> None:
    tried: set[str] = set()
    for method, path, _, schema in world.operations():
        some = JUNK[::4] if schema in tried else JUNK
        tried.add(schema or "")
        for names in world.fields(schema) if schema else ():
            for junk in some:
                body: JsonDict = json.loads(json.dumps(world.bodies.get(schema or "", {})))
                inside = body
                for name in names[:-1]:
                    inside = inside.setdefault(name, {})
                inside[names[-1]] = junk
                if names[0] == "command":
                    body.pop("input")
                world.try_it(method, world.url(path), names, json=body)


def test_no_body_that_is_no_json_object_is_taken(world: World) -> None:
    for method, path, _, schema in world.operations():
        for raw in RAW if schema else ():
            with world.service.client.open(world.url(path), method=method, data=raw) as answer:
                assert (answer.status_code, list(json.loads(answer.get_data())["errors"])) == (422, ["body"]), path
