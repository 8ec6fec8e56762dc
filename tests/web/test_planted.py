"""Rows that another program has planted in the file: whatever stands in a column, nothing runs and nothing else breaks.

Our own tables refuse most of it themselves; what they take, and what LangGraph's tables take, is read through HTTP.
"""

import json
import pickle
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ormsgpack
import pytest

from tests.service import Service

TABLES = {
    "threads": "thread_id = ?1", "head_values": "row = (SELECT id FROM threads WHERE thread_id = ?1)",
    "thread_meta": "row = (SELECT id FROM threads WHERE thread_id = ?1)", "checkpoints": "thread_id = ?1",
    "writes": "thread_id = ?1", "turn_ids": "thread_id = ?1", "runs": "thread_id = ?1",
    "events": "run IN (SELECT row FROM runs WHERE thread_id = ?1)",
}  # fmt: skip
JUNK = (
    "NULL", "5", "'[]'", "'{\"a\": NaN}'", "x'ff00'", "CAST(x'00eda0bd' AS TEXT)",
    "replace(hex(zeroblob(3000)), '00', 'x')",
)  # fmt: skip


class Planted:
    """A service with one thread to spoil and one beside it that must not be touched by that."""

    def __init__(self, service: Service, graph: str) -> None:
        self.service, self.graph = service, graph
        self.spared = service.thread(title="spared", metadata={"k": 1})
        service.wait(self.spared, graph, "a")
        self.file = sqlite3.connect(service.gateway.config.database, isolation_level=None)

    def spoilt(self) -> None:
        """Make the thread that is to be spoilt."""
        self.thread = self.service.thread(title="spoilt", metadata={"k": 1})
        self.service.wait(self.thread, self.graph, "a")
        self.said = self.service.wait(self.thread, self.graph, "b")["messages"]
        self.run = self.service.get(self.thread, "/runs")[0]["run_id"]
        self.head = self.service.get(self.thread)["head_checkpoint_id"]
        self.before = self.beside()

    def beside(self) -> list[bytes]:
        """Ask for everything of the thread beside."""
        paths = [f"/threads/{self.spared}{rest}" for rest in ("", "/state", "/history", "/tree", "/turns", "/runs")]
        return [self.service.call("GET", path).get_data() for path in paths]

    def columns(self, table: str) -> list[str]:
        return [row[1] for row in self.file.execute(f"PRAGMA table_xinfo({table})") if row[6] == 0]

    def plant(self, table: str, column: str, value: str) -> bool:
        """Put a value into a column of every row of the thread; False where the file itself refuses it."""
        statement = f"UPDATE {table} SET {column} = {value} WHERE {TABLES[table]}"
        try:
            return self.file.execute(statement, (self.thread,)).rowcount > 0
        except sqlite3.Error:
            return False

    def questions(self) -> Iterator[tuple[str, str, Any]]:
        """Give every way to read the thread."""
        thread = f"/threads/{self.thread}"
        for rest in ("", "/state", f"/state/{self.head}", "/history", "/tree", "/turns", "/messages/page", "/runs",
                     f"/runs/{self.run}", f"/runs/{self.run}/join", f"/runs/{self.run}/stream"):  # fmt: skip
            yield "GET", thread + rest, None
        yield "POST", "/threads/search", {}
        yield "POST", "/threads/search", {"metadata": {"k": 1}, "query": "sp", "archived": False}
        yield "POST", "/threads/count", {"values": {"a": 1}}
        yield "POST", "/threads/count", {"metadata": {"k": 1}, "status": "idle"}
        yield "POST", thread + "/history", {"metadata": {"source": "loop"}}
        yield "POST", thread + "/state/checkpoint", {"checkpoint": {"checkpoint_id": self.head}}
        yield "POST", thread + "/runs/regenerate/prepare", {"message_id": self.said[-1]["id"]}
        edit = {"human_message_id": self.said[0]["id"], "replacement_text": "anew"}
        yield "POST", thread + "/runs/edit-regenerate/prepare", edit

    def read(self, why: object) -> None:
        """Ask every question, and check what every answer promises."""
        for method, path, body in self.questions():
            with self.service.call(method, path, body) as answer:
                status, data = answer.status_code, answer.get_data()
            asked = (why, method, path, status, data[:200])
            assert status < 500, asked
            if answer.mimetype == "application/json" and data.strip():
                told = json.loads(data, parse_constant=lambda _, asked=asked: pytest.fail(str(asked)))
                assert status < 400 or told["detail"], asked
            if path == "/threads/search":
                assert self.spared in {row["thread_id"] for row in told}, asked


@pytest.fixture
def planted(service: Service, request: pytest.FixtureRequest) -> Iterator[Planted]:
    made = Planted(service, getattr(request, "param", "chat"))
    yield made
    made.file.close()


LANGGRAPHS = ("checkpoints", "writes")  # the tables that are read in another way where only changes are stored


@pytest.mark.parametrize(
    ("planted", "table"),
    [*(("chat", table) for table in TABLES), *(("delta", table) for table in LANGGRAPHS)],
    indirect=["planted"],
)
def test_whatever_stands_in_a_column_every_question_is_answered_and_no_other_thread_is_touched(
    planted: Planted, table: str
) -> None:
    for column in planted.columns(table):
        planted.spoilt()
        for value in JUNK:
            if planted.plant(table, column, value):
                planted.read((table, column, value))
        assert planted.beside() == planted.before, (table, column)


@pytest.mark.parametrize("table", ["threads", "head_values", "thread_meta", "runs", "events"])
def test_our_own_tables_refuse_a_value_of_another_type(planted: Planted, table: str) -> None:
    planted.spoilt()
    kinds = {row[1]: row[2] for row in planted.file.execute(f"PRAGMA table_xinfo({table})") if row[6] == 0}
    wrong = {"TEXT": "x'ff'", "INTEGER": "'x'", "BLOB": "'x'"}
    taken = [name for name, kind in kinds.items() if kind in wrong and planted.plant(table, name, wrong[kind])]
    assert taken == []


class Evil:
    """Something that runs a command where it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.marker,))


def crafted(marker: Path) -> Iterator[tuple[str, bytes]]:
    """Give values that would touch a file if a type that is not on the list were built."""
    touch = f"touch {marker}"
    yield "pickle", pickle.dumps(Evil(marker))
    for code, given in ((0, touch), (1, [touch]), (2, {"command": touch})):
        extension = ormsgpack.Ext(code, ormsgpack.packb(("os", "system", given)))
        yield "msgpack", ormsgpack.packb(extension)
        yield "msgpack", ormsgpack.packb({"v": 4, "id": "x", "channel_values": {"messages": [extension]}})
    yield "json", json.dumps({"lc": 2, "type": "constructor", "id": ["os", "system"], "args": [touch]}).encode()


@pytest.mark.parametrize("planted", ["chat", "delta"], indirect=True)
@pytest.mark.parametrize(("table", "column"), [("checkpoints", "checkpoint"), ("writes", "value")])
def test_a_crafted_value_runs_no_code_whoever_reads_it(
    planted: Planted, tmp_path: Path, table: str, column: str
) -> None:
    marker = tmp_path / "run"
    for kind, value in crafted(marker):
        planted.spoilt()
        statement = f"UPDATE {table} SET type = ?, {column} = ? WHERE thread_id = ?"
        planted.file.execute(statement, (kind, value, planted.thread))
        planted.read((table, kind, value))
        body = {"assistant_id": planted.graph, "input": {"messages": []}}
        for path in ("/runs/wait", "/copy", "/branches"):
            given = {"message_id": planted.said[-1]["id"]} if path == "/branches" else body if path != "/copy" else None
            with planted.service.call("POST", f"/threads/{planted.thread}{path}", given) as answer:
                assert answer.status_code < 500, (kind, value, path, answer.get_data())
        assert planted.beside() == planted.before
        assert not marker.exists(), (kind, value)


def test_a_thread_that_is_spoilt_beyond_reading_is_still_listed_archived_and_deleted(planted: Planted) -> None:
    planted.spoilt()
    for column in ("checkpoint", "metadata", "parent_checkpoint_id"):
        planted.plant("checkpoints", column, "x'ff00'")
    planted.plant("writes", "value", "x'ff00'")
    service = planted.service
    done = service.ask("POST", "/threads/archive", {"archived": True, "thread_ids": [planted.thread]})
    assert done == {"matched": 1, "changed": 1, "thread_ids": [planted.thread]}
    assert [row["title"] for row in service.ask("POST", "/threads/search", {"archived": True})] == ["spoilt"]
    service.ask("DELETE", f"/threads/{planted.thread}", status=204)
    assert service.ask("POST", "/threads/count", {}) == 1


def test_what_a_session_or_token_row_holds_opens_nothing_it_should_not(serve: Callable[..., Service]) -> None:
    service = serve(auth="tokens")
    alice = service.of("alice")
    file = sqlite3.connect(service.gateway.config.database, isolation_level=None)
    for column, value in (("hash", "x''"), ("hash", "zeroblob(32)"), ("expires_at", "''"), ("revoked_at", "'x'")):
        file.execute(f"UPDATE tokens SET {column} = {value}")
        assert alice.call("GET", "/info").status_code == 401
    file.close()
