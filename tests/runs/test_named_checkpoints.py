"""Runs that name a checkpoint as pages do: the parent of the oldest state that shows a message, in both modes."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.service import Service, human

TITLED = "talk=tests.clients.graphs:talk,talk_delta=tests.clients.graphs:talk_delta"


@pytest.fixture(params=["full", "delta"])
def talk(serve: Callable[..., Service], request: pytest.FixtureRequest) -> Talk:
    return Talk(serve(graphs=GRAPHS), request.param)


def first_shown(talk: Talk, message_id: str) -> Any:
    """Give the oldest state that holds a message."""
    states = [state for state in talk.service.history(talk.id) if message_id in ids(state["values"])]
    return states[-1]


def ids(values: Any) -> list[str]:
    return [message["id"] for message in values.get("messages", [])]


def asked_at(talk: Talk, message_id: str) -> str:
    return str(first_shown(talk, message_id)["parent_checkpoint"]["checkpoint_id"])


def answered_again(talk: Talk, message_id: str) -> str:
    """Answer again as a page does, with no input; gives the id of the new answer."""
    talk.service.wait(talk.id, talk.graph, checkpoint={"checkpoint_id": asked_at(talk, message_id)})
    return ids(talk.service.state(talk.id)["values"])[-1]


def test_an_edit_from_where_the_question_was_taken_in_keeps_nothing_of_it(talk: Talk) -> None:
    talk.say("one", "h1")
    base = talk.head()
    talk.say("two", "h2")
    talk.say("edited", "e2", asked_at(talk, "h2"))
    assert talk.texts() == ["one", "echo: one", "edited", "echo: edited"]
    assert list(talk.places("human_message_id", "base_checkpoint_id", "sibling_index", "on_selected_path"))[1:] == [
        ("h2", base, 0, False),
        ("e2", base, 1, True),
    ]


def test_an_edit_of_the_first_question_starts_with_nothing(talk: Talk) -> None:
    talk.say("one", "h1")
    talk.say("edited", "e1", asked_at(talk, "h1"))
    assert talk.texts() == ["edited", "echo: edited"]
    assert list(talk.places("human_message_id", "base_checkpoint_id", "sibling_count")) == [
        ("h1", talk.root, 2),
        ("e1", talk.root, 2),
    ]


def test_an_edit_where_the_head_itself_was_left_is_a_turn_like_any(talk: Talk) -> None:
    talk.say("one", "h1")
    talk.say("!boom", "h2")
    talk.say("two", "h3", asked_at(talk, "h2"))
    assert talk.texts() == ["one", "echo: one", "two", "echo: two"]


@pytest.mark.parametrize("graph", ["talk", "talk_delta", "full", "delta"])
def test_answers_given_again_and_again_stand_beside_each_other(serve: Callable[..., Service], graph: str) -> None:
    talk = Talk(serve(graphs=f"{GRAPHS},{TITLED}"), graph)
    talk.say("one", "h1")
    answers = [ids(talk.service.state(talk.id)["values"])[-1]]
    asked = asked_at(talk, answers[0])
    for _ in range(3):
        answers.append(answered_again(talk, answers[-1]))
    assert len(set(answers)) == 4
    forks = [asked_at(talk, answer) for answer in answers[1:]]
    next_step = talk.service.state(talk.id, asked)["next"]
    assert {talk.service.state(talk.id, fork)["parent_checkpoint"]["checkpoint_id"] for fork in forks} == {asked}
    assert list(talk.places("human_message_id", "sibling_index", "sibling_count")) == [("h1", n, 4) for n in range(4)]
    assert [talk.service.state(talk.id, fork)["next"] for fork in forks] == [next_step] * 3


def test_a_message_put_where_a_step_was_due_follows_what_that_state_shows(talk: Talk) -> None:
    talk.say("one", "h1")
    place = first_shown(talk, "h1")["checkpoint"]["checkpoint_id"]
    assert talk.service.state(talk.id, place)["next"] == ["answer"]
    talk.say("and", "h2", place)
    assert talk.texts() == ["one", "and", "echo: and"]


def test_a_turn_on_a_left_head_keeps_what_finished_there_and_one_that_names_it_too(talk: Talk) -> None:
    talk.say("!ask me", "h1")
    head = talk.head()
    talk.say("two", "h2", head)
    assert talk.texts() == ["!ask me", "two", "echo: two"]
    assert talk.service.state(talk.id, head)["next"] == ["answer"]


def test_an_answer_to_a_question_stays_at_the_checkpoint_that_it_names(talk: Talk) -> None:
    talk.say("!ask me", "h1")
    asked = talk.head()
    talk.resume("yes")
    talk.resume("no", asked)
    assert talk.texts() == ["!ask me", "echo: !ask me no"]


def test_the_checkpoint_of_another_thread_is_unknown_as_before(talk: Talk) -> None:
    talk.say("one", "h1")
    other = Talk(talk.service, talk.graph)
    other.service.start(other.id, other.graph, human("x"), status=404, checkpoint_id=talk.head())
