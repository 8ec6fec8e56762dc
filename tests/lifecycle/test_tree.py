"""The tree of turns: every turn once, siblings in order, whatever happened to the runs; in both modes."""

from collections.abc import Callable

import pytest

from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.runs.gates import Gate
from tests.service import Service, human, until

MODES = ("full", "delta")


@pytest.fixture(params=MODES)
def talk(request: pytest.FixtureRequest, serve: Callable[..., Service]) -> Talk:
    return Talk(serve(graphs=GRAPHS), request.param)


def test_a_thread_that_was_never_used_has_no_turn_and_no_head(talk: Talk) -> None:
    assert talk.tree() == {"turns": [], "head_checkpoint_id": None, "broken": []}
    assert talk.turns() == {"turns": [], "has_more": False}


def test_a_turn_is_named_by_its_run_and_stands_on_the_settled_checkpoint_before_it(talk: Talk) -> None:
    first = talk.say("one", "h1")
    middle = talk.head()
    second = talk.say("two", "h2")
    answers = [message["id"] for message in talk.service.state(talk.id)["values"]["messages"]][1::2]
    runs = {run["run_id"]: run["created_at"] for run in talk.service.get(talk.id, "/runs")}
    assert talk.tree() == {
        "turns": [
            {
                "turn_id": first, "parent_turn_id": None, "human_message_id": "h1", "message_ids": ["h1", answers[0]],
                "checkpoint_id": middle, "base_checkpoint_id": talk.root, "run_id": first, "created_at": runs[first],
                "status": "done", "sibling_index": 0, "sibling_count": 1, "on_selected_path": True,
            },
            {
                "turn_id": second, "parent_turn_id": first, "human_message_id": "h2",
                "message_ids": ["h2", answers[1]], "checkpoint_id": talk.head(), "base_checkpoint_id": middle,
                "run_id": second, "created_at": runs[second], "status": "done", "sibling_index": 0,
                "sibling_count": 1, "on_selected_path": True,
            },
        ],
        "head_checkpoint_id": talk.head(),
        "broken": [],
    }  # fmt: skip


def test_a_message_edited_six_times_has_seven_siblings_in_order_each_of_which_can_be_reached(talk: Talk) -> None:
    runs = [talk.say("question 0", "h0")]
    runs += [talk.say(f"question {number}", f"h{number}", talk.root) for number in range(1, 7)]
    turns = talk.tree()["turns"]
    assert [turn["turn_id"] for turn in turns] == runs
    assert [(turn["sibling_index"], turn["sibling_count"]) for turn in turns] == [(n, 7) for n in range(7)]
    for number, turn in enumerate(turns):
        talk.select(turn["checkpoint_id"])
        assert talk.texts() == talk.shown() == [f"question {number}", f"echo: question {number}"]
        assert talk.selected() == [turn["turn_id"]]


def test_an_answer_given_anew_stands_beside_the_old_one_with_the_same_message(talk: Talk) -> None:
    old = talk.say("one", "h1")
    new = talk.say("one", "h1", talk.root)
    assert list(talk.places("turn_id", "human_message_id", "sibling_index", "sibling_count", "on_selected_path")) == [
        (old, "h1", 0, 2, False),
        (new, "h1", 1, 2, True),
    ]
    old_ids, new_ids = talk.places("message_ids")
    assert old_ids[0][0] == new_ids[0][0] == "h1" and old_ids[0][1] != new_ids[0][1]


def test_siblings_hang_on_any_turn_not_only_on_the_last(talk: Talk) -> None:
    runs, bases = [], [talk.root]
    for number in range(5):
        runs.append(talk.say(f"m{number}", f"h{number}"))
        bases.append(talk.head())
    edited = talk.say("m1 edited", "e1", bases[1])
    assert list(talk.places("turn_id", "parent_turn_id", "sibling_index", "sibling_count", "on_selected_path")) == [
        (runs[0], None, 0, 1, True),
        (runs[1], runs[0], 0, 2, False),
        (runs[2], runs[1], 0, 1, False),
        (runs[3], runs[2], 0, 1, False),
        (runs[4], runs[3], 0, 1, False),
        (edited, runs[0], 1, 2, True),
    ]


def test_an_edit_keeps_the_tail_and_each_branch_goes_on_where_it_stood(talk: Talk) -> None:
    for number in (1, 2, 3):
        talk.say(f"m{number}", f"h{number}")
    old = talk.head()
    base = talk.tree()["turns"][0]["checkpoint_id"]
    talk.say("other", "e2", base)
    new = talk.head()
    assert talk.texts() == ["m1", "echo: m1", "other", "echo: other"]
    talk.select(old)
    assert talk.texts() == ["m1", "echo: m1", "m2", "echo: m2", "m3", "echo: m3"]
    talk.say("m4", "h4")
    tail = talk.texts()
    assert tail[-4:] == ["m3", "echo: m3", "m4", "echo: m4"]
    talk.select(new)
    assert talk.texts() == ["m1", "echo: m1", "other", "echo: other"]
    talk.select(talk.tree()["turns"][3]["checkpoint_id"])
    assert talk.texts() == talk.shown() == tail


def test_a_try_that_failed_is_a_failed_sibling_and_the_head_stays(talk: Talk) -> None:
    good = talk.say("one", "h1")
    head = talk.head()
    bad = [talk.say("!boom", f"b{number}", talk.root) for number in (1, 2)]
    assert talk.head() == head
    last = talk.say("fine", "h2", talk.root)
    assert list(talk.places("turn_id", "human_message_id", "status", "sibling_index", "on_selected_path")) == [
        (good, "h1", "done", 0, False),
        (bad[0], "b1", "failed", 1, False),
        (bad[1], "b2", "failed", 2, False),
        (last, "h2", "done", 3, True),
    ]
    assert talk.turn(bad[0])["message_ids"] == ["b1"]


def test_a_cancelled_turn_is_interrupted_and_stays_on_the_path_of_the_next(talk: Talk, gate: Gate) -> None:
    run = talk.service.start(talk.id, talk.graph, human(gate.text, "h1"))
    gate.await_reached()
    until(lambda: [*talk.places("turn_id", "status", "message_ids")] == [(run["run_id"], "running", ["h1"])])
    talk.service.cancel(talk.id, run["run_id"])
    cancelled = talk.turn(run["run_id"])
    assert (cancelled["status"], cancelled["message_ids"], cancelled["on_selected_path"]) == (
        "interrupted", ["h1"], True,
    )  # fmt: skip
    second = talk.say("two", "h2")
    assert list(talk.places("turn_id", "parent_turn_id", "status", "on_selected_path")) == [
        (run["run_id"], None, "interrupted", True),
        (second, run["run_id"], "done", True),
    ]
    assert talk.shown() == talk.texts() == [gate.text, "two", "echo: two"]
    assert talk.turn(second)["base_checkpoint_id"] == talk.turn(run["run_id"])["checkpoint_id"]


def test_a_question_asked_back_is_an_interrupted_turn_that_its_answer_goes_on_with(talk: Talk) -> None:
    asked = talk.say("!ask", "h1")
    assert talk.turn(asked)["status"] == "interrupted"
    talk.resume("this")
    [turn] = talk.tree()["turns"]
    assert (turn["turn_id"], turn["status"], len(turn["message_ids"])) == (asked, "done", 2)
    assert turn["checkpoint_id"] == talk.head()


def test_a_run_sent_again_from_the_middle_of_a_turn_is_a_turn_beside_the_first(talk: Talk) -> None:
    asked = talk.say("one", "h1")
    first = talk.head()
    middle = talk.service.history(talk.id)[1]["checkpoint"]["checkpoint_id"]
    run = talk.service.start(talk.id, talk.graph, checkpoint_id=middle)
    talk.service.join(talk.id, run["run_id"])
    assert talk.head() != first
    assert talk.texts() == talk.shown() == ["one", "echo: one"]
    assert list(talk.places("turn_id", "human_message_id", "sibling_index", "sibling_count", "on_selected_path")) == [
        (asked, "h1", 0, 2, False),
        (run["run_id"], "h1", 1, 2, True),
    ]
    talk.select(first)
    assert talk.selected() == [asked]
    talk.delete(run["run_id"])
    assert [turn["turn_id"] for turn in talk.tree()["turns"]] == [asked]
    assert talk.texts() == talk.shown() == ["one", "echo: one"]


def test_a_run_that_failed_before_it_stored_anything_is_no_turn(talk: Talk) -> None:
    talk.say("one", "h1")
    stale = talk.service.start(
        talk.id, talk.graph, human("two", "h2"), status=409, metadata={"head_checkpoint_id": talk.root}
    )
    assert "stale" in stale["detail"]
    assert len(talk.tree()["turns"]) == 1


def test_a_state_update_goes_on_with_the_turn_and_a_message_put_by_hand_begins_one(talk: Talk) -> None:
    first = talk.say("one", "h1")
    talk.service.update(talk.id, {"messages": [{"type": "ai", "content": "more", "id": "a2"}]}, as_node="answer")
    assert talk.turn(first)["message_ids"][-1] == "a2"
    assert talk.turn(first)["checkpoint_id"] == talk.head()
    base = talk.head()
    talk.service.update(talk.id, {"messages": [{"type": "human", "content": "by hand", "id": "h9"}]}, as_node="answer")
    [_, own] = talk.tree()["turns"]
    assert (own["turn_id"], own["run_id"], own["base_checkpoint_id"]) == (f"{talk.head()}.h9", None, base)
    assert (own["parent_turn_id"], own["status"]) == (first, "done")
    assert talk.shown() == talk.texts()


def test_reads_leave_every_table_as_it_is(talk: Talk) -> None:
    talk.say("one", "h1")
    talk.say("other", "h2", talk.root)
    before = talk.service.counts()
    talk.tree()
    talk.turns("?limit=1")
    talk.service.ask("GET", f"/threads/{talk.id}/turns?before=nobody", status=404)
    assert talk.service.counts() == before


def test_a_delta_thread_is_refused_through_a_full_graph(serve: Callable[..., Service]) -> None:
    service = serve(checkpoint_mode="delta")
    talk = Talk(service, "agent")
    run = talk.say("one", "h1")
    service.gateway.stop(0)
    service.gateway.close()
    again = serve(checkpoint_mode="full")
    for method, path, body in (
        ("GET", "/tree", None), ("GET", "/turns", None), ("DELETE", f"/turns/{run}", None),
        ("PUT", "/head", {"checkpoint_id": _head(again, talk.id)}),
    ):  # fmt: skip
        refused = again.ask(method, f"/threads/{talk.id}{path}", body, status=409)
        assert "CHECKPOINT_MODE=delta" in refused["detail"], path


def _head(service: Service, thread_id: str) -> str:
    return str(service.gateway.threads.get(None, thread_id).head)
