"""Searching threads: filters, order, pages, what is selected and what is extracted; over both stores."""

import random
from typing import Any

import pytest
from flask.testing import FlaskClient

ODD_ARCHIVED = {"yes": True, "no": False, "absent": None}


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.data
    return [row["thread_id"] for row in answer.json]


def fill(client: FlaskClient, count: int, **more: Any) -> list[str]:
    """Make threads and give their ids in the default order."""
    for number in range(count):
        client.post("/threads", json={"thread_id": f"t{number:03}"} | more)
    return [f"t{number:03}" for number in reversed(range(count))]


def test_the_newest_come_first_and_pinned_ones_before_them(both: FlaskClient) -> None:
    order = fill(both, 5)
    assert ids(both.post("/threads/search")) == order
    both.patch("/threads/t001", json={"metadata": {"deerflow_pinned": True}})
    pinned = ["t001", "t004", "t003", "t002", "t000"]
    assert ids(both.post("/threads/search")) == pinned
    assert ids(both.post("/threads/search", json={"sort_by": "updated_at", "sort_order": "desc"})) == pinned
    assert ids(both.post("/threads/search", json={"sort_by": "updated_at"})) == pinned
    assert ids(both.post("/threads/search", json={"sort_order": "asc"})) == pinned
    assert ids(both.post("/threads/search", json={"sort_by": "updated_at", "sort_order": "asc"})) == order[::-1]
    assert ids(both.post("/threads/search", json={"sort_by": "thread_id"})) == order
    assert ids(both.post("/threads/search", json={"sort_by": "created_at", "sort_order": "asc"})) == order[::-1]


def test_filters_come_before_the_page_is_cut(both: FlaskClient) -> None:
    both.post("/threads", json={"thread_id": "wanted", "metadata": {"k": "v"}})
    fill(both, 30)
    answer = both.post("/threads/search", json={"metadata": {"k": "v"}, "limit": 5})
    assert (ids(answer), answer.headers["X-Pagination-Total"]) == (["wanted"], "1")
    assert "X-Pagination-Next" not in answer.headers
    assert "X-Next-Cursor" not in answer.headers


def test_offset_pages_tell_total_and_next(both: FlaskClient) -> None:
    order = fill(both, 35)
    page = both.post("/threads/search", json={"limit": 10, "offset": 20})
    assert ids(page) == order[20:30]
    assert (page.headers["X-Pagination-Total"], page.headers["X-Pagination-Next"]) == ("35", "30")
    last = both.post("/threads/search", json={"limit": 10, "offset": 30})
    assert (ids(last), last.headers["X-Pagination-Total"]) == (order[30:], "35")
    assert "X-Pagination-Next" not in last.headers
    beyond = both.post("/threads/search", json={"limit": 10, "offset": 2**63 - 1})
    assert (ids(beyond), beyond.headers["X-Pagination-Total"]) == ([], "35")


@pytest.mark.parametrize("limit", [1, 7, 35, 1000])
def test_a_walk_by_cursor_gives_every_row_once(both: FlaskClient, limit: int) -> None:
    order = fill(both, 35)
    both.patch("/threads/t003", json={"metadata": {"deerflow_pinned": True}})
    order = ["t003", *[name for name in order if name != "t003"]]
    seen: list[str] = []
    body: dict[str, Any] = {"limit": limit}
    while True:
        page = both.post("/threads/search", json=body)
        seen += ids(page)
        assert page.headers["X-Pagination-Total"] == "35"
        assert ("X-Pagination-Next" in page.headers) is ("cursor" not in body and len(seen) < 35)
        if "X-Next-Cursor" not in page.headers:
            break
        body["cursor"] = page.headers["X-Next-Cursor"]
    assert seen == order


def test_a_row_touched_between_pages_moves_and_no_other_is_lost(both: FlaskClient) -> None:
    order = fill(both, 12)
    first = both.post("/threads/search", json={"limit": 5})
    both.patch("/threads/t000", json={"title": "touched"})
    second = both.post("/threads/search", json={"limit": 50, "cursor": first.headers["X-Next-Cursor"]})
    assert ids(first) + ids(second) == order[:-1]


def test_a_cursor_goes_with_the_default_order_alone(both: FlaskClient) -> None:
    fill(both, 3)
    cursor = both.post("/threads/search", json={"limit": 1}).headers["X-Next-Cursor"]
    for more in ({"offset": 1}, {"sort_by": "thread_id"}, {"sort_by": "updated_at", "sort_order": "asc"}):
        refused = both.post("/threads/search", json={"cursor": cursor} | more)
        assert (refused.status_code, list(refused.json["errors"])) == (422, ["cursor"])
    assert ids(both.post("/threads/search", json={"cursor": cursor, "sort_by": "updated_at"})) == ["t001", "t000"]
    for bad in (cursor[:-1], cursor + "A", cursor + "=", cursor[::-1], cursor.lower()):
        assert both.post("/threads/search", json={"cursor": bad}).status_code == 422


@pytest.mark.parametrize("seed", range(3))
def test_count_is_always_a_full_walk_of_search(both: FlaskClient, seed: int) -> None:
    chance = random.Random(seed)
    values = [True, False, None, 1, 1.0, 2, "1", "true", "é", 2**53 + 1, 2**53]
    for number in range(40):
        metadata = {"k": chance.choice(values), "deerflow_archived": chance.choice([True, False])}
        body = {"title": chance.choice(["100%", "100x", "a_b", "axb", None, "STRASSE", "straße"])}
        both.post("/threads", json=body | {"thread_id": f"t{number}", "metadata": metadata})
    for body in (
        [{"metadata": {"k": value}} for value in values]
        + [{"query": text} for text in ("0%", "a_b", "strasse", "", "A")]
        + [{"archived": flag} for flag in (True, False, None)]
        + [{"ids": ["t1", "t2", "x"]}, {"ids": []}]
    ):
        found = both.post("/threads/search", json=body | {"limit": 1000})
        assert both.post("/threads/count", json=body).json == len(found.json)
        assert found.headers["X-Pagination-Total"] == str(len(found.json))


def test_metadata_filters_compare_json_type_and_value(both: FlaskClient) -> None:
    stored = {"true": True, "one": 1, "onef": 1.0, "text": "1", "null": None, "false": False, "zero": 0, "list": [1],
              "big": 2**53 + 1, "bigger": 2**53}  # fmt: skip
    for name, value in stored.items():
        both.post("/threads", json={"thread_id": name, "metadata": {"k": value}})
    both.post("/threads", json={"thread_id": "absent"})

    def found(value: Any) -> list[str]:
        return sorted(ids(both.post("/threads/search", json={"metadata": {"k": value}})))

    assert found(True) == ["true"]
    assert found(1) == found(1.0) == ["one", "onef"]
    assert found("1") == ["text"]
    assert found(None) == ["null"]
    assert found(False) == ["false"]
    assert found(0) == ["zero"]
    assert found(2**53 + 1) == ["big"]
    assert len(ids(both.post("/threads/search", json={"metadata": {}}))) == len(stored) + 1


def test_archived_true_and_false_part_the_threads(both: FlaskClient) -> None:
    for name, value in ODD_ARCHIVED.items():
        metadata = {} if value is None else {"deerflow_archived": value}
        both.post("/threads", json={"thread_id": name, "metadata": metadata})
    assert ids(both.post("/threads/search", json={"archived": True})) == ["yes"]
    assert ids(both.post("/threads/search", json={"archived": False})) == ["absent", "no"]
    assert len(ids(both.post("/threads/search", json={"archived": None}))) == 3


def test_select_gives_exactly_the_asked_keys(both: FlaskClient) -> None:
    both.post("/threads", json={"thread_id": "t", "title": "Name", "metadata": {"a": 1}})
    for select, expected in (
        (["thread_id"], {"thread_id": "t"}),
        (["values", "metadata"], {"values": {"title": "Name"}, "metadata": {"a": 1}}),
        (["status", "status"], {"status": "idle"}),
        ([], {}),
    ):
        assert both.post("/threads/search", json={"select": select}).json == [expected]
    assert len(both.post("/threads/search").json[0]) == 12


def test_extract_follows_paths_and_gives_null_for_what_is_not_there(both: FlaskClient) -> None:
    both.post("/threads", json={"thread_id": "t", "title": "Name", "metadata": {"l": [{"x": 1}, 2], "k-1": {"é": 3}}})
    extract = {
        "first": "metadata.l[0].x", "last": "metadata.l[-1]", "far": "metadata.l[9]", "title": "values.title",
        "deep": "metadata.k-1.é", "all": "metadata", "none": "values.zzz[0].b", "wrong": "metadata.l.x", "c": "config",
        "i": "interrupts",
    }  # fmt: skip
    row = both.post("/threads/search", json={"select": ["thread_id"], "extract": extract}).json[0]
    assert row == {
        "thread_id": "t",
        "extracted": {
            "first": 1, "last": 2, "far": None, "title": "Name", "deep": 3, "none": None, "wrong": None, "i": {},
            "all": {"l": [{"x": 1}, 2], "k-1": {"é": 3}}, "c": {"configurable": {}},
        },
    }  # fmt: skip


def test_many_ids_are_one_filter(both: FlaskClient) -> None:
    fill(both, 3)
    many = [f"x{number}" for number in range(50_000)] + ["t001"]
    assert ids(both.post("/threads/search", json={"ids": many})) == ["t001"]


def test_a_hundred_equalities_are_one_filter(both: FlaskClient) -> None:
    metadata = {f"k{number}": number for number in range(100)}
    both.post("/threads", json={"thread_id": "t", "metadata": metadata})
    assert ids(both.post("/threads/search", json={"metadata": metadata})) == ["t"]
    values = {f"k{number}": number for number in range(99)} | {"title": None}
    assert ids(both.post("/threads/search", json={"metadata": metadata, "values": values, "query": "x"})) == []
