"""The sentences of the invariant on branches and replays, each a test of its name, through HTTP, in both modes."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from deerflow_lite import create_app
from deerflow_lite.lifecycle import base
from deerflow_lite.threads.model import NewThread
from tests.lifecycle.asking import Talk
from tests.lifecycle.conftest import Open, Shared
from tests.lifecycle.prepared import again, anchor, answer, edited, ends, execute, ids_of, oldest_with, regenerated
from tests.lifecycle.stored import GRAPHS, ids
from tests.service import Service, texts

NOWHERE = "1f1ecb50-0000-6000-8000-000000000000"
MODES = pytest.mark.parametrize("mode", ["full", "delta"])
Begin = Callable[..., Talk]


@pytest.fixture
def begin(shared: Shared) -> Begin:
    """Begin a conversation; the model answers with everything that the user has said."""

    def one(graph: str, *said: str, **settings: Any) -> Talk:
        talk = Talk(shared(**({"graphs": GRAPHS} | settings)), graph)
        for number, text in enumerate(said, 1):
            talk.say(text, f"h{number}")
        return talk

    return one


@MODES
def test_replay_anchors_stay_on_the_selected_lineage_after_regenerations_create_sibling_branches(
    begin: Begin, mode: str
) -> None:
    talk = begin(mode, "one", "two")
    _, first, second = ends(talk)
    siblings = [second, regenerated(talk), regenerated(talk)]
    assert [anchor(edited(talk, "h2")) for head in siblings if talk.select(head)] == [first] * 3
    lost = answer(talk)
    talk.select(second)
    talk.say("three", "h3")
    # Two newer settled checkpoints hold the question before: they stand beside this lineage, not on it.
    assert [anchor(edited(talk, "h3")), anchor(again(talk, answer(talk)))] == [second, second]
    assert "is not on the lineage of the head" in again(talk, lost, 409)["detail"]


@MODES
def test_new_conversation_branches_persist_the_pre_user_replay_anchor_before_their_visible_head_with_whole_state(
    begin: Begin, mode: str
) -> None:
    talk = begin(mode, "one", "two")
    source, last = talk.service.get(talk.id), answer(talk)
    made = talk.service.ask("POST", f"/threads/{talk.id}/branches", {"message_id": last})
    assert made == {
        "thread_id": made["thread_id"], "parent_thread_id": talk.id,
        "parent_checkpoint_id": source["head_checkpoint_id"], "branched_from_message_id": last,
        "workspace_clone_mode": "not_found", "history_seed_mode": "seeded",
    }  # fmt: skip
    head, before = talk.service.history(made["thread_id"])
    assert head["parent_checkpoint"]["checkpoint_id"] == before["checkpoint_id"]
    assert (head["next"], before["next"], before["parent_checkpoint"]) == ([], [], None)
    assert [state["metadata"]["source"] for state in (head, before)] == ["update", "update"]
    assert texts(before["values"]) == ["one", "one"]
    assert head["values"] == talk.service.state(talk.id)["values"]
    assert talk.service.get(talk.id) == source
    branch = Talk(talk.service, mode, made["thread_id"])
    assert anchor(again(branch, last)) == before["checkpoint_id"]


@MODES
def test_only_an_explicitly_absent_legacy_parent_link_may_use_chronological_compatibility_lookup(
    begin: Begin, mode: str
) -> None:
    talk = begin(mode, "one", "two", "three")
    first, unlinked = ends(talk)[1], oldest_with(talk, answer(talk, 1))
    for parent in (None, ""):
        execute(talk, "UPDATE checkpoints SET parent_checkpoint_id = ? WHERE checkpoint_id = ?", parent, unlinked)
        assert [anchor(edited(talk, "h2")), anchor(again(talk, answer(talk, 1)))] == [first, first]
    execute(talk, "UPDATE checkpoints SET parent_checkpoint_id = ? WHERE checkpoint_id = ?", NOWHERE, unlinked)
    assert NOWHERE in edited(talk, "h2", 409)["detail"]


@MODES
def test_cycles_dangling_links_and_depth_limit_exhaustion_fail_closed(begin: Begin, mode: str) -> None:
    talk = begin(mode, "one", "two", lineage_depth=12)
    root, first, second = ends(talk)
    chain = [state["checkpoint_id"] for state in talk.service.history(talk.id)]
    assert (chain.index(first), chain.index(root)) == (6, 12)
    assert [anchor(edited(talk, one)) for one in ("h2", "h1")] == [first, root]  # the root at exactly the limit
    talk.say("three", "h3")
    before = talk.service.counts()
    assert anchor(edited(talk, "h2")) == first
    assert edited(talk, "h1", 409) == {"detail": "the lineage has more than 12 steps (LINEAGE_DEPTH)"}
    for parent, reason in ((second, "lead back to itself"), (NOWHERE, "is not stored in this thread")):
        execute(talk, "UPDATE checkpoints SET parent_checkpoint_id = ? WHERE checkpoint_id = ?", parent, second)
        assert reason in edited(talk, "h2", 409)["detail"]
    assert talk.service.counts() == before


@MODES
def test_existing_single_checkpoint_branches_are_never_repaired_by_copying_a_raw_checkpoint(
    begin: Begin, mode: str
) -> None:
    from deerflow_lite.checkpoints import mutation

    source = begin(mode, "one")
    rooms, thread_id = source.service.gateway.rooms, f"{source.id}-b"
    with rooms.graphs.opened(mode) as opened:
        saver = rooms.savers.saver(mode, opened)
        draft = mutation.ChainView(saver, None)
        held = mutation.carried(opened, saver, source.id, source.head()).values
        [only] = mutation.write_chain(opened, draft, thread_id, [held], {})
    with rooms.db.writing() as connection:
        metadata = {"deerflow_branch": True, "branch_parent_thread_id": source.id, "graph_id": mode}
        rooms.threads.create("default", NewThread(thread_id, metadata, head=only))
        draft.store(connection)
    branch = Talk(source.service, mode, thread_id)
    for said in (["one", "one"], ["one", "one", "more", "one | more"]):
        assert branch.texts() == branch.shown() == said
        before, inherited = branch.service.counts(), answer(branch, 0)
        for refused in (edited(branch, "h1", 409), again(branch, inherited, 409)):
            assert source.id in refused["detail"]
        path = f"/threads/{thread_id}/branches"
        refused = branch.service.ask("POST", path, {"message_id": inherited}, 409)
        assert refused["detail"].startswith("This turn can no longer be branched from.")
        assert branch.service.counts() == before
        if len(said) == 2:
            branch.say("more", "h2")
    own = branch.service.ask("POST", f"/threads/{thread_id}/branches", {"message_id": answer(branch)})
    assert Talk(branch.service, mode, own["thread_id"]).texts() == branch.texts()


@MODES
def test_delta_state_is_not_self_contained_in_one_tuple(begin: Begin, mode: str) -> None:
    source = begin(mode, "one")
    copied = f"{source.id}-raw"
    place = "SELECT ?, '', checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints"
    execute(source, f"INSERT INTO checkpoints {place} WHERE checkpoint_id = ?", copied, source.head())
    new = NewThread(copied, {"graph_id": mode}, head=source.head())
    source.service.gateway.threads.create("default", new)
    if mode == "delta":
        refused = source.service.ask("GET", f"/threads/{copied}/state", status=409)
        assert "is not stored in this thread" in refused["detail"]
    else:
        assert texts(source.service.state(copied)["values"]) == ["one", "one"]


@MODES
def test_both_lookups_require_the_replay_base_to_be_a_settled_checkpoint(begin: Begin, mode: str) -> None:
    talk = begin(mode, "one", "two")
    _, first, second = ends(talk)
    states = {state["checkpoint_id"]: state for state in talk.service.history(talk.id)}
    nearer = [one for one in states if first < one < second and "h2" not in ids_of(states[one])]
    assert [states[one]["next"] for one in nearer] == [["__start__"]]
    assert states[first]["next"] == []
    assert anchor(edited(talk, "h2")) == first
    unlinked = oldest_with(talk, answer(talk))
    execute(talk, "UPDATE checkpoints SET parent_checkpoint_id = NULL WHERE checkpoint_id = ?", unlinked)
    assert anchor(edited(talk, "h2")) == first
    for one in (talk.root, first):
        execute(talk, "DELETE FROM checkpoints WHERE checkpoint_id = ?", one)
    reasons = {"full": "no settled checkpoint stands before", "delta": "is not stored in this thread"}
    assert reasons[mode] in edited(talk, "h2", 409)["detail"]


@MODES
def test_a_checkpoint_with_pending_tasks_is_a_mid_run_snapshot_and_resuming_from_it_replays_the_writes_of_the_node(
    begin: Begin, mode: str
) -> None:
    talk = begin(f"moving_{mode}", "one")
    middle = next(state for state in talk.service.history(talk.id) if state["next"] == ["context"])
    assert ids_of(middle) == ["h1"]  # the prompt stands there, under an id that the answered turn does not have
    assert anchor(edited(talk, "h1__user")) == talk.root
    talk.service.wait(talk.id, talk.graph, checkpoint_id=middle["checkpoint_id"])
    assert talk.texts() == ["<reminder/>", "one", "one"]


@MODES
@pytest.mark.parametrize("graph", ["moving", "agent"])
def test_message_ids_alone_cannot_exclude_those_because_a_middleware_moves_the_first_user_turn_to_another_id(
    begin: Begin, mode: str, graph: str
) -> None:
    agent = {"graphs": "", "checkpoint_mode": mode, "snapshot_frequency": 3}
    talk = begin(f"moving_{mode}", "one") if graph == "moving" else begin("agent", "one", **agent)
    head, *older = talk.service.history(talk.id)
    assert ids_of(head)[:2] == ["h1", "h1__user"]
    assert head["values"]["messages"][0]["additional_kwargs"]["hide_from_ui"] is True
    without = [state for state in older if "h1__user" not in ids_of(state)]
    held = [state for state in without if ids_of(state) == ["h1"]]
    assert held and all(state["next"] and texts(state["values"]) == ["one"] for state in held)
    assert anchor(edited(talk, "h1__user")) == talk.root == without[-1]["checkpoint_id"]


@MODES
def test_an_edit_never_adds_the_original_prompt_again_and_the_model_answers_the_edited_one_alone(
    begin: Begin, mode: str
) -> None:
    talk = begin(f"moving_{mode}", "one", "two")
    body = {"human_message_id": "h1__user", "replacement_text": "uno"}
    run = talk.service.ask("POST", f"/threads/{talk.id}/runs/edit", body)
    talk.service.join(talk.id, run["run_id"])
    assert talk.texts() == ["<reminder/>", "uno", "uno"]  # the answer is all that the model was told


@MODES
def test_next_is_not_derivable_on_the_raw_read_path_and_absence_of_evidence_stays_permissive_there(
    stored: Open, mode: str
) -> None:
    fixture = f"chat-two-turns-{mode}"
    found, named = stored(fixture), ids(fixture)
    found.thread("t", "gone")
    talk = Talk(Service(create_app(gateway=found.gateway)), "gone", "t")
    assert "no settled checkpoint stands before" in edited(talk, "u1", 409)["detail"]
    with found.gateway.db.reading() as connection:
        statement = "SELECT checkpoint FROM checkpoints WHERE checkpoint_id = ?"
        [blob] = connection.execute(statement, (named["c0"],)).fetchone()
    # As an old file would have it: the trigger of the pending row carries a name of no known kind.
    statement = "UPDATE checkpoints SET checkpoint = ? WHERE checkpoint_id = ?"
    found.execute(statement, blob.replace(b"__start__", b"  start  "), named["c0"])
    assert anchor(edited(talk, "u1")) == named["c0"]


@MODES
def test_edit_replay_resolves_its_base_through_the_same_lineage_first_path_as_regenerate(
    begin: Begin, mode: str
) -> None:
    talk = begin(mode, "one", "two")
    heads = [talk.head(), regenerated(talk)]
    for number, head in enumerate(heads):
        talk.select(head)
        talk.say("three", f"h3-{number}")
        for place, question in enumerate(("h1", "h2", f"h3-{number}")):
            edit, regenerate = edited(talk, question), again(talk, answer(talk, place))
            assert edit["checkpoint"] == regenerate["checkpoint"]
            assert edit["head_checkpoint_id"] == regenerate["head_checkpoint_id"] == talk.head()
        assert anchor(edited(talk, f"h3-{number}")) == head
    assert inspect.signature(base.replay_base).parameters["head"].default is inspect.Parameter.empty
