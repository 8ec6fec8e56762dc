"""What is no replay base though the messages alone would let it be one, on stored conversations."""

import pytest

from deerflow_lite.checkpoints import lineage
from deerflow_lite.errors import ReplayRefused
from tests.lifecycle.conftest import Open
from tests.lifecycle.stored import ids, of

MODES = ("full", "delta")


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
