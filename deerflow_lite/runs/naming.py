"""The title that the service makes: of a run's input, and of what a head holds; it stores nothing."""

from typing import Any

import orjson

from deerflow_lite.checkpoints.messages import texts
from deerflow_lite.runs.model import Run
from deerflow_lite.threads.model import HeadValues
from deerflow_lite.threads.titles import auto_title, tidy_title


def made_title(values: HeadValues | None) -> str | None:
    """Give the automatic title, the graph's own or of the first user text; None where there is nothing to name by."""
    if values is None:
        return None
    own = orjson.loads(values.own_title) if values.titled and values.own_title else None
    if isinstance(own, str) and (tidy := tidy_title(own)) is not None:
        return tidy
    held = orjson.loads(values.body)
    return first_title(held) if isinstance(held.get("messages"), list) else None


def first_title(values: object) -> str | None:
    """Give the title that the first user text of an input or of values makes, None where there is none."""
    messages = values.get("messages") if isinstance(values, dict) else None
    listed = messages if isinstance(messages, list) else [messages]
    asked = (" ".join(texts(_content(message))) for message in listed if _asks(message))
    return next((title for text in asked if (title := auto_title(text))), None)


def asked_title(run: Run) -> str | None:
    """Give the title that the input of a stored run makes."""
    return first_title(orjson.loads(run.kwargs).get("input"))


def _content(message: Any) -> Any:
    return message if isinstance(message, str) else message.get("content")


def _asks(message: Any) -> bool:
    """A bare text is a user's message for LangGraph."""
    if isinstance(message, str):
        return True
    if not isinstance(message, dict) or (message.get("type") or message.get("role")) not in ("human", "user"):
        return False
    more = message.get("additional_kwargs")
    return not (isinstance(more, dict) and more.get("hide_from_ui") is True)
