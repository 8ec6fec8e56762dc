"""A conversation of three hundred turns, in both checkpoint modes: nothing is out of reach."""

import pytest

from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.lifecycle.conftest import Shared

TURNS = 300


@pytest.mark.parametrize("graph", ["full", "delta"])
def test_a_thread_of_three_hundred_turns_is_branched_regenerated_and_edited_at_its_second(
    shared: Shared, graph: str
) -> None:
    service = shared(graphs=GRAPHS)
    said = [
        [{"type": "human", "content": f"m{n}", "id": f"h{n}"}, {"type": "ai", "content": f"r{n}", "id": f"a{n}"}]
        for n in range(TURNS)
    ]
    steps = [{"updates": [{"values": {"messages": each}, "as_node": "answer"}]} for each in said]
    talk = Talk(service, graph, service.thread(supersteps=steps, metadata={"graph_id": graph}))
    first, second = (turn["checkpoint_id"] for turn in talk.tree()["turns"][:2])
    assert len(talk.selected()) == TURNS
    made = service.ask("POST", f"/threads/{talk.id}/branches", {"message_id": "a1"})
    assert made["parent_checkpoint_id"] == second
    assert Talk(service, graph, made["thread_id"]).texts() == ["m0", "r0", "m1", "r1"]
    prepared = service.ask("POST", f"/threads/{talk.id}/runs/regenerate/prepare", {"message_id": "a1"})
    assert prepared["checkpoint"]["checkpoint_id"] == first
    body = {"human_message_id": "h1", "replacement_text": "other"}
    run = service.ask("POST", f"/threads/{talk.id}/runs/edit", body)
    service.join(talk.id, run["run_id"])
    assert talk.texts() == ["m0", "r0", "other", "echo: other"]
    places = list(talk.places("sibling_index", "sibling_count", "on_selected_path"))
    assert len(places) == TURNS + 1 and places.count((1, 2, True)) == 1
