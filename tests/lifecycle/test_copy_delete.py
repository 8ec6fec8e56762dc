"""Copies hold everything and share nothing; a deletion leaves nothing."""

from typing import Any

from tests.runs.gates import Gate
from tests.service import Service, texts, until


def rows_of(service: Service, thread: str, table: str) -> list[Any]:
    names = [row[1] for row in service.rows(f"PRAGMA table_info({table})") if row[1] != "thread_id"]
    return service.rows(f"SELECT {', '.join(names)} FROM {table} WHERE thread_id = ? ORDER BY 1, 2, 3, 4, 5", thread)


def test_a_copy_has_every_checkpoint_and_write_of_every_namespace(service: Service) -> None:
    thread = service.thread(metadata={"k": "v", "deerflow_archived": True, "deerflow_pinned": True}, title="mine")
    service.wait(thread, "nested", "a")
    service.wait(thread, "ask", "b", config={"configurable": {}})
    copy = service.ask("POST", f"/threads/{thread}/copy")
    source = service.get(thread)
    assert copy["thread_id"] != thread
    flags = ("deerflow_archived", "deerflow_pinned")
    assert copy["metadata"] == {key: value for key, value in source["metadata"].items() if key not in flags}
    assert copy["metadata"]["k"] == "v"
    for name in ("title", "status", "values", "interrupts", "head_checkpoint_id"):
        assert copy[name] == source[name]
    assert copy["created_at"] > source["created_at"]
    for table in ("checkpoints", "writes"):
        assert rows_of(service, copy["thread_id"], table) == rows_of(service, thread, table) != []
    assert service.get(copy["thread_id"], "/runs") == []
    states, others = service.history(thread), service.history(copy["thread_id"])
    assert [one["values"] for one in others] == [one["values"] for one in states]
    assert {one["checkpoint"]["thread_id"] for one in others} == {copy["thread_id"]}


def test_a_copy_goes_on_by_itself(service: Service) -> None:
    for assistant in ("chat", "delta"):
        thread = service.thread()
        service.wait(thread, assistant, "a")
        before = service.history(thread), service.get(thread)
        copy = service.ask("POST", f"/threads/{thread}/copy")["thread_id"]
        assert texts(service.wait(copy, assistant, "b")) == ["a", "echo: a", "b", "echo: b"]
        assert (service.history(thread), service.get(thread)) == before
        assert texts(service.wait(thread, assistant, "c")) == ["a", "echo: a", "c", "echo: c"]


def test_a_question_of_a_copy_is_answered_by_itself(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "ask", "a")
    copy = service.ask("POST", f"/threads/{thread}/copy")["thread_id"]
    assert texts(service.wait(copy, "ask", command={"resume": "yes"}))[-1] == "approved=True"
    assert (service.get(copy)["status"], service.get(thread)["status"]) == ("idle", "interrupted")


def test_an_empty_thread_an_errored_one_and_an_unknown_one_are_copied_as_they_are(service: Service) -> None:
    empty = service.ask("POST", f"/threads/{service.thread()}/copy")
    assert (empty["status"], empty["head_checkpoint_id"], service.history(empty["thread_id"])) == ("idle", None, [])
    assert texts(service.wait(empty["thread_id"], "noop", "a")) == ["a"]
    thread = service.thread()
    service.wait(thread, "boom", "a")
    copy = service.ask("POST", f"/threads/{thread}/copy")
    assert copy["status"] in ("interrupted", "error")
    assert texts(service.wait(copy["thread_id"], "noop", "b")) == ["a", "b"]
    service.ask("POST", "/threads/nowhere/copy", status=404)


def test_a_copy_of_a_thread_whose_head_is_older_stands_there_too(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "noop", "a")
    older = service.state(thread)["checkpoint_id"]
    service.wait(thread, "noop", "b")
    service.wait(thread, "noop", "c", checkpoint_id=older)
    copy = service.ask("POST", f"/threads/{thread}/copy")["thread_id"]
    assert texts(service.get(copy)["values"]) == texts(service.state(copy)["values"]) == ["a", "c"]


def test_a_busy_thread_is_copied_without_its_run(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.wait(thread, "held", "a")
    service.start(thread, "held", gate.text)
    gate.await_reached()
    until(lambda: service.state(thread)["next"] == ["hold"])
    copy = service.ask("POST", f"/threads/{thread}/copy")
    assert copy["status"] == "interrupted"
    gate.open()
    assert texts(service.wait(copy["thread_id"], "held", "c"))[-2:] == ["c", "echo: c"]


def test_a_deletion_leaves_no_row_in_any_table(service: Service) -> None:
    service.wait(service.thread(metadata={"k": "kept"}), "nested", "kept")
    before = service.counts()
    thread = service.thread(metadata={"k": "v", "deerflow_archived": True}, title="mine")
    service.wait(thread, "nested", "a")
    service.wait(thread, "ask", "b")
    service.update(thread, None)
    service.ask("DELETE", f"/threads/{thread}", status=204)
    after = service.counts()
    assert {name: after[name] for name in before if name != "deleted_threads"} == {
        name: count for name, count in before.items() if name != "deleted_threads"
    }
    assert after["deleted_threads"] == before["deleted_threads"] + 1
    for (table,) in service.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"):
        if table == "deleted_threads":
            continue
        for row in service.rows(f'SELECT * FROM "{table}"'):
            assert thread not in [value for value in row if isinstance(value, str)], table


def test_every_verb_on_a_deleted_thread_is_that_on_an_unknown_one(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "noop", "a")
    run, checkpoint = service.get(thread, "/runs")[0]["run_id"], service.state(thread)["checkpoint_id"]
    service.ask("DELETE", f"/threads/{thread}", status=204)
    for method, path, body in (
        ("GET", "", None), ("PATCH", "", {"title": "x"}), ("DELETE", "", None), ("POST", "/copy", None),
        ("GET", "/state", None), ("GET", f"/state/{checkpoint}", None), ("POST", "/state", {"values": {"title": "x"}}),
        ("POST", "/history", {}), ("GET", "/runs", None), ("GET", f"/runs/{run}", None),
        ("DELETE", f"/runs/{run}", None),
        ("GET", f"/runs/{run}/join", None), ("GET", f"/runs/{run}/stream", None), ("POST", f"/runs/{run}/cancel", None),
        ("POST", "/runs", {"assistant_id": "noop"}), ("POST", "/runs/wait", {"assistant_id": "noop"}),
        ("POST", "/runs/stream", {"assistant_id": "noop"}),
    ):  # fmt: skip
        deleted, unknown = (service.ask(method, f"/threads/{name}{path}", body, 404) for name in (thread, "nowhere"))
        assert deleted == {"detail": unknown["detail"].replace("nowhere", thread)}


def test_a_thread_made_again_inherits_nothing(service: Service) -> None:
    thread = service.thread(title="old", metadata={"k": "v"})
    service.wait(thread, "ask", "a")
    service.ask("DELETE", f"/threads/{thread}", status=204)
    made = service.ask("POST", "/threads", {"thread_id": thread})
    assert (made["title"], made["metadata"], made["status"], made["interrupts"]) == (None, {}, "idle", {})
    assert (service.history(thread), service.get(thread, "/runs")) == ([], [])
    assert service.rows("SELECT count(*) FROM events") == [(0,)]
    assert texts(service.wait(thread, "ask", "b")) == ["b", "may I?"]


def test_a_late_row_of_a_deleted_id_is_refused_by_the_file_itself(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "noop", "a")
    kept = service.rows("SELECT * FROM checkpoints WHERE thread_id = ?", thread)
    service.ask("DELETE", f"/threads/{thread}", status=204)
    marks = ", ".join("?" * len(kept[0]))
    try:
        with service.gateway.db.writing() as connection:
            connection.execute(f"INSERT INTO checkpoints VALUES ({marks})", kept[0])
        refused = ""
    except Exception as error:
        refused = str(error)
    assert refused == "this thread was deleted"
    assert service.rows("SELECT count(*) FROM checkpoints") == [(0,)]
