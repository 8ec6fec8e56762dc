"""Any value a graph may hold becomes JSON: nothing is refused."""

import datetime
import decimal
import enum
import uuid
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage, ToolMessage
from langgraph.types import Interrupt
from pydantic import BaseModel

from deerflow_lite.checkpoints.wire import to_json


class Mood(enum.Enum):
    CALM = "calm"


class Level(enum.IntEnum):
    HIGH = 3


class Text(str):
    """A text of a class of its own."""


class Number(int):
    """A number of a class of its own."""


class Words(list):  # type: ignore[type-arg]
    """A list of a class of its own."""


@dataclass
class Place:
    name: str
    near: "list[Place]" = field(default_factory=list)


class Model(BaseModel):
    place: Any
    mood: Mood = Mood.CALM


class Opaque:
    def __str__(self) -> str:
        return "opaque"


Pair = namedtuple("Pair", "left right")
HUMAN = b'{"content":"a","additional_kwargs":{},"response_metadata":{},"type":"human","name":null,"id":"h"}'


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, b"null"), (True, b"true"), (1, b"1"), (1.5, b"1.5"), ("a", b'"a"'), ({}, b"{}"), ([], b"[]"),
        (float("nan"), b"null"), (float("inf"), b"null"), ([float("-inf"), 1], b"[null,1]"),
        (2**63, b"9223372036854775808"), (2**64, b'"18446744073709551616"'), (-(2**63) - 1, b'"-9223372036854775809"'),
        ("\ud83d", b'"?"'), ({"\ud83d": "a\ud83d"}, b'{"?":"a?"}'), ("a\x00b", b'"a\\u0000b"'),
        ("\u2028é", '"\u2028é"'.encode()),
        (b"ab\xff", '"ab\ufffd"'.encode()), (bytearray(b"a"), b'"a"'), (memoryview(b"a"), b'"a"'),
        ((1, 2), b"[1,2]"), ({3}, b"[3]"), (frozenset([3]), b"[3]"), (deque([1]), b'"deque([1])"'),
        (range(2), b'"range(0, 2)"'),
        ({1: "a", None: "b", 2: "c", 1.5: "d"}, None), (Pair(1, 2), b'{"left":1,"right":2}'),
        (OrderedDict(a=1), b'{"a":1}'), (defaultdict(list, a=[1]), b'{"a":[1]}'),
        (Mood.CALM, b'"calm"'), (Level.HIGH, b"3"), (Text("x"), b'"x"'), (Number(7), b"7"),
        (Number(2**60 + 1), b"1152921504606846977"), (Words([1]), b"[1]"),
        (Place("a", [Place("b")]), b'{"name":"a","near":[{"name":"b","near":[]}]}'),
        (Model(place=Place("a")), b'{"place":{"name":"a","near":[]},"mood":"calm"}'),
        (uuid.UUID(int=5), b'"00000000-0000-0000-0000-000000000005"'), (datetime.date(2026, 1, 2), b'"2026-01-02"'),
        (datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), b'"2026-01-02T00:00:00+00:00"'),
        (datetime.timedelta(seconds=90), b'"0:01:30"'), (decimal.Decimal("1.10"), b'"1.10"'), (Path("a/b"), b'"a/b"'),
        (1 + 2j, b'"(1+2j)"'), (ValueError("boom"), b'"ValueError(\'boom\')"'), (Opaque(), b'"opaque"'),
        (HumanMessage("a", id="h"), HUMAN), ({"m": [HumanMessage("a", id="h")]}, b'{"m":[' + HUMAN + b"]}"),
        (Mood, None), (Model, None), (len, None),
    ],
)  # fmt: skip
def test_an_odd_value_has_exactly_this_form(value: Any, expected: bytes | None) -> None:
    given_ = to_json(value)
    orjson.loads(given_)
    if expected is not None:
        assert given_ == expected


def test_messages_have_langgraphs_fields() -> None:
    answer = orjson.loads(to_json(AIMessage("a", id="x", tool_calls=[{"name": "t", "args": {"n": 1}, "id": "c"}])))
    assert answer == {
        "content": "a", "additional_kwargs": {}, "response_metadata": {}, "type": "ai", "name": None, "id": "x",
        "tool_calls": [{"name": "t", "args": {"n": 1}, "id": "c", "type": "tool_call"}], "invalid_tool_calls": [],
        "usage_metadata": None,
    }  # fmt: skip
    assert orjson.loads(to_json(AIMessageChunk("a")))["type"] == "AIMessageChunk"
    tool = orjson.loads(to_json(ToolMessage("r", tool_call_id="c", artifact={"big": [Opaque()]})))
    assert (tool["tool_call_id"], tool["status"], tool["type"]) == ("c", "success", "tool")
    assert orjson.loads(to_json(RemoveMessage(id="x")))["type"] == "remove"
    assert orjson.loads(to_json(Document("text", metadata={"k": 1})))["page_content"] == "text"
    asked = orjson.loads(to_json(Interrupt(value={"q": 1}, id="i")))
    assert (asked["value"], asked["id"]) == ({"q": 1}, "i")


def test_a_message_with_what_json_has_no_form_for_is_still_a_message() -> None:
    shown = orjson.loads(
        to_json([HumanMessage("a\ud83d", id="h", additional_kwargs={"big": 2**70, "nan": float("nan")})])
    )
    assert (shown[0]["content"], shown[0]["id"], shown[0]["type"]) == ("a?", "h", "human")
    assert shown[0]["additional_kwargs"] == {"big": str(2**70), "nan": None}


def test_depth_and_cycles_are_no_error() -> None:
    deep: Any = "end"
    for _ in range(2000):
        deep = [deep]
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    listed: list[Any] = []
    listed.append(listed)
    for value in (deep, {"d": deep}, cycle, listed, Model(place=cycle), Place("a", listed)):
        orjson.loads(to_json(value))


def test_keys_that_are_no_texts_become_texts() -> None:
    shown = orjson.loads(
        to_json({(1, 2): "tuple", Mood.CALM: "enum", uuid.UUID(int=1): "uuid", b"k": "bytes", None: "none"})
    )
    assert sorted(shown.values()) == ["bytes", "enum", "none", "tuple", "uuid"]


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(st.characters())
        | st.binary()
        | st.datetimes(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text(st.characters()) | st.integers(), inner) | st.tuples(inner, inner)
        ),
        max_leaves=20,
    )
)
def test_nothing_is_refused(value: Any) -> None:
    orjson.loads(to_json(value))
