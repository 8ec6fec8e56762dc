"""The memory of a walk: few stored values at a time, however long the chain."""

import sqlite3
import tracemalloc
from collections.abc import Iterator

import ormsgpack
import pytest

from deerflow_lite.checkpoints import fold, tables

TEXT = "x" * 2_000
MESSAGES = [{"type": "human", "id": f"m{number}", "content": TEXT} for number in range(50)]


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:", isolation_level=None)
    for _, make in tables.MIGRATIONS:
        make(made)
    yield made
    made.close()


def chain(connection: sqlite3.Connection, thread_id: str, length: int, *, whole: bool) -> str:
    """Store a chain whose rows all hold the messages, or whose first row does; gives the id of the newest."""
    for number in range(length):
        held = {"messages": MESSAGES} if whole or number == 0 else {}
        checkpoint = {"v": 4, "id": f"{number:06}", "channel_values": held, "channel_versions": {"messages": 1}}
        parent = f"{number - 1:06}" if number else None
        connection.execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,"
            " metadata) VALUES (?, '', ?, ?, 'msgpack', ?, '{}')",
            (thread_id, f"{number:06}", parent, ormsgpack.packb(checkpoint)),
        )
    return f"{length - 1:06}"


def peak(connection: sqlite3.Connection, thread_id: str, head: str) -> tuple[int, int]:
    """Give how many rows a walk visits and the most bytes it holds at a time."""
    tracemalloc.start()
    visited = sum(len(held.ids) == len(MESSAGES) for held in fold.Reader(connection, thread_id, 10_000).walk(head))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return visited, most


@pytest.mark.parametrize("whole", [True, False], ids=["full", "delta"])
def test_the_memory_of_a_walk_does_not_grow_with_the_chain(connection: sqlite3.Connection, whole: bool) -> None:
    short = peak(connection, "short", chain(connection, "short", 20, whole=whole))
    long = peak(connection, "long", chain(connection, "long", 200, whole=whole))
    assert (short[0], long[0]) == (20, 200)
    assert long[1] < 2 * short[1]
