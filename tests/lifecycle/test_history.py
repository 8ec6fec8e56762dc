"""A history shows what LangGraph's own `get_state_history` gives; that messages are built once changes nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from langchain_core.messages import HumanMessage

from deerflow_lite.checkpoints import state
from deerflow_lite.checkpoints.wire import to_json
from tests.lifecycle.stored import FIXTURES, MANIFEST, OWNER, Stored, opened
from tests.service import Service

WHOLE = sorted(name for name in MANIFEST if not name.startswith("corrupt-"))
GROWING = ("chat", "ask", "nested", "typed", "delta", "counting", "parallel", "boom", "numbered", "digging")


def told(graph: Any, thread_id: str, titled: str | None = None) -> list[Any]:
    """Give the whole history by LangGraph alone, in our shape, oldest ids last; `titled` goes over the titles."""
    found = graph.get_state_history({"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}})
    shown: list[Any] = [orjson.loads(to_json(state.shape(one, thread_id))) for one in found]
    for one in shown:
        if titled is not None and one["values"]:
            one["values"]["title"] = titled
    return sorted(shown, key=lambda one: str(one["checkpoint_id"]))


def newest_last(states: list[Any]) -> list[Any]:
    return sorted(states, key=lambda one: str(one["checkpoint_id"]))


@pytest.fixture(params=WHOLE)
def fixture(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stored(tmp_path: Path, fixture: str) -> Iterator[Stored]:
    yield from opened(tmp_path / "home", fixture)


def test_the_history_of_a_stored_thread_is_langgraphs_own(stored: Stored, fixture: str) -> None:
    graph = fixture.rpartition("-")[2]
    assert (FIXTURES / f"{fixture}.sqlite").exists()
    for thread_id in MANIFEST[fixture]["threads"]:
        stored.thread(thread_id, graph)
        given = json.loads(stored.gateway.states.history(OWNER, thread_id, limit=1000))
        assert newest_last(given) == told(stored.reading(graph), thread_id)


@pytest.mark.parametrize("graph_id", GROWING)
def test_the_history_of_a_thread_that_grew_is_langgraphs_own(service: Service, graph_id: str) -> None:
    thread = service.thread()
    for word in ("a", "b"):
        service.wait(thread, graph_id, {"n": 1, "notes": [word]} if graph_id == "counting" else word)
    rooms, shown = service.gateway.rooms, service.get(thread)
    with rooms.graphs.opened(graph_id) as graph:
        saver = rooms.savers.saver(graph_id, graph)
        titled = shown["title"] if graph_id == "chat" else None
        assert newest_last(service.history(thread)) == told(graph.copy(update={"checkpointer": saver}), thread, titled)


def test_a_message_without_an_id_is_built_anew_and_others_are_one_object(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "chat", "a")
    rooms = service.gateway.rooms
    with rooms.graphs.opened("chat") as graph:
        serde = rooms.savers.saver("chat", graph).remembering().serde
        for message_id, one in (("h", True), (None, False)):
            data = serde.dumps_typed([HumanMessage("a", id=message_id)])
            first, second = serde.loads_typed(data), serde.loads_typed(data)
            assert (first == second, first[0] is second[0], first is second) == (True, one, False)
