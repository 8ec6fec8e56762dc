"""Messages that are moved or taken out inside a conversation: each stays with the turn it was said in."""

from collections.abc import Callable

import pytest

from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.service import Service

MODES = ("full", "delta")


@pytest.mark.parametrize("mode", MODES)
def test_the_embedded_agents_moved_prompts_are_one_message_of_one_turn(
    serve: Callable[..., Service], mode: str
) -> None:
    talk = Talk(serve(checkpoint_mode=mode), "agent")
    runs = [talk.say("hello", "h1"), talk.say("2*3", "h2")]
    runs.append(talk.say("hi", "e1", talk.root))
    assert list(talk.places("turn_id", "human_message_id", "sibling_index", "sibling_count")) == [
        (runs[0], "h1__user", 0, 2),
        (runs[1], "h2", 0, 1),
        (runs[2], "e1__user", 1, 2),
    ]
    for turn in talk.tree()["turns"]:
        talk.select(turn["checkpoint_id"])
        said = [message for one in talk.turns()["turns"] for message in one["messages"]]
        assert said == talk.service.state(talk.id)["values"]["messages"]


@pytest.mark.parametrize("mode", MODES)
def test_a_prompt_that_a_later_run_moves_stays_with_its_own_turn(serve: Callable[..., Service], mode: str) -> None:
    talk = Talk(serve(checkpoint_mode=mode), "agent")
    first = talk.say("stopped", "h1", interrupt_before=["context"])
    assert talk.turn(first)["human_message_id"] == "h1"
    second = talk.say("next", "h2")
    shown = [(first, "h1__user", ["h1", "h1__user"]), (second, "h2", talk.turn(second)["message_ids"])]
    assert list(talk.places("turn_id", "human_message_id", "message_ids")) == shown
    assert len(talk.turn(second)["message_ids"]) == 2
    assert talk.shown() == talk.texts()
    copied = talk.service.ask("POST", f"/threads/{talk.id}/copy")["thread_id"]
    again = Talk(talk.service, "agent", copied)
    assert list(again.places("turn_id", "human_message_id", "message_ids")) == shown
    assert list(again.places("base_checkpoint_id")) == list(talk.places("base_checkpoint_id"))


@pytest.mark.parametrize("mode", MODES)
def test_messages_taken_out_by_hand_are_no_longer_of_their_turn(serve: Callable[..., Service], mode: str) -> None:
    talk = Talk(serve(graphs=GRAPHS), mode)
    run = talk.say("one", "h1")
    answer = talk.turn(run)["message_ids"][1]
    talk.service.update(talk.id, {"messages": [{"type": "remove", "id": answer, "content": ""}]}, as_node="answer")
    assert talk.turn(run)["message_ids"] == ["h1"]
    assert talk.shown() == talk.texts() == ["one"]
    second = talk.say("two", "h2")
    assert [turn["message_ids"][0] for turn in talk.tree()["turns"]] == ["h1", "h2"]
    assert talk.turn(second)["parent_turn_id"] == run
    assert talk.shown() == talk.texts() == ["one", "two", "echo: two"]
