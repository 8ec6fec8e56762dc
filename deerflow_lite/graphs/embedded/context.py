"""The context step: puts the date in front of the user's message and names the conversation; it calls no model.

The reminder takes the user's message id X and the message goes on as `X__user` right behind it, so the prompt keeps its
place for the model and clients see one message. What stands in the thread from earlier turns is never moved.
"""

import unicodedata
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from deerflow_lite import clock
from deerflow_lite.graphs.embedded.graphemes import cut

USER_SUFFIX = "__user"
TITLE_CLUSTERS = 60
TITLE_TEXT = 10_000


def local_date() -> date:
    """Give today where the service runs."""
    return datetime.fromisoformat(clock.now()).astimezone().date()


def context_node(today: Callable[[], date]) -> Callable[[Any], dict[str, Any]]:
    """Make the graph's first node, which knows the date by `today`."""

    def context(state: Any) -> dict[str, Any]:
        messages = state.get("messages") or []
        title = None if state.get("title") else first_title(messages)
        moved = with_reminder(messages, today())
        return ({"messages": moved} if moved else {}) | ({"title": title} if title else {})

    return context


def visible(message: AnyMessage, *kinds: str) -> bool:
    """Tell whether people see a message of these types."""
    return message.type in kinds and message.additional_kwargs.get("hide_from_ui") is not True


def first_title(messages: Sequence[AnyMessage]) -> str | None:
    """Give the title that the first user text makes, None without any text."""
    texts = (title_of(message.text) for message in messages if visible(message, "human"))
    return next(filter(None, texts), None)


def title_of(text: str) -> str:
    """Collapse white space, drop control characters, cut at 60 grapheme clusters."""
    plain = "".join(sign for sign in " ".join(text[:TITLE_TEXT].split()) if unicodedata.category(sign) != "Cc")
    return cut(plain, TITLE_CLUSTERS).strip()


def with_reminder(messages: Sequence[AnyMessage], today: date) -> list[Any]:
    """Give the writes that put a reminder of the date before this turn's first user message, [] if none is due."""
    if _reminded(messages) == today.isoformat():
        return []
    place = _first_new(messages)
    if place is None:
        return []
    message = messages[place]
    base = str(message.id).removesuffix(USER_SUFFIX)
    pair = [reminder(base, today), message.model_copy(update={"id": base + USER_SUFFIX})]
    if place == len(messages) - 1 and message.id == base:
        return pair
    # Appending would put the message behind what follows it, so the order is written anew.
    return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *messages[:place], *pair, *messages[place + 1 :]]


def reminder(message_id: str, today: date) -> HumanMessage:
    """Make the hidden message that tells the model the date."""
    marks = {"hide_from_ui": True, "dynamic_context_reminder": True, "reminder_date": today.isoformat()}
    text = f"<system-reminder>\nToday is {today:%A}, {today.isoformat()}.\n</system-reminder>"
    return HumanMessage(content=text, id=message_id, additional_kwargs=marks)


def _reminded(messages: Sequence[AnyMessage]) -> str | None:
    dates = (m.additional_kwargs["reminder_date"] for m in reversed(messages) if _is_reminder(m))
    return next(dates, None)


def _is_reminder(message: AnyMessage) -> bool:
    marks = message.additional_kwargs
    return marks.get("dynamic_context_reminder") is True and "reminder_date" in marks


def _first_new(messages: Sequence[AnyMessage]) -> int | None:
    """Find the first visible user message after everything that was answered and everything already moved."""
    ids = {message.id for message in messages}
    found = None
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        moved = str(message.id).endswith(USER_SUFFIX) and str(message.id).removesuffix(USER_SUFFIX) in ids
        if message.type != "human" or moved or _is_reminder(message):
            break
        if visible(message, "human") and str(message.id) != USER_SUFFIX and f"{message.id}{USER_SUFFIX}" not in ids:
            found = place
    return found
