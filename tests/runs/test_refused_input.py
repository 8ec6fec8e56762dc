"""An input that the graph itself refuses: the run fails, and the thread stands where it stood and goes on."""

import pytest

from deerflow_lite.runs.recovery import refresh
from tests.service import Service, texts

REFUSED = {"messages": [{"type": "human", "content": {"no": "text"}}]}


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("said", [[], ["a"]])
def test_a_refused_input_leaves_the_thread_readable_and_in_use(
    service: Service, durability: str, said: list[str]
) -> None:
    thread = service.thread()
    for text in said:
        service.wait(thread, "chat", text)
    stands = [line for text in said for line in (text, f"echo: {text}")]
    assert service.wait(thread, "chat", REFUSED, durability=durability)["__error__"]["error"] == "ValidationError"
    shown = service.get(thread)
    assert (shown["status"], texts(shown["values"] or {})) == ("error", stands)
    assert texts(service.state(thread)["values"]) == texts(service.history(thread)[0]["values"]) == stands
    assert texts(service.wait(thread, "chat", "b")) == [*stands, "b", "echo: b"]
    assert service.get(thread, "/tree")["broken"] == []
    asked = service.get(thread)["values"]["messages"][-2]["id"]
    edit = {"human_message_id": asked, "replacement_text": "c"}
    service.join(thread, service.ask("POST", f"/threads/{thread}/runs/edit", edit)["run_id"])
    assert texts(service.get(thread)["values"]) == [*stands, "c", "echo: c"]


def test_a_refused_input_elsewhere_leaves_the_head(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "chat", "a")
    first = service.get(thread)["head_checkpoint_id"]
    service.wait(thread, "chat", "b")
    head = service.get(thread)["head_checkpoint_id"]
    service.wait(thread, "chat", REFUSED, durability="sync", checkpoint_id=first)
    shown = service.get(thread)
    assert (shown["status"], shown["head_checkpoint_id"]) == ("idle", head)


def test_a_head_that_its_graph_cannot_count_further_is_read_as_its_step_began(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "chat", "a")
    service.wait(thread, "chat", REFUSED, durability="sync")
    ((left,),) = service.rows("SELECT last_root FROM runs ORDER BY row DESC LIMIT 1")
    with service.gateway.db.writing() as connection:  # as a stop of the service leaves it, before the run's end
        connection.execute("UPDATE threads SET head = ?", (left,))
    assert service.get(thread)["head_checkpoint_id"] == left
    assert texts(service.state(thread)["values"]) == texts(service.get(thread)["values"]) == ["a", "echo: a"]
    assert service.state(thread)["next"] == ["__start__"]


@pytest.mark.parametrize("said", [[], ["a"]])
@pytest.mark.parametrize("refreshed", [True, False])
def test_a_run_goes_on_from_a_head_that_a_stop_left_with_an_input_that_is_refused(
    service: Service, said: list[str], refreshed: bool
) -> None:
    thread = service.thread()
    for text in said:
        service.wait(thread, "chat", text)
    stands = [line for text in said for line in (text, f"echo: {text}")]
    service.wait(thread, "chat", REFUSED, durability="sync")
    ((left, run_id),) = service.rows("SELECT last_root, run_id FROM runs ORDER BY row DESC LIMIT 1")
    with service.gateway.db.writing() as connection:
        connection.execute("UPDATE threads SET head = ?", (left,))
    if refreshed:
        refresh(service.gateway.rooms, service.gateway.runs.get("default", thread, run_id))
    assert texts(service.wait(thread, "chat", "b")) == [*stands, "b", "echo: b"]
    assert texts(service.state(thread)["values"]) == [*stands, "b", "echo: b"]
