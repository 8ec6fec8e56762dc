"""Our saver is LangGraph's on our one connection: same tables, same root row, no code from stored rows."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from deerflow_lite.checkpoints import root, tables
from deerflow_lite.checkpoints.saver import FileSaver
from deerflow_lite.db import Database
from tests.service import Service, human, texts

AT = "2026-01-02T03:04:05.000006+00:00"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "file.sqlite")
    database.migrate(tables.MIGRATIONS)
    yield database
    database.close()


@pytest.fixture
def saver(db: Database) -> FileSaver:
    return FileSaver(db)


def place(thread: str = "t", **more: Any) -> Any:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ""} | more}


def put(saver: FileSaver, thread: str = "t") -> Any:
    return saver.put(place(thread), empty_checkpoint(), {"source": "input", "step": -1, "parents": {}}, {})


def shape(connection: sqlite3.Connection) -> dict[str, list[Any]]:
    """Give (name, type, not null, default, place in the key) of the columns of the saver's tables."""
    return {
        table: [row[1:] for row in connection.execute(f"PRAGMA table_info({table})")]
        for table in ("checkpoints", "writes")
    }


def test_the_tables_are_those_that_the_savers_setup_makes(db: Database) -> None:
    stock = sqlite3.connect(":memory:")
    SqliteSaver(stock).setup()
    assert shape(db.writer) == shape(stock)
    stock.close()


def test_a_file_of_an_older_saver_gets_its_missing_column(tmp_path: Path) -> None:
    database = Database(tmp_path / "old.sqlite")
    with database.writing() as connection:
        connection.execute(
            "CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '',"
            " checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL,"
            " type TEXT, value BLOB,"
            " PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx))"
        )
        connection.execute("INSERT INTO writes VALUES ('t', '', 'c', 'k', 0, 'x', 'null', NULL)")
    database.migrate(tables.MIGRATIONS)
    assert database.writer.execute("SELECT task_id, task_path FROM writes").fetchall() == [("k", "")]
    database.close()


def test_the_root_row_is_the_one_the_saver_writes_for_an_empty_checkpoint(db: Database, saver: FileSaver) -> None:
    with db.writing() as connection:
        root.write_root(connection, "ours", "1f000000-0000-6000-8000-000000000000", AT)
    made = empty_checkpoint() | {"id": "1f000000-0000-6000-8000-000000000000", "ts": AT}
    saver.put(place("theirs"), made, {"source": "input", "step": -1, "parents": {}}, {})  # type: ignore[arg-type]
    ours, theirs = db.writer.execute(
        "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata, typeof(metadata)"
        " FROM checkpoints ORDER BY thread_id"
    ).fetchall()
    assert ours[:4] == theirs[:4]
    assert ormsgpack.unpackb(ours[4]) == ormsgpack.unpackb(theirs[4])
    assert (ours[5], ours[6]) == (theirs[5], theirs[6])
    first, second = saver.get_tuple(place("ours")), saver.get_tuple(place("theirs"))
    assert first is not None and second is not None
    assert (first.checkpoint, first.metadata, first.parent_config) == (second.checkpoint, second.metadata, None)


def test_checkpoint_ids_made_later_sort_later() -> None:
    made = [root.new_checkpoint_id() for _ in range(1000)]
    assert sorted(made) == made and len(set(made)) == 1000
    assert {len(one) for one in made} == {36} and {one[14] for one in made} == {"6"}


def test_a_put_joins_the_transaction_of_its_thread_and_goes_with_it(db: Database, saver: FileSaver) -> None:
    with pytest.raises(LookupError), db.writing():
        kept = put(saver)
        saver.put_writes(kept, [("x", 1)], "task")
        assert saver.get_tuple(place()) is not None
        raise LookupError
    assert [db.writer.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("checkpoints", "writes")] == [
        (0,),
        (0,),
    ]
    put(saver)
    assert not db.writer.in_transaction
    assert db.writer.execute("SELECT count(*) FROM checkpoints").fetchone() == (1,)


def test_a_list_is_read_before_it_is_given(db: Database, saver: FileSaver) -> None:
    for _ in range(3):
        put(saver)
    half_read = saver.list(place())
    first = next(half_read)
    for found in saver.list(place()):
        assert saver.get_tuple(found.config) is not None
    put(saver, "other")
    with db.writing():
        put(saver)
    assert [first.checkpoint["id"], *(found.checkpoint["id"] for found in half_read)] == sorted(
        (row[0] for row in db.writer.execute("SELECT checkpoint_id FROM checkpoints WHERE thread_id = 't' LIMIT 3")),
        reverse=True,
    )
    assert len(list(saver.list(place(), limit=2))) == 2


def hostile(marker: Path) -> bytes:
    """Give the bytes of a stored value that asks its reader to run a command."""
    call = ormsgpack.packb(("os", "system", f"touch {marker}"))
    kinds = (0, 1, 2, 3, 4, 5)
    return ormsgpack.packb([ormsgpack.Ext(kind, call) for kind in kinds] + [
        ormsgpack.Ext(0, ormsgpack.packb(("os", "system", (f"touch {marker}",)))),
        ormsgpack.Ext(1, ormsgpack.packb(("os", "system", [f"touch {marker}"]))),
    ])  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_a_planted_row_runs_no_code(service: Service, tmp_path: Path, capfd: Any) -> None:
    marker, control = tmp_path / "ran", tmp_path / "control"
    JsonPlusSerializer(allowed_msgpack_modules=True).loads_typed(("msgpack", hostile(control)))
    assert control.exists(), "the bytes are not hostile enough to prove anything"
    thread = service.thread()
    service.wait(thread, "counting", {"n": 1})
    head = service.state(thread)["checkpoint_id"]
    with service.gateway.db.writing() as connection:
        blob = connection.execute("SELECT checkpoint FROM checkpoints WHERE checkpoint_id = ?", (head,)).fetchone()[0]
        stored = ormsgpack.unpackb(blob, ext_hook=lambda code, data: ormsgpack.Ext(code, data))
        stored["channel_values"]["notes"] = ormsgpack.unpackb(
            hostile(marker), ext_hook=lambda code, data: ormsgpack.Ext(code, data)
        )
        connection.execute(
            "UPDATE checkpoints SET checkpoint = ? WHERE checkpoint_id = ?", (ormsgpack.packb(stored), head)
        )
        connection.execute("DELETE FROM head_values")
    for method, path, body in (
        ("GET", "/state", None), ("GET", f"/state/{head}", None), ("POST", "/history", {}),
        ("POST", "/runs/wait", {"assistant_id": "counting", "input": {"n": 1}}),
        ("POST", "/state", {"values": {"n": 2}, "as_node": "count"}), ("POST", "/copy", None),
    ):  # fmt: skip
        with service.call(method, f"/threads/{thread}{path}", body) as answer:
            assert answer.status_code < 500, (path, answer.get_data())
            answer.get_data()
    assert not marker.exists()


@pytest.mark.parametrize("kind", ["pickle", "json", "bogus"])
def test_a_row_of_another_kind_is_no_server_error_and_runs_no_code(service: Service, tmp_path: Path, kind: str) -> None:
    import pickle

    marker = tmp_path / "ran"

    class Evil:
        def __reduce__(self) -> Any:
            return exec, (f"open({str(marker)!r}, 'w')",)

    thread = service.thread()
    service.wait(thread, "noop", "a")
    blob = (
        pickle.dumps(Evil()) if kind == "pickle" else b'{"lc":2,"type":"constructor","id":["os","system"],"args":["x"]}'
    )
    with service.gateway.db.writing() as connection:
        connection.execute("UPDATE checkpoints SET type = ?, checkpoint = ?", (kind, blob))
        connection.execute("DELETE FROM head_values")
    head = service.get(thread)["head_checkpoint_id"]
    for method, path, body in (
        ("GET", "/state", None), ("GET", f"/state/{head}", None), ("POST", "/history", {}), ("GET", "", None),
        ("POST", "/runs/wait", {"assistant_id": "noop", "input": human("b")}), ("POST", "/state", {"values": None}),
    ):  # fmt: skip
        with service.call(method, f"/threads/{thread}{path}", body) as answer:
            assert answer.status_code < 500, (path, answer.get_data())
            answer.get_data()
    assert not marker.exists()


def test_types_of_the_graph_come_back_as_objects_and_others_fail_the_run_by_name(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "typed", "a")
    assert texts(service.wait(thread, "typed", "b"))[-1] == "home+ 2"
    assert [type(row[0]) for row in service.rows("SELECT checkpoint FROM checkpoints LIMIT 1")] == [bytes]
