"""Graphs listed, found and loaded once."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from deerflow_lite.config import Config
from deerflow_lite.errors import AssistantUnknown, GraphBroken, Invalid, SettingInvalid
from deerflow_lite.graphs.loader import Graphs

TAKEN = """
from langgraph.graph import START, MessagesState, StateGraph


def make():
    return StateGraph(MessagesState).add_node("one", lambda state: {}).add_edge(START, "one").compile(name="own")


graph = make()
"""


def test_broken_graphs_are_listed_in_their_place_with_one_line_each(graphs: Graphs, kinds: list[str]) -> None:
    assert {one.name: one.error for one in graphs.assistants() if one.error} == {
        "demanding": "TypeError: the factory asks for config, runtime; only a config can be given",
        "number": "TypeError: a int is no graph and no factory",
        "absent": "AttributeError: module 'kinds' has no attribute 'absent'",
        "broken": "ModuleNotFoundError: No module named 'no_such_module'",
        "syntax": "SyntaxError: invalid syntax (syntax.py, line 1)",
        "leaving": "SystemExit: bye",
        "missing": "ImportError: the file missing.py does not exist",
    }
    assert [one.graph_id for one in graphs.assistants()] == [*kinds, "broken", "syntax", "leaving", "missing", "agent"]


def test_a_graph_that_is_not_configured_any_more_is_broken(graphs: Graphs) -> None:
    with pytest.raises(GraphBroken, match="^assistant_id: gone is unknown; the graphs are: compiled, builder, "):
        graphs.opened("gone")


def test_a_class_of_the_users_file_keeps_the_name_its_project_imports_it_by(graphs: Graphs) -> None:
    assert sys.modules["kinds"].plain.__module__ == "kinds"


def test_a_file_whose_name_is_taken_is_loaded_alone(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text(TAKEN)
    (tmp_path / "langgraph.json").write_text(json.dumps({"graphs": {"a": "./json.py:graph", "b": "./json.py:make"}}))
    path = list(sys.path)
    graphs = Graphs(Config(graphs=str(tmp_path)))
    graphs.load()
    sys.path[:] = path
    module = sys.modules.pop("deerflow_graph_json")
    with graphs.opened("a") as first, graphs.opened("b") as second:
        assert (first is module.graph, first.name, second.name) == (True, "own", "own")
    assert [one.error for one in graphs.assistants()] == [None, None, None]
    assert module.make.__module__ == "deerflow_graph_json"


def test_the_environment_of_langgraph_json_does_not_replace_what_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "env_graph.py").write_text("import os\nmade = os.environ['GIVEN_A'] + os.environ['GIVEN_B']\n1 / 0\n")
    table = {"graphs": {"a": "./env_graph.py:made"}, "env": {"GIVEN_A": "file", "GIVEN_B": "file"}}
    (tmp_path / "langgraph.json").write_text(json.dumps(table))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("GIVEN_A", "shell")
    monkeypatch.setenv("GIVEN_B", "")
    monkeypatch.delenv("GIVEN_B")
    graphs = Graphs(Config(graphs=str(tmp_path)))
    graphs.load()
    assert (os.environ["GIVEN_A"], os.environ["GIVEN_B"]) == ("shell", "file")
    assert graphs.assistant("a").error == "ZeroDivisionError: division by zero"


def test_assistants_are_found_by_name_by_lead_agent_and_by_id_in_any_form() -> None:
    graphs = Graphs(Config(graphs="chat=tests.sample_graphs:chat,ask=tests.sample_graphs:ask"))
    chat, ask, agent = graphs.assistants()
    assert (chat.assistant_id, chat.name) == ("eb6db400-e3c8-5d06-a834-015cb89efe69", "chat")
    assert graphs.first == "chat"
    assert graphs.assistant("agent") == agent
    assert graphs.assistant("lead_agent") == chat
    own = ask.assistant_id
    for form in (own, own.upper(), own.replace("-", ""), f"{{{own}}}", f"urn:uuid:{own}"):
        assert graphs.assistant(form) == ask


def test_an_unknown_assistant_name_is_invalid_and_an_unknown_id_is_not_found() -> None:
    graphs = Graphs(Config(graphs="chat=tests.sample_graphs:chat"))
    with pytest.raises(Invalid) as invalid:
        graphs.assistant("nobody")
    assert invalid.value.errors == {"assistant_id": ["nobody is unknown; the graphs are: chat, agent"]}
    with pytest.raises(AssistantUnknown) as unknown:
        graphs.assistant("00000000-0000-0000-0000-00000000000A")
    assert unknown.value.detail == "assistant_id: assistant 00000000-0000-0000-0000-00000000000a does not exist"


def test_without_a_setting_the_embedded_agent_is_the_first_graph() -> None:
    graphs = Graphs(Config())
    assert [one.graph_id for one in graphs.assistants()] == ["agent"]
    assert graphs.assistant("lead_agent").graph_id == "agent"


def test_a_users_own_agent_and_lead_agent_stand_for_themselves() -> None:
    names = {"chat": "chat", "lead_agent": "ask", "agent": "noop"}
    graphs = Graphs(Config(graphs=",".join(f"{name}=tests.sample_graphs:{graph}" for name, graph in names.items())))
    assert [one.graph_id for one in graphs.assistants()] == ["chat", "lead_agent", "agent"]
    assert graphs.assistant("lead_agent").graph_id == "lead_agent"
    with graphs.opened("agent") as graph:
        assert graph.name == "noop"


@pytest.mark.parametrize("model", ["gpt", "openai:", ":gpt", ""])
def test_a_model_that_is_no_provider_and_name_stops_the_start(model: str) -> None:
    with pytest.raises(SettingInvalid) as caught:
        Graphs(Config(model=model))
    assert caught.value.detail == f"MODEL: {model!r} is neither offline nor provider:name"


def test_many_threads_that_load_at_once_get_the_same_graph() -> None:
    graphs = Graphs(Config())
    barrier = threading.Barrier(4)
    found: list[Any] = []

    def open_one() -> None:
        barrier.wait()
        with graphs.opened("agent") as graph:
            found.append(graph)

    threads = [threading.Thread(target=open_one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(graph is found[0] for graph in found)


def test_listing_imports_neither_langgraph_nor_langchain() -> None:
    script = (
        "import sys\n"
        "from deerflow_lite.config import Config\n"
        "from deerflow_lite.graphs import channels, describe\n"
        "from deerflow_lite.graphs.loader import Graphs\n"
        "graphs = Graphs(Config(graphs='chat=tests.sample_graphs:chat'))\n"
        "assert [one.name for one in graphs.assistants()] == ['chat', 'agent']\n"
        "print(sorted(name for name in sys.modules if name.startswith(('langgraph', 'langchain', 'pydantic'))))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
