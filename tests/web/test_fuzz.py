"""Whatever is sent to the thread routes, the service never fails: it answers, or it names what is wrong."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SETTINGS = settings(
    max_examples=300, derandomize=True, deadline=None, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), TEXT,
    st.sampled_from(["t1", "idle", "asc", "updated_at", "metadata.k", "values.title", "100%", "\0", ""]),
)  # fmt: skip
KEYS = st.one_of(
    TEXT, st.sampled_from(["k", "deerflow_archived", "deerflow_pinned", "title", "messages", "a.b", "$", '"'])
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
SEARCH_FIELDS = (
    "metadata", "archived", "status", "ids", "query", "limit", "offset", "cursor", "sort_by", "sort_order", "select",
    "values", "extract", "odd",
)  # fmt: skip
LIKELY = {
    "limit": st.integers(-1, 1001), "offset": st.integers(-1, 2**63 - 1), "archived": st.booleans() | st.none(),
    "metadata": st.dictionaries(KEYS, SCALARS, max_size=3), "values": st.dictionaries(KEYS, SCALARS, max_size=3),
    "ids": st.lists(st.sampled_from(["t1", "t2", "x", "é"]), max_size=3), "query": TEXT,
    "title": TEXT | st.none(),
    "select": st.lists(st.sampled_from(["thread_id", "values", "metadata", "no"]), max_size=3),
}  # fmt: skip


def bodies(names: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={name: LIKELY.get(name, JSON) | JSON for name in names})


@pytest.fixture
def filled(both: FlaskClient) -> FlaskClient:
    both.post("/threads", json={"thread_id": "t1", "title": "100%", "metadata": {"k": 1}})
    both.post("/threads", json={"thread_id": "t2", "metadata": {"k": None, "deerflow_archived": True}})
    return both


def check(answer: Any) -> None:
    assert answer.status_code in (200, 413, 422), (answer.status_code, answer.data)
    if answer.status_code != 200:
        assert answer.json["errors"], answer.json
        for field in answer.json["errors"]:
            assert field and field in answer.json["detail"]


@SETTINGS
@given(body=bodies(SEARCH_FIELDS))
def test_no_search_fails(filled: FlaskClient, body: dict[str, Any]) -> None:
    check(filled.post("/threads/search", json=body))


@SETTINGS
@given(body=bodies(("metadata", "title", "ttl", "odd")))
def test_no_patch_fails_and_a_refused_one_writes_nothing(filled: FlaskClient, body: dict[str, Any]) -> None:
    before = filled.get("/threads/t1").json
    answer = filled.patch("/threads/t1", json=body)
    check(answer)
    assert filled.get("/threads/t1").json == (answer.json if answer.status_code == 200 else before)


@SETTINGS
@given(body=bodies(("thread_id", "metadata", "if_exists", "assistant_id", "title", "ttl", "supersteps")))
def test_no_create_fails(filled: FlaskClient, body: dict[str, Any]) -> None:
    check(filled.post("/threads", json=body))


@SETTINGS
@given(raw=st.binary(max_size=40) | st.text(alphabet='{}[]":,01e+-.\\ud8truefalsn ', max_size=30).map(str.encode))
def test_no_body_fails(filled: FlaskClient, raw: bytes) -> None:
    check(filled.post("/threads/count", data=raw))
