"""The title of a thread: the column is the truth, and graphs see it only where they have a plain text channel."""

from typing import Any

import pytest

from deerflow_lite.threads.model import Change
from tests.runs.gates import Gate
from tests.service import Service, texts


def shown(service: Service, thread: str) -> tuple[Any, Any]:
    """Give the title and `values.title` of a thread."""
    answer = service.get(thread)
    return answer["title"], (answer["values"] or {}).get("title")


def test_a_graph_without_a_title_is_titled_by_the_first_user_text(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "noop", "  hello\n\t you  ")
    assert shown(service, thread) == ("hello you", "hello you")
    service.wait(thread, "noop", "another")
    assert shown(service, thread) == ("hello you", "hello you")
    assert "title" not in service.state(thread)["values"]
    assert [state for state in service.history(thread) if "title" in state["values"]] == []


def test_a_long_first_text_is_cut_at_sixty_grapheme_clusters(service: Service) -> None:
    family = "👨‍👩‍👧‍👦"
    thread = service.thread()
    service.wait(thread, "noop", family * 61)
    assert service.get(thread)["title"] == family * 60


def test_a_graphs_own_title_is_the_threads(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "chat", "a" * 50)
    assert shown(service, thread) == ("a" * 40, "a" * 40)
    assert service.state(thread)["values"]["title"] == "a" * 40


def test_a_hidden_message_gives_no_title(service: Service) -> None:
    thread = service.thread()
    hidden = {"type": "human", "content": "secret", "additional_kwargs": {"hide_from_ui": True}}
    service.wait(thread, "noop", {"messages": [hidden]})
    assert service.get(thread)["title"] is None
    service.wait(thread, "noop", {"messages": [{"type": "system", "content": "rules"}]})
    assert service.get(thread)["title"] is None
    service.wait(thread, "noop", {"messages": [{"role": "user", "content": [{"type": "text", "text": "b"}]}]})
    assert service.get(thread)["title"] == "b"


@pytest.mark.parametrize("how", ["patch", "values", "create"])
def test_a_manual_title_stays_whatever_runs(service: Service, how: str) -> None:
    thread = service.thread(**({"title": "mine"} if how == "create" else {}))
    if how == "patch":
        service.ask("PATCH", f"/threads/{thread}", {"title": "mine"})
    elif how == "values":
        service.update(thread, {"title": "mine"})
    answered = service.wait(thread, "chat", "a")
    assert (answered["title"], shown(service, thread)) == ("mine", ("mine", "mine"))
    assert service.state(thread)["values"]["title"] == "mine"
    service.wait(thread, "chat", "b")
    service.wait(thread, "noop", "c", config={"configurable": {"drop_channels": ["title"]}})
    assert shown(service, thread) == ("mine", "mine")


def test_a_manual_title_enters_the_input_of_a_graph_that_has_one(service: Service) -> None:
    thread = service.thread(title="mine")
    got = service.stream(thread, "chat", "a", stream_mode=["values", "updates"])
    assert {frame.data["title"] for frame in got if frame.event == "values"} == {"mine"}
    (update,) = [frame.data["reply"] for frame in got if frame.event == "updates"]
    assert "title" not in update
    stored = service.rows("SELECT checkpoint FROM checkpoints WHERE CAST(metadata AS TEXT) LIKE '%\"step\":0%'")
    assert [b"mine" in blob for (blob,) in stored] == [True]
    got = service.stream(service.thread(title="mine"), "noop", "a")
    assert not [frame for frame in got if frame.event == "values" and "title" in frame.data]


def test_a_rename_between_turns_is_seen_everywhere_and_stays(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "chat", "a")
    older = service.state(thread)["checkpoint_id"]
    service.update(thread, {"title": "renamed"})
    assert shown(service, thread) == ("renamed", "renamed")
    assert service.state(thread)["values"]["title"] == "renamed"
    assert service.state(thread, older)["values"]["title"] == "renamed"
    assert {state["values"].get("title", "renamed") for state in service.history(thread)} == {"renamed"}
    assert service.join(thread, service.get(thread, "/runs")[0]["run_id"])["title"] == "renamed"
    answered = service.wait(thread, "chat", "b", checkpoint_id=older)
    assert (answered["title"], shown(service, thread)) == ("renamed", ("renamed", "renamed"))
    again = service.wait(thread, "chat", "c", checkpoint_id=older)
    assert (texts(again), again["title"]) == (["a", "echo: a", "c", "echo: c"], "renamed")


def test_a_rename_while_a_run_is_in_flight_stays(service: Service, gate: Gate) -> None:
    thread = service.thread()
    run = service.start(thread, "held", gate.text)["run_id"]
    gate.await_reached()
    service.ask("PATCH", f"/threads/{thread}", {"title": "mine"})
    gate.open()
    service.join(thread, run)
    assert shown(service, thread) == ("mine", "mine")


@pytest.mark.parametrize("turns", [["a"], ["a", "b"]])
def test_a_title_given_back_is_the_first_user_text(service: Service, turns: list[str]) -> None:
    thread = service.thread(title="mine")
    for text in turns:
        service.wait(thread, "noop", text)
    assert service.ask("PATCH", f"/threads/{thread}", {"title": None})["title"] == "a"
    service.wait(thread, "noop", "c")
    assert shown(service, thread) == ("a", "a")


def test_a_title_given_back_before_the_first_turn_is_made_by_it(service: Service) -> None:
    thread = service.thread(title="mine")
    assert service.ask("PATCH", f"/threads/{thread}", {"title": None})["title"] is None
    service.wait(thread, "chat", "a")
    assert shown(service, thread) == ("a", "a")


def test_a_channel_that_is_no_plain_text_is_left_to_its_graph(service: Service) -> None:
    thread = service.thread()
    answered = service.wait(thread, "numbered", "a")
    assert (answered["title"], service.state(thread)["values"]["title"]) == (2, 2)
    assert shown(service, thread) == ("a", "a")
    service.ask("PATCH", f"/threads/{thread}", {"title": "mine"})
    assert (service.wait(thread, "numbered", "b")["title"], service.state(thread)["values"]["title"]) == (4, 4)
    assert shown(service, thread) == ("mine", "mine")
    assert service.history(thread)[0]["values"]["title"] == 4


def test_a_title_never_enters_a_command(service: Service) -> None:
    thread = service.thread(title="mine")
    service.wait(thread, "ask", "a")
    assert texts(service.wait(thread, "ask", command={"resume": "yes"}))[-1] == "approved=True"
    assert shown(service, thread) == ("mine", "mine")


def test_a_rename_writes_no_checkpoint_and_answers_the_place_of_the_head(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "chat", "a")
    before, counts = service.get(thread), service.counts()
    made = service.update(thread, {"title": "mine"})
    now = service.get(thread)
    assert made["checkpoint_id"] == before["head_checkpoint_id"] == now["head_checkpoint_id"]
    assert service.counts() == counts
    assert now["updated_at"] > before["updated_at"] and now["state_updated_at"] == before["state_updated_at"]


def test_a_title_with_other_values_is_both_a_rename_and_an_update(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "chat", "a")
    service.update(thread, {"title": "mine", "messages": [{"type": "ai", "content": "more"}]}, as_node="reply")
    assert (shown(service, thread), texts(service.state(thread)["values"])[-1]) == (("mine", "mine"), "more")
    plain = service.thread()
    service.wait(plain, "noop", "a")
    service.update(plain, {"title": "mine", "messages": [{"type": "ai", "content": "more"}]}, as_node="nothing")
    assert (shown(service, plain), "title" in service.state(plain)["values"]) == (("mine", "mine"), False)


def test_a_title_given_back_without_an_owner_is_made_anew_too(service: Service) -> None:
    thread = service.thread(title="Mine")
    service.wait(thread, "noop", "hello")
    assert service.gateway.naming.give_back(None, thread, Change()).title == "hello"
    assert shown(service, thread) == ("hello", "hello")
