"""The head chosen by hand, and turns taken out: what every reader sees afterwards, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.runs.gates import Gate
from tests.service import Service, human, texts

TABLES = ("checkpoints", "writes")


@pytest.fixture(params=["full", "delta"])
def talk(request: pytest.FixtureRequest, serve: Callable[..., Service]) -> Talk:
    return Talk(serve(graphs=GRAPHS), request.param)


def three_siblings(talk: Talk) -> list[str]:
    """Ask one question in three forms and give the heads they left."""
    ends = []
    for number in range(3):
        talk.say(f"m{number}", f"h{number}", talk.root if number else None)
        ends.append(talk.head())
    return ends


def test_a_selected_head_is_what_every_read_and_the_next_run_stand_on(talk: Talk) -> None:
    ends = three_siblings(talk)
    answer = talk.select(ends[1])
    assert answer["head_checkpoint_id"] == ends[1]
    assert texts(answer["values"]) == ["m1", "echo: m1"]
    assert talk.service.get(talk.id) == answer
    state = talk.service.state(talk.id)
    assert state["checkpoint"]["checkpoint_id"] == ends[1]
    assert talk.service.history(talk.id)[0] == state
    values = talk.service.wait(talk.id, talk.graph, human("next", "h9"))
    assert texts(values) == ["m1", "echo: m1", "next", "echo: next"]
    assert talk.selected()[-1] == talk.service.get(talk.id, "/runs")[0]["run_id"]


def test_a_selection_moves_the_time_of_the_state_and_not_the_place_in_the_list(talk: Talk) -> None:
    ends = three_siblings(talk)
    before = talk.service.get(talk.id)
    after = talk.select(ends[0])
    moved = {name for name in after if after[name] != before[name]}
    assert moved == {"state_updated_at", "values", "head_checkpoint_id"}
    assert after["state_updated_at"] > before["state_updated_at"]
    assert talk.select(ends[0]) == after


def test_a_selection_outlives_the_service(talk: Talk, serve: Callable[..., Service]) -> None:
    ends = three_siblings(talk)
    talk.select(ends[0])
    talk.service.gateway.stop(0)
    talk.service.gateway.close()
    again = Talk(serve(graphs=GRAPHS), talk.graph, talk.id)
    assert (again.head(), again.texts(), again.shown()) == (ends[0], ["m0", "echo: m0"], ["m0", "echo: m0"])
    assert [turn["on_selected_path"] for turn in again.tree()["turns"]] == [True, False, False]


def test_the_root_can_be_selected_and_the_next_message_is_a_sibling_of_the_first(talk: Talk) -> None:
    three_siblings(talk)
    talk.select(talk.root)
    assert (talk.selected(), talk.shown()) == ([], [])
    run = talk.say("anew", "h9")
    assert (talk.turn(run)["sibling_index"], talk.turn(run)["sibling_count"]) == (3, 4)


def test_the_root_of_an_unused_thread_stays_no_head(talk: Talk) -> None:
    before = talk.service.get(talk.id)
    assert talk.select(talk.root) == before
    assert before["head_checkpoint_id"] is None


def test_a_checkpoint_with_scheduled_work_an_unknown_and_a_foreign_one_are_refused(talk: Talk) -> None:
    talk.say("one", "h1")
    head, history = talk.head(), talk.service.history(talk.id)
    other = Talk(talk.service, talk.graph)
    other.say("one", "h1")
    assert "work is scheduled" in talk.select(history[1]["checkpoint"]["checkpoint_id"], 409)["detail"]
    for unknown in ("nothing", other.head(), other.root):
        assert unknown in talk.select(unknown, 404)["detail"]
    assert "checkpoint_id" in talk.select("", 422)["errors"]
    assert talk.head() == head


def test_nothing_is_selected_or_deleted_while_a_run_is_in_flight(talk: Talk, gate: Gate) -> None:
    ends = three_siblings(talk)
    other = talk.tree()["turns"][0]["turn_id"]
    run = talk.service.start(talk.id, talk.graph, human(gate.text, "h9"))
    gate.await_reached()
    assert "run in flight" in talk.select(ends[0], 409)["detail"]
    assert "run in flight" in talk.delete(other, 409)["detail"]
    talk.service.cancel(talk.id, run["run_id"])
    talk.select(ends[0])


def test_a_selection_takes_back_the_error_of_the_head_that_was_left(talk: Talk) -> None:
    talk.say("one", "h1")
    good = talk.head()
    talk.say("!boom", "h2")
    failed = talk.service.get(talk.id)
    assert (failed["status"], failed["error"]["error"]) == ("error", "ValueError")
    found = talk.select(good)
    assert (found["status"], found["error"], found["interrupts"]) == ("idle", None, {})
    assert talk.texts() == ["one", "echo: one"]


def stored(talk: Talk) -> list[list[Any]]:
    select = "SELECT checkpoint_ns, checkpoint_id FROM {} WHERE thread_id = ? ORDER BY 1, 2"
    return [talk.service.rows(select.format(table), talk.id) for table in TABLES]


def test_a_deleted_turn_takes_all_that_came_after_it_and_leaves_the_shared_beginning(talk: Talk) -> None:
    talk.say("one", "h1")
    base = talk.head()
    talk.say("two", "h2")
    kept, before = talk.head(), stored(talk)
    runs = [talk.say("other", "e2", base), talk.say("three", "h3"), talk.say("four", "h4")]
    talk.select(kept)
    talk.delete(runs[0])
    assert stored(talk) == before
    assert talk.service.rows("SELECT run_id FROM runs WHERE run_id IN (?, ?, ?)", *runs) == []
    assert talk.service.rows("SELECT count(*) FROM events WHERE run NOT IN (SELECT row FROM runs)") == [(0,)]
    assert talk.texts() == talk.shown() == ["one", "echo: one", "two", "echo: two"]
    assert [turn["sibling_count"] for turn in talk.tree()["turns"]] == [1, 1]
    talk.say("five", "h5")
    assert talk.texts()[-1] == "echo: five"


def test_a_turn_that_the_head_stands_in_or_behind_is_not_deleted(talk: Talk) -> None:
    runs = [talk.say("one", "h1"), talk.say("two", "h2")]
    before = stored(talk), talk.service.get(talk.id)
    for run in runs:
        assert talk.head() in talk.delete(run, 409)["detail"]
    assert (stored(talk), talk.service.get(talk.id)) == before


def test_an_unknown_turn_is_not_found_and_a_blank_one_is_no_name(talk: Talk) -> None:
    three_siblings(talk)
    before = talk.service.get(talk.id), stored(talk)
    assert "nobody" in talk.delete("nobody", 404)["detail"]
    assert "nobody/else" in talk.delete("nobody/else", 404)["detail"]
    assert talk.delete("%20%20", 422)["errors"] == {"turn_id": ["must not be blank"]}
    assert (talk.service.get(talk.id), stored(talk)) == before


def test_a_failed_try_can_be_deleted(talk: Talk) -> None:
    talk.say("one", "h1")
    before = stored(talk)
    talk.delete(talk.say("!boom", "b1", talk.root))
    assert stored(talk) == before
    assert len(talk.tree()["turns"]) == 1


@pytest.mark.parametrize("graph", ["inside_full", "inside_delta"])
def test_a_deleted_turn_takes_the_checkpoints_of_its_subgraphs(serve: Callable[..., Service], graph: str) -> None:
    talk = Talk(serve(graphs=GRAPHS), graph)
    talk.say("one", "h1")
    before = stored(talk)
    head = talk.head()
    run = talk.say("other", "h2", talk.root)
    assert len({namespace for namespace, _ in stored(talk)[0]}) == 3
    talk.select(head)
    talk.delete(run)
    assert stored(talk) == before


def test_both_stores_select_alike(serve: Callable[..., Service]) -> None:
    talk = Talk(serve(graphs=GRAPHS, store="memory"), "full")
    ends = three_siblings(talk)
    answer = talk.select(ends[0])
    assert (answer["head_checkpoint_id"], texts(answer["values"])) == (ends[0], ["m0", "echo: m0"])
    assert talk.service.get(talk.id) == answer
