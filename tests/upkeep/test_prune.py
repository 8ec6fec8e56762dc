"""What a prune takes and what it leaves: every turn stays what it was and can still be replayed and branched."""

import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from deerflow_lite.errors import LineageBroken, RunActive
from deerflow_lite.upkeep.prune import Pruned
from tests.lifecycle.asking import Talk
from tests.lifecycle.bases import answers, compared
from tests.lifecycle.branching_graphs import GRAPHS
from tests.lifecycle.growing import Growing
from tests.lifecycle.stored import MANIFEST, NAMES, Stored, opened
from tests.lifecycle.test_tree_model import Model, step
from tests.lifecycle.walked import Walked
from tests.service import Service, human

SEED = int(os.environ.get("PRUNE_SEED") or 237_274)
MODES = ("full", "delta")
WHOLE = [name for name in MANIFEST if not name.startswith("corrupt-")]
Open = Callable[..., Stored]


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Open]:
    folders = (tmp_path / f"stored-{number}" for number in count())
    with ExitStack() as stack:
        yield lambda fixture=None: stack.enter_context(contextmanager(opened)(next(folders), fixture))


def visible(walked: Walked, head: str) -> list[str]:
    return [
        message.id
        for message in walked.chain(head)[0].messages
        if message.type in ("human", "ai") and not message.additional_kwargs.get("hide_from_ui")
    ]


def left(found: Stored, thread_id: str = "t") -> set[str]:
    with found.gateway.db.reading() as connection:
        rows = connection.execute(
            "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''", (thread_id,)
        )
        return {checkpoint_id for (checkpoint_id,) in rows}


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("name", NAMES)
def test_every_base_is_the_same_after_a_prune_of_a_thread_that_grew_at_random(
    stored: Open, name: str, number: int
) -> None:
    print(f"PRUNE_SEED={SEED}")
    found = stored()
    growing = Growing(found, found.reading(name), random.Random(f"{SEED} {name} {number}"))
    for _ in range(14):
        growing.grow()
    thread = found.thread("t", name)
    walked, before = Walked(growing.graph, "t"), left(found)
    known = {head: answers(found, thread, head, visible(walked, head)) for head in before}
    values = {head: growing.state(head).values for head in before}
    planned = found.gateway.pruning.plan(None, "t")
    assert left(found) == before
    pruned = found.gateway.pruning.prune(None, "t")
    assert pruned == planned == Pruned("t", len(before), len(before) - len(left(found)))
    assert {thread.head, thread.root} <= left(found)
    again = Walked(growing.graph, "t")
    for head in left(found):
        if growing.state(head).next and head != thread.head:
            continue
        assert answers(found, thread, head, visible(again, head)) == known[head]
        assert growing.state(head).values == values[head]
        compared(found, again, thread, head)
    assert found.gateway.pruning.prune(None, "t").removed == 0
    assert found.gateway.doctor.examine().findings == []


@pytest.mark.parametrize("fixture", WHOLE)
def test_what_other_programs_stored_is_pruned_without_losing_a_base(stored: Open, fixture: str) -> None:
    found, name = stored(fixture), MANIFEST[fixture]["mode"]
    graph = found.reading(name)
    for thread_id in MANIFEST[fixture]["threads"]:
        thread = found.thread(thread_id, name)
        walked = Walked(graph, thread_id)
        heads = {row["id"] for row in MANIFEST[fixture]["threads"][thread_id]}
        known = {head: answers(found, thread, head, visible(walked, head)) for head in heads}
        tree = found.gateway.trees.tree(None, thread_id)
        found.gateway.pruning.prune(None, thread_id)
        shown = [(turn.turn_id, turn.message_ids, turn.status) for turn in tree.turns]
        after = found.gateway.trees.tree(None, thread_id)
        assert [(turn.turn_id, turn.message_ids, turn.status) for turn in after.turns] == shown
        for turn in after.turns:
            messages = visible(Walked(graph, thread_id), turn.checkpoint_id)
            assert answers(found, thread, turn.checkpoint_id, messages) == known[turn.checkpoint_id]


@pytest.mark.parametrize("mode", MODES)
def test_after_a_prune_every_turn_is_shown_and_can_be_regenerated_edited_and_branched(
    serve: Callable[..., Service], mode: str
) -> None:
    print(f"PRUNE_SEED={SEED}")
    service, chance = serve(graphs=GRAPHS), random.Random(SEED)
    model = Model(Talk(service, mode))
    number = 0
    while len(model.made) < 12:
        step(model, chance, number)
        number += 1
    before, talk = model.talk.tree(), model.talk
    pruned = service.gateway.pruning.prune("default", talk.id)
    assert talk.tree() == before
    good = [said for said in model.made if not said.failed]
    if mode == "full":
        rows = pruned.checkpoints - pruned.removed
        assert rows == 1 + len(model.made), "the root, and one row a turn"
    for said in good:
        talk.select(said.end)
        assert talk.shown() == [text for one in said.path() for text in one.texts]
        answer = service.state(talk.id)["values"]["messages"][-1]["id"]
        made = service.ask("POST", f"/threads/{talk.id}/branches", {"message_id": answer})
        branched = service.state(made["thread_id"])["values"]["messages"]
        assert [one["content"] for one in branched] == [text for one in said.path() for text in one.texts]
        for verb, body in (
            ("regenerate", {"message_id": answer}),
            ("edit", {"human_message_id": said.human, "replacement_text": f"otherwise {number}"}),
        ):
            run = service.ask("POST", f"/threads/{talk.id}/runs/{verb}", body)
            service.join(talk.id, run["run_id"])
            assert service.status(talk.id, run["run_id"]) == "success"
            assert talk.turn(run["run_id"])["base_checkpoint_id"] == said.base
            talk.select(said.end)


@pytest.mark.parametrize("mode", MODES)
def test_an_interrupted_head_keeps_its_question_through_a_prune_and_can_be_answered(
    serve: Callable[..., Service], mode: str
) -> None:
    service = serve(graphs=GRAPHS)
    talk = Talk(service, mode)
    talk.say("hello", "h1")
    talk.say("!ask", "h2")
    asked = service.get(talk.id)["interrupts"]
    service.gateway.pruning.prune(None, talk.id)
    assert (service.get(talk.id)["interrupts"], service.get(talk.id)["status"]) == (asked, "interrupted")
    talk.resume("this")
    assert talk.texts() == ["hello", "echo: hello", "!ask", "echo: !ask this"]
    service.gateway.pruning.prune(None, talk.id)
    assert talk.texts() == ["hello", "echo: hello", "!ask", "echo: !ask this"]
    assert len(talk.tree()["turns"]) == 2


def test_a_cancelled_turn_stays_in_context_through_a_prune(serve: Callable[..., Service], gate: Any) -> None:
    service = serve(graphs=GRAPHS)
    talk = Talk(service, "full")
    run = service.start(talk.id, "full", human(gate.text, "h1"))
    gate.await_reached()
    service.cancel(talk.id, run["run_id"])
    talk.say("and then", "h2")
    before = talk.tree()
    service.gateway.pruning.prune(None, talk.id)
    assert talk.tree() == before
    assert [turn["status"] for turn in before["turns"]] == ["interrupted", "done"]


def test_a_thread_with_a_run_in_flight_is_not_pruned(serve: Callable[..., Service], gate: Any) -> None:
    service = serve()
    thread_id = service.thread()
    run = service.start(thread_id, "held", gate.text)
    service.reach(thread_id, run["run_id"], "running")
    with pytest.raises(RunActive):
        service.gateway.pruning.prune(None, thread_id)
    gate.open()
    service.join(thread_id, run["run_id"])


@pytest.mark.parametrize("fixture", ["corrupt-dangling-parent", "corrupt-parent-cycle", "corrupt-blob"])
def test_a_thread_whose_lineage_is_broken_is_left_as_it_is(stored: Open, fixture: str) -> None:
    found = stored(fixture)
    found.thread("t", "full")
    before = found.rows()
    with pytest.raises(LineageBroken, match="see `doctor`"):
        found.gateway.pruning.prune(None, "t")
    assert found.rows() == before
