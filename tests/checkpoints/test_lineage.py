"""The walk along recorded parent links, on rows written by hand; what stands on a row is not looked at."""

import sqlite3
from collections.abc import Iterator

import pytest

from deerflow_lite.checkpoints import lineage, tables
from deerflow_lite.errors import LineageBroken, LineageCycle, LineageTooDeep, ParentMissing


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(":memory:")
    for _, apply in tables.MIGRATIONS:
        apply(opened)
    yield opened
    opened.close()


def put(
    connection: sqlite3.Connection, checkpoint_id: str, parent: str | None, thread_id: str = "t", namespace: str = ""
) -> None:
    connection.execute(
        "INSERT INTO checkpoints VALUES (?, ?, ?, ?, 'msgpack', x'80', '{}')",
        (thread_id, namespace, checkpoint_id, parent),
    )


def chained(connection: sqlite3.Connection, count: int) -> str:
    for number in range(count):
        put(connection, f"c{number}", f"c{number - 1}" if number else None)
    return f"c{count - 1}"


def walked(connection: sqlite3.Connection, head: str, depth: int = 100) -> list[str]:
    return [row.checkpoint_id for row in lineage.ancestors(connection, "t", head, depth)]


def test_the_head_comes_first_and_then_its_ancestors(connection: sqlite3.Connection) -> None:
    chained(connection, 4)
    put(connection, "sibling", "c1")
    assert walked(connection, "c3") == ["c3", "c2", "c1", "c0"]
    assert walked(connection, "sibling") == ["sibling", "c1", "c0"]


def test_an_id_that_sorts_above_its_child_is_still_its_parent(connection: sqlite3.Connection) -> None:
    put(connection, "z", None)
    put(connection, "a", "z")
    assert walked(connection, "a") == ["a", "z"]


@pytest.mark.parametrize("absent", [None, ""])
def test_a_link_that_is_absent_ends_the_walk(connection: sqlite3.Connection, absent: str | None) -> None:
    put(connection, "a", absent)
    put(connection, "b", "a")
    assert walked(connection, "b") == ["b", "a"]


@pytest.mark.parametrize(("thread_id", "namespace"), [("u", ""), ("t", "sub:1")])
def test_a_link_into_another_thread_or_namespace_is_missing(
    connection: sqlite3.Connection, thread_id: str, namespace: str
) -> None:
    put(connection, "elsewhere", None, thread_id, namespace)
    put(connection, "b", "elsewhere")
    with pytest.raises(ParentMissing, match="elsewhere"):
        walked(connection, "b")


def test_a_head_that_is_not_stored_is_missing(connection: sqlite3.Connection) -> None:
    with pytest.raises(ParentMissing, match="nowhere"):
        walked(connection, "nowhere")


@pytest.mark.parametrize("links", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "b"}])
def test_a_cycle_ends_after_each_checkpoint_was_visited_once(
    connection: sqlite3.Connection, links: dict[str, str]
) -> None:
    for checkpoint_id, parent in links.items():
        put(connection, checkpoint_id, parent)
    seen = []
    with pytest.raises(LineageCycle):
        for row in lineage.ancestors(connection, "t", "a", 100):
            seen.append(row.checkpoint_id)
    assert seen == list(links)


def test_a_walk_of_exactly_the_depth_is_whole_and_one_step_less_is_refused(connection: sqlite3.Connection) -> None:
    head = chained(connection, 6)
    assert len(walked(connection, head, 5)) == 6
    with pytest.raises(LineageTooDeep, match="4 steps"):
        walked(connection, head, 4)


def test_a_walk_reads_no_further_than_it_is_asked_to(connection: sqlite3.Connection) -> None:
    put(connection, "b", "nowhere")
    assert next(lineage.ancestors(connection, "t", "b", 0)).checkpoint_id == "b"


def test_every_end_of_a_walk_that_cannot_be_trusted_is_a_broken_lineage() -> None:
    assert all(issubclass(kind, LineageBroken) for kind in (ParentMissing, LineageCycle, LineageTooDeep))


def test_only_what_a_command_wrote_counts_as_commanded(connection: sqlite3.Connection) -> None:
    chained(connection, 2)
    statement = "INSERT INTO writes VALUES ('t', '', ?, ?, '', 0, 'messages', 'null', NULL)"
    connection.execute(statement, ("c0", "1f1ecb50-0000-0000-0000-000000000000"))
    connection.execute(statement, ("c1", lineage.NULL_TASK))
    assert [lineage.commanded(connection, "t", one) for one in ("c0", "c1")] == [False, True]
