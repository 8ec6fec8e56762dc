"""Whatever stands in a message or in metadata is refused by name, or kept exactly and shown everywhere."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.service import Service

SETTINGS = settings(
    max_examples=30, derandomize=True, deadline=None, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
ODD = st.sampled_from(
    ["\0", "a\0b", "\u202eabc", "\ufeff", "\u2028", "é\u0301", "😀" * 40, "<script>alert(1)</script>", "' OR 1=1 --",
     "%s%n", "{{7*7}}", "\x1b[31m", " ", "\t\n", "NaN", "x" * 5000]
)  # fmt: skip
TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20) | ODD
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6,
)  # fmt: skip
CONTENT = TEXT | st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": TEXT})
    | st.fixed_dictionaries({"type": st.just("image_url"), "image_url": st.fixed_dictionaries({"url": TEXT})}),
    min_size=1, max_size=3,
)  # fmt: skip
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
BESIDE = st.fixed_dictionaries({}, optional={"additional_kwargs": OBJECT, "name": TEXT})
STAMPS = {"graph_id", "assistant_id", "created_by"}
NOT_JSON = (
    r'"\ud83d"', r'"\ude00\ud83d"', "NaN", "-Infinity", "1e999", "123456789012345678901234567890", '{"a": 1, "a": 2}',
    "[" * 300 + "]" * 300, "\x00", '"\x01"',
)  # fmt: skip


def shown(service: Service, thread: str) -> None:
    """Read the thread in every way."""
    for rest in ("", "/state", "/history", "/tree", "/turns", "/messages/page", "/runs"):
        assert service.get(thread, rest) is not None
    assert [row["thread_id"] for row in service.ask("POST", "/threads/search", {"ids": [thread]})] == [thread]


@SETTINGS
@given(content=CONTENT, beside=BESIDE)
@example(content="\0", beside={})
@example(content="a", beside={"additional_kwargs": {"hide_from_ui": 1, "id": None, "": {"": []}}})
def test_a_message_is_kept_exactly_or_refused(service: Service, content: Any, beside: dict[str, Any]) -> None:
    thread = service.thread()
    message = {"type": "human", "content": content, "id": "h", **beside}
    body = {"assistant_id": "noop", "input": {"messages": [message]}}
    with service.call("POST", f"/threads/{thread}/runs/wait", body) as answer:
        data = answer.get_data()
    assert answer.status_code in (200, 400, 422), (answer.status_code, data)
    if answer.status_code == 200:
        [kept] = json.loads(data)["messages"]
        assert (kept["content"], kept["additional_kwargs"]) == (content, beside.get("additional_kwargs", {}))
        assert service.state(thread)["values"]["messages"] == [kept]
    else:
        assert json.loads(data)["detail"]
    shown(service, thread)


@SETTINGS
@given(metadata=OBJECT, title=TEXT)
def test_the_metadata_of_a_thread_and_of_a_run_are_kept_exactly_or_refused(
    service: Service, metadata: dict[str, Any], title: str
) -> None:
    thread = service.thread()
    run = {"assistant_id": "noop", "input": {"messages": []}, "metadata": metadata}
    for method, path, body in (
        ("PATCH", f"/threads/{thread}", {"metadata": metadata}),
        ("PATCH", f"/threads/{thread}", {"title": title}),
        ("POST", f"/threads/{thread}/runs/wait", run),
    ):
        with service.call(method, path, body) as answer:
            data = answer.get_data()
        assert answer.status_code in (200, 413, 422), (path, answer.status_code, data)
        if answer.status_code == 200 and path.endswith("/wait"):
            kept = service.get(thread, "/runs")[0]["metadata"]
            assert kept == metadata | {name: kept[name] for name in STAMPS}
        elif answer.status_code == 200 and "metadata" in body:
            assert service.get(thread)["metadata"] == metadata
    shown(service, thread)


@pytest.mark.parametrize("raw", NOT_JSON)
@pytest.mark.parametrize("place", ["content", "metadata", "values", "configurable"])
def test_what_json_leaves_open_is_refused_wherever_it_stands(service: Service, place: str, raw: str) -> None:
    thread = service.thread()
    run = '{"assistant_id": "noop", '
    bodies = {
        "content": ("/runs/wait", run + '"input": {"messages": [{"type": "human", "content": %s}]}}'),
        "metadata": ("/runs/wait", run + '"input": {"messages": []}, "metadata": {"a": %s}}'),
        "values": ("/state", '{"values": {"messages": [{"type": "human", "content": "a", "name": %s}]}}'),
        "configurable": ("/runs/wait", run + '"input": {}, "config": {"configurable": {"a": %s}}}'),
    }
    path, text = bodies[place]
    before = service.counts()
    with service.client.post(f"/threads/{thread}{path}", data=(text % raw).encode()) as answer:
        assert (answer.status_code, list(answer.json["errors"])) == (422, ["body"]), answer.get_data()
    assert service.counts() == before
    shown(service, thread)
