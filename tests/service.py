"""A running service without a socket, as its clients see it: every answer is asked through the routes."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deerflow_lite.gateway import Gateway

DEADLINE = 20.0


@dataclass(frozen=True)
class Frame:
    """One event of a stream."""

    id: int
    event: str
    data: Any


def frames(lines: Iterator[bytes]) -> Iterator[Frame]:
    """Read the events of a stream; comments are passed over."""
    waiting = b""
    for part in lines:
        waiting += part
        while b"\n\n" in waiting:
            text, _, waiting = waiting.partition(b"\n\n")
            fields = dict(line.split(": ", 1) for line in text.decode().splitlines() if not line.startswith(":"))
            if fields:
                assert list(fields) == ["event", "data", "id"], fields
                yield Frame(int(fields["id"]), fields["event"], json.loads(fields["data"]))
    assert waiting == b""


def until(met: Callable[[], Any]) -> Any:
    """Ask again and again until the answer is true, and give it."""
    end = time.monotonic() + DEADLINE
    while not (answer := met()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.005)
    return answer


def human(text: str, message_id: str | None = None) -> dict[str, Any]:
    """Give an input of one user message."""
    return {"messages": [{"type": "human", "content": text, "id": message_id or f"h-{text}"}]}


def texts(values: dict[str, Any]) -> list[str]:
    """Give the texts of the messages in values."""
    return [message["content"] for message in values.get("messages", [])]


class Service:
    """The verbs that the tests use."""

    def __init__(self, app: Flask, token: str = "") -> None:
        self.app = app
        self.token = token
        self.gateway: Gateway = app.extensions["deerflow_lite"]

    @property
    def client(self) -> FlaskClient:
        made = self.app.test_client()
        if self.token:
            made.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {self.token}"
        return made

    def of(self, owner: str) -> "Service":
        """Give the same service as somebody with a token of this owner sees it."""
        return Service(self.app, self.gateway.accounts.create(owner)[1])

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> TestResponse:
        given = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        return self.client.open(path, method=method, **given, **more)

    def ask(self, method: str, path: str, body: Any = None, status: int = 200, **more: Any) -> Any:
        """Give the JSON of an answer of this status, None for an empty one."""
        with self.call(method, path, body, **more) as answer:
            data = answer.get_data()
        assert answer.status_code == status, (answer.status_code, data)
        return json.loads(data) if data else None

    def thread(self, **body: Any) -> str:
        return str(self.ask("POST", "/threads", body)["thread_id"])

    def get(self, thread_id: str, rest: str = "") -> Any:
        return self.ask("GET", f"/threads/{thread_id}{rest}")

    def body(self, assistant: str, given: Any, more: dict[str, Any]) -> dict[str, Any]:
        put = human(given) if isinstance(given, str) else given
        return {"assistant_id": assistant} | ({} if put is None else {"input": put}) | more

    def start(self, thread_id: str, assistant: str, given: Any = None, *, status: int = 200, **more: Any) -> Any:
        return self.ask("POST", f"/threads/{thread_id}/runs", self.body(assistant, given, more), status)

    def wait(self, thread_id: str, assistant: str, given: Any = None, *, status: int = 200, **more: Any) -> Any:
        return self.ask("POST", f"/threads/{thread_id}/runs/wait", self.body(assistant, given, more), status)

    def stream(self, thread_id: str, assistant: str, given: Any = None, **more: Any) -> list[Frame]:
        answer = self.call("POST", f"/threads/{thread_id}/runs/stream", self.body(assistant, given, more))
        with answer:
            assert answer.status_code == 200, answer.get_data()
            return list(frames(iter([answer.get_data()])))

    def rejoin(self, thread_id: str, run_id: str, last: str | None = None, query: str = "") -> list[Frame]:
        headers = {} if last is None else {"Last-Event-ID": last}
        answer = self.call("GET", f"/threads/{thread_id}/runs/{run_id}/stream{query}", headers=headers)
        with answer:
            assert answer.status_code == 200, answer.get_data()
            return list(frames(iter([answer.get_data()])))

    def join(self, thread_id: str, run_id: str) -> Any:
        return self.get(thread_id, f"/runs/{run_id}/join")

    def status(self, thread_id: str, run_id: str) -> str:
        return str(self.get(thread_id, f"/runs/{run_id}")["status"])

    def reach(self, thread_id: str, run_id: str, status: str) -> None:
        until(lambda: self.status(thread_id, run_id) == status)

    def cancel(self, thread_id: str, run_id: str, query: str = "?wait=1", status: int = 200) -> Any:
        return self.ask("POST", f"/threads/{thread_id}/runs/{run_id}/cancel{query}", status=status)

    def state(self, thread_id: str, checkpoint_id: str = "") -> Any:
        return self.get(thread_id, "/state" + (f"/{checkpoint_id}" if checkpoint_id else ""))

    def history(self, thread_id: str, **body: Any) -> Any:
        return self.ask("POST", f"/threads/{thread_id}/history", {"limit": 1000} | body)

    def update(self, thread_id: str, values: Any, status: int = 200, **more: Any) -> Any:
        return self.ask("POST", f"/threads/{thread_id}/state", {"values": values} | more, status)

    def rows(self, sql: str, *values: Any) -> list[Any]:
        connection = sqlite3.connect(self.gateway.config.database)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def counts(self) -> dict[str, int]:
        """Count the rows of every table."""
        names = [name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {name: self.rows(f'SELECT count(*) FROM "{name}"')[0][0] for name in names}
