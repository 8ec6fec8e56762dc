"""Questions a graph asks: shown, answered, left, and answered after a restart."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.service import Service, human, texts

QUESTION = {"question": "approve?", "options": ["yes", "no"]}
ASKED = ["a", "may I?"]


def asked(service: Service, assistant: str = "ask", text: str = "a") -> str:
    thread = service.thread()
    service.wait(thread, assistant, text)
    return thread


def test_an_interrupt_ends_the_run_as_success_and_leaves_the_thread_interrupted(service: Service) -> None:
    thread = service.thread()
    answered = service.wait(thread, "ask", "a")
    (question,) = answered["__interrupt__"]
    assert (question["value"], texts(answered)) == (QUESTION, ASKED)
    shown, state = service.get(thread), service.state(thread)
    assert service.get(thread, "/runs")[0]["status"] == "success"
    (task,) = state["tasks"]
    assert (shown["status"], texts(shown["values"])) == ("interrupted", ASKED)
    assert shown["interrupts"] == {task["id"]: [{"id": question["id"], "value": QUESTION}]}
    assert (state["next"], state["interrupts"]) == (["gate"], [{"id": question["id"], "value": QUESTION}])
    assert {name: task[name] for name in ("name", "path", "error", "interrupts", "checkpoint", "state", "result")} == {
        "name": "gate", "path": ["__pregel_pull", "gate"], "error": None, "interrupts": state["interrupts"],
        "checkpoint": None, "state": None, "result": None,
    }  # fmt: skip
    found = service.ask("POST", "/threads/search", {"status": "interrupted"})
    assert [row["interrupts"] for row in found] == [shown["interrupts"]]
    assert "__interrupt__" not in state["values"] and "__interrupt__" not in shown["values"]


def test_an_interrupt_is_streamed_in_updates_and_values(service: Service) -> None:
    got = service.stream(service.thread(), "ask", "a", stream_mode=["values", "updates"])
    assert [frame.event for frame in got] == ["metadata", "values", "updates", "values", "updates", "values", "end"]
    assert got[4].data["__interrupt__"][0]["value"] == QUESTION
    assert (got[5].data["__interrupt__"], texts(got[5].data)) == (got[4].data["__interrupt__"], ASKED)


def test_a_joined_run_that_stopped_at_an_interrupt_shows_it(service: Service) -> None:
    thread = service.thread()
    run = service.start(thread, "ask", "a")["run_id"]
    first = service.join(thread, run)
    assert first["__interrupt__"][0]["value"] == QUESTION
    assert service.join(thread, run) == first


def test_an_answer_goes_on_where_the_graph_stopped(service: Service) -> None:
    thread = asked(service)
    got = service.stream(thread, "ask", command={"resume": "yes"}, stream_mode=["values", "updates"])
    assert [frame.event for frame in got][-1] == "end"
    assert {"gate": {"approved": True}} in [frame.data for frame in got]
    shown = service.get(thread)
    assert (shown["status"], shown["interrupts"], shown["values"]["approved"]) == ("idle", {}, True)
    assert texts(shown["values"]) == [*ASKED, "approved=True"]
    assert service.state(thread)["next"] == []


def test_an_answer_may_name_the_interrupt(service: Service) -> None:
    thread = asked(service)
    (question,) = service.state(thread)["interrupts"]
    assert texts(service.wait(thread, "ask", command={"resume": {question["id"]: "no"}})) == [*ASKED, "approved=False"]


def test_a_falsy_answer_is_an_answer(service: Service) -> None:
    for given in (False, 0, "", [], {"a": 1}):
        thread = asked(service)
        assert texts(service.wait(thread, "ask", command={"resume": given})) == [*ASKED, "approved=False"]


@pytest.mark.parametrize("nothing", [{}, {"resume": None}, {"goto": []}, {"update": {}, "goto": None}])
def test_a_command_that_asks_for_nothing_is_no_command(service: Service, nothing: dict[str, Any]) -> None:
    thread = asked(service)
    (question,) = service.state(thread)["interrupts"]
    again = service.wait(thread, "ask", command=nothing)
    assert (texts(again), again["__interrupt__"][0]["id"]) == (ASKED, question["id"])
    assert service.get(thread)["status"] == "interrupted"
    assert texts(service.wait(service.thread(), "noop", "a", command=nothing)) == ["a"]
    empty = {"error": "EmptyInputError", "message": "Received no input for __start__"}
    assert service.wait(service.thread(), "noop", command=nothing) == {"__error__": empty}


def test_an_answer_for_a_node_that_the_graph_has_not_is_refused_and_the_question_stays(service: Service) -> None:
    thread = asked(service)
    before = service.get(thread), service.counts()
    told = service.wait(thread, "held", status=409, command={"resume": "yes"})
    assert told["detail"] == "command.resume: graph held has no node gate, which waits for the answer"
    assert (service.get(thread), service.counts()) == before
    assert texts(service.wait(thread, "ask", command={"resume": "yes"})) == [*ASKED, "approved=True"]


def test_an_answer_may_name_the_head_it_saw_though_work_is_scheduled_there(service: Service) -> None:
    for named in ("checkpoint", "checkpoint_id"):
        thread = asked(service)
        head = service.state(thread)["checkpoint"]
        place = {named: head if named == "checkpoint" else head["checkpoint_id"]}
        assert texts(service.wait(thread, "ask", command={"resume": "yes"}, **place)) == [*ASKED, "approved=True"]
        assert service.get(thread)["status"] == "idle"


def test_going_back_to_a_question_asks_again_and_takes_the_new_answer(service: Service) -> None:
    thread = asked(service)
    question = service.state(thread)["checkpoint_id"]
    service.wait(thread, "ask", command={"resume": "yes"})
    again = service.wait(thread, "ask", command={"resume": "no"}, checkpoint_id=question)
    assert texts(again) == [*ASKED, "approved=False"]
    assert service.get(thread)["values"]["approved"] is False


def test_parallel_questions_are_all_shown_and_answered_together_or_one_by_one(service: Service) -> None:
    thread = asked(service, "parallel")
    questions = {one["value"]["ask"]: one["id"] for one in service.state(thread)["interrupts"]}
    assert sorted(questions) == ["left", "right"]
    assert len(service.get(thread)["interrupts"]) == 2
    answers = {identity: name.upper() for name, identity in questions.items()}
    assert sorted(service.wait(thread, "parallel", command={"resume": answers})["answers"]) == [
        "left=LEFT",
        "right=RIGHT",
    ]
    assert service.get(thread)["status"] == "idle"
    thread = asked(service, "parallel")
    questions = {one["value"]["ask"]: one["id"] for one in service.state(thread)["interrupts"]}
    rest = service.wait(thread, "parallel", command={"resume": {questions["right"]: "R"}})
    assert [one["value"] for one in rest["__interrupt__"]] == [{"ask": "left"}]
    shown = service.get(thread)
    assert (shown["status"], service.state(thread)["next"]) == ("interrupted", ["left"])
    assert [one["value"] for asked_ in shown["interrupts"].values() for one in asked_] == [{"ask": "left"}]
    done = service.wait(thread, "parallel", command={"resume": {questions["left"]: "L"}})
    assert sorted(done["answers"]) == ["left=L", "right=R"]


def test_an_answer_where_nothing_was_asked_is_refused(service: Service) -> None:
    thread = service.thread()
    before = service.counts()
    for verb in ("", "/stream", "/wait"):
        body = {"assistant_id": "ask", "command": {"resume": "yes"}}
        assert "resume" in service.ask("POST", f"/threads/{thread}/runs{verb}", body, 409)["detail"]
    assert service.counts() == before
    service.wait(thread, "ask", "a")
    service.wait(thread, "ask", command={"resume": "yes"})
    before = service.counts()
    assert service.start(thread, "ask", status=409, command={"resume": "yes"})
    assert (service.counts(), service.get(thread)["status"]) == (before, "idle")


def test_an_answer_at_an_older_checkpoint_where_nothing_was_asked_is_refused(service: Service) -> None:
    thread = asked(service)
    root = service.history(thread)[-1]["checkpoint_id"]
    answer = service.wait(thread, "ask", status=409, command={"resume": "yes"}, checkpoint_id=root)
    assert "resume" in answer["detail"]


def test_an_answer_queued_behind_a_run_that_asks_nothing_fails_as_a_run(service: Service, gate: Gate) -> None:
    thread = service.thread()
    service.start(thread, "held", gate.text)
    gate.await_reached()
    run = service.start(thread, "ask", command={"resume": "yes"})["run_id"]
    gate.open()
    assert service.join(thread, run)["__error__"]["error"] == "NothingToResume"
    assert service.status(thread, run) == "error"
    assert texts(service.state(thread)["values"]) == [gate.text, f"echo: {gate.text}"]


def test_input_on_an_interrupted_thread_is_a_new_turn_on_a_settled_copy(service: Service) -> None:
    thread = asked(service)
    left = service.state(thread)
    assert texts(service.wait(thread, "ask", "b")) == [*ASKED, "b", "may I?"]
    states = {state["checkpoint_id"]: state for state in service.history(thread)}
    first_of_turn = next(state for state in states.values() if state["next"] == ["__start__"])
    base = states[first_of_turn["parent_checkpoint_id"]]
    assert (base["next"], texts(base["values"]), base["parent_checkpoint_id"]) == ([], ASKED, left["checkpoint_id"])
    assert states[left["checkpoint_id"]]["next"] == ["gate"]
    assert len(service.state(thread)["interrupts"]) == 1
    assert texts(service.wait(thread, "ask", command={"resume": "yes"}))[-1] == "approved=True"


def test_interrupt_before_and_after_stop_without_a_question(service: Service) -> None:
    for given in ({"interrupt_before": ["second"]}, {"interrupt_after": ["first"]}, {"interrupt_after": "*"}):
        thread = service.thread()
        got = service.stream(thread, "twice", "a", stream_mode=["values", "updates"], **given)
        assert ("updates", {"__interrupt__": []}) in [(frame.event, frame.data) for frame in got]
        shown = service.get(thread)
        assert (shown["status"], shown["interrupts"], service.state(thread)["next"]) == ("interrupted", {}, ["second"])
        assert texts(service.wait(thread, "twice")) == ["a", "echo: a", "echo: echo: a"]
        assert service.get(thread)["status"] == "idle"


def test_a_question_can_be_answered_after_a_restart(serve: Callable[..., Service]) -> None:
    service = serve()
    thread = asked(service)
    shown, state = service.get(thread), service.state(thread)
    service.gateway.stop(1)
    service.gateway.close()
    again = serve()
    assert (again.get(thread), again.state(thread)) == (shown, state)
    assert again.get(thread, "/runs")[0]["status"] == "success"
    assert texts(again.wait(thread, "ask", command={"resume": "yes"})) == [*ASKED, "approved=True"]


def test_a_question_of_one_thread_is_not_shown_on_another(service: Service) -> None:
    other = service.thread()
    service.wait(other, "noop", "b")
    asked(service)
    shown: Any = service.get(other)
    assert (shown["status"], shown["interrupts"], service.state(other)["tasks"]) == ("idle", {}, [])


def test_a_new_turn_beside_a_question_stands_on_a_settled_copy_also_where_a_finished_task_led_on(
    service: Service,
) -> None:
    thread = service.thread()
    service.wait(thread, "beside", human("one", "h1"))
    assert service.state(thread)["next"] == ["asks"]
    service.wait(thread, "beside", human("two", "h2"))
    history = service.history(thread)
    entered = next(one for one in history if one["metadata"]["source"] == "input")
    (base,) = [one for one in history if one["checkpoint_id"] == entered["parent_checkpoint_id"]]
    assert (base["next"], texts(base["values"])) == ([], ["one"])
    assert texts(service.state(thread)["values"]) == ["one", "two"]
