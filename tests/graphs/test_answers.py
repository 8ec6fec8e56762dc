"""The offline model's rules and the tools they call."""

import re
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from deerflow_lite.graphs.embedded.answers import answer, tool_call
from deerflow_lite.graphs.embedded.model import OfflineModel
from deerflow_lite.graphs.embedded.tools import TOOLS, calculate, current_time, search_thread

NAMES = [tool.name for tool in TOOLS]
HIDDEN = HumanMessage("secret word", id="h", additional_kwargs={"hide_from_ui": True})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("what is 2*(3+4)?", ("calculate", {"expression": "2*(3+4)"})),
        ("Please calculate 7 % 4.", ("calculate", {"expression": "7 % 4"})),
        ("1/0", ("calculate", {"expression": "1/0"})),
        ("2**10 =", ("calculate", {"expression": "2**10"})),
        ("What time is it?", ("current_time", {})),
        ("what's the date today", ("current_time", {})),
        ("Which day is it in Asia/Tokyo?", ("current_time", {"zone": "Asia/Tokyo"})),
        ("search for apples", ("search_thread", {"query": "apples"})),
        ('find "red apples"!', ("search_thread", {"query": "red apples"})),
        ("look up pears", ("search_thread", {"query": "pears"})),
    ],
)
def test_a_question_a_tool_answers_becomes_its_call(text: str, wanted: Any) -> None:
    assert tool_call([HumanMessage(text)], NAMES) == wanted


@pytest.mark.parametrize(
    "text", ["hello", "2026-01-02", "42", "what is love?", "I do not find my keys", "find ?", "", "1+" * 200 + "1"]
)
def test_anything_else_is_answered_in_words(text: str) -> None:
    assert tool_call([HumanMessage(text)], NAMES) is None


def test_a_tool_that_is_not_bound_is_not_called() -> None:
    assert tool_call([HumanMessage("1+1")], ["search_thread"]) is None


def test_after_a_tools_result_no_tool_is_called_and_the_result_is_stated() -> None:
    messages = [HumanMessage("1+1"), AIMessage(""), ToolMessage("1+1 = 2", tool_call_id="a")]
    assert tool_call(messages, NAMES) is None
    assert answer(messages) == "This is what I found. 1+1 = 2"


def test_the_first_answer_says_what_it_is_and_what_it_understood() -> None:
    assert answer([SystemMessage("s"), HIDDEN, HumanMessage("hello \n there")]) == (
        "I am the offline demonstration model: no language model stands behind me, I follow a few fixed rules. "
        "You wrote: “hello there”. "
        "I can tell the time, calculate (`what is 2*(3+4)?`) and search this conversation (`find a word`)."
    )


def test_later_answers_count_the_users_messages() -> None:
    assert answer([HIDDEN, HumanMessage("one"), AIMessage("x"), HumanMessage("two")]) == (
        "Still the offline demonstration model here, without a language model. You wrote: “two”. "
        "That is message 2 of yours in this conversation."
    )


def test_a_message_without_text_and_a_long_one_are_answered_too() -> None:
    image = HumanMessage([{"type": "image_url", "image_url": {"url": "data:,"}}])
    assert "Your message has no text." in answer([image])
    assert f"“{'é' * 200}…”" in answer([HumanMessage("é" * 500)])
    assert "You have not written anything yet." in answer([])


def test_the_model_binds_tools_by_name_and_gives_every_answer_a_fresh_id() -> None:
    model = OfflineModel().bind_tools(TOOLS)
    messages = [HumanMessage("1+1")]
    first, second = model.invoke(messages), model.invoke(messages)
    assert [call["name"] for call in first.tool_calls] == ["calculate"]
    assert first.id != second.id
    assert OfflineModel().invoke(messages).tool_calls == []


def test_chunks_carry_the_id_of_the_whole_message() -> None:
    chunks = list(OfflineModel().stream([HumanMessage("hello")]))
    assert len(chunks) > 20
    assert len({chunk.id for chunk in chunks}) == 1
    assert "".join(chunk.text for chunk in chunks) == answer([HumanMessage("hello")])


def test_the_time_is_told_in_a_zone_and_a_bad_zone_is_explained() -> None:
    assert re.fullmatch(
        r"\w+day, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d Asia/Tokyo \(UTC\+0900\)", current_time.invoke({"zone": "Asia/Tokyo"})
    )
    assert re.fullmatch(r"\w+day, \d{4}-\d\d-\d\d .+ \(UTC[-+]\d{4}\)", current_time.invoke({}))
    for zone in ("Mars/Base", "../etc/passwd", "Europe", "a\0b", "é" * 300):
        wanted = f"There is no time zone named {zone!r}; an IANA name such as Europe/Berlin is needed."
        assert current_time.invoke({"zone": zone}) == wanted


def test_calculate_answers_with_the_value_or_the_reason() -> None:
    assert calculate.invoke({"expression": " 1+1 "}) == "1+1 = 2"
    assert calculate.invoke({"expression": "1/0"}) == "'1/0' cannot be calculated: division by zero."


def test_search_finds_earlier_visible_messages_only() -> None:
    messages: list[AnyMessage] = [
        HIDDEN,
        HumanMessage("The WORD is apple", id="1"),
        AIMessage("x" * 200 + " word " + "y" * 200, id="2"),
        ToolMessage("word", tool_call_id="t", id="3"),
        HumanMessage("find word", id="4"),
    ]
    found = search_thread.invoke({"query": "Word", "messages": messages})
    assert found.splitlines() == [
        "Messages that contain 'Word': 2",
        "user: The WORD is apple",
        f"assistant: …{'x' * 79} word {'y' * 75}…",
    ]
    for query in ("secret", "find", "", " "):
        none = f"No earlier message of this conversation contains {query!r}."
        assert search_thread.invoke({"query": query, "messages": messages}) == none
