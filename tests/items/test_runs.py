"""A graph's `store=` is LangGraph's store on our file, of the owner of the thread."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.service import Service, texts

GRAPHS = ",".join(f"{name}=tests.items.graphs:{name}" for name in ("remembering", "aremembering", "outer"))


@pytest.fixture
def remembering(serve: Callable[..., Service]) -> Service:
    return serve(graphs=GRAPHS)


def item(service: Service, key: str) -> Any:
    return service.ask("GET", f"/store/items?namespace=seen&key={key}")


@pytest.mark.parametrize("graph", ["remembering", "aremembering", "outer"])
def test_what_a_node_puts_is_seen_by_the_next_thread_and_over_http(remembering: Service, graph: str) -> None:
    for number in (1, 2):
        said = remembering.wait(remembering.thread(), graph, "a")
        assert texts(said) == ["a", f"seen {number}"]
    assert item(remembering, "a")["value"] == {"number": 2}


def test_a_node_reads_what_http_put(remembering: Service) -> None:
    remembering.ask("PUT", "/store/items", {"namespace": ["seen"], "key": "a", "value": {"number": 7}}, 204)
    assert texts(remembering.wait(remembering.thread(), "aremembering", "a")) == ["a", "seen 8"]


def test_a_run_without_a_thread_remembers_too(remembering: Service) -> None:
    body = remembering.body("aremembering", "a", {})
    said = [texts(remembering.ask("POST", "/runs/wait", body)) for _ in range(2)]
    assert said == [["a", "seen 1"], ["a", "seen 2"]]


def test_what_a_run_put_before_it_was_cancelled_stays(remembering: Service, gate: Gate) -> None:
    thread = remembering.thread()
    run = remembering.start(thread, "aremembering", gate.text)["run_id"]
    gate.await_reached()
    remembering.cancel(thread, run)
    assert item(remembering, gate.text)["value"] == {"number": 1}


def test_what_was_put_outlives_the_service(serve: Callable[..., Service]) -> None:
    first = serve(graphs=GRAPHS)
    first.wait(first.thread(), "remembering", "a")
    first.gateway.stop(0)
    first.gateway.close()
    second = serve(graphs=GRAPHS)
    assert texts(second.wait(second.thread(), "remembering", "a")) == ["a", "seen 2"]
