"""The replay base on stored conversations: the answers of the manifest, and the sentences of the invariants on it."""

import inspect
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from deerflow_lite.checkpoints import lineage
from deerflow_lite.errors import ReplayRefused
from deerflow_lite.lifecycle import base
from tests.lifecycle.conftest import Open
from tests.lifecycle.stored import MANIFEST, Stored, ids, of

ANSWERS = [
    (fixture, "b" if fixture.startswith("branch") else "t", message_id, expected)
    for fixture, entry in MANIFEST.items()
    for message_id, expected in entry.get("base", {}).items()
]
MODES = ("full", "delta")


@pytest.mark.parametrize(("fixture", "thread_id", "message_id", "expected"), ANSWERS)
@pytest.mark.parametrize("graphs", [True, False], ids=["graph", "no graph"])
def test_every_stored_conversation_gives_its_answer(
    stored: Open, fixture: str, thread_id: str, message_id: str, expected: str | None, graphs: bool
) -> None:
    found = stored(fixture)
    thread = found.thread(thread_id, MANIFEST[fixture]["mode"] if graphs else "gone")
    if expected is None:
        with pytest.raises(ReplayRefused, match=f"the head is {thread.head}"):
            of(found, thread, message_id)
    else:
        assert of(found, thread, message_id) == expected


@pytest.mark.parametrize("mode", MODES)
def test_replay_anchors_stay_on_the_selected_lineage_after_regenerations_create_sibling_branches(
    stored: Open, mode: str
) -> None:
    fixture = f"regenerate-{mode}"
    found, named = stored(fixture), ids(fixture)
    thread = found.thread("t", mode)
    assert {of(found, thread, "u2", named[head]) for head in ("c6", "c9", "c12", "c15")} == {named["c3"]}
    assert of(found, thread, "u3") == named["c12"]
    with pytest.raises(ReplayRefused, match="message ai-2 is not on the lineage of the head"):
        of(found, thread, "ai-2")
    assert of(found, thread, "ai-2", named["c6"]) == named["c3"]


@pytest.mark.parametrize("mode", MODES)
def test_the_replay_base_is_a_settled_checkpoint_because_ids_alone_cannot_exclude_a_rewritten_prompt(
    stored: Open, mode: str
) -> None:
    fixture = f"id-rewrite-{mode}"
    found, named = stored(fixture), ids(fixture)
    thread, graph = found.thread("t", mode), found.reading(mode)
    place = {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": named["c2"]}
    before = graph.get_state({"configurable": place})
    assert ([one.id for one in before.values["messages"]], before.next) == (["u1"], ("context",))
    assert of(found, thread, "u1__user") == named["c0"]


@pytest.mark.parametrize("mode", MODES)
def test_the_model_is_asked_the_edited_prompt_and_nothing_of_the_one_it_replaces(stored: Open, mode: str) -> None:
    found = stored(f"id-rewrite-{mode}")
    thread, graph = found.thread("t", mode), found.reading(f"moving_{mode}")
    start = of(found, thread, "u1__user")
    config: dict[str, Any] = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": start}}
    done = graph.invoke({"messages": [HumanMessage(content="edited", id="e1")]}, config)
    assert [(one.id, one.content) for one in done["messages"][:2]] == [("e1", "<reminder/>"), ("e1__user", "edited")]
    assert [one.content for one in done["messages"][2:]] == ["edited"]


@pytest.mark.parametrize("mode", MODES)
def test_a_checkpoint_with_pending_tasks_is_no_base_even_where_it_lacks_the_turn(stored: Open, mode: str) -> None:
    found = stored(f"interrupted-{mode}")
    thread = found.thread("t3", mode)
    assert of(found, thread, "u1") == ids(f"interrupted-{mode}", "t3")["c0"]
    with pytest.raises(ReplayRefused, match="lacks message u1"):
        of(found, thread, "u2")


def test_a_checkpoint_that_a_command_wrote_on_is_no_base(stored: Open) -> None:
    found = stored("command-update-full")
    thread, named = found.thread("t", "full"), ids("command-update-full")
    assert of(found, thread, "u1") == named["c0"]
    with pytest.raises(ReplayRefused, match="lacks message u1"):
        of(found, thread, "u2")
    found.execute("DELETE FROM writes WHERE task_id = ?", lineage.NULL_TASK)
    assert of(found, thread, "u2") == named["c3"]


def renamed(found: Stored, checkpoint_id: str) -> None:
    """Make a pending row tell nothing: its trigger carries a name of no known kind, of the same length."""
    with found.gateway.db.reading() as connection:
        statement = "SELECT checkpoint FROM checkpoints WHERE checkpoint_id = ?"
        [blob] = connection.execute(statement, (checkpoint_id,)).fetchone()
    statement = "UPDATE checkpoints SET checkpoint = ? WHERE checkpoint_id = ?"
    found.execute(statement, blob.replace(b"__start__", b"  start  "), checkpoint_id)


def test_where_next_is_not_derivable_and_no_graph_can_be_built_absence_of_evidence_stays_permissive(
    stored: Open,
) -> None:
    found, named = stored("chat-two-turns-full"), ids("chat-two-turns-full")
    renamed(found, named["c0"])
    assert of(found, found.thread("t", "gone"), "u1") == named["c0"]


def test_a_base_that_the_graph_does_not_confirm_is_passed_over_and_the_walk_goes_on(
    stored: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, named = stored("chat-precreated-full"), ids("chat-precreated-full")
    thread = found.thread("t", "full")
    told = lineage.scheduled
    # As an old file would have it: nothing in the row tells that the first node of the second turn is due.
    monkeypatch.setattr(lineage, "scheduled", lambda row: None if row["id"] == named["c4"] else told(row))
    assert of(found, thread, "u2") == named["c3"]
    monkeypatch.setattr(found.gateway.graphs, "_loaded", {})
    assert of(found, thread, "u2") == named["c4"]


def test_a_base_is_never_looked_for_without_a_head() -> None:
    assert inspect.signature(base.replay_base).parameters["head"].default is inspect.Parameter.empty
