"""Creating, changing, naming and deleting: the same promises over both stores."""

import json
from typing import Any

import pytest

from deerflow_lite.db import Database
from deerflow_lite.errors import Invalid, ThreadExists, ThreadIdTaken, ThreadUnknown, TooLarge
from deerflow_lite.threads.changing import BRANCH_KEYS, client_metadata
from deerflow_lite.threads.flags import archived_clause
from deerflow_lite.threads.model import Change, HeadValues, NewThread, Thread
from deerflow_lite.threads.store import VALUES_BYTES, ThreadStore
from tests.threads.given import all_ids, at, head, made, many


def test_a_new_thread_is_given_back_as_it_is_stored(store: ThreadStore) -> None:
    thread = store.create(
        "U1", NewThread("T1", {"a": None, "ü": "\u2028"}, title=" My title ", title_manual=True, root="c0")
    )
    time = thread.created_at
    assert thread == Thread(
        thread.row, "T1", "U1", time, time, time, '{"a":null,"ü":"\u2028"}', "idle", "My title", True,
        None, "c0", "{}", None,
    )  # fmt: skip
    assert store.get("U1", "T1") == store.get(None, "T1") == store.by_row(thread.row) == thread


def test_an_id_of_my_own_exists_and_one_of_another_is_not_available(store: ThreadStore) -> None:
    before = made(store, "T1", {"k": 1})
    with pytest.raises(ThreadExists, match="thread T1 already exists"):
        made(store, "T1")
    with pytest.raises(ThreadIdTaken, match="^thread_id is not available$"):
        made(store, "T1", owner="U2")
    assert (all_ids(store, owner=None), store.get("U1", "T1")) == (["T1"], before)


def test_a_foreign_and_a_missing_thread_give_the_same_answer_on_every_verb(store: ThreadStore) -> None:
    thread = made(store, "T1")
    for owner, name in (("U2", "T1"), ("U1", "T2")):
        for verb in (
            lambda owner=owner, name=name: store.get(owner, name),
            lambda owner=owner, name=name: store.change(owner, name, Change(metadata={"k": 1})),
            lambda owner=owner, name=name: store.delete(owner, name),
            lambda owner=owner, name=name: store.archive(owner, [name], None, True, False),
        ):
            with pytest.raises(ThreadUnknown, match=f"^thread_id: thread {name} does not exist$"):
                verb()
        assert not store.owned(owner, name)
    assert (store.get("U1", "T1"), store.owned("U1", "T1"), store.deleted("T1")) == (thread, True, False)


def test_a_change_for_an_older_thread_of_the_same_id_is_refused(store: ThreadStore) -> None:
    old = made(store, "T1")
    store.delete("U1", "T1")
    new = made(store, "T1")
    assert new.row > old.row
    with pytest.raises(ThreadUnknown):
        store.change("U1", "T1", Change(status="busy"), row=old.row)
    assert store.change("U1", "T1", Change(status="busy"), row=new.row).status == "busy"
    assert store.by_row(old.row) is None


def test_metadata_merges_shallowly_keeps_its_order_and_stores_null(store: ThreadStore) -> None:
    made(store, "T1", {"b": 1, "a": {"x": 1, "y": 2}})
    merged = store.change("U1", "T1", Change(metadata={"a": {"z": 3}, "c": None, "b": 2}))
    assert merged.metadata == '{"b":2,"a":{"z":3},"c":null}'


def test_defaults_are_set_only_where_absent(store: ThreadStore) -> None:
    made(store, "T1", {"graph_id": None})
    change = Change(defaults={"graph_id": "agent", "assistant_id": "x"}, touch=False)
    assert store.change("U1", "T1", change).metadata == '{"graph_id":null,"assistant_id":"x"}'
    assert store.change("U1", "T1", change).metadata == '{"graph_id":null,"assistant_id":"x"}'


@pytest.mark.parametrize(
    ("change", "moves"),
    [
        (Change(metadata={}), False),
        (Change(metadata={"deerflow_archived": True}), False),
        (Change(metadata={"deerflow_archived": True, "deerflow_pinned": True}), False),
        (Change(metadata={"k": 1}), True),
        (Change(metadata={"k": 1, "deerflow_pinned": True}), True),
        (Change(metadata={"deerflow_pinned": True}, title="x"), True),
        (Change(title="x"), True),
        (Change(status="busy"), True),
        (Change(status="busy", touch=False), False),
        (Change(metadata={"k": 1}, touch=False), False),
    ],
)
def test_a_patch_touches_unless_it_is_empty_or_made_of_the_flags_alone(
    store: ThreadStore, change: Change, moves: bool
) -> None:
    before = made(store, "T1")
    after = store.change("U1", "T1", change)
    assert (after.updated_at > before.updated_at) is moves
    assert (after.state_updated_at, after.created_at) == (before.state_updated_at, before.created_at)


def test_the_state_time_moves_with_the_head_alone(store: ThreadStore) -> None:
    before = made(store, "T1")
    moved = store.change("U1", "T1", Change(head="c1", touch=False))
    assert moved.state_updated_at > before.state_updated_at
    assert moved.updated_at == before.updated_at
    assert store.change("U1", "T1", Change(head="c1", metadata={"k": 1})).state_updated_at == moved.state_updated_at


def test_times_never_go_backwards(store: ThreadStore, db: Database) -> None:
    made(store, "T1")
    future = "2999-01-01T00:00:00.000000+00:00"
    at(db, store, "T1", updated_at=future, state_updated_at=future)
    after = store.change("U1", "T1", Change(metadata={"k": 1}, head="c1"))
    assert (after.updated_at, after.state_updated_at) == (future, future)


def test_a_title_set_by_hand_is_never_replaced_until_it_is_given_back(store: ThreadStore) -> None:
    made(store, "T1")

    def after(**fields: Any) -> tuple[str | None, bool]:
        thread = store.change("U1", "T1", Change(**fields))
        return thread.title, thread.title_manual

    assert after(auto_title="first") == ("first", False)
    assert after(auto_title=None) == (None, False)
    assert after(auto_title="second") == ("second", False)
    assert after(title="  mine ") == ("mine", True)
    assert after(auto_title="third") == ("mine", True)
    assert after(metadata={"k": 1}) == ("mine", True)
    assert after(title=None, auto_title="fourth") == ("fourth", False)
    assert after(title="mine") == ("mine", True)
    assert after(title=None) == (None, False)


@pytest.mark.parametrize("title", ["", "   ", "x" * 257, "a\nb", "a\x00b", "a\x7fb", "\ud83d", "\n"])
def test_a_title_that_cannot_be_kept_is_refused_and_the_old_one_stays(store: ThreadStore, title: str) -> None:
    made(store, "T1")
    before = store.change("U1", "T1", Change(title="old"))
    with pytest.raises(Invalid, match="^title: must"):
        store.change("U1", "T1", Change(title=title, metadata={"k": 1}))
    assert store.get("U1", "T1") == before


@pytest.mark.parametrize(
    ("patch", "error"),
    [
        ({"k": "x" * 65536}, TooLarge),
        ({f"k{number}": number for number in range(10_000)}, TooLarge),
        ({"k": 2**63}, Invalid),
        ({"k": float("nan")}, Invalid),
        ({"k\x00": 1}, Invalid),
        ({"k": ["a\x00b"]}, Invalid),
        ({"k": {"\ud800": 1}}, Invalid),
    ],
)
def test_metadata_over_a_limit_is_refused_and_nothing_is_written(
    store: ThreadStore, patch: dict[str, Any], error: type[Invalid]
) -> None:
    before = made(store, "T1", {"a": 1})
    with pytest.raises(error) as refused:
        store.change("U1", "T1", Change(metadata=patch, title="x"))
    assert type(refused.value) is error
    with pytest.raises(error):
        made(store, "T2", patch)
    assert (store.get("U1", "T1"), all_ids(store)) == (before, ["T1"])


def test_limits_hold_for_the_merged_metadata(store: ThreadStore) -> None:
    made(store, "T1", {"a": "x" * 40_000})
    with pytest.raises(TooLarge):
        store.change("U1", "T1", Change(metadata={"b": "x" * 40_000}))
    assert len(store.change("U1", "T1", Change(metadata={"a": "", "b": "x" * 40_000})).metadata) == 40_015


def test_owner_and_user_in_metadata_are_plain_data(store: ThreadStore) -> None:
    made(store, "T1")
    after = store.change("U1", "T1", Change(metadata={"user_id": "U2", "owner_id": "U2"}))
    assert (after.owner, json.loads(after.metadata)) == ("U1", {"user_id": "U2", "owner_id": "U2"})
    assert (all_ids(store, owner="U2"), all_ids(store, owner="U1")) == ([], ["T1"])


def test_what_a_client_may_set_has_no_branch_keys_and_only_boolean_flags() -> None:
    assert client_metadata({key: "x" for key in BRANCH_KEYS} | {"k": 1, "deerflow_pinned": False}) == {
        "k": 1,
        "deerflow_pinned": False,
    }
    with pytest.raises(Invalid) as refused:
        client_metadata({"deerflow_pinned": 1, "deerflow_archived": "true"})
    assert refused.value.errors == {
        "metadata": ["deerflow_archived must be true or false", "deerflow_pinned must be true or false"]
    }


def test_a_deleted_id_is_remembered_until_it_is_made_again_and_made_empty(store: ThreadStore) -> None:
    made(store, "T1", {"deerflow_archived": True, "k": 1})
    old = store.change("U1", "T1", Change(head="c1", values=head("c1"), title="x"))
    assert store.delete("U1", "T1") == old
    assert (store.deleted("T1"), all_ids(store), store.values([old])) == (True, [], {})
    new = made(store, "T1", owner="U2")
    assert (store.deleted("T1"), new.title, new.metadata, store.values([new])) == (False, None, "{}", {})
    assert (store.count("U1", []), store.count("U1", [archived_clause(True)]), store.count("U2", [])) == (0, 0, 1)


def test_values_are_one_row_a_thread_and_count_only_for_the_head(store: ThreadStore) -> None:
    thread = made(store, "T1")
    full = HeadValues("c1", '{"n":"ü"}', True, '"own"', False, "delta", "2026-01-01T00:00:00.000000+00:00")
    thread = store.change("U1", "T1", Change(head="c1", values=full))
    assert store.values([thread]) == {thread.row: full}
    assert store.values([store.change("U1", "T1", Change(head="c2"))]) == {}
    store.change("U1", "T1", Change(values=head("c2")))
    assert store.values([thread]) == {thread.row: head("c2")}


def test_values_are_given_up_to_eight_mebibytes(store: ThreadStore) -> None:
    threads = []
    for name, size in [("a", VALUES_BYTES // 2), ("b", VALUES_BYTES // 2 + 1), ("c", VALUES_BYTES // 2)]:
        made(store, name)
        body = '{"n":"' + "x" * (size - 8) + '"}'
        threads.append(store.change("U1", name, Change(head="c1", values=head("c1", body))))
    assert sorted(store.values(threads)) == [threads[0].row, threads[2].row]


def test_whatever_fails_in_the_transaction_undoes_all_of_it(store: ThreadStore, db: Database) -> None:
    many(store, 2)
    before = store.change("U1", "T001", Change(head="c1", values=head("c1"), metadata={"k": 1}))
    store.delete("U1", "T002")

    class Stop(Exception):
        pass

    with pytest.raises(Stop), db.writing():
        made(store, "T002")
        made(store, "T003", {"deerflow_archived": True})
        store.change("U1", "T001", Change(head="c2", values=head("c2"), title="x"))
        store.archive("U1", ["T001"], None, True, False)
        store.delete("U1", "T001")
        made(store, "T001", owner="U2")
        raise Stop
    assert (store.get("U1", "T001"), store.values([before])) == (before, {before.row: head("c1")})
    assert [store.deleted(name) for name in ("T001", "T002", "T003")] == [False, True, False]
    assert (all_ids(store, owner=None), store.count("U1", [archived_clause(True)])) == (["T001"], 0)
    assert made(store, "T004").row > before.row
