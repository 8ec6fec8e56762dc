"""Items that another program has written so that nobody can read them: said by their name, left out of every search."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.items.test_http import ITEMS, found, get, put
from tests.service import Service

COLUMNS = ("prefix", "key", "value", "created_at", "updated_at", "expires_at", "ttl_minutes")
JUNK = (
    "NULL", "5", "''", "'[]'", "'{\"kind\": NaN}'", "'{\"kind\":'", "x'ff00'", "CAST(x'00eda0bd' AS TEXT)",
)  # fmt: skip
UNREADABLE = [("value", junk) for junk in JUNK[1:]] + [(column, "'soon'") for column in ("created_at", "updated_at")]
Plant = Callable[[str, str], bool]


@pytest.fixture
def plant(service: Service) -> Iterator[Plant]:
    """Put an item and spoil a column of it; False where the file itself refuses it. Another stands beside it."""
    put(service, "a", "beside", kind="green")
    with closing(sqlite3.connect(service.gateway.config.database, isolation_level=None)) as file:

        def planted(column: str, value: str) -> bool:
            file.execute("DELETE FROM store WHERE prefix NOT LIKE '%.a' OR key <> 'beside'")
            put(service, "a", "spoilt", kind="green")
            try:
                return file.execute(f"UPDATE store SET {column} = {value} WHERE key = 'spoilt'").rowcount == 1
            except sqlite3.IntegrityError:
                return False

        yield planted


@pytest.mark.parametrize("column", COLUMNS)
def test_whatever_stands_in_a_column_the_items_beside_it_are_found(service: Service, plant: Plant, column: str) -> None:
    for value in JUNK:
        if not plant(column, value):
            continue
        for look in ({}, {"filter": {"kind": "green"}}, {"filter": {"kind": {"$gt": "a"}}}, {"query": "x"}):
            assert "a:beside" in found(service, "a", **look), value
            assert "a:beside" in found(service, **look), value
        assert get(service, "a", "beside")["value"] == {"kind": "green"}
        named: Any = service.call("GET", f"{ITEMS}?namespace=a&key=spoilt")
        assert named.status_code in (200, 409), (value, named.get_data())
        assert ["a"] in service.ask("POST", "/store/namespaces", {})["namespaces"]


@pytest.mark.parametrize(("column", "value"), UNREADABLE)
def test_an_item_that_cannot_be_read_is_said_by_its_name_and_can_be_put_anew(
    service: Service, plant: Plant, column: str, value: str
) -> None:
    assert plant(column, value)
    assert found(service, "a", limit=1) == found(service, "a", filter={"kind": "green"}) == ["a:beside"]
    refused = service.ask("GET", f"{ITEMS}?namespace=a&key=spoilt", status=409)
    assert refused == {"detail": "key: item spoilt is stored and cannot be read; put it anew or delete it"}
    put(service, "a", "spoilt", kind="black")
    assert get(service, "a", "spoilt")["value"] == {"kind": "black"}
    assert found(service, "a") == ["a:spoilt", "a:beside"]
