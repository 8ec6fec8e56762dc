"""Scheduled work told from raw rows, held against `get_state` on graphs of many shapes; it knows no turn."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langgraph.types import Command

from deerflow_lite.checkpoints import lineage, modes, tables
from deerflow_lite.checkpoints.saver import FileSaver
from deerflow_lite.db import Database
from tests.checkpoints import shapes

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


@pytest.fixture
def saver(tmp_path: Path) -> Any:
    database = Database(tmp_path / "deerflow.sqlite", "normal")
    database.migrate(tables.MIGRATIONS)
    yield FileSaver(database)
    database.close()


def told(saver: Any, graph: Any) -> list[tuple[bool, bool | None]]:
    """Give for every root checkpoint whether LangGraph has work scheduled, and what the raw row tells."""
    pairs = []
    with saver.db.reading() as connection:
        for row in lineage.by_time(connection, "t"):
            found = graph.get_state({"configurable": {**CONFIG["configurable"], "checkpoint_id": row.checkpoint_id}})
            pairs.append((bool(found.next), lineage.scheduled(modes.unpacked(row))))
    return pairs


@pytest.mark.parametrize("shape", shapes.SHAPES, ids=lambda shape: shape.__name__)
def test_the_raw_row_tells_scheduled_work_as_get_state_does(saver: Any, shape: Callable[[Any], Any]) -> None:
    graph = shape(saver)
    for given in ({"said": ["hello"]}, Command(resume="me"), {"said": ["more"]}, {"said": ["and more"]}):
        try:
            graph.invoke(given, CONFIG)
        except ValueError as error:
            assert str(error) == "boom"
    pairs = told(saver, graph)
    assert len(pairs) >= 4
    assert {pending for pending, _ in pairs} >= {True}
    assert [raw for _, raw in pairs] == [pending for pending, _ in pairs]


def test_where_the_names_of_channels_do_not_tell_absence_of_evidence_stays_permissive(saver: Any) -> None:
    graph = shapes.custom(saver)
    graph.invoke({"given": "a"}, CONFIG)
    pairs = told(saver, graph)
    assert [raw for _, raw in pairs if raw is not None] == [False]  # the input alone: nothing has worked yet
    assert pairs[-1] == (False, None)
    with saver.db.reading() as connection:
        assert [lineage.pending(row) for row in lineage.by_time(connection, "t")] == [False] * len(pairs)


def row(**fields: Any) -> modes.Row:
    return modes.Row("c", None, "msgpack", ormsgpack.packb({"v": 1, "id": "c"} | fields), b"{}")


@pytest.mark.parametrize(
    ("values", "versions", "seen", "expected"),
    [
        ({"start:a": "__start__"}, {"start:a": 2}, {}, True),
        ({"start:a": "__start__"}, {"start:a": 2}, {"a": {"start:a": 2}}, False),
        ({"branch:a:cond:b": "a"}, {"branch:a:cond:b": 3}, {"b": {"branch:a:cond:b": 1}}, True),
        ({"branch:a:cond:b": "a"}, {"branch:a:cond:b": 3}, {"b": {"branch:a:cond:b": 3}}, False),
        ({"a": "a"}, {"a": 3, "start:a": 2}, {"a": {"start:a": 2}}, None),
        ({"join:a+b:c": ["a"]}, {"join:a+b:c": 3}, {}, False),
        ({"join:a+b:c": ["a", "b"]}, {"join:a+b:c": 3}, {}, True),
        ({"__pregel_tasks": []}, {"__pregel_tasks": 3}, {}, False),
        ({"messages": []}, {"messages": 1}, {"branch": {}}, False),
        ({}, {}, {}, False),
    ],
)
def test_rows_of_older_versions_are_told_by_the_names_of_that_time(
    values: dict[str, Any], versions: dict[str, int], seen: dict[str, Any], expected: bool | None
) -> None:
    stored = row(channel_values=values, channel_versions=versions, versions_seen=seen)
    assert lineage.scheduled(modes.unpacked(stored)) is expected
    assert lineage.pending(stored) is (expected is True)


def test_sends_of_an_older_version_are_scheduled_work() -> None:
    assert lineage.pending(row(channel_values={}, pending_sends=["x"])) is True
    assert lineage.pending(row(channel_values={}, pending_sends=[])) is False
