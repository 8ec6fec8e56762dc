"""What an answer said before it was cut off: shown in its turn, kept as long as its run, never written into a state."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.lifecycle.asking import Talk
from tests.runs.gates import Gate
from tests.service import Service, human

GRAPHS = "full=tests.runs.graphs:telling,delta=tests.runs.graphs:telling_delta,halfway=tests.runs.graphs:halfway"


@pytest.fixture(params=["full", "delta"])
def talk(request: pytest.FixtureRequest, serve: Callable[..., Service]) -> Talk:
    return Talk(serve(graphs=GRAPHS), request.param)


def cut_off(talk: Talk, gate: Gate, *modes: str) -> str:
    """Cancel a run that has said something, and give its id."""
    run = talk.service.start(talk.id, talk.graph, human(gate.text, "h2"), stream_mode=list(modes))
    gate.await_reached()
    talk.service.cancel(talk.id, run["run_id"])
    return str(run["run_id"])


def said(talk: Talk) -> list[tuple[str, Any]]:
    """Give (text, whether it was cut off) of what the selected path shows."""
    messages = [message for turn in talk.turns()["turns"] for message in turn["messages"]]
    return [(one["content"], one["additional_kwargs"].get("deerflow_interrupted")) for one in messages]


@pytest.mark.parametrize("mode", ["messages-tuple", "messages"])
def test_the_text_of_a_cancelled_answer_is_shown_as_interrupted(talk: Talk, gate: Gate, mode: str) -> None:
    talk.say("one", "h1")
    run_id = cut_off(talk, gate, mode)
    assert said(talk)[2:] == [(gate.text, None), (f"telling {gate.text}", True)]
    turn = talk.turn(run_id)
    assert (turn["status"], turn["message_ids"][0], len(turn["message_ids"])) == ("interrupted", "h2", 2)
    assert talk.texts() == ["one", "telling one", gate.text]
    paged = talk.service.get(talk.id, "/messages/page")["data"]
    assert [one["content"]["content"] for one in paged][2:] == [gate.text, f"telling {gate.text}"]


def test_it_outlives_the_log_and_is_regenerated_by_its_id(talk: Talk, gate: Gate) -> None:
    run_id = cut_off(talk, gate, "messages-tuple")
    with talk.service.gateway.db.writing() as connection:
        connection.execute("DELETE FROM events")
    assert said(talk) == [(gate.text, None), (f"telling {gate.text}", True)]
    gate.open()
    asked = talk.turn(run_id)["message_ids"][1]
    again = talk.service.ask("POST", f"/threads/{talk.id}/runs/regenerate", {"message_id": asked})
    talk.service.join(talk.id, again["run_id"])
    assert said(talk) == [(gate.text, None), (f"telling {gate.text}", None)]
    assert [status for (status,) in talk.places("status")] == ["interrupted", "done"]


def test_what_was_stored_as_well_is_shown_once(talk: Talk) -> None:
    talk.say("one", "h1", stream_mode=["messages-tuple"])
    assert said(talk) == [("one", None), ("telling one", None)]
    assert talk.service.rows("SELECT partial FROM runs") == [(None,)]


def test_the_text_of_a_failed_answer_is_shown_in_its_failed_turn(serve: Callable[..., Service]) -> None:
    talk = Talk(serve(graphs=GRAPHS), "halfway")
    run_id = talk.say("one", "h1", stream_mode=["messages-tuple"])
    assert said(talk) == [("one", None), ("one two three", True)]
    assert talk.turn(run_id)["status"] == "failed"


def test_text_that_nobody_asked_to_have_streamed_is_not_kept(talk: Talk, gate: Gate) -> None:
    cut_off(talk, gate, "values")
    assert said(talk) == [(gate.text, None)]


def test_the_next_turn_goes_on_without_it(talk: Talk, gate: Gate) -> None:
    cut_off(talk, gate, "messages-tuple")
    talk.say("two", "h3")
    assert talk.texts() == [gate.text, "two", "telling two"]
    assert said(talk) == [(gate.text, None), (f"telling {gate.text}", True), ("two", None), ("telling two", None)]
