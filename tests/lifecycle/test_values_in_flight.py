"""The values of a thread while a run is at work on it: those of its head, in every answer that shows a thread."""

import pytest

from tests.runs.gates import Gate
from tests.service import Service, texts, until


def stopped_at(gate: Gate, service: Service, thread: str) -> None:
    """Wait until a run stands at the gate and the checkpoint before it is stored: the run does not wait for that."""
    gate.await_reached()
    until(lambda: service.state(thread)["next"] == ["hold"])


def test_a_thread_shows_its_conversation_while_a_run_goes_on(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.wait(thread, "held", "a")
    service.start(thread, "held", gate.text)
    stopped_at(gate, service, thread)
    stands = ["a", "echo: a", gate.text]
    assert texts(service.state(thread)["values"]) == stands
    extract = {"last": "values.messages[-1].content"}
    (found,) = service.ask("POST", "/threads/search", {"ids": [thread], "extract": extract})
    (patched, created) = (
        service.ask("PATCH", f"/threads/{thread}", {"metadata": {"k": 1}}),
        service.ask("POST", "/threads", {"thread_id": thread}),
    )
    for shown in (service.get(thread), found, patched, created):
        assert (shown["status"], texts(shown["values"]), shown["values"]["title"]) == ("busy", stands, "a")
    assert found["extracted"] == {"last": gate.text}


def test_a_thread_of_a_first_run_shows_its_question_at_once(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.start(thread, "held", gate.text)
    stopped_at(gate, service, thread)
    assert texts(service.get(thread)["values"]) == [gate.text]


def test_a_title_given_back_while_a_run_goes_on_is_made_from_the_head(service: Service, gate: Gate) -> None:
    thread = service.thread(title="Mine")
    service.wait(thread, "held", "a")
    service.start(thread, "held", gate.text)
    stopped_at(gate, service, thread)
    assert service.ask("PATCH", f"/threads/{thread}", {"title": None})["title"] == "a"


def test_values_that_are_not_stored_keep_to_the_budget_of_an_answer(
    service: Service, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deerflow_lite.lifecycle.states.VALUES_BYTES", 8)
    threads = [service.thread(), service.thread()]
    service.start(threads[0], "held", gate.text)
    stopped_at(gate, service, threads[0])
    rows = service.ask("POST", "/threads/search", {"ids": threads})
    assert [row["values"] for row in rows] == [{"title": gate.text}, None]
    assert texts(service.get(threads[0])["values"]) == [gate.text]


def test_a_copy_made_while_a_run_goes_on_is_interrupted_and_shows_the_head(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.wait(thread, "held", "a")
    service.start(thread, "held", gate.text)
    stopped_at(gate, service, thread)
    copy = service.ask("POST", f"/threads/{thread}/copy")
    gate.open()
    shown = service.get(copy["thread_id"])
    assert (copy["status"], shown["status"]) == ("interrupted", "interrupted")
    assert texts(copy["values"]) == texts(shown["values"]) == ["a", "echo: a", gate.text]
    assert service.state(copy["thread_id"])["next"] == ["hold"]


def test_values_that_cannot_be_read_are_null(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.start(thread, "held", gate.text)
    stopped_at(gate, service, thread)
    with service.gateway.db.writing() as connection:
        head = service.get(thread)["head_checkpoint_id"]
        connection.execute("UPDATE checkpoints SET checkpoint = x'c1' WHERE checkpoint_id = ?", (head,))
    assert service.get(thread)["values"] is None
    (found,) = service.ask("POST", "/threads/search", {"ids": [thread]})
    assert found["values"] is None
