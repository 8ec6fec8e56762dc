"""Turns keep their ids when the checkpoints that told them are pruned; the pruning here is by hand."""

from collections.abc import Callable, Collection

import pytest

from deerflow_lite.lifecycle import base, turn_names
from deerflow_lite.lifecycle.tree import Reading
from deerflow_lite.threads.model import Thread
from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.lifecycle.conftest import Open
from tests.lifecycle.stored import OWNER, Stored, ids
from tests.service import Service


def prune(found: Stored, thread: Thread, kept: Collection[str]) -> None:
    """Leave some root checkpoints, each linked to its nearest kept ancestor."""
    gateway = found.gateway
    with gateway.db.writing() as connection:
        read = Reading(connection, thread)
        turn_names.record(connection, read, kept)
        for one in read.family.order:
            above = next((each for each in read.family.lineage(one) if each != one and each in kept), None)
            table = "checkpoints SET parent_checkpoint_id = ? WHERE checkpoint_id = ? AND thread_id = ?"
            connection.execute(f"UPDATE {table}", (above, one, thread.thread_id))
        gone = [(thread.thread_id, one) for one in read.family.order if one not in kept]
        connection.executemany("DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?", gone)
        connection.executemany("DELETE FROM writes WHERE thread_id = ? AND checkpoint_id = ?", gone)


def told(found: Stored, thread: Thread) -> tuple[list[tuple[str, str | None, str | None]], list[str]]:
    """Give (id, parent, question) of every turn of the tree, and the ids of the head's turns as a replay finds them."""
    turns = found.gateway.trees.tree(OWNER, thread.thread_id).turns
    shown = [(turn.turn_id, turn.parent_turn_id, turn.human_message_id) for turn in turns]
    return shown, [turn.turn_id for turn in base.turns_of(found.gateway.rooms, thread, thread.head or "")]


def test_turns_without_runs_keep_their_ids_when_only_their_ends_are_left(stored: Open) -> None:
    found = stored("regenerate-full")
    thread, names = found.thread("t", "full"), ids("regenerate-full")
    before = told(found, thread)
    assert len(before[0]) == 5
    prune(found, thread, {names[one] for one in ("c0", "c3", "c6", "c9", "c12", "c15")})
    assert told(found, thread) == before
    prune(found, thread, {names[one] for one in ("c0", "c3", "c6", "c9", "c12", "c15")})
    assert told(found, thread) == before


def test_turns_keep_their_ids_where_one_checkpoint_is_left_of_all(stored: Open) -> None:
    found = stored("regenerate-full")
    thread = found.thread("t", "full")
    selected = [turn.turn_id for turn in found.gateway.trees.tree(OWNER, "t").turns if turn.on_selected_path]
    prune(found, thread, {thread.root or "", thread.head or ""})
    shown, path = told(found, thread)
    assert [turn_id for turn_id, _, _ in shown] == path == selected
    copied = found.gateway.copying.copy(OWNER, "t")
    assert told(found, copied) == (shown, path)
    found.gateway.deleting.delete(OWNER, "t")
    assert {thread_id for (thread_id,) in recorded(found)} == {copied.thread_id}


def recorded(found: Stored) -> list[tuple[str]]:
    with found.gateway.db.reading() as connection:
        return connection.execute("SELECT thread_id FROM turn_ids").fetchall()


def test_turns_of_runs_keep_their_ids_and_their_runs(serve: Callable[..., Service]) -> None:
    talk = Talk(serve(graphs=GRAPHS), "full")
    runs = [talk.say(f"m{number}", f"h{number}") for number in range(3)]
    found, thread = Stored(talk.service.gateway), talk.service.gateway.threads.get(OWNER, talk.id)
    ends = [turn["checkpoint_id"] for turn in talk.tree()["turns"]]
    prune(found, thread, {talk.root, *ends})
    assert recorded(found) == []
    assert [turn["turn_id"] for turn in talk.tree()["turns"]] == runs
    prune(found, thread, {talk.root, talk.head()})
    turns = talk.tree()["turns"]
    assert [(turn["turn_id"], turn["run_id"], turn["human_message_id"], turn["status"]) for turn in turns] == [
        (run, run, f"h{number}", "done") for number, run in enumerate(runs)
    ]
    assert [len(turn["message_ids"]) for turn in turns] == [2, 2, 2]
    assert told(found, thread)[1] == runs


@pytest.mark.parametrize("mode", ["full", "delta"])
def test_nothing_is_recorded_for_turns_whose_checkpoints_all_stay(stored: Open, mode: str) -> None:
    found = stored(f"regenerate-{mode}")
    thread = found.thread("t", mode)
    with found.gateway.db.writing() as connection:
        read = Reading(connection, thread)
        turn_names.record(connection, read, read.family.order)
    assert recorded(found) == []
