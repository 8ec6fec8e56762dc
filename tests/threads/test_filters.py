"""A filter read as SQL and the same filter called as a predicate: they agree, and bad ones are refused by name."""

import json
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from deerflow_lite.db import Database
from deerflow_lite.errors import Invalid
from deerflow_lite.threads import listing
from deerflow_lite.threads.filters import (
    Clause,
    MetadataIs,
    TitleHas,
    ValueIs,
    parse_metadata,
    parse_title,
    parse_values,
)
from deerflow_lite.threads.flags import ArchivedIs
from deerflow_lite.threads.model import Change, Thread
from deerflow_lite.threads.sqlite import SqliteThreads
from deerflow_lite.threads.store import ThreadStore
from tests.threads.given import EVERYTHING, all_ids, head, made

SEED = random.SystemRandom().randrange(2**32)
ODD: list[Any] = [
    None, True, False, 0, 1, -1, 1.0, 0.0, -0.0, 2**53, 2**53 + 1, float(2**53), 2**63 - 1, -(2**63), float(2**63),
    1.5, 0.1, 0.1 + 0.2, 1e300, 5e-324, 1e-7, 1.7976931348623157e308, "", "1", "1.0", "true", "null", "a", "A", "%",
    "_", "a%", "é", "e\u0301", "ß", "SS", "日本", "😀", "'", '"', "\\", "a\nb", " a", "x" * 200, "x" * 201, "x" * 202,
    [], {}, [1], {"k": 1}, "[]", "{}", "\u2028", "\x01",
]  # fmt: skip
KEYS = ["k", "K", "a-b", "a_b", "0", "missing"]
LEGACY_TEXTS = [
    '{"k": 1e5}', '{"k":1.50}', '{"k":12345678901234567890}', '{"k":-99999999999999999999}', '{"k":1,"k":2}',
    '{ "k" : "1" }', '{"k":1E5,"a-b":true}', '{"k":-0}', '{"k":100000.0}', '{"k":null,"k":1}',
    '{"k":' + "9" * 400 + "}",
]  # fmt: skip
LEGACY_VALUES = [100000, 1e5, 1.5, 12345678901234567168.0, -1e20, 1, 2, "1", None, 0, 5e-324]


def odd_value(rnd: random.Random) -> Any:
    if rnd.random() < 0.6:
        return rnd.choice(ODD)
    number = rnd.choice(
        [rnd.randrange(-(2**63), 2**63), rnd.uniform(-1e6, 1e6), rnd.random() * 10 ** rnd.randrange(-300, 300)]
    )
    return math.nextafter(number, math.inf) if rnd.random() < 0.3 else number


@pytest.fixture
def rows(sql: SqliteThreads, db: Database) -> list[Thread]:
    """300 threads whose metadata and values are odd, a few of them written by another program."""
    print(f"seed {SEED}")
    rnd = random.Random(SEED)
    with db.writing() as connection:
        for number in range(300):
            name = f"t{number}"
            given = {key: odd_value(rnd) for key in KEYS[:-1] if rnd.random() < 0.8}
            made(sql, name, given)
            if number % 2:
                body = json.dumps({key: odd_value(rnd) for key in KEYS[:-1]}, ensure_ascii=False)
                sql.change("U1", name, Change(head="c1", values=head("c1", body)))
            if isinstance(given.get("k"), str) and given["k"].strip().isprintable() and given["k"].strip():
                sql.change("U1", name, Change(title=given["k"]))
        for number, text in enumerate(LEGACY_TEXTS):
            made(sql, f"legacy{number}")
            connection.execute("UPDATE threads SET metadata = ? WHERE thread_id = ?", (text, f"legacy{number}"))
    return [sql.get("U1", f"t{number}") for number in range(300)] + [
        sql.get("U1", f"legacy{number}") for number in range(len(LEGACY_TEXTS))
    ]


def asked(rnd: random.Random, rows: list[Thread]) -> Iterator[Clause]:
    for value in [*LEGACY_VALUES, *(value for value in ODD if not isinstance(value, (list, dict)))]:
        yield MetadataIs("k", value)
    stored = [json.loads(thread.metadata).get("k") for thread in rows[:300]]
    for _ in range(60):
        value = rnd.choice([odd_value(rnd), rnd.choice(stored)])
        if not isinstance(value, (list, dict)):
            yield rnd.choice([MetadataIs, ValueIs])(rnd.choice(KEYS), value)
            yield TitleHas(str(value)[:3].casefold())
    yield from (ArchivedIs(True), ArchivedIs(False), ValueIs("title", "a"), ValueIs("title", None))


@pytest.mark.parametrize("narrow_rows", [listing.NARROW_ROWS, -1], ids=["narrowed", "probed"])
def test_sql_and_predicate_agree_on_odd_values(
    rows: list[Thread], sql: SqliteThreads, db: Database, monkeypatch: pytest.MonkeyPatch, narrow_rows: int
) -> None:
    monkeypatch.setattr(listing, "NARROW_ROWS", narrow_rows)
    rnd = random.Random(SEED + 1)
    values = sql.values(rows)
    compared = 0
    for clause in asked(rnd, rows):
        text, params = clause.sql()
        found = {row for (row,) in db.writer.execute(f"SELECT id FROM threads WHERE {text}", params)}
        wanted = {thread.row for thread in rows if clause.matches(thread, values.get(thread.row))}
        assert found == wanted, (SEED, clause)
        for more in ([], [ArchivedIs(False)], [MetadataIs("K", "x" * 201)]):
            both = {thread.row for thread in rows if thread.row in wanted and all(c.matches(thread) for c in more)}
            walked = sql.search("U1", [clause, *more], EVERYTHING)
            assert {thread.row for thread in walked.threads} == both, (SEED, clause, more)
            assert sql.count("U1", [clause, *more]) == walked.total == len(both), (SEED, clause, more)
        compared += len(rows)
    assert compared >= 20_000


def test_a_filter_matches_json_type_and_value(store: ThreadStore) -> None:
    for name, value in [("t", True), ("i", 1), ("r", 1.0), ("n", None), ("s", "1"), ("b", 2**53 + 1), ("f", False)]:
        made(store, name, {"k": value})
    made(store, "absent")
    hits = {
        value: all_ids(store, *parse_metadata({"k": parsed}))
        for value, parsed in [("true", True), ("1", 1), ("1.0", 1.0), ("null", None), ("text", "1"), ("false", False)]
    }
    assert hits == {"true": ["t"], "1": ["r", "i"], "1.0": ["r", "i"], "null": ["n"], "text": ["s"], "false": ["f"]}
    assert all_ids(store, *parse_metadata({"k": 2**53})) == []
    assert all_ids(store, *parse_metadata({"k": 2**53 + 1})) == ["b"]


def test_filters_are_anded_and_an_empty_one_is_no_filter(store: ThreadStore) -> None:
    made(store, "both", {"a": 1, "b": 2})
    made(store, "one", {"a": 1})
    assert all_ids(store, *parse_metadata({"a": 1, "b": 2})) == ["both"]
    assert all_ids(store, *parse_metadata({"a": 1, "b": 3})) == []
    assert all_ids(store, *parse_metadata({})) == ["one", "both"]


def test_percent_underscore_and_case_are_literal(store: ThreadStore) -> None:
    for name, value in [("p", "a%"), ("u", "a_"), ("x", "ab"), ("c", "AB")]:
        made(store, name, {"k": value})
    assert [all_ids(store, *parse_metadata({"k": value})) for value in ("a%", "a_", "ab", "AB", "%")] == [
        ["p"], ["u"], ["x"], ["c"], [],
    ]  # fmt: skip


def test_every_bad_entry_is_named_and_no_good_one(store: ThreadStore) -> None:
    bad: dict[str, Any] = {
        "a' OR 1=1 --": 1, 'a"]': 1, "$.x": 1, "a.b": 1, "[0]": 1, "": 1, "k" * 65: 1, "k\n": 1, "é": 1,
        "list": [1], "object": {}, "nan": math.nan, "inf": -math.inf, "big": 2**63, "small": -(2**63) - 1,
        "nul": "a\x00b", "half": "\ud83d", "good": 1,
    }  # fmt: skip
    for parse, field in ((parse_metadata, "metadata"), (parse_values, "values")):
        with pytest.raises(Invalid) as refused:
            parse(bad)
        assert list(refused.value.errors) == [field]
        for reason, key in zip(refused.value.errors[field], list(bad)[:-1], strict=True):
            assert reason.startswith(json.dumps(key) + " "), reason
        refused.value.detail.encode()


def test_a_title_query_that_no_title_can_hold_is_refused() -> None:
    assert parse_title("") == []
    for query in ("\ud83d", "a\x00"):
        with pytest.raises(Invalid, match="^query: must not hold"):
            parse_title(query)


def test_keys_and_values_are_bound_and_never_written_into_sql(db: Database, sql: SqliteThreads) -> None:
    made(sql, "T1", {"k": "v"})
    for clause in (
        MetadataIs("a' OR 1=1 --", "x' OR 1=1 --"),
        ValueIs("title", "x' OR 1=1 --"),
        TitleHas("' OR 1=1 --"),
    ):
        text, params = clause.sql()
        assert "1=1" not in text
        assert db.writer.execute(f"SELECT count(*) FROM threads WHERE {text}", params).fetchone() == (0,)
