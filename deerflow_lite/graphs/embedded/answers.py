"""What the offline model answers: simple rules over the conversation, the same for the same messages.

It is no language model and says so; a question it has a tool for becomes a call of that tool.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from deerflow_lite.graphs.embedded.graphemes import cut

QUOTED = 200
ASKED = 300
_CLOCK = re.compile(r"\b(what|which|current|today'?s|tell me the)\b.{0,30}\b(time|date|day)\b", re.I)
_ZONE = re.compile(r"\b(?:[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z_+-]+){1,2}|UTC)\b")
_SEARCH = re.compile(r"(?:please\s+)?(?:search|find|look)(?:\s+(?:for|up))?\s+(.+)", re.I | re.S)
_QUESTION = re.compile(r"^(?:please\s+)?(?:(?:what(?:'s|\s+is)|calculate|compute|how\s+much\s+is)\s+)?", re.I)
_ARITHMETIC = re.compile(r"[-+*/%().\d\s]*\d\s*\)*\s*[-+*/%][-+*/%().\d\s]*\d[\s).]*")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")

Call = tuple[str, dict[str, Any]]


def tool_call(messages: Sequence[BaseMessage], tools: Collection[str]) -> Call | None:
    """Give the name and arguments of the tool that the newest message asks for, None for an answer in words."""
    if not messages or messages[-1].type != "human":
        return None
    text = _last_user_text(messages).strip()
    wanted = _wanted(text)
    return wanted if wanted and wanted[0] in tools else None


def _wanted(text: str) -> Call | None:
    if len(text) > ASKED:
        return None
    asked = text.rstrip(" =?.!")
    asked = _QUESTION.sub("", asked, count=1)
    if _ARITHMETIC.fullmatch(asked) and not _DATE.fullmatch(asked):
        return "calculate", {"expression": asked}
    search = _SEARCH.fullmatch(text)
    if search and (query := search[1].strip(" \t\n\"'“”‘’.?!")):
        return "search_thread", {"query": query}
    if _CLOCK.search(text):
        zone = _ZONE.search(text)
        return "current_time", {"zone": zone[0]} if zone else {}
    return None


def answer(messages: Sequence[BaseMessage]) -> str:
    """Give the answer in words: the result of the tools just called, else what was understood."""
    results = _results(messages)
    if results:
        return "This is what I found. " + "\n\n".join(results)
    users = [message for message in messages if _from_user(message)]
    if not users:
        return f"{_INTRODUCTION} You have not written anything yet. {_OFFER}"
    text = " ".join(_last_user_text(messages).split())
    said = f"You wrote: “{_quoted(text)}”." if text else "Your message has no text."
    if len(users) == 1:
        return f"{_INTRODUCTION} {said} {_OFFER}"
    return f"{_REMINDER} {said} That is message {len(users)} of yours in this conversation."


_INTRODUCTION = "I am the offline demonstration model: no language model stands behind me, I follow a few fixed rules."
_REMINDER = "Still the offline demonstration model here, without a language model."
_OFFER = "I can tell the time, calculate (`what is 2*(3+4)?`) and search this conversation (`find a word`)."


def _results(messages: Sequence[BaseMessage]) -> list[str]:
    results: list[str] = []
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            break
        results.insert(0, message.text)
    return results


def _from_user(message: BaseMessage) -> bool:
    return message.type == "human" and message.additional_kwargs.get("hide_from_ui") is not True


def _last_user_text(messages: Sequence[BaseMessage]) -> str:
    return next((str(message.text) for message in reversed(messages) if _from_user(message)), "")


def _quoted(text: str) -> str:
    shown = cut(text, QUOTED)
    return shown if shown == text else shown + "…"
