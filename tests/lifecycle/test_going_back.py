"""Going back as clients do it, through HTTP, in both checkpoint modes: what systems like this one got wrong."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.lifecycle.conftest import Shared
from tests.lifecycle.prepared import answer
from tests.runs.gates import Gate
from tests.service import Service, human


@pytest.fixture(params=["full", "delta"])
def talk(request: pytest.FixtureRequest, shared: Shared) -> Talk:
    return Talk(shared(graphs=GRAPHS), request.param)


def replay(talk: Talk, kind: str, status: int = 200, **body: Any) -> Any:
    """Answer or ask again, and wait for the end."""
    run = talk.service.ask("POST", f"/threads/{talk.id}/runs/{kind}", body, status)
    if status == 200:
        talk.service.join(talk.id, run["run_id"])
    return run


def edit(talk: Talk, message_id: str, text: str, status: int = 200) -> Any:
    return replay(talk, "edit", status, human_message_id=message_id, replacement_text=text)


def posted(service: Service, graph: str) -> str:
    return service.thread()


def created_by_a_run(service: Service, graph: str) -> str:
    service.wait(f"made-by-a-run-{graph}", graph, human("one", "h1"), if_not_exists="create")
    return f"made-by-a-run-{graph}"


def kept(service: Service, graph: str) -> str:
    body = {"assistant_id": graph, "input": human("one", "h1"), "on_completion": "keep"}
    run = service.ask("POST", "/runs", body)
    service.join(run["thread_id"], run["run_id"])
    return str(run["thread_id"])


@pytest.mark.parametrize("made", [posted, created_by_a_run, kept])
def test_the_first_turn_is_regenerated_and_edited_however_its_thread_was_made(
    talk: Talk, made: Callable[[Service, str], str]
) -> None:
    talk = Talk(talk.service, talk.graph, made(talk.service, talk.graph))
    if made is posted:
        talk.say("one", "h1")
    threads = talk.service.counts()["threads"]
    replay(talk, "regenerate", message_id=answer(talk))
    assert talk.texts() == talk.shown() == ["one", "echo: one"]
    edit(talk, "h1", "uno")
    assert talk.service.counts()["threads"] == threads
    assert talk.texts() == talk.shown() == ["uno", "echo: uno"]
    assert list(talk.places("sibling_index", "sibling_count")) == [(0, 3), (1, 3), (2, 3)]
    assert {base for (base,) in talk.places("base_checkpoint_id")} == {talk.root}


def test_an_answer_of_a_branch_is_regenerated_and_its_earlier_turns_stay_after_a_reload(talk: Talk) -> None:
    talk.say("one", "h1")
    talk.say("two", "h2")
    made = talk.service.ask("POST", f"/threads/{talk.id}/branches", {"message_id": answer(talk)})
    branch = Talk(talk.service, talk.graph, made["thread_id"])
    replay(branch, "regenerate", message_id=answer(branch))
    assert branch.texts() == branch.shown() == ["one", "echo: one", "two", "echo: two"]
    places = branch.places("human_message_id", "sibling_index", "sibling_count", "on_selected_path")
    assert list(places) == [("h1", 0, 1, True), ("h2", 0, 2, False), ("h2", 1, 2, True)]


def test_a_message_sent_while_an_answer_is_made_waits_and_hangs_on_no_half_turn(talk: Talk, gate: Gate) -> None:
    first = talk.service.start(talk.id, talk.graph, human(gate.text, "h1"))
    gate.await_reached()
    refused = talk.service.start(talk.id, talk.graph, human("no", "h0"), multitask_strategy="reject", status=409)
    assert "has a run in flight" in refused["detail"]
    second = talk.service.start(talk.id, talk.graph, human("two", "h2"))
    gate.open()
    talk.service.join(talk.id, second["run_id"])
    assert talk.texts() == [gate.text, f"echo: {gate.text}", "two", "echo: two"]
    assert list(talk.places("turn_id", "parent_turn_id")) == [
        (first["run_id"], None), (second["run_id"], first["run_id"])
    ]  # fmt: skip
    lost = """SELECT count(*) FROM checkpoints AS c WHERE parent_checkpoint_id IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM checkpoints AS p WHERE p.thread_id = c.thread_id AND p.checkpoint_id = c.parent_checkpoint_id)"""
    assert talk.service.rows(lost) == [(0,)]


def test_the_next_message_after_a_step_back_stands_on_the_new_head(talk: Talk) -> None:
    talk.say("one", "h1")
    back = talk.head()
    talk.say("two", "h2")
    talk.say("other", "h3", back)
    talk.say("next", "h4")
    assert talk.texts() == ["one", "echo: one", "other", "echo: other", "next", "echo: next"]


def test_a_message_that_is_not_on_the_selected_path_is_refused_with_the_head_and_never_re_aimed(talk: Talk) -> None:
    talk.say("one", "h1")
    back = talk.head()
    talk.say("two", "h2")
    lost = answer(talk)
    talk.say("other", "h3", back)
    before, head = talk.service.counts(), talk.head()
    refusals = [edit(talk, "h2", "x", 409), replay(talk, "regenerate", 409, message_id=lost)]
    for each in refusals:
        assert each["detail"].endswith(f"is not on the lineage of the head; the head is {head}")
    assert "nowhere" in edit(talk, "nowhere", "x", 404)["detail"]
    assert talk.service.counts() == before


def test_fewer_messages_than_are_stored_are_no_step_back(talk: Talk) -> None:
    talk.say("one", "h1")
    talk.say("two", "h2")
    talk.service.wait(talk.id, talk.graph, {"messages": []})
    talk.say("three", "h3")
    said = ["one", "echo: one", "two", "echo: two", "echo: echo: two", "three", "echo: three"]
    assert talk.texts() == talk.shown() == said


def test_a_deleted_branch_leaves_no_row_and_the_shared_beginning_stays(talk: Talk) -> None:
    talk.say("one", "h1")
    shared = talk.head()
    before = {name: talk.service.counts()[name] for name in ("checkpoints", "writes", "runs", "events")}
    deleted = talk.say("two", "h2")
    for number in range(3, 5):
        talk.say(f"m{number}", f"h{number}")
    talk.select(shared)
    talk.delete(deleted)
    counts = talk.service.counts()
    assert {name: counts[name] for name in before} == before
    assert talk.texts() == ["one", "echo: one"]
    counts = talk.service.counts()
    talk.delete("nobody", status=404)
    talk.service.ask("DELETE", "/threads/nobody", status=404)
    assert (talk.head(), talk.service.counts()) == (shared, counts)


def test_an_edit_that_changes_nothing_or_says_nothing_is_refused_and_no_run_starts(talk: Talk) -> None:
    talk.say("one", "h1")
    before = talk.service.counts()
    for text, reason in (("one", "says already"), ("  one\n", "says already"), (" ", "is blank")):
        refused = edit(talk, "h1", text, 409)["detail"]
        assert reason in refused and refused.endswith(f"the head is {talk.head()}")
    assert "only a question can be edited" in edit(talk, answer(talk), "x", 409)["detail"]
    assert "only an answer can be regenerated" in replay(talk, "regenerate", 409, message_id="h1")["detail"]
    assert talk.service.counts() == before


def test_a_cancelled_first_turn_stays_in_context_when_the_second_is_answered_again(talk: Talk, gate: Gate) -> None:
    run = talk.service.start(talk.id, talk.graph, human(gate.text, "h1"))
    gate.await_reached()
    talk.service.cancel(talk.id, run["run_id"])
    talk.say("two", "h2")
    replay(talk, "regenerate", message_id=answer(talk))
    assert talk.texts() == talk.shown() == [gate.text, "two", "echo: two"]


def test_a_cancelled_turn_before_the_one_that_was_branched_stays_in_context_of_the_branchs_answers(
    talk: Talk, gate: Gate
) -> None:
    run = talk.service.start(talk.id, talk.graph, human(gate.text, "h1"))
    gate.await_reached()
    talk.service.cancel(talk.id, run["run_id"])
    talk.say("two", "h2")
    made = talk.service.ask("POST", f"/threads/{talk.id}/branches", {"message_id": answer(talk)})
    other = Talk(talk.service, talk.graph, made["thread_id"])
    replay(other, "regenerate", message_id=answer(other))
    assert other.texts() == [gate.text, "two", "echo: two"]
    edit(other, "h2", "zwei")
    assert other.texts() == other.shown() == [gate.text, "zwei", "echo: zwei"]
    assert list(other.places("sibling_index", "sibling_count"))[1:] == [(0, 3), (1, 3), (2, 3)]


@pytest.mark.parametrize("nested", [False, True])
def test_going_back_to_a_question_asks_it_again_and_takes_the_new_answer(talk: Talk, nested: bool) -> None:
    talk = Talk(talk.service, f"inside_{talk.graph}" if nested else talk.graph)
    talk.say("one", "h1")
    talk.say("!ask", "h2")
    asked, head = talk.service.state(talk.id)["interrupts"], talk.head()
    assert [question["value"] for question in asked] == ["which?"]
    for reply in ("x", "y"):
        assert talk.service.state(talk.id, head)["next"]
        talk.resume(reply, head)
        assert talk.texts() == ["one", "echo: one", "!ask", f"echo: !ask {reply}"]
    assert talk.service.state(talk.id, head)["interrupts"] == asked
    assert talk.service.get(talk.id)["status"] == "idle"


def test_a_name_given_by_hand_stays_through_edits_and_one_made_by_the_service_is_made_anew(talk: Talk) -> None:
    talk.say("one", "h1")
    edit(talk, "h1", "uno")
    assert talk.service.get(talk.id)["title"] == "uno"
    talk.service.ask("PATCH", f"/threads/{talk.id}", {"title": "mine"})
    replay(talk, "regenerate", message_id=answer(talk))
    again = talk.turns()["turns"][0]["human_message_id"]
    edit(talk, again, "eins")
    assert talk.service.get(talk.id)["title"] == "mine"


def test_failed_edits_leave_the_head_and_are_siblings_of_the_good_one_that_follows(talk: Talk) -> None:
    talk.say("one", "h1")
    head = talk.head()
    for text in ("!boom a", "!boom b"):
        edit(talk, "h1", text)
        assert (talk.head(), talk.texts()) == (head, ["one", "echo: one"])
    edit(talk, "h1", "good")
    assert talk.texts() == ["good", "echo: good"]
    assert list(talk.places("status", "sibling_index")) == [("done", 0), ("failed", 1), ("failed", 2), ("done", 3)]


def test_looking_back_writes_nothing(talk: Talk) -> None:
    talk.say("one", "h1")
    talk.say("other", "h2", talk.root)
    before = talk.service.counts()
    run = talk.service.get(talk.id, "/runs")[0]["run_id"]
    for path in ("/tree", "/tree?texts=true", "/turns", "/state", "/state?subgraphs=true", "/history",
                 f"/state/{talk.head()}", "/messages/page", "", f"/runs/{run}", f"/runs/{run}/join"):  # fmt: skip
        talk.service.get(talk.id, path)
    talk.service.rejoin(talk.id, run)
    for path, body in (("/search", {}), ("/count", {}), (f"/{talk.id}/history", {}),
                       (f"/{talk.id}/state/checkpoint", {"checkpoint": {"checkpoint_id": talk.head()}})):  # fmt: skip
        talk.service.ask("POST", f"/threads{path}", body)
    for kind, body in (("regenerate", {"message_id": answer(talk)}),
                       ("edit-regenerate", {"human_message_id": "h2", "replacement_text": "x"})):  # fmt: skip
        talk.service.ask("POST", f"/threads/{talk.id}/runs/{kind}/prepare", body)
    assert talk.service.counts() == before


def test_the_values_kept_with_a_state_update_are_those_that_the_graph_reads_from_its_checkpoints(
    talk: Talk, gate: Gate
) -> None:
    talk.say("one", "h1")
    run = talk.service.start(talk.id, talk.graph, human(gate.text, "h2"))
    gate.await_reached()
    talk.service.cancel(talk.id, run["run_id"])
    for number, node in enumerate(("answer", "__start__", "answer", "answer")):
        said = [{"type": "ai", "content": f"by hand {number}", "id": f"a{number}"}]
        talk.service.update(talk.id, {"messages": said}, as_node=node)
        kept = talk.service.get(talk.id)["values"]["messages"]
        assert kept == talk.service.history(talk.id, limit=1)[0]["values"]["messages"]
        assert [message["id"] for message in kept][-1] == f"a{number}"
        assert talk.shown() == talk.texts() == [message["content"] for message in kept]
