"""The beginnings of checkpoints that a tree is told by, whatever their size and whatever stands in their column."""

import sqlite3

import pytest

from deerflow_lite.checkpoints import modes, tables
from deerflow_lite.checkpoints.family import family

PLACES = ("small", "edge", "large", "text", "number", "null", "other kind")


@pytest.fixture
def connection() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None)
    for _, make in tables.MIGRATIONS:
        make(made)
    return made


def test_the_first_bytes_of_a_checkpoint_are_read_whatever_its_size(connection: sqlite3.Connection) -> None:
    blobs = [b"\x81s" * 10, b"\x82e" * 2048, b"\x83l" * 50_000, "text", 5, None, b"\x84"]
    for number, (place, blob) in enumerate(zip(PLACES, blobs, strict=True)):
        connection.execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint)"
            " VALUES ('t', '', ?, ?, ?, ?)",
            (place, PLACES[number - 1] if number else None, "json" if place == "other kind" else "msgpack", blob),
        )
    found = family(connection, "t")
    connection.close()
    assert found.order == list(PLACES)
    assert found.starts == {
        "small": b"\x81s" * 10,
        "edge": b"\x82e" * (modes.BEGINNING // 2),
        "large": b"\x83l" * (modes.BEGINNING // 2),
        "text": b"text",
        "number": b"",
        "null": b"",
        "other kind": b"",
    }
    assert [one.checkpoint_id for one in found.broken] == ["text", "number", "null", "other kind"]
