"""Every refusal of the thread routes: its status, its field, and that nothing was written."""

import json
from typing import Any

import pytest
from flask.testing import FlaskClient

IDS = "must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -"
ODD_IDS = ["a.b", "a%20b", "a%0A", "%0A", "x" * 65, "%C3%A9", "a%00", "..%5C", "a:b", "%F0%9F%98%80"]
NOT_TEXT = [1, True, [], {}, 1.5]
NOT_OBJECT = ["x", 1, [], [1], True]
NOT_BOOLEAN = [0, 1, "true", "false", [], {}, 1.0]
DEEP: Any = {}
for _ in range(32):
    DEEP = {"d": DEEP}


def rows(client: FlaskClient) -> list[Any]:
    """Everything that is stored, as told."""
    found: list[Any] = client.post("/threads/search", json={}).json
    return found


def refused(client: FlaskClient, method: str, path: str, body: Any, field: str, status: int = 422) -> dict[str, Any]:
    before = rows(client)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = client.open(path, method=method, data=raw)
    assert (answer.status_code, answer.mimetype) == (status, "application/json"), answer.data
    assert field in answer.json["errors"], answer.json
    assert field in answer.json["detail"]
    assert rows(client) == before
    return answer.json["errors"]


@pytest.fixture
def kept(lasting: FlaskClient) -> FlaskClient:
    """Nothing here is to change it: what came to it otherwise fails the next test."""
    lasting.post("/threads", json={"thread_id": "kept", "title": "Kept", "metadata": {"a": 1}})
    [row] = rows(lasting)
    assert (row["thread_id"], row["title"], row["metadata"]) == ("kept", "Kept", {"a": 1})
    return lasting


CREATE = [
    *[
        ({"thread_id": value}, "thread_id")
        for value in [*NOT_TEXT, "", " ", "a b", "a\n", "é", "x" * 65, "../a", "a/b"]
    ],
    *[({"thread_id": value}, "thread_id") for value in ["new", "archived", "search", "count", "prune", "archive"]],
    *[({"metadata": value}, "metadata") for value in NOT_OBJECT],
    *[({"metadata": {"deerflow_archived": value}}, "metadata") for value in [*NOT_BOOLEAN, None]],
    *[({"metadata": {"deerflow_pinned": value}}, "metadata") for value in [*NOT_BOOLEAN, None]],
    ({"metadata": {"a": "x\0"}}, "metadata"),
    ({"metadata": {"k\0": 1}}, "metadata"),
    ({"metadata": DEEP}, "metadata"),
    *[({"if_exists": value}, "if_exists") for value in ["maybe", "", "RAISE", 1, []]],
    *[({"title": value}, "title") for value in [*NOT_TEXT, "", "  ", "a\nb", "a\0", "x" * 257, "\x7f"]],
    *[({"assistant_id": value}, "assistant_id") for value in [*NOT_TEXT, "", "no-such-graph"]],
    ({"ttl": {"ttl": 0}}, "ttl"),
    ({"supersteps": 5}, "supersteps"),
    ([], "body"),
    (b"{", "body"),
    (b'{"thread_id": "x", "thread_id": "y"}', "body"),
    (b'{"metadata": {"a": NaN}}', "body"),
    (b'{"metadata": {"a": 1e400}}', "body"),
    (b'{"metadata": {"a": 9223372036854775808}}', "body"),
    (b'{"metadata": {"a": "\\ud83d"}}', "body"),
    (b'{"title": "\\ud83d"}', "body"),
]


@pytest.mark.parametrize(("body", "field"), CREATE)
def test_a_create_with_bad_input_is_422_and_writes_nothing(kept: FlaskClient, body: Any, field: str) -> None:
    refused(kept, "POST", "/threads", body, field)


PATCH = [
    *[({"metadata": value}, "metadata") for value in NOT_OBJECT],
    *[({"metadata": {"b": 2, "deerflow_archived": value}}, "metadata") for value in [*NOT_BOOLEAN, None]],
    ({"metadata": {"b": 2, "deerflow_pinned": 1}, "title": "New"}, "metadata"),
    ({"metadata": {"a": "\0"}}, "metadata"),
    ({"metadata": DEEP}, "metadata"),
    *[({"title": value, "metadata": {"b": 2}}, "title") for value in [*NOT_TEXT, "", "   ", "x" * 257, "a\tb"]],
    ({"ttl": 5}, "ttl"),
    ({"tittle": "x"}, "tittle"),
    ({"title": "New", "archived": True}, "archived"),
    ([1], "body"),
]


@pytest.mark.parametrize(("body", "field"), PATCH)
def test_a_patch_with_bad_input_is_422_and_writes_nothing(kept: FlaskClient, body: Any, field: str) -> None:
    refused(kept, "PATCH", "/threads/kept", body, field)


FILTERS = [
    *[({"metadata": value}, "metadata") for value in NOT_OBJECT],
    *[({"metadata": {"k": value}}, "metadata") for value in [[], ["x"], {}, {"k": 1}]],
    *[({"metadata": {key: 1}}, "metadata") for key in ["", "a.b", "a'", '$."x"', "[0]", "a\n", "x" * 65, "é", "a\0"]],
    ({"metadata": {f"k{n}": n for n in range(101)}}, "metadata"),
    *[({"archived": value}, "archived") for value in NOT_BOOLEAN],
    *[({"status": value}, "status") for value in ["", "IDLE", "done", *NOT_TEXT]],
    *[({"ids": value}, "ids") for value in ["x", {}, 1]],
    ({"ids": ["ok", "not ok"]}, "ids.1"),
    ({"ids": [1]}, "ids.0"),
    ({"ids": [None]}, "ids.0"),
    *[({"query": value}, "query") for value in [*NOT_TEXT, "a\0"]],
    *[({"values": value}, "values") for value in NOT_OBJECT],
    ({"values": {"messages": []}}, "values"),
    ({"metadate": {}}, "metadate"),
    (b'{"metadata": {"a": 18446744073709551616}}', "body"),
]


@pytest.mark.parametrize("path", ["/threads/search", "/threads/count"])
@pytest.mark.parametrize(("body", "field"), FILTERS)
def test_a_bad_filter_is_422_in_search_and_count_alike(kept: FlaskClient, path: str, body: Any, field: str) -> None:
    refused(kept, "POST", path, body, field)


SEARCH = [
    *[({"limit": value}, "limit") for value in [0, 1001, -1, None, "10", 1.0, True]],
    *[({"offset": value}, "offset") for value in [-1, None, "1", 0.0, False]],
    *[({"sort_by": value}, "sort_by") for value in ["nope", "", "title", 1, "updated_at; DROP TABLE threads"]],
    *[({"sort_order": value}, "sort_order") for value in ["up", "", "DESC", 1]],
    *[({"select": value}, "select") for value in ["thread_id", {}, 1]],
    ({"select": ["thread_id", "nope"]}, "select.1"),
    *[({"cursor": value}, "cursor") for value in ["", "x", "!!", "e30", "WzEsMiwzXQ", "é", [], 1]],
    *[({"extract": {"x": value}}, "extract.x") for value in ["thread_id", "", "valuesx", "values.", "values[x]", 1,
      None, "values..a", "values[1", "metadata.a.", "values]", "title", "values" + ".a" * 200]],
    ({"extract": {f"k{n}": f"values.k{n}" for n in range(11)}}, "extract"),
    ({"extract": []}, "extract"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "field"), SEARCH)
def test_a_bad_search_is_422(kept: FlaskClient, body: Any, field: str) -> None:
    refused(kept, "POST", "/threads/search", body, field)


@pytest.mark.parametrize("name", ["limit", "offset", "select", "cursor", "extract", "sort_by"])
def test_a_count_takes_filters_only(kept: FlaskClient, name: str) -> None:
    refused(kept, "POST", "/threads/count", {name: 1}, name)


def test_every_bad_entry_of_every_filter_is_named_at_once(kept: FlaskClient) -> None:
    body = {"metadata": {"a b": 1, "ok": 2, "list": [1]}, "values": {"deep": {}}, "query": "\0"}
    errors = refused(kept, "POST", "/threads/search", body, "metadata")
    assert sorted(errors) == ["metadata", "query", "values"]
    assert len(errors["metadata"]) == 2
    assert '"a b"' in errors["metadata"][0] and '"list"' in errors["metadata"][1]
    assert sorted(refused(kept, "POST", "/threads/search", {"limit": 0, "zzz": 1, "archived": 1}, "zzz")) == [
        "archived", "limit", "zzz",
    ]  # fmt: skip


ARCHIVE = [
    ({}, "archived"),
    ({"archived": True}, "thread_ids"),
    ({"archived": True, "thread_ids": None}, "thread_ids"),
    ({"archived": True, "thread_ids": ["kept"], "older_than": "2026-01-01T00:00:00Z"}, "thread_ids"),
    ({"archived": True, "thread_ids": ["no id"]}, "thread_ids.0"),
    ({"archived": True, "thread_ids": "kept"}, "thread_ids"),
    *[({"archived": value, "thread_ids": ["kept"]}, "archived") for value in [*NOT_BOOLEAN, None]],
    *[({"archived": True, "thread_ids": ["kept"], "dry_run": value}, "dry_run") for value in NOT_BOOLEAN],
    *[({"archived": True, "older_than": value}, "older_than") for value in
      ["", "yesterday", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z", 5, [], "0001-01-01T00:00:00+14:00",
       "9999-12-31T23:59:59-14:00"]],
    ({"archived": True, "thread_ids": ["kept"], "dryrun": True}, "dryrun"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "field"), ARCHIVE)
def test_a_bad_bulk_archive_is_422_and_changes_nothing(kept: FlaskClient, body: Any, field: str) -> None:
    refused(kept, "POST", "/threads/archive", body, field)


@pytest.mark.parametrize("odd", ODD_IDS)
def test_an_id_that_no_thread_can_have_is_422_before_any_lookup(kept: FlaskClient, odd: str) -> None:
    for method, end in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/copy")):
        answer = kept.open(f"/threads/{odd}{end}", method=method)
        assert (answer.status_code, answer.json) == (
            422, {"detail": f"thread_id: {IDS}", "errors": {"thread_id": [IDS]}},
        )  # fmt: skip


@pytest.mark.parametrize("thread_id", ["none", "new", "search", "KEPT", "00000000-0000-0000-0000-000000000000"])
def test_an_unknown_thread_is_404_with_one_body_on_every_verb(kept: FlaskClient, thread_id: str) -> None:
    before = rows(kept)
    for method, end, body in (("GET", "", None), ("PATCH", "", {"title": "x"}), ("PATCH", "", {"title": None}),
                              ("PATCH", "", {}), ("DELETE", "", None), ("POST", "/copy", None)):  # fmt: skip
        answer = kept.open(f"/threads/{thread_id}{end}", method=method, json=body)
        assert (answer.status_code, answer.json) == (
            404, {"detail": f"thread_id: thread {thread_id} does not exist"},
        )  # fmt: skip
    assert rows(kept) == before


def test_the_body_is_checked_before_the_thread_is_looked_up(kept: FlaskClient) -> None:
    assert kept.patch("/threads/none", json={"title": ""}).status_code == 422


def test_a_bulk_archive_with_one_unknown_id_is_404_naming_it_and_changes_nothing(kept: FlaskClient) -> None:
    before = rows(kept)
    answer = kept.post("/threads/archive", json={"thread_ids": ["kept", "none"], "archived": True})
    assert (answer.status_code, answer.json) == (404, {"detail": "thread_id: thread none does not exist"})
    assert rows(kept) == before


@pytest.mark.parametrize("size", [64 * 1024, 5_000_000])
def test_metadata_over_its_limit_is_413_on_create_and_on_the_merged_result(kept: FlaskClient, size: int) -> None:
    refused(kept, "POST", "/threads", {"metadata": {"a": "x" * size}}, "metadata", 413)
    refused(kept, "PATCH", "/threads/kept", {"metadata": {"b": "x" * size}}, "metadata", 413)


def test_merged_metadata_counts_what_is_stored_already(both: FlaskClient) -> None:
    both.post("/threads", json={"thread_id": "kept"})
    half = "é" * 16_000
    assert both.patch("/threads/kept", json={"metadata": {"b": half}}).status_code == 200
    refused(both, "PATCH", "/threads/kept", {"metadata": {"c": half + "x" * 2000}}, "metadata", 413)
    assert both.patch("/threads/kept", json={"metadata": {"b": None, "c": half + "x" * 2000}}).status_code == 200


def test_an_id_that_exists_is_409_with_raise_and_given_unchanged_without(kept: FlaskClient) -> None:
    before = rows(kept)
    answer = kept.post("/threads", json={"thread_id": "kept", "if_exists": "raise", "metadata": {"b": 2}})
    assert (answer.status_code, answer.json) == (409, {"detail": "thread_id: thread kept already exists"})
    for if_exists in ("do_nothing", None):
        again = kept.post("/threads", json={"thread_id": "kept", "if_exists": if_exists, "title": "Other"})
        assert (again.status_code, again.json) == (200, before[0])
    assert rows(kept) == before


def test_unknown_fields_are_ignored_on_create(both: FlaskClient) -> None:
    assert both.post("/threads", json={"zzz": 1, "thread_id": "t"}).status_code == 200


def test_null_is_absent(both: FlaskClient) -> None:
    names = ("thread_id", "metadata", "if_exists", "assistant_id", "title", "ttl", "supersteps")
    made = both.post("/threads", json=dict.fromkeys(names))
    assert (made.status_code, made.json["metadata"], made.json["title"]) == (200, {}, None)
    names = ("metadata", "archived", "status", "ids", "query", "values")
    assert both.post("/threads/count", json=dict.fromkeys(names)).json == 1
    more = (*names, "cursor", "sort_by", "sort_order", "select", "extract")
    assert both.post("/threads/search", json=dict.fromkeys(more)).json == [made.json]
