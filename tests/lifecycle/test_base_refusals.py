"""Where no base is given: lineages that cannot be trusted, links that are absent, messages that are not there."""

import pytest

from deerflow_lite.checkpoints import lineage
from deerflow_lite.errors import (
    CheckpointUnreadable,
    DeerflowError,
    LineageBroken,
    LineageCycle,
    MessageUnknown,
    ParentMissing,
    ReplayRefused,
)
from tests.lifecycle.conftest import Open
from tests.lifecycle.stored import ids, of

CORRUPT = {
    "corrupt-parent-cycle": LineageCycle,
    "corrupt-self-parent": LineageCycle,
    "corrupt-dangling-parent": ParentMissing,
    "corrupt-dangling-by-api": ParentMissing,
    "corrupt-foreign-parent": ParentMissing,
    "corrupt-blob": CheckpointUnreadable,
}


@pytest.mark.parametrize(("fixture", "error"), CORRUPT.items())
def test_cycles_dangling_links_and_unreadable_rows_fail_closed(
    stored: Open, monkeypatch: pytest.MonkeyPatch, fixture: str, error: type[LineageBroken]
) -> None:
    found = stored(fixture)
    thread = found.thread("t", "full")
    asked: list[str] = []
    monkeypatch.setattr(lineage, "by_time", lambda *_: asked.append("the chronological lookup") or iter(()))
    with pytest.raises(error):
        of(found, thread, {"corrupt-dangling-by-api": "u3", "corrupt-blob": "u1"}.get(fixture, "u2"))
    assert asked == []


def test_the_chronological_lookup_refuses_where_only_mid_run_checkpoints_stand_before(stored: Open) -> None:
    found = stored("corrupt-parentless-chain")
    found.execute("DELETE FROM checkpoints WHERE checkpoint_id = ?", ids("corrupt-parentless-chain")["c0"])
    with pytest.raises(ReplayRefused, match="no settled checkpoint stands before"):
        of(found, found.thread("t", "full"), "u1")


def test_the_rule_on_visible_messages_binds_the_chronological_lookup_too(stored: Open) -> None:
    found = stored("corrupt-parentless-chain")
    found.execute("DELETE FROM checkpoints WHERE checkpoint_id = ?", ids("corrupt-parentless-chain")["c3"])
    with pytest.raises(ReplayRefused, match="lacks message u1"):
        of(found, found.thread("t", "full"), "u2")


@pytest.mark.parametrize(
    ("message_id", "error"),
    [("nowhere", MessageUnknown), ("u3", ReplayRefused), ("", MessageUnknown), ("\ud83d", MessageUnknown)],
)
def test_an_id_that_is_nowhere_in_the_thread_is_unknown_and_one_of_another_lineage_is_refused(
    stored: Open, message_id: str, error: type[DeerflowError]
) -> None:
    found = stored("edit-full")
    with pytest.raises(error):
        of(found, found.thread("t", "full"), message_id)


def test_a_head_that_is_not_stored_is_refused(stored: Open) -> None:
    found = stored("edit-full")
    with pytest.raises(ParentMissing):
        of(found, found.thread("t", "full"), "u1", "1f000000-0000-6000-8000-000000000000")
