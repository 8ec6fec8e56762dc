"""Trees of threads that other programs stored: without runs, without links, broken; what can be read is shown."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deerflow_lite.lifecycle.shown import Tree
from tests.lifecycle.stored import MANIFEST, OWNER, Stored, opened

WHOLE = sorted(name for name, about in MANIFEST.items() if "base" in about and not name.startswith("command"))


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Callable[[str], Stored]]:
    made: list[Iterator[Stored]] = []

    def one(fixture: str) -> Stored:
        made.append(opened(tmp_path / fixture, fixture))
        return next(made[-1])

    yield one
    for each in made:
        assert next(each, None) is None


def tree(stored: Stored, fixture: str, thread_id: str = "t") -> Tree:
    graph = "delta" if MANIFEST[fixture]["mode"] == "delta" else "full"
    stored.thread(thread_id, graph)
    return stored.gateway.trees.tree(OWNER, thread_id)


@pytest.mark.parametrize("fixture", WHOLE)
def test_turns_without_runs_stand_on_the_checkpoints_that_a_replay_would_start_from(
    at: Callable[[str], Stored], fixture: str
) -> None:
    thread_id = "b" if fixture.startswith("branch") else "t"
    found = tree(at(fixture), fixture, thread_id)
    assert found.broken == ()
    bases = {turn.human_message_id: turn.base_checkpoint_id for turn in found.turns if turn.on_selected_path}
    wanted = MANIFEST[fixture]["base"]
    assert {human: bases[human] for human in bases if human in wanted} == {
        human: wanted[human] for human in bases if human in wanted
    }


def test_a_turn_without_a_run_is_named_by_the_oldest_checkpoint_that_holds_it_and_its_message(
    at: Callable[[str], Stored],
) -> None:
    found = tree(at("regenerate-full"), "regenerate-full")
    ids = {each["name"]: each["id"] for each in MANIFEST["regenerate-full"]["threads"]["t"]}
    assert [(turn.turn_id, turn.message_ids, turn.sibling_index, turn.on_selected_path) for turn in found.turns] == [
        (f"{ids['c2']}.u1", ("u1", "ai-1"), 0, True),
        (f"{ids['c5']}.u2", ("u2", "ai-2"), 0, False),
        (f"{ids['c8']}.u2", ("u2", "ai-3"), 1, False),
        (f"{ids['c11']}.u2", ("u2", "ai-4"), 2, True),
        (f"{ids['c14']}.u3", ("u3", "ai-5"), 0, True),
    ]


@pytest.mark.parametrize("fixture", ["corrupt-parentless-chain", "corrupt-parentless-head"])
def test_links_that_were_never_recorded_are_told_by_time(at: Callable[[str], Stored], fixture: str) -> None:
    found = tree(at(fixture), fixture)
    assert [(turn.human_message_id, turn.message_ids) for turn in found.turns] == [
        ("u1", ("u1", "ai-1")),
        ("u2", ("u2", "ai-2")),
    ]
    assert found.turns[1].base_checkpoint_id == found.turns[0].checkpoint_id
    assert all(turn.on_selected_path for turn in found.turns)
    assert found.broken == ()


@pytest.mark.parametrize(
    ("fixture", "reason", "humans"),
    [
        ("corrupt-parent-cycle", "its parents lead back to itself", ["u1", "u2"]),
        ("corrupt-self-parent", "its parents lead back to itself", ["u1", "u2", "u2"]),
        ("corrupt-dangling-parent", "is not in this thread", ["u1", "u2"]),
        ("corrupt-foreign-parent", "is not in this thread", ["u1", "u2"]),
        ("corrupt-dangling-by-api", "is not in this thread", ["u1", "u2", "u3"]),
        ("corrupt-blob", "it cannot be read", ["u1"]),
    ],
)
def test_what_is_broken_is_told_and_the_rest_is_shown(
    at: Callable[[str], Stored], fixture: str, reason: str, humans: list[str]
) -> None:
    stored = at(fixture)
    stored.thread("t", "full")
    before = stored.rows()
    found = stored.gateway.trees.tree(OWNER, "t")
    [broken] = found.broken
    assert broken.reason.endswith(reason)
    assert [turn.human_message_id for turn in found.turns] == humans
    assert stored.rows() == before


def test_a_head_that_cannot_be_read_is_told_and_what_stands_before_it_is_shown(at: Callable[[str], Stored]) -> None:
    stored = at("chat-precreated-full")
    thread = stored.thread("t", "full")
    assert thread.head is not None
    stored.execute(
        "UPDATE checkpoints SET checkpoint = substr(checkpoint, 1, 400) WHERE checkpoint_id = ?", thread.head
    )
    found = stored.gateway.trees.tree(OWNER, "t")
    assert [(broken.checkpoint_id, broken.reason) for broken in found.broken] == [
        (thread.head, f"checkpoint {thread.head} cannot be read")
    ]
    assert [(turn.human_message_id, turn.message_ids) for turn in found.turns] == [
        ("u1", ("u1", "ai-1")),
        ("u2", ("u2",)),
    ]


def test_turns_that_a_branch_brought_along_are_turns_of_its_first_checkpoint(at: Callable[[str], Stored]) -> None:
    found = tree(at("branch-full"), "branch-full", "b")
    ids = {each["name"]: each["id"] for each in MANIFEST["branch-full"]["threads"]["b"]}
    assert [(turn.human_message_id, turn.base_checkpoint_id, turn.checkpoint_id) for turn in found.turns] == [
        ("u1", None, ids["c0"]),
        ("u2", ids["c0"], ids["c1"]),
        ("u2", ids["c0"], ids["c4"]),
    ]
