"""MODEL=openai:NAME against a small OpenAI-compatible server on loopback."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from deerflow_lite.config import Config
from deerflow_lite.graphs.loader import Graphs

THREAD: Any = {"configurable": {"thread_id": "1"}}


class Completions(BaseHTTPRequestHandler):
    """Answers "2+2" with a tool call, a tool's result and everything else in three words; every answer has one id."""

    asked: list[dict[str, Any]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        last = body["messages"][-1]
        message: dict[str, Any] = {"role": "assistant", "content": f"real says {last['content']}"}
        if last["content"] == "2+2":
            function = {"name": "calculate", "arguments": '{"expression": "2+2"}'}
            call = {"index": 0, "id": "call-1", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        (self.stream if body.get("stream") else self.whole)(message)

    def whole(self, message: dict[str, Any]) -> None:
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.answer("application/json", json.dumps(self.frame("chat.completion", choice)).encode())

    def stream(self, message: dict[str, Any]) -> None:
        words = (message["content"] or "").split(" ")
        deltas = [{"role": "assistant", "content": word} for word in [words[0], *(f" {word}" for word in words[1:])]]
        if message.get("tool_calls"):
            deltas = [message]
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        frames = [f"data: {json.dumps(self.frame('chat.completion.chunk', choice))}\n\n" for choice in choices]
        self.answer("text/event-stream", "".join([*frames, "data: [DONE]\n\n"]).encode())

    def frame(self, kind: str, choice: dict[str, Any]) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "demo", "choices": [choice]}

    def answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The embedded agent over the loopback server."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    Completions.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Completions) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_address[1]}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        graphs = Graphs(Config(model="openai:demo"))
        with graphs.opened("agent") as graph:
            yield graph.copy(update={"checkpointer": InMemorySaver()})
        server.shutdown()
        thread.join()


def test_a_real_provider_answers_whole(agent: Any) -> None:
    for text in ("hello", "2+2", "bye"):
        values = agent.invoke({"messages": [("user", text)]}, THREAD)
    assert [message.text for message in values["messages"] if message.type in ("ai", "tool")] == [
        "real says hello",
        "",
        "2+2 = 4",
        "real says 2+2 = 4",
        "real says bye",
    ]
    ids = [message.id for message in values["messages"]]
    assert len(set(ids)) == len(ids)
    first = Completions.asked[0]
    assert (first["model"], [message["role"] for message in first["messages"]]) == ("demo", ["system", "user", "user"])
    assert [tool["function"]["name"] for tool in first["tools"]] == ["current_time", "calculate", "search_thread"]
    assert list(first["tools"][2]["function"]["parameters"]["properties"]) == ["query"]


def test_a_real_provider_is_streamed(agent: Any) -> None:
    async def run() -> tuple[list[Any], dict[str, Any]]:
        chunks, values = [], {}
        stream: Any = agent.astream({"messages": [("user", "hello")]}, THREAD, stream_mode=["messages", "values"])
        async for name, part in stream:
            if name == "values":
                values = part
            elif part[0].type == "AIMessageChunk":
                chunks.append(part[0])
        return chunks, values

    chunks, values = asyncio.run(run())
    final = values["messages"][-1]
    assert [chunk.text for chunk in chunks if chunk.text] == ["real", " says", " hello"]
    assert final.text == "real says hello"
    assert {chunk.id for chunk in chunks} == {final.id}


def test_a_provider_without_its_key_is_a_broken_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    graphs = Graphs(Config(model="openai:demo"))
    graphs.load()
    assert "OPENAI_API_KEY" in str(graphs.assistant("agent").error)
