"""Which user messages are one turn, and what its replay must lack and hold; LangGraph alone runs the graphs."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from deerflow_lite.checkpoints.root import new_checkpoint_id, write_root
from deerflow_lite.errors import ReplayRefused
from deerflow_lite.lifecycle import base
from deerflow_lite.threads.model import Thread
from tests.lifecycle.conftest import Open
from tests.lifecycle.stored import Stored, of

Make = Callable[[str], "Talk"]


@dataclass
class Talk:
    """One thread with a root, its graph and the checkpoint it stands on."""

    stored: Stored
    name: str
    head: str

    def place(self) -> dict[str, Any]:
        return {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": self.head}

    def run(self, run_id: str, *messages: Any, steps: int = 99, **more: Any) -> None:
        """Run from the head; a client that stops listening after some steps cancels it."""
        graph = self.stored.reading(self.name)
        config = {"configurable": {**self.place(), "run_id": run_id}, "metadata": {"run_id": run_id}}
        chunks = graph.stream({"messages": [*messages]}, config, stream_mode="values", durability="sync", **more)
        for _ in itertools.islice(chunks, steps):
            pass
        chunks.close()
        self.stand()

    def update(self, *messages: Any, node: str = "after") -> None:
        graph = self.stored.reading(self.name)
        graph.update_state({"configurable": self.place()}, {"messages": [*messages]} if messages else None, node)
        self.stand()

    def settle(self) -> None:
        """Write settled copies until nothing is scheduled: what finished tasks wrote may schedule work once more."""
        graph = self.stored.reading(self.name)
        while graph.get_state({"configurable": self.place()}).next:
            self.update(node="__end__")

    def stand(self) -> None:
        with self.stored.gateway.db.reading() as connection:
            statement = "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = 't'"
            [self.head] = connection.execute(statement).fetchone()

    def thread(self) -> Thread:
        return self.stored.thread("t", self.name)

    def turns(self, thread: Thread) -> list[base.Turn]:
        return base.turns_of(self.stored.gateway.rooms, thread, self.head)


@pytest.fixture
def talk(stored: Open) -> Make:
    def make(name: str) -> Talk:
        found, root = stored(), new_checkpoint_id()
        with found.gateway.db.writing() as connection:
            write_root(connection, "t", root, "2026-01-01T00:00:00+00:00")
        return Talk(found, name, root)

    return make


def human(message_id: str, text: str = "hello") -> HumanMessage:
    return HumanMessage(content=text, id=message_id)


@pytest.mark.parametrize("mode", ["full", "delta"])
def test_user_messages_that_were_sent_in_one_run_are_one_turn(talk: Make, mode: str) -> None:
    one = talk(mode)
    root = one.head
    one.run("r1", human("u1"), human("u2"))
    first = one.head
    one.run("r2", human("u3"), AIMessage(content="quoted", id="q1"), human("u4"))
    thread = one.thread()
    assert [(turn.turn_id, turn.run_id, turn.user_ids) for turn in one.turns(thread)] == [
        ("r1", "r1", ("u1", "u2")), ("r2", "r2", ("u3", "u4")),
    ]  # fmt: skip
    assert [of(one.stored, thread, message_id) for message_id in ("u1", "u2")] == [root, root]
    assert [of(one.stored, thread, message_id) for message_id in ("u3", "q1", "u4")] == [first, first, first]


@pytest.mark.parametrize("mode", ["full", "delta"])
def test_a_turn_that_was_cancelled_mid_run_stays_in_context_when_the_next_one_is_replayed(
    talk: Make, mode: str
) -> None:
    one = talk(f"moving_{mode}")
    root = one.head
    one.run("r1", human("u1"), steps=2)
    cancelled = one.head
    one.settle()
    copied = one.head
    one.run("r2", human("u2"))
    thread = one.thread()
    first, second = one.turns(thread)
    assert (first.turn_id, first.user_ids, first.newest) == ("r1", ("u1__user",), copied)
    assert (second.turn_id, second.user_ids, second.newest) == ("r2", ("u2",), one.head)
    assert of(one.stored, thread, "u2") == copied != cancelled
    assert of(one.stored, thread, "u1__user") == root


@pytest.mark.parametrize("mode", ["full", "delta"])
def test_a_prompt_that_only_the_next_run_moved_still_belongs_to_the_run_that_it_was_sent_in(
    talk: Make, mode: str
) -> None:
    one = talk(mode)
    root = one.head
    one.run("r1", human("u1"), steps=1)
    one.settle()
    copied = one.head
    reminder = HumanMessage(content="<reminder/>", id="u1", additional_kwargs={"hide_from_ui": True})
    one.run("r2", reminder, human("u1__user"), human("u2"))
    thread = one.thread()
    assert [(turn.turn_id, turn.user_ids) for turn in one.turns(thread)] == [("r1", ("u1__user",)), ("r2", ("u2",))]
    assert [of(one.stored, thread, message_id) for message_id in ("u1__user", "u2")] == [root, copied]


@pytest.mark.parametrize("mode", ["full", "delta"])
def test_the_settled_copy_of_a_run_that_never_made_a_step_belongs_to_that_run(talk: Make, mode: str) -> None:
    one = talk(mode)
    root = one.head
    one.run("r1", human("u1"), steps=1)
    with one.stored.gateway.db.reading() as connection:
        statement = "SELECT checkpoint_id FROM checkpoints WHERE parent_checkpoint_id = ? ORDER BY checkpoint_id DESC"
        [one.head] = connection.execute(statement, (root,)).fetchone()
    one.settle()
    copied = one.head
    one.run("r2", human("u2"))
    thread = one.thread()
    assert [(turn.turn_id, turn.user_ids) for turn in one.turns(thread)] == [("r1", ("u1",)), ("r2", ("u2",))]
    assert [of(one.stored, thread, message_id) for message_id in ("u1", "u2")] == [root, copied]


@pytest.mark.parametrize("mode", ["full", "delta"])
def test_what_a_graph_says_as_the_user_belongs_to_the_turn_of_its_run(talk: Make, mode: str) -> None:
    one = talk(mode)
    one.run("r1", human("u1"))
    first = one.head
    one.run("r2", human("u2", "!talk"))
    one.run("r3", human("u3"))
    thread = one.thread()
    turn = one.turns(thread)[1]
    assert (turn.turn_id, turn.user_ids[0], len(turn.user_ids)) == ("r2", "u2", 2)
    assert {of(one.stored, thread, message_id) for message_id in turn.user_ids} == {first}


@pytest.mark.parametrize("mode", ["full", "delta"])
def test_where_runs_are_unknown_adjacent_user_messages_are_one_turn_named_by_its_oldest_checkpoint(
    talk: Make, mode: str
) -> None:
    one = talk(mode)
    root = one.head
    one.update(human("u1"))
    oldest = one.head
    one.update(SystemMessage(content="be kind", id="s1"), human("u2"))
    one.update(AIMessage(content="answer", id="a1"))
    answered = one.head
    one.update(human("u3"))
    third = one.head
    one.run("r4", human("u4"))
    thread = one.thread()
    assert [(turn.turn_id, turn.run_id, turn.user_ids, turn.oldest) for turn in one.turns(thread)[:2]] == [
        (f"{oldest}.u1", None, ("u1", "u2"), oldest), (f"{third}.u3", None, ("u3",), third),
    ]  # fmt: skip
    assert [turn.turn_id for turn in one.turns(thread)][2:] == ["r4"]
    assert [of(one.stored, thread, message_id) for message_id in ("u2", "a1", "u3", "u4")] == [
        root, root, answered, third,
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["full", "delta"])
def test_a_turn_holds_its_hidden_reminder_and_its_tool_pairs_and_nothing_of_another(talk: Make, mode: str) -> None:
    one = talk(f"moving_{mode}")
    one.run("r1", human("u1"))
    call = {"name": "add", "args": {}, "id": "c1", "type": "tool_call"}
    one.update(AIMessage(content="", id="a2", tool_calls=[call]), ToolMessage(content="2", tool_call_id="c1", id="t2"))
    one.run("r2", human("u2"))
    first, second = one.turns(one.thread())
    assert [message.type for message in first.messages] == ["human", "human", "ai", "ai", "tool"]
    assert [message.id for message in first.messages][:2] == ["u1", "u1__user"]
    assert [message.type for message in second.messages] == ["human", "ai"]


@pytest.mark.parametrize(
    ("message_id", "reason"),
    [
        ("u1", "message u1 is hidden"),
        ("t2", "message t2 is of type tool, neither human nor ai"),
        ("a0", "no user message stands before message a0"),
    ],
)
def test_a_message_that_people_do_not_see_or_nobody_asked_for_is_refused(
    talk: Make, message_id: str, reason: str
) -> None:
    one = talk("full")
    one.update(AIMessage(content="welcome", id="a0"))
    reminder = HumanMessage(content="<reminder/>", id="u1", additional_kwargs={"hide_from_ui": True})
    one.run("r1", reminder, human("u1__user"), ToolMessage(content="2", tool_call_id="c1", id="t2"))
    with pytest.raises(ReplayRefused, match=f"{reason}; the head is {one.head}"):
        of(one.stored, one.thread(), message_id)


@pytest.mark.parametrize("mode", ["full", "delta"])
def test_the_newest_checkpoint_of_a_turn_is_a_settled_one_where_there_is_one(talk: Make, mode: str) -> None:
    one = talk(mode)
    one.run("r1", human("u1"))
    done = one.head
    one.update(AIMessage(content="one more thing", id="a1"))
    updated = one.head
    one.run("r2", human("u2", "!ask"))
    waiting = one.head
    first, second = one.turns(one.thread())
    assert done != updated
    assert (first.newest, second.newest) == (updated, waiting)
