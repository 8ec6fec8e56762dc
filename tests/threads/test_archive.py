"""The chat archive: each sentence of the user's text is one test of that name, over both stores.

What needs a running service (the endpoint, checkpoints, files, schedules) is tested in the rooms above.
"""

import pytest

from deerflow_lite.db import Database
from deerflow_lite.errors import Invalid, ThreadUnknown
from deerflow_lite.threads.flags import archived_clause
from deerflow_lite.threads.model import Archived, Change, Page
from deerflow_lite.threads.store import ThreadStore
from tests.threads.given import all_ids, at, head, ids, made, many

SHAPES = {"t": True, "one": 1, "text": "true", "null": None, "empty": "", "list": [], "object": {}, "false": False}
REST = ["absent", "false", "object", "list", "empty", "null", "text", "one"]


def shaped(store: ThreadStore) -> None:
    for name, flag in SHAPES.items():
        made(store, name, {"deerflow_archived": flag})
    made(store, "absent")


def test_omitted_or_null_preserves_the_unfiltered_api(store: ThreadStore) -> None:
    shaped(store)
    assert all_ids(store) == [*REST, "t"]


def test_true_selects_only_json_boolean_metadata_deerflow_archived_true(store: ThreadStore) -> None:
    shaped(store)
    assert all_ids(store, archived_clause(True)) == ["t"]


def test_false_includes_missing_null_non_true_legacy_flags(store: ThreadStore) -> None:
    shaped(store)
    assert all_ids(store, archived_clause(False)) == REST


def test_both_sql_and_memory_thread_stores_filter_before_limit_offset_and_retain_owner_isolation(
    store: ThreadStore,
) -> None:
    many(store, 12)
    for number in range(6):
        made(store, f"a{number}", {"deerflow_archived": True}, owner="U2" if number % 2 else "U1")
    many_more = [made(store, f"z{number}").thread_id for number in range(12)]
    found = store.search("U1", [archived_clause(True)], Page(limit=2))
    assert (ids(found), found.total, found.more) == (["a4", "a2"], 3, True)
    found = store.search("U1", [archived_clause(True)], Page(limit=2, offset=2))
    assert (ids(found), found.total, found.more) == (["a0"], 3, False)
    assert all_ids(store, archived_clause(True), owner="U2") == ["a5", "a3", "a1"]
    assert all_ids(store, archived_clause(False), owner="U2") == []
    assert len(all_ids(store, archived_clause(False))) == 12 + len(many_more)


@pytest.mark.parametrize("flag", ["deerflow_archived", "deerflow_pinned"])
@pytest.mark.parametrize("value", ["true", 1, 0, [], {}, None, 1.0, ""])
def test_patch_validates_archive_flags_as_booleans(store: ThreadStore, flag: str, value: object) -> None:
    before = made(store, "T1", {"k": 1})
    with pytest.raises(Invalid, match=f"metadata: {flag} must be true or false") as refused:
        store.change("U1", "T1", Change(metadata={"other": 2, flag: value}))
    assert refused.value.errors == {"metadata": [f"{flag} must be true or false"]}
    assert store.get("U1", "T1") == before


def test_pin_archive_only_boolean_metadata_writes_use_touch_false_to_preserve_activity_ordering(
    store: ThreadStore,
) -> None:
    many(store, 3)
    before = [store.get("U1", name) for name in ("T001", "T002", "T003")]
    for flag in ("deerflow_archived", "deerflow_pinned"):
        for value in (True, True, False):
            store.change("U1", "T001", Change(metadata={flag: value}))
    store.change("U1", "T002", Change(metadata={"deerflow_pinned": False, "deerflow_archived": False}))
    after = [store.get("U1", name) for name in ("T001", "T002", "T003")]
    assert [thread.updated_at for thread in after] == [thread.updated_at for thread in before]
    assert all_ids(store) == ["T003", "T002", "T001"]
    store.change("U1", "T001", Change(metadata={"deerflow_archived": True, "other": 1}))
    assert all_ids(store) == ["T001", "T003", "T002"]


def test_archive_never_changes_runtime_status_or_read_permissions(store: ThreadStore, db: Database) -> None:
    made(store, "T1", {"deerflow_pinned": True})
    change = Change(title="named", status="busy", head="c1", values=head("c1", '{"n":1}'), interrupts='{"a":[]}')
    before = store.change("U1", "T1", change)
    after = store.change("U1", "T1", Change(metadata={"deerflow_archived": True}))
    assert after.metadata == '{"deerflow_pinned":true,"deerflow_archived":true}'
    kept = ("row", "status", "title", "title_manual", "head", "root", "interrupts", "created_at", "state_updated_at")
    assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]
    assert store.values([after]) == {before.row: head("c1", '{"n":1}')}
    assert store.get("U1", "T1") == after
    with pytest.raises(ThreadUnknown):
        store.get("U2", "T1")


def test_archive_then_restore_gives_back_the_very_place(store: ThreadStore, db: Database) -> None:
    names = many(store, 5)
    at(db, store, "T002", updated_at=store.get("U1", "T003").updated_at)
    order = all_ids(store)
    store.change("U1", "T002", Change(metadata={"deerflow_archived": True}))
    assert all_ids(store, archived_clause(False)) == [name for name in order if name != "T002"]
    for _ in range(2):
        store.change("U1", "T002", Change(metadata={"deerflow_archived": False}))
        assert all_ids(store) == all_ids(store, archived_clause(False)) == order
    assert sorted(order) == names


def test_new_activity_does_not_restore(store: ThreadStore) -> None:
    made(store, "T1", {"deerflow_archived": True})
    before = store.get("U1", "T1")
    after = store.change("U1", "T1", Change(status="busy"))
    assert after.updated_at > before.updated_at
    assert all_ids(store, archived_clause(True)) == ["T1"]


def test_bulk_archive_changes_those_whose_flag_differs_and_touches_nothing(store: ThreadStore) -> None:
    many(store, 4)
    store.change("U1", "T002", Change(metadata={"deerflow_archived": True}))
    store.change("U1", "T003", Change(status="busy", touch=False))
    before = {name: store.get("U1", name) for name in ("T001", "T002", "T003", "T004")}
    asked = ["T003", "T001", "T002", "T003"]
    expected = Archived(matched=3, changed=2, thread_ids=["T003", "T001"])
    assert store.archive("U1", asked, None, True, dry_run=True) == expected
    assert {name: store.get("U1", name) for name in before} == before
    assert store.archive("U1", asked, None, True, dry_run=False) == expected
    assert all_ids(store, archived_clause(True)) == ["T003", "T002", "T001"]
    assert [store.get("U1", name).updated_at for name in before] == [t.updated_at for t in before.values()]
    assert store.get("U1", "T003").status == "busy"
    assert store.archive("U1", asked, None, False, dry_run=False).thread_ids == ["T003", "T001", "T002"]
    assert store.count("U1", [archived_clause(True)]) == 0


def test_bulk_archive_by_age_is_strict_and_the_owners_own(store: ThreadStore) -> None:
    many(store, 4)
    made(store, "foreign", owner="U2")
    border = store.get("U1", "T003").updated_at
    assert store.archive("U1", None, border, True, dry_run=False) == Archived(2, 2, ["T001", "T002"])
    assert store.archive("U1", None, border, True, dry_run=False) == Archived(2, 0, [])
    assert store.archive("U2", None, border, True, dry_run=True) == Archived(0, 0, [])
    assert store.archive(None, None, "9", True, dry_run=True) == Archived(5, 3, ["T003", "T004", "foreign"])


@pytest.mark.parametrize("wrong", ["unknown", "foreign"])
def test_bulk_archive_with_one_id_that_is_not_mine_names_it_and_changes_nothing(store: ThreadStore, wrong: str) -> None:
    many(store, 2)
    made(store, "foreign", owner="U2")
    with pytest.raises(ThreadUnknown, match=f"thread_id: thread {wrong} does not exist"):
        store.archive("U1", ["T001", wrong, "T002"], None, True, dry_run=False)
    assert store.count(None, [archived_clause(True)]) == 0
    assert store.archive("U1", [], None, True, dry_run=False) == Archived(0, 0, [])


def test_bulk_archive_that_no_longer_fits_into_metadata_changes_nothing(store: ThreadStore) -> None:
    made(store, "T1")
    full = made(store, "T2", {"k": "x" * (64 * 1024 - len('{"k":""}'))})
    with pytest.raises(Invalid, match="metadata: must be at most 65536 bytes"):
        store.archive("U1", ["T1", "T2"], None, True, dry_run=False)
    assert store.count("U1", [archived_clause(True)]) == 0
    assert store.get("U1", "T2") == full
