"""The GRAPHS setting, read without importing anything."""

import json
from pathlib import Path
from typing import Any

import pytest

from deerflow_lite.errors import SettingInvalid
from deerflow_lite.graphs.sources import Source, read_sources


def written(folder: Path, table: Any) -> str:
    (folder / "langgraph.json").write_text(table if isinstance(table, str) else json.dumps(table))
    return str(folder / "langgraph.json")


def test_an_empty_setting_names_no_graph() -> None:
    assert read_sources(" ").graphs == ()


def test_pairs_name_graphs_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sources = read_sources("b=pack.mod:graph, a=./own.py:make")
    assert sources.graphs == (Source("b", "pack.mod", "graph"), Source("a", tmp_path / "own.py", "make"))
    assert sources.folders == (tmp_path,)


def test_a_langgraph_json_gives_files_modules_and_objects_in_their_order(tmp_path: Path) -> None:
    graphs = {"z": "./src/g.py:graph", "a": "pack.mod:make", "m": {"path": "./g.py:other", "description": "x"}}
    sources = read_sources(written(tmp_path, {"graphs": graphs, "dependencies": ["./src", "langchain_openai"]}))
    assert sources.graphs == (
        Source("z", tmp_path / "src" / "g.py", "graph"),
        Source("a", "pack.mod", "make"),
        Source("m", tmp_path / "g.py", "other"),
    )
    assert sources.folders == (tmp_path / "src", tmp_path)


def test_a_folder_stands_for_the_langgraph_json_in_it(tmp_path: Path) -> None:
    written(tmp_path, {"graphs": {"a": "m:g"}})
    assert read_sources(str(tmp_path)).graphs == (Source("a", "m", "g"),)


def test_the_environment_comes_from_a_mapping_or_a_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# no\nA=1\nexport B = 'two words' \nC=three # why\n\nnonsense\nD=\"#4\"\n")
    table = {"graphs": {"a": "m:g"}}
    assert read_sources(written(tmp_path, table | {"env": ".env"})).environment == {
        "A": "1",
        "B": "two words",
        "C": "three",
        "D": "#4",
    }
    assert read_sources(written(tmp_path, table | {"env": {"A": 1}})).environment == {"A": "1"}


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("nowhere.json", "'nowhere.json' is neither a file nor name=module:attribute"),
        ("a=m:g,b", "'b' is not name=module:attribute"),
        ("a=m:g,a=n:h", "the name 'a' stands twice"),
        ("a=m", "the graph 'a' has the target 'm', not module:attribute"),
        ("a=m:9", "the graph 'a' has the target 'm:9', not module:attribute"),
        ("a=m-n:g", "the graph 'a' has the target 'm-n:g', which is no module name"),
        ("a b=m:g", "the name 'a b' may hold only letters, digits, '_', '.' and '-', at most 64"),
    ],
)
def test_a_mistake_in_the_setting_names_GRAPHS_and_the_mistake(setting: str, reason: str) -> None:
    with pytest.raises(SettingInvalid) as caught:
        read_sources(setting)
    assert caught.value.detail == f"GRAPHS: {reason}"


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([], "langgraph.json is not a JSON object"),
        ({}, "langgraph.json has no graphs"),
        ({"graphs": {}}, "langgraph.json has no graphs"),
        ({"graphs": {"a": {"file": "x"}}}, "the graph 'a' has no path"),
        ({"graphs": {"a": 5}}, "the graph 'a' has no path"),
        ({"graphs": {"a": "m:g"}, "dependencies": "."}, "dependencies must be a list of texts"),
        ({"graphs": {"a": "m:g"}, "env": 5}, "env must be a path or an object"),
        ({"graphs": {"a": "m:g"}, "env": ".none"}, "env '.none' cannot be read: FileNotFoundError"),
        ("[1", "langgraph.json cannot be read: Expecting ',' delimiter: line 1 column 3 (char 2)"),
    ],
)
def test_a_mistake_in_langgraph_json_names_GRAPHS_and_the_mistake(tmp_path: Path, table: Any, reason: str) -> None:
    with pytest.raises(SettingInvalid) as caught:
        read_sources(written(tmp_path, table))
    assert caught.value.detail == f"GRAPHS: {reason}"
