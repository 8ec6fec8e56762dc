"""Graphs of every kind, opened from threads and from event loops."""

import asyncio
import sys

import pytest

from deerflow_lite.errors import GraphBroken
from deerflow_lite.graphs.loader import Graphs


def opened_name(graphs: Graphs, name: str, who: str | None = None) -> str:
    with graphs.opened(name, {"configurable": {"who": who}} if who else None) as graph:
        return str(graph.name)


async def aopened_name(graphs: Graphs, name: str, who: str | None = None) -> str:
    async with graphs.aopened(name, {"configurable": {"who": who}} if who else None) as graph:
        await graph.ainvoke({"messages": []})
        return str(graph.name)


WANTED = [
    ("compiled", "compiled-word"),
    ("builder", "builder"),
    ("plain", "plain"),
    ("configured", "for-me"),
    ("optional", "for-me"),
    ("inner_loop", "LangGraph"),
    ("later", "later-me"),
    ("held", "held"),
    ("aheld", "aheld"),
]


@pytest.mark.parametrize(("name", "wanted"), WANTED)
def test_every_kind_of_graph_opens_in_a_thread_without_a_loop(graphs: Graphs, name: str, wanted: str) -> None:
    assert opened_name(graphs, name, "me") == wanted


@pytest.mark.parametrize(("name", "wanted"), WANTED)
def test_every_kind_of_graph_opens_for_a_run(graphs: Graphs, name: str, wanted: str) -> None:
    assert asyncio.run(aopened_name(graphs, name, "me")) == wanted


@pytest.mark.parametrize(("name", "wanted"), WANTED)
def test_every_kind_of_graph_opens_for_a_read_inside_a_running_loop(graphs: Graphs, name: str, wanted: str) -> None:
    async def read() -> str:
        return opened_name(graphs, name, "me")

    assert asyncio.run(read()) == wanted


def test_a_factory_without_a_given_config_gets_an_empty_configurable(graphs: Graphs) -> None:
    assert opened_name(graphs, "configured") == "for-None"


def test_compiled_graphs_are_kept_and_factories_called_for_every_open(graphs: Graphs) -> None:
    calls = sys.modules["kinds"].calls
    calls.clear()
    for name in ("builder", "configured"):
        with graphs.opened(name) as first, graphs.opened(name) as second:
            assert (first is second) is (name == "builder")
    assert calls == [None, None]


def test_a_context_manager_is_left_by_the_thread_or_loop_that_entered_it(graphs: Graphs) -> None:
    calls = sys.modules["kinds"].calls
    calls.clear()
    opened_name(graphs, "held")
    opened_name(graphs, "aheld")
    asyncio.run(aopened_name(graphs, "held"))
    asyncio.run(aopened_name(graphs, "aheld"))
    assert calls == ["enter", "exit", "aenter", "aexit"] * 2


def test_opening_a_broken_graph_names_it_and_the_cause(graphs: Graphs) -> None:
    wanted = "assistant_id: the graph broken cannot be used: ModuleNotFoundError: No module named 'no_such_module'"
    with pytest.raises(GraphBroken) as caught:
        opened_name(graphs, "broken")
    assert caught.value.detail == wanted
    with pytest.raises(GraphBroken) as caught:
        asyncio.run(aopened_name(graphs, "broken"))
    assert caught.value.detail == wanted


def test_a_failing_factory_is_a_broken_graph_for_a_read_and_the_runs_own_error_for_a_run(graphs: Graphs) -> None:
    with pytest.raises(GraphBroken) as caught:
        opened_name(graphs, "failing")
    assert caught.value.detail == "assistant_id: the graph failing cannot be used: KeyError: 'two\\nlines'"
    with pytest.raises(KeyError):
        asyncio.run(aopened_name(graphs, "failing"))


def test_a_factory_that_gives_no_graph_is_a_broken_graph(graphs: Graphs) -> None:
    wanted = "assistant_id: the graph wrong cannot be used: its factory gave a int, not a graph"
    with pytest.raises(GraphBroken) as caught:
        opened_name(graphs, "wrong")
    assert caught.value.detail == wanted
    with pytest.raises(GraphBroken) as caught:
        asyncio.run(aopened_name(graphs, "wrong"))
    assert caught.value.detail == wanted


def test_what_the_reader_raises_inside_an_open_graph_stays_what_it_is(graphs: Graphs) -> None:
    with pytest.raises(ZeroDivisionError), graphs.opened("held"):
        raise ZeroDivisionError
