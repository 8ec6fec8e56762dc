"""The title that the service gives to what a head holds: the graph's own, else the first text a person wrote."""

from typing import Any

import orjson

from deerflow_lite.threads.model import HeadValues
from deerflow_lite.threads.titles import auto_title, tidy_title


def made_title(values: HeadValues | None) -> str | None:
    """Give the automatic title, None where there is nothing to name the thread by."""
    if values is None:
        return None
    own = orjson.loads(values.own_title) if values.titled and values.own_title else None
    if isinstance(own, str) and (tidy := tidy_title(own)) is not None:
        return tidy
    messages = orjson.loads(values.body).get("messages")
    texts = (_text(message) for message in messages if _visible(message)) if isinstance(messages, list) else ()
    return next((title for text in texts if (title := auto_title(text))), None)


def _visible(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("type") != "human":
        return False
    more = message.get("additional_kwargs")
    return not (isinstance(more, dict) and more.get("hide_from_ui") is True)


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    return " ".join(text for part in parts if isinstance(text := _part(part), str))


def _part(part: Any) -> Any:
    return part.get("text") if isinstance(part, dict) else part
