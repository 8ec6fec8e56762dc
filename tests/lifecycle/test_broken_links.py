"""Rows that lost their place, through HTTP, in both modes: replays are refused, what can be read is shown."""

import json
from typing import Any

import pytest

from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.lifecycle.conftest import Shared
from tests.service import human

SAID = ["one", "echo: one", "two", "echo: two", "three", "echo: three"]
NOWHERE = "1f1ecb50-0000-6000-8000-000000000000"


@pytest.fixture(params=["full", "delta"])
def talk(request: pytest.FixtureRequest, shared: Shared) -> Talk:
    """Three turns; where only changes are stored, the end of the second holds the messages whole."""
    made = Talk(shared(graphs=GRAPHS), request.param)
    for number, text in enumerate(SAID[::2], 1):
        made.say(text, f"h{number}")
    return made


def execute(talk: Talk, statement: str, *values: object) -> None:
    with talk.service.gateway.db.writing() as connection:
        connection.execute(statement, values)


def rows(talk: Talk) -> list[str]:
    """Give the ids of the checkpoints, the newest first."""
    return [state["checkpoint_id"] for state in talk.service.history(talk.id)]


def answers(talk: Talk) -> list[str]:
    messages = talk.service.state(talk.id)["values"]["messages"]
    return [message["id"] for message in messages if message["type"] == "ai"]


def refusals(talk: Talk, asked: tuple[tuple[str, Any], ...], status: int = 409) -> list[str]:
    """Post what is to be refused, see that nothing is written, and give the reasons."""
    before = talk.service.counts()
    found = [talk.service.ask("POST", f"/threads/{talk.id}{path}", body, status)["detail"] for path, body in asked]
    assert talk.service.counts() == before
    return found


def replays(answer: str, question: str) -> tuple[tuple[str, Any], ...]:
    """Give every way to replay a turn."""
    again = {"message_id": answer}
    other = {"human_message_id": question, "replacement_text": "other"}
    return (
        ("/runs/regenerate/prepare", again), ("/runs/regenerate", again),
        ("/runs/edit-regenerate/prepare", other), ("/runs/edit", other),
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["itself", "absent", "a loop of two", "another thread's", "another namespace's"])
def test_a_parent_that_is_itself_absent_or_elsewhere_is_409_for_replays_and_the_page_shows_the_rest(
    talk: Talk, kind: str
) -> None:
    found, said = rows(talk), answers(talk)
    end, head = found[3], found[0]  # the settled end of turn two
    parent = {"itself": end, "a loop of two": found[2]}.get(kind, NOWHERE)
    if kind in ("another thread's", "another namespace's"):
        place = (f"{talk.id}-o", "") if kind == "another thread's" else (talk.id, "inner")
        columns = "checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"
        copied = "SELECT ?, ?, ?, NULL, type, checkpoint, metadata FROM checkpoints WHERE checkpoint_id = ?"
        execute(talk, f"INSERT INTO checkpoints (thread_id, checkpoint_ns, {columns}) {copied}", *place, NOWHERE, end)
    execute(talk, "UPDATE checkpoints SET parent_checkpoint_id = ? WHERE checkpoint_id = ?", parent, end)

    reasons = refusals(talk, replays(said[1], "h2"))
    told = NOWHERE if parent == NOWHERE else "lead back to itself"
    assert all(told in reason for reason in reasons), reasons
    assert refusals(talk, (("/branches", {"message_id": said[1]}),)) == ["This turn can no longer be branched from."]
    assert [talk.service.state(talk.id, one)["checkpoint_id"] for one in found] == found == rows(talk)
    assert (talk.texts(), talk.head()) == (SAID, head)
    tree = talk.tree()
    assert {broken["checkpoint_id"] for broken in tree["broken"]} <= {end, found[2]} and len(tree["broken"]) == 1
    assert {turn["human_message_id"] for turn in tree["turns"]} >= {"h1", "h3"}
    assert talk.shown()[-2:] == SAID[-2:]
    # What does not lead past the row is as it was.
    talk.service.ask("POST", f"/threads/{talk.id}/runs/regenerate/prepare", {"message_id": said[2]})
    talk.say("four", "h4")
    assert talk.texts() == [*SAID, "four", "echo: four"]


def test_a_head_whose_row_is_gone_is_told_by_every_read_and_another_can_be_selected(talk: Talk) -> None:
    found, said = rows(talk), answers(talk)
    execute(talk, "DELETE FROM checkpoints WHERE checkpoint_id = ?", found[0])
    gone = f"checkpoint {found[0]} is named on the lineage and is not stored in this thread"
    for path in ("/state", "/history", "/turns", "/turns?limit=1", "/messages/page"):
        assert talk.service.ask("GET", f"/threads/{talk.id}{path}", status=409) == {"detail": gone}, path
    run = {"assistant_id": talk.graph, "input": human("four")}
    asked = (("/history", {"metadata": {"source": "loop"}}), ("/runs", run), ("/runs/wait", run),
             ("/runs/stream", run), ("/state", {"values": {"messages": []}}), *replays(said[0], "h1"))  # fmt: skip
    assert refusals(talk, asked) == [gone] * len(asked)
    tree = talk.tree()
    assert tree["broken"] == [{"checkpoint_id": found[0], "reason": "it is the head and is not in this thread"}]
    assert [turn["human_message_id"] for turn in tree["turns"]] == ["h1", "h2", "h3"] and talk.selected() == []
    assert [state["checkpoint_id"] for state in talk.service.history(talk.id, before=found[1])] == found[2:]
    talk.select(found[3])
    assert talk.texts() == talk.shown() == SAID[:4]
    assert rows(talk)[0] == found[3] and talk.tree()["broken"] == []


def test_a_state_whose_stored_changes_are_not_all_there_is_refused_and_never_read_short(talk: Talk) -> None:
    found, said = rows(talk), answers(talk)
    execute(talk, "DELETE FROM checkpoints WHERE checkpoint_id = ?", found[2])  # where turn three was taken in
    gone = f"checkpoint {found[2]} is named on the lineage and is not stored in this thread"
    assert talk.texts() == SAID  # the values of a head are kept beside its checkpoint
    assert refusals(talk, replays(said[2], "h3")) == [gone] * 4
    run = {"assistant_id": talk.graph, "input": human("four", "h4")}
    if talk.graph == "delta":
        assert refusals(talk, (("/history", {}), ("/state", {"values": {"messages": []}}), ("/runs", run),
                               ("/runs/wait", run | {"checkpoint_id": found[1]}))) == [gone] * 4  # fmt: skip
        assert talk.service.ask("GET", f"/threads/{talk.id}/state/{found[1]}", status=409) == {"detail": gone}
        assert talk.select(found[0], 409) == {"detail": gone}
        talk.select(found[3])
        assert talk.texts() == SAID[:4]
        talk.say("four", "h4")
        assert talk.texts() == [*SAID[:4], "four", "echo: four"]
    else:
        assert [len(state["values"].get("messages", [])) for state in talk.service.history(talk.id)][:3] == [6, 5, 4]
        talk.select(found[0])
        talk.say("four", "h4")
        assert talk.texts() == [*SAID, "four", "echo: four"]


def test_a_row_that_cannot_be_read_is_409_where_it_is_read_and_the_rest_is_shown(talk: Talk) -> None:
    found, said = rows(talk), answers(talk)
    execute(talk, "UPDATE checkpoints SET checkpoint = x'ff' WHERE checkpoint_id = ?", found[3])
    torn = f"checkpoint {found[3]} cannot be read"
    assert set(refusals(talk, replays(said[1], "h2"))) == {torn}
    for path in ("/history", f"/state/{found[3]}"):
        assert json.loads(talk.service.call("GET", f"/threads/{talk.id}{path}").get_data()) == {"detail": torn}
    assert talk.texts() == SAID
    tree = talk.tree()
    assert {broken["checkpoint_id"] for broken in tree["broken"]} >= {found[3]}
    assert "h1" in {turn["human_message_id"] for turn in tree["turns"]}


def test_a_walk_of_more_than_ten_thousand_steps_is_refused_in_bounded_time(talk: Talk) -> None:
    head, said = talk.head(), answers(talk)
    execute(talk, """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10002)
        INSERT INTO checkpoints SELECT thread_id, '', printf('%s-%05d', checkpoint_id, i),
        iif(i = 1, checkpoint_id, printf('%s-%05d', checkpoint_id, i - 1)), type, checkpoint, metadata
        FROM checkpoints, n WHERE checkpoint_id = ?""", head)  # fmt: skip
    execute(talk, "UPDATE threads SET head = ? WHERE thread_id = ?", f"{head}-10002", talk.id)
    for reason in refusals(talk, replays(said[2], "h3")[1:3]):
        assert "the lineage has more than 10000 steps (LINEAGE_DEPTH)" in reason
