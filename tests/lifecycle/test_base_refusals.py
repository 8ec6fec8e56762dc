"""Where no base is given: lineages that cannot be trusted, links that are absent, messages that are not there."""

import pytest

from deerflow_lite.checkpoints import lineage
from deerflow_lite.errors import (
    CheckpointUnreadable,
    DeerflowError,
    LineageBroken,
    LineageCycle,
    LineageTooDeep,
    MessageUnknown,
    ParentMissing,
    ReplayRefused,
)
from tests.lifecycle.conftest import Open
from tests.lifecycle.stored import MANIFEST, ids, of

CORRUPT = {
    "corrupt-parent-cycle": LineageCycle,
    "corrupt-self-parent": LineageCycle,
    "corrupt-dangling-parent": ParentMissing,
    "corrupt-dangling-by-api": ParentMissing,
    "corrupt-foreign-parent": ParentMissing,
    "corrupt-blob": CheckpointUnreadable,
}
LINKLESS = ("corrupt-parentless-chain", "corrupt-parentless-head", "corrupt-parent-empty-string")
MODES = ("full", "delta")


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


@pytest.mark.parametrize("mode", MODES)
def test_depth_limit_exhaustion_fails_closed_and_a_base_at_exactly_the_limit_is_found(stored: Open, mode: str) -> None:
    fixture = f"chat-precreated-{mode}"
    for depth, message_id in ((3, "u2"), (6, "u1")):
        found = stored(fixture, lineage_depth=depth)
        thread = found.thread("t", mode)
        assert of(found, thread, message_id) == MANIFEST[fixture]["base"][message_id]
    tight = stored(fixture, lineage_depth=5)
    with pytest.raises(LineageTooDeep, match="5 steps"):
        of(tight, tight.thread("t", mode), "u1")


@pytest.mark.parametrize("fixture", LINKLESS)
@pytest.mark.parametrize("graph", ["full", "gone"])
def test_only_an_explicitly_absent_legacy_parent_link_may_use_chronological_compatibility_lookup(
    stored: Open, fixture: str, graph: str
) -> None:
    found = stored(fixture)
    thread = found.thread("t", graph)
    with found.gateway.db.reading() as connection:
        rows = [row.checkpoint_id for row in lineage.by_time(connection, "t")]
    assert [of(found, thread, one) for one in ("u1", "ai-1", "u2", "ai-2")] == [rows[0], rows[0], rows[3], rows[3]]


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


@pytest.mark.parametrize("mode", MODES)
def test_an_existing_single_checkpoint_branch_is_refused_and_never_repaired(stored: Open, mode: str) -> None:
    found, named = stored(f"branch-{mode}"), ids(f"branch-{mode}", "b")
    found.execute("DELETE FROM checkpoints WHERE thread_id = 'b' AND checkpoint_id <> ?", named["c1"])
    found.execute("UPDATE checkpoints SET parent_checkpoint_id = NULL WHERE thread_id = 'b'")
    thread = found.thread("b", mode)
    for message_id in ("u1", "ai-1", "u2", "ai-2"):
        with pytest.raises(ReplayRefused, match="no settled checkpoint stands before"):
            of(found, thread, message_id)


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
