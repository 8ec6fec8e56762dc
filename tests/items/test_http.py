"""Items over HTTP: what was put is found by name, prefix and filter, and only by its owner."""

from typing import Any

import pytest

from tests.service import Service

ITEMS = "/store/items"


def put(service: Service, namespace: str, key: str, status: int = 204, **value: Any) -> Any:
    return service.ask("PUT", ITEMS, {"namespace": namespace.split("."), "key": key, "value": value}, status)


def get(service: Service, namespace: str, key: str) -> Any:
    return service.ask("GET", f"{ITEMS}?namespace={namespace}&key={key}")


def found(service: Service, *prefix: str, **more: Any) -> list[str]:
    items = service.ask("POST", ITEMS + "/search", {"namespace_prefix": list(prefix)} | more)["items"]
    assert all(item["score"] is None for item in items)
    return [".".join(item["namespace"]) + ":" + item["key"] for item in items]


def namespaces(service: Service, **body: Any) -> list[str]:
    return [".".join(one) for one in service.ask("POST", "/store/namespaces", body)["namespaces"]]


@pytest.fixture
def filled(service: Service) -> Service:
    """Five items, put in this order."""
    put(service, "users.ada", "tea", kind="green", cups=1, hot=True)
    put(service, "users.ada", "cake", kind="plum", cups=2, tags=["a", "b"])
    put(service, "users.bob", "tea", kind="black", cups=3, place={"room": "kitchen"})
    put(service, "Users.ada", "tea", kind="white", none=None)
    put(service, "usersx", "tea", kind="green")
    return service


def test_an_item_is_given_as_it_was_put(service: Service) -> None:
    put(service, "a.b", "k", n=1, deep={"x": [None, True, 1.5, "é\u0000"]})
    item = get(service, "a.b", "k")
    assert item == {
        "namespace": ["a", "b"], "key": "k", "value": {"n": 1, "deep": {"x": [None, True, 1.5, "é\u0000"]}},
        "created_at": item["created_at"], "updated_at": item["created_at"],
    }  # fmt: skip
    assert len(item["created_at"]) == 32


def test_an_item_put_again_keeps_the_time_it_was_made(service: Service) -> None:
    put(service, "a", "k", n=1)
    first = get(service, "a", "k")
    put(service, "a", "k", m=2)
    second = get(service, "a", "k")
    assert (second["value"], second["created_at"]) == ({"m": 2}, first["created_at"])
    assert second["updated_at"] > first["updated_at"]


def test_an_item_that_is_not_there_is_null_and_is_deleted_all_the_same(service: Service) -> None:
    with service.call("GET", f"{ITEMS}?namespace=a&key=k") as answer:
        assert (answer.status_code, answer.get_data()) == (200, b"null")
    assert service.ask("DELETE", ITEMS, {"namespace": ["a"], "key": "k"}, 204) is None


def test_a_deleted_item_is_gone_and_its_neighbours_stay(filled: Service) -> None:
    filled.ask("DELETE", ITEMS, {"namespace": ["users", "ada"], "key": "tea"}, 204)
    assert get(filled, "users.ada", "tea") is None
    assert found(filled, "users") == ["users.bob:tea", "users.ada:cake"]


@pytest.mark.parametrize(
    ("prefix", "items"),
    [
        ((), ["usersx:tea", "Users.ada:tea", "users.bob:tea", "users.ada:cake", "users.ada:tea"]),
        (("users",), ["users.bob:tea", "users.ada:cake", "users.ada:tea"]),
        (("users", "ada"), ["users.ada:cake", "users.ada:tea"]),
        (("Users",), ["Users.ada:tea"]),
        (("user",), []),
        (("*",), []),
        (("users", "ada", "tea"), []),
    ],
)
def test_a_search_finds_what_stands_at_or_below_a_namespace(
    filled: Service, prefix: tuple[str, ...], items: list[str]
) -> None:
    assert found(filled, *prefix) == items


@pytest.mark.parametrize(
    ("filter", "items"),
    [
        ({"kind": "green"}, ["usersx:tea", "users.ada:tea"]),
        ({"kind": "green", "cups": 1}, ["users.ada:tea"]),
        ({"cups": {"$gt": 1}}, ["users.bob:tea", "users.ada:cake"]),
        ({"cups": {"$gte": 1, "$lt": 3}}, ["users.ada:cake", "users.ada:tea"]),
        ({"hot": True}, ["users.ada:tea"]),
        ({"tags": ["a", "b"]}, ["users.ada:cake"]),
        ({"tags": {"$eq": ["a", "b"]}}, ["users.ada:cake"]),
        ({"place.room": "kitchen"}, ["users.bob:tea"]),
        ({"kind": "GREEN"}, []),
    ],
)
def test_a_filter_is_of_values_and_of_comparisons(filled: Service, filter: dict[str, Any], items: list[str]) -> None:
    assert found(filled, filter=filter) == items


def test_a_search_is_paged(filled: Service) -> None:
    assert found(filled, "users", limit=2) == ["users.bob:tea", "users.ada:cake"]
    assert found(filled, "users", limit=2, offset=2) == ["users.ada:tea"]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({}, ["Users.ada", "users.ada", "users.bob", "usersx"]),
        ({"prefix": ["users"]}, ["users.ada", "users.bob"]),
        ({"suffix": ["ada"]}, ["Users.ada", "users.ada"]),
        ({"suffix": ["*", "ada"]}, ["Users.ada", "users.ada"]),
        ({"suffix": ["*", "usersx"]}, []),
        ({"suffix": ["default", "usersx"]}, []),
        ({"prefix": ["*", "bob"]}, ["users.bob"]),
        ({"prefix": ["users"], "suffix": ["bob"]}, ["users.bob"]),
        ({"max_depth": 1}, ["Users", "users", "usersx"]),
        ({"limit": 1, "offset": 1}, ["users.ada"]),
    ],
)
def test_namespaces_are_listed_by_prefix_suffix_and_depth(
    filled: Service, body: dict[str, Any], names: list[str]
) -> None:
    assert namespaces(filled, **body) == names


@pytest.mark.parametrize("other", ["ada", "default.users", "%2E", "def*", "default\n"])
def test_nobody_reaches_the_items_of_another_owner(filled: Service, other: str) -> None:
    items = filled.gateway.items
    before = found(filled)
    items.put(other, ["users"], "mine", {"n": 1}, None)
    assert items.get(other, ["users", "ada"], "tea") is None
    assert items.get(other, ["ada"], "tea") is None
    items.delete(other, ["users", "ada"], "tea")
    assert items.namespaces(other, None, None, None, 100, 0) == [["users"]]
    assert items.namespaces(other, ["*"], ["*"], 1, 100, 0) == [["users"]]
    assert found(filled) == before
    assert get(filled, "users", "mine") is None


def test_an_item_is_gone_when_its_time_is_over(service: Service) -> None:
    body = {"namespace": ["a"], "key": "k", "value": {}, "ttl": 10}
    service.ask("PUT", ITEMS, body, 204)
    put(service, "a", "other")
    assert found(service) == ["a:other", "a:k"]
    with service.gateway.db.writing() as connection:
        connection.execute("UPDATE store SET expires_at = '2020-01-01 00:00:00' WHERE key = 'k'")
    assert get(service, "a", "k") is None
    assert found(service) == ["a:other"]
    assert namespaces(service) == ["a"]
    service.ask("PUT", ITEMS, body, 204)
    put(service, "a", "k")
    assert service.rows("SELECT key, expires_at, ttl_minutes FROM store ORDER BY 1") == [
        ("k", None, None), ("other", None, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("PUT", ITEMS, {"namespace": ["a.b"], "key": "k", "value": {}}, "namespace.0"),
        ("PUT", ITEMS, {"namespace": [""], "key": "k", "value": {}}, "namespace.0"),
        ("PUT", ITEMS, {"namespace": ["a\0"], "key": "k", "value": {}}, "namespace.0"),
        ("PUT", ITEMS, {"namespace": [], "key": "k", "value": {}}, "namespace"),
        ("PUT", ITEMS, {"namespace": ["langgraph"], "key": "k", "value": {}}, "namespace"),
        ("PUT", ITEMS, {"namespace": ["a"], "key": "k", "value": 3}, "value"),
        ("PUT", ITEMS, {"namespace": ["a"], "key": "k"}, "value"),
        ("PUT", ITEMS, {"namespace": ["a"], "key": "", "value": {}}, "key"),
        ("PUT", ITEMS, {"namespace": ["a"], "key": "k", "value": {}, "ttl": 0}, "ttl"),
        ("PUT", ITEMS, {"namespace": ["a"], "key": "k", "value": {}, "ttl": 1e308}, "ttl"),
        ("PUT", ITEMS, {"namespace": ["a"], "key": "k", "value": {}, "ttl": True}, "ttl"),
        ("GET", ITEMS + "?namespace=a..b&key=k", None, "namespace"),
        ("GET", ITEMS + "?namespace=a", None, "key"),
        ("DELETE", ITEMS, {"namespace": ["a"]}, "key"),
        ("POST", ITEMS + "/search", {"filter": {"a..b": 1}}, "filter.a..b"),
        ("POST", ITEMS + "/search", {"filter": {"a'b": 1}}, "filter.a'b"),
        ("POST", ITEMS + "/search", {"filter": {"a": {"$near": 1}}}, "filter"),
        ("POST", ITEMS + "/search", {"limit": 1001}, "limit"),
        ("POST", ITEMS + "/search", {"offset": -1}, "offset"),
        ("POST", "/store/namespaces", {"max_depth": 0}, "max_depth"),
        ("POST", "/store/namespaces", {"prefix": ["a", ""]}, "prefix.1"),
    ],
)
def test_a_bad_request_names_the_field_and_writes_nothing(
    service: Service, method: str, path: str, body: Any, field: str
) -> None:
    assert list(service.ask(method, path, body, 422)["errors"]) == [field]
    assert service.counts()["store"] == 0
