"""Searching, ordering, paging and counting: the same promises over both stores."""

import itertools
import random

import pytest

from deerflow_lite.db import Database
from deerflow_lite.errors import Invalid
from deerflow_lite.threads.filters import IdIn, StatusIs, TitleHas, parse_metadata, parse_title, parse_values
from deerflow_lite.threads.flags import archived_clause
from deerflow_lite.threads.model import Change, Page
from deerflow_lite.threads.store import ThreadStore
from tests.threads.given import all_ids, at, head, ids, made, many, pages

LEGACY = [True, 1, "true", None, "", [], {}, False, 1.0, "True"]


def test_the_default_order_is_pinned_first_then_updated_at_then_thread_id_all_descending(
    store: ThreadStore, db: Database
) -> None:
    for name, pin, time in [
        ("a", False, "3"),
        ("b", True, "1"),
        ("c", False, "2"),
        ("d", False, "3"),
        ("e", True, "0"),
    ]:
        made(store, name, {"deerflow_pinned": pin})
        at(db, store, name, updated_at=time)
    assert all_ids(store) == ["b", "e", "d", "a", "c"]
    assert ids(store.search("U1", [], Page(sort_by="updated_at"))) == ["b", "e", "d", "a", "c"]


def test_only_json_true_pins(store: ThreadStore) -> None:
    for number, flag in enumerate(LEGACY):
        made(store, f"t{number}", {"deerflow_pinned": flag})
    assert all_ids(store) == ["t0", "t9", "t8", "t7", "t6", "t5", "t4", "t3", "t2", "t1"]


@pytest.mark.parametrize("name", ["created_at", "updated_at", "state_updated_at", "status", "thread_id"])
def test_another_sort_by_replaces_the_order_and_thread_id_breaks_ties_in_the_same_direction(
    store: ThreadStore, db: Database, name: str
) -> None:
    for thread_id, value in [("b", "idle"), ("a", "idle"), ("c", "busy"), ("d", "error")]:
        made(store, thread_id, {"deerflow_pinned": thread_id == "a"})
        if name != "thread_id":
            at(db, store, thread_id, **{name: value})
    upward = ["a", "b", "c", "d"] if name == "thread_id" else ["c", "d", "a", "b"]
    found = store.search("U1", [], Page(sort_by=name, descending=False))
    assert (ids(found), found.cursor, found.more, found.total) == (upward, None, False, 4)
    if name != "updated_at":
        assert ids(store.search("U1", [], Page(sort_by=name))) == upward[::-1]


def test_an_unknown_sort_and_a_cursor_with_another_sort_are_refused(store: ThreadStore) -> None:
    with pytest.raises(Invalid, match="sort_by: must be one of thread_id"):
        store.search("U1", [], Page(sort_by="title"))
    with pytest.raises(Invalid, match="cursor: goes with the default order only"):
        store.search("U1", [], Page(sort_by="created_at", cursor=(0, "x", "y")))


@pytest.mark.parametrize(("page", "match", "total"), [(5, 1, 30), (10, 15, 30)])
def test_a_filter_comes_before_limit_and_offset(store: ThreadStore, page: int, match: int, total: int) -> None:
    for number in range(1, total + 1):
        made(store, f"T{number:03}", {"k": "v"} if number == match else {"k": "w"})
    found = store.search("U1", parse_metadata({"k": "v"}), Page(limit=page))
    assert (ids(found), found.total, found.capped, found.more) == ([f"T{match:03}"], 1, False, False)


def test_true_and_false_are_all_and_disjoint_whatever_shape_the_flag_has(store: ThreadStore) -> None:
    for number, flag in enumerate(LEGACY):
        made(store, f"t{number}", {"deerflow_archived": flag})
    made(store, "none")
    assert all_ids(store, archived_clause(True)) == ["t0"]
    assert all_ids(store, archived_clause(False)) == ["none", *(f"t{number}" for number in range(9, 0, -1))]
    assert len(all_ids(store)) == 11
    assert [store.count("U1", [archived_clause(flag)]) for flag in (True, False)] == [1, 10]


def test_twenty_five_archived_threads_come_in_pages_of_ten(store: ThreadStore) -> None:
    names = many(store, 25, {"deerflow_archived": True})
    made(store, "active")
    walked = pages(store, [archived_clause(True)], 10)
    assert walked == [names[:14:-1], names[14:4:-1], names[4::-1]]


def test_count_is_a_full_walk_for_every_set_of_filters(store: ThreadStore, db: Database) -> None:
    rnd = random.Random(7)
    for number in range(60):
        made(store, f"x{number}", {"deerflow_archived": rnd.random() < 0.5, "k": rnd.choice([1, 1.0, "1", None, True])})
        store.change(
            "U1", f"x{number}", Change(title=rnd.choice(["100%", "a_b", "Straße"]), status="idle", touch=False)
        )
        at(db, store, f"x{number}", status=rnd.choice(["idle", "busy", "error"]))
    parts = [
        [[], [archived_clause(True)], [archived_clause(False)]],
        [[], parse_metadata({"k": 1}), parse_metadata({"k": None}), parse_metadata({"k": "nothing"})],
        [[], [StatusIs("idle")], [StatusIs("busy")]],
        [[], [TitleHas("STRASSE")], [IdIn(frozenset({"x1", "x2", "x3", "x99"}))]],
    ]
    for chosen in itertools.product(*parts):
        clauses = [clause for part in chosen for clause in part]
        rnd.shuffle(clauses)
        walked = [name for page in pages(store, clauses, 7) for name in page]
        found = store.search("U1", clauses, Page(limit=7))
        assert len(set(walked)) == len(walked) == store.count("U1", clauses) == found.total, clauses
        assert walked == all_ids(store, *clauses)


def test_the_total_is_the_number_of_matches_and_not_of_the_page(store: ThreadStore) -> None:
    many(store, 300)
    found = store.search("U1", [], Page(limit=10))
    assert (len(found.threads), found.total, found.capped, found.more) == (10, 300, False, True)
    assert store.search("U1", [], Page(limit=10, cursor=found.cursor)).total == 300


def test_a_cursor_walk_over_equal_times_gives_every_id_once(store: ThreadStore, db: Database) -> None:
    names = many(store, 50)
    for name in names:
        at(db, store, name, updated_at="2026-01-01T00:00:00.000000+00:00")
    walked = pages(store, [], 7)
    assert [len(page) for page in walked] == [7, 7, 7, 7, 7, 7, 7, 1]
    assert [name for page in walked for name in page] == names[::-1]


def test_offset_counts_rows_not_pages(store: ThreadStore) -> None:
    names = many(store, 35)[::-1]
    found = store.search("U1", [], Page(limit=10, offset=20))
    assert (ids(found), found.more, found.total) == (names[20:30], True, 35)
    found = store.search("U1", [], Page(limit=10, offset=30))
    assert (ids(found), found.more, found.cursor) == (names[30:], False, None)
    found = store.search("U1", [], Page(limit=10, offset=40))
    assert (ids(found), found.more, found.total) == ([], False, 35)


def test_a_thread_touched_between_two_pages_moves_to_page_one_and_all_others_come_once(store: ThreadStore) -> None:
    names = many(store, 20)
    first = store.search("U1", [], Page(limit=10))
    store.change("U1", "T002", Change(metadata={"k": 1}))
    second = store.search("U1", [], Page(limit=20, cursor=first.cursor))
    assert ids(first) + ids(second) == [name for name in names[::-1] if name != "T002"]
    assert ids(store.search("U1", [], Page(limit=1))) == ["T002"]


def test_no_ids_match_none_and_thousands_of_ids_are_one_filter(store: ThreadStore) -> None:
    names = many(store, 5)
    assert all_ids(store, IdIn(frozenset())) == []
    assert store.count("U1", [IdIn(frozenset())]) == 0
    asked = frozenset([f"other-{number}" for number in range(5000)] + names[1:3])
    assert all_ids(store, IdIn(asked)) == ["T003", "T002"]
    assert all_ids(store, IdIn(asked), owner="U2") == []


@pytest.mark.parametrize(
    ("query", "hits"),
    [("0%", ["p"]), ("a_b", ["u"]), ("STRASSE", ["s"]), ("ß", ["s"]), ("É", ["e"]), ("'", ["q"]), ("", list("qesxup"))],
)
def test_a_title_is_found_by_a_literal_part_of_it_whatever_the_case(
    store: ThreadStore, query: str, hits: list[str]
) -> None:
    for name, title in [("p", "100%"), ("u", "a_b"), ("x", "axb 100x"), ("s", "Straße"), ("e", "café"), ("q", "don't")]:
        made(store, name)
        store.change("U1", name, Change(title=title))
    made(store, "untitled")
    assert [name for name in all_ids(store, *parse_title(query)) if name != "untitled"] == hits


def test_status_filters_follow_the_stored_status(store: ThreadStore) -> None:
    many(store, 4)
    store.change("U1", "T002", Change(status="busy", touch=False))
    store.change("U1", "T003", Change(status="error", error='{"message":"x"}', touch=False))
    assert all_ids(store, StatusIs("busy")) == ["T002"]
    assert all_ids(store, StatusIs("error")) == ["T003"]
    assert all_ids(store, StatusIs("idle")) == ["T004", "T001"]
    assert all_ids(store, StatusIs("interrupted")) == []


def test_values_filter_by_one_top_level_value_of_the_head(store: ThreadStore) -> None:
    many(store, 4)
    store.change("U1", "T001", Change(head="c1", values=head("c1", '{"n":1,"s":"x"}')))
    store.change("U1", "T002", Change(head="c2", values=head("c2", '{"n":1.0,"s":null}'), title="x"))
    store.change("U1", "T003", Change(head="c9", values=head("c3", '{"n":1}')))
    assert all_ids(store, *parse_values({"n": 1})) == ["T002", "T001"]
    assert all_ids(store, *parse_values({"n": 1, "s": "x"})) == ["T001"]
    assert all_ids(store, *parse_values({"s": None})) == ["T002"]
    assert all_ids(store, *parse_values({"title": "x"})) == ["T002"]
    assert all_ids(store, *parse_values({"title": None})) == ["T003", "T001"]
    assert all_ids(store, *parse_values({"title": 1})) == []


def test_totals_beyond_ten_thousand_are_capped_but_not_without_filters_or_by_archived(
    store: ThreadStore, db: Database
) -> None:
    with db.writing():
        for number in range(10_050):
            made(store, f"n{number}", {"deerflow_archived": number < 20, "k": 1})
    found = store.search("U1", parse_metadata({"k": 1}), Page(limit=2))
    assert (ids(found), found.total, found.capped, found.more) == (["n10049", "n10048"], 10_000, True, True)
    assert store.count("U1", parse_metadata({"k": 1})) == 10_050
    assert store.count("U1", [*parse_metadata({"k": 1}), archived_clause(False)]) == 10_030
    counted = [store.search("U1", clauses, Page(limit=1)) for clauses in ([], [archived_clause(False)])]
    assert [(found.total, found.capped) for found in counted] == [(10_050, False), (10_030, False)]
    found = store.search("U1", [*parse_metadata({"k": 1}), archived_clause(True)], Page(limit=1, offset=19))
    assert (ids(found), found.total, found.capped, found.more) == (["n0"], 20, False, False)
