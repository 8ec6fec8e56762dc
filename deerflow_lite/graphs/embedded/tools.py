"""The embedded agent's tools; they read the clock and the thread they run in, nothing else.

A tool answers a wrong argument with a sentence, so that the model can say it.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated
from zoneinfo import ZoneInfo

from langchain_core.messages import AnyMessage
from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from deerflow_lite import clock
from deerflow_lite.graphs.embedded.arithmetic import NotArithmetic, calculated
from deerflow_lite.graphs.embedded.context import visible

MATCHES = 5
SNIPPET = 160
_ROLES = {"human": "user", "ai": "assistant"}


@tool
def current_time(zone: str = "") -> str:
    """Tell the present date and time, in an IANA time zone such as Europe/Berlin if one is given."""
    present = datetime.fromisoformat(clock.now())
    try:
        here = present.astimezone(ZoneInfo(zone) if zone else None)
    except (ValueError, OSError, LookupError):
        return f"There is no time zone named {zone!r}; an IANA name such as Europe/Berlin is needed."
    if here.tzinfo is UTC:
        zone = "UTC"
    return f"{here:%A, %Y-%m-%d %H:%M:%S} {zone or here.tzname()} (UTC{here:%z})"


@tool
def calculate(expression: str) -> str:
    """Calculate an arithmetic expression of numbers, + - * / // % ** and parentheses."""
    try:
        return f"{expression.strip()} = {calculated(expression)}"
    except NotArithmetic as error:
        return f"{expression.strip()!r} cannot be calculated: {error}."


@tool
def search_thread(query: str, messages: Annotated[list[AnyMessage], InjectedState("messages")]) -> str:
    """Find earlier messages of this conversation that contain a text; upper and lower case are the same."""
    wanted = " ".join(query.casefold().split())
    earlier = [(message, " ".join(message.text.split())) for message in _earlier(messages)]
    found = [(message, text) for message, text in earlier if wanted and wanted in text.casefold()]
    if not found:
        return f"No earlier message of this conversation contains {query!r}."
    lines = [f"{_ROLES[message.type]}: {_snippet(text, wanted)}" for message, text in found[-MATCHES:]]
    return f"Messages that contain {query!r}: {len(found)}\n" + "\n".join(lines)


TOOLS: tuple[BaseTool, ...] = (current_time, calculate, search_thread)


def _earlier(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The question itself is no find: what the last user message and its answer hold is left out."""
    shown = [message for message in messages if visible(message, "human", "ai")]
    last = max((place for place, message in enumerate(shown) if message.type == "human"), default=0)
    return shown[:last]


def _snippet(text: str, wanted: str) -> str:
    start = max(0, text.casefold().find(wanted) - SNIPPET // 2)
    cut = text[start : start + SNIPPET]
    return ("…" if start else "") + cut + ("…" if start + SNIPPET < len(text) else "")
