"""Threads made with supersteps: what the graph makes of them is there with the thread, or nothing is."""

from typing import Any

import pytest

from tests.service import Service, human, texts

AI = {"messages": [{"type": "ai", "content": "hello", "id": "s2"}]}
SEED = [
    ("__input__", human("hi", "s1")),
    ("__start__", human("hi", "s1")),
    ("reply", AI),
]


def steps(*given: tuple[str | None, Any]) -> list[dict[str, Any]]:
    """Give supersteps of one update each."""
    return [{"updates": [{"values": values, "command": None, "as_node": node}]} for node, values in given]


def test_supersteps_are_the_history_of_the_thread_they_make(service: Service) -> None:
    made = service.ask("POST", "/threads", {"assistant_id": "chat", "supersteps": steps(*SEED)})
    thread = made["thread_id"]
    assert (made["status"], made["title"], texts(made["values"])) == ("idle", "hi", ["hi", "hello"])
    assert made == service.get(thread)
    history = service.history(thread)
    assert [(one["metadata"]["source"], one["metadata"]["step"], one["next"]) for one in history] == [
        ("update", 2, []), ("update", 1, ["reply"]), ("input", 0, ["__start__"]), ("input", -1, []),
    ]  # fmt: skip
    assert [texts(one["values"]) for one in history] == [["hi", "hello"], ["hi"], [], []]
    ids = [one["checkpoint_id"] for one in history]
    assert [one["parent_checkpoint_id"] for one in history] == [*ids[1:], None]
    assert made["head_checkpoint_id"] == ids[0]
    assert history[1]["tasks"][0]["result"] == {**AI, "messages": history[1]["tasks"][0]["result"]["messages"]}


@pytest.mark.parametrize("graph", ["chat", "delta"])
def test_a_seeded_thread_goes_on_and_its_first_turn_can_be_asked_again(service: Service, graph: str) -> None:
    node = {"chat": "reply", "delta": "answer"}[graph]
    given = steps(*[(node if name == "reply" else name, values) for name, values in SEED])
    thread = service.thread(assistant_id=graph, supersteps=given)
    assert texts(service.state(thread)["values"]) == texts(service.get(thread)["values"]) == ["hi", "hello"]
    assert texts(service.wait(thread, graph, "more"))[:3] == ["hi", "hello", "more"]
    assert [texts(one["values"]) for one in service.history(thread)][-4:] == [["hi", "hello"], ["hi"], [], []]
    body = {"message_id": "s2"}
    prepared = service.ask("POST", f"/threads/{thread}/runs/regenerate/prepare", body)
    assert texts(prepared["input"]) == ["hi"]


def test_several_updates_of_one_step_are_one_checkpoint(service: Service) -> None:
    both = [{"values": human(word), "as_node": "nothing"} for word in ("a", "b")]
    given = [{"updates": [{"values": {"messages": []}, "as_node": "__input__"}]}, {"updates": both}]
    thread = service.thread(assistant_id="noop", supersteps=given)
    assert [texts(one["values"]) for one in service.history(thread)] == [["a", "b"], [], []]


def test_a_seeded_thread_may_wait_for_its_next_node(service: Service) -> None:
    thread = service.thread(assistant_id="chat", supersteps=steps(*SEED[:2]))
    shown = service.get(thread)
    assert (shown["status"], service.state(thread)["next"]) == ("interrupted", ["reply"])
    assert texts(service.wait(thread, "chat")) == ["hi", "echo: hi"]


def test_a_command_says_what_a_node_gave_and_where_to_go(service: Service) -> None:
    command = {"update": {"messages": [{"type": "ai", "content": "asked", "id": "p"}]}, "goto": ["act"]}
    given = [*steps(("__input__", human("a")), ("__start__", human("a")))]
    given.append({"updates": [{"command": command, "as_node": "gate"}]})
    thread = service.thread(assistant_id="ask", supersteps=given)
    state = service.state(thread)
    assert (texts(state["values"]), state["next"]) == (["a", "asked"], ["act"])


def test_the_title_of_a_seeded_thread_is_the_one_given_else_the_graphs_own(service: Service) -> None:
    titled = steps(*SEED[:2], ("reply", AI | {"title": "Imported"}))
    one = service.ask("POST", "/threads", {"assistant_id": "chat", "supersteps": titled})
    assert (one["title"], one["values"]["title"]) == ("Imported", "Imported")
    two = service.ask("POST", "/threads", {"assistant_id": "chat", "supersteps": titled, "title": "Mine"})
    assert (two["title"], two["values"]["title"]) == ("Mine", "Mine")


def test_a_thread_that_exists_is_given_unchanged(service: Service) -> None:
    thread = service.thread(thread_id="t", assistant_id="chat", supersteps=steps(*SEED))
    before = service.get(thread), service.counts()
    again = {"thread_id": "t", "assistant_id": "chat", "supersteps": steps(("ghost", {}))}
    assert service.ask("POST", "/threads", again) == before[0]
    service.ask("POST", "/threads", again | {"if_exists": "raise"}, 409)
    assert (service.get(thread), service.counts()) == before


@pytest.mark.parametrize(
    ("supersteps", "status", "field"),
    [
        (steps(*SEED[:2], ("ghost", AI)), 400, "supersteps"),
        (steps(*SEED[:2], ("reply", {"messages": 5})), 400, "supersteps"),
        (steps(*SEED[:2], ("reply", {"ghost": 1, "other": 2})), 422, "supersteps.2.updates.0.values.ghost"),
        (steps(("reply", {"messages": {"__overwrite__": []}})), 422, "supersteps.0.updates.0.values.messages"),
        ([{"updates": []}], 422, "supersteps.0.updates"),
        ([{}], 422, "supersteps.0.updates"),
        ([{"updates": [5]}], 422, "supersteps.0.updates.0"),
        (5, 422, "supersteps"),
        ([{"updates": [{"values": {}, "command": {"goto": "reply"}}]}], 422, "supersteps.0.updates.0.command"),
        ([{"updates": [{"command": {"goto": [3]}}]}], 422, "supersteps.0.updates.0.command.goto"),
        ([{"updates": [{"command": {"update": {"ghost": 1}}}]}], 422, "supersteps.0.updates.0.command.update.ghost"),
    ],
)
def test_supersteps_that_are_refused_make_no_thread(service: Service, supersteps: Any, status: int, field: str) -> None:
    before = service.counts()
    body = {"thread_id": "t", "assistant_id": "chat", "supersteps": supersteps}
    answer = service.ask("POST", "/threads", body, status)
    assert answer["detail"].startswith(field)
    assert service.counts() == before
    service.ask("GET", "/threads/t", status=404)
    assert service.ask("POST", "/threads", {"thread_id": "t"})["head_checkpoint_id"] is None


def test_supersteps_of_a_graph_that_is_not_here_are_refused(service: Service) -> None:
    service.ask("POST", "/threads", {"metadata": {"graph_id": "ghost"}, "supersteps": steps(*SEED)}, 409)
    assert service.counts()["threads"] == 0
