"""What a graph streams, as the events that clients know: names, namespaces and JSON; it stores nothing.

Event names follow LangGraph's server; a subgraph's are `name|namespace`.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from deerflow_lite.checkpoints.secrets import without_secrets
from deerflow_lite.checkpoints.wire import to_json
from deerflow_lite.graphs import call

Named = tuple[str, bytes]


class Translator:
    """Turns the chunks of one run into events. `title`: what `values.title` shows, None where the graph's own does.

    `hidden`: the run was given credentials, which no event may carry.
    """

    def __init__(self, modes: tuple[str, ...], title: str | None, *, hidden: bool) -> None:
        self._modes = set(modes)
        self._title, self._hidden = title, hidden
        self._messages: dict[str, Any] = {}

    def events(self, namespace: tuple[str, ...], mode: str, chunk: Any) -> Iterator[Named]:
        """Give the events of one chunk, in order."""
        if mode == "values":
            yield from self._values(namespace, chunk)
        elif mode == "messages":
            yield from self._message(namespace, chunk)
        elif mode in self._modes:
            chunk = _placed(chunk) if mode == "debug" and chunk["type"] == "checkpoint" else chunk
            yield _name(mode, namespace), to_json(_clean(chunk) if self._hidden else chunk)

    def _values(self, namespace: tuple[str, ...], chunk: Any) -> Iterator[Named]:
        if "values" not in self._modes:
            return
        if self._title is not None and not namespace and isinstance(chunk, dict):
            chunk = chunk | {"title": self._title}
        yield _name("values", namespace), to_json(chunk)

    def _message(self, namespace: tuple[str, ...], chunk: Any) -> Iterator[Named]:
        message, metadata = chunk
        metadata = without_secrets(metadata)
        if "messages-tuple" in self._modes:
            yield _name("messages", namespace), to_json((message, metadata))
        if "messages" not in self._modes:
            return
        known = message.id in self._messages
        whole = self._messages[message.id] = self._messages[message.id] + message if known else message
        if not known:
            yield _name("messages/metadata", namespace), to_json({message.id: {"metadata": metadata}})
        yield _name("messages/partial", namespace), to_json([call.whole_message(whole)])


def told_checkpoint(mode: str, chunk: Any) -> tuple[str, ...]:
    """Give the id of the checkpoint that a chunk tells of, nothing for another chunk."""
    if mode == "debug":
        mode, chunk = f"{chunk.get('type')}s", chunk.get("payload")
    if mode != "checkpoints":
        return ()
    return (chunk["config"]["configurable"]["checkpoint_id"],)


def _placed(chunk: dict[str, Any]) -> dict[str, Any]:
    """Name the checkpoints of a debug event by their places too, as LangGraph's server does."""
    payload = chunk["payload"]
    places = {
        "checkpoint": _place(payload["config"]),
        "parent_checkpoint": _place(payload["parent_config"]),
    }
    return {**chunk, "payload": {**payload, **places}}


def _place(config: dict[str, Any] | None) -> dict[str, Any] | None:
    if config is None:
        return None
    names = ("checkpoint_id", "thread_id", "checkpoint_ns", "checkpoint_map")
    return {name: config["configurable"][name] for name in names if name in config["configurable"]}


def _clean(value: Any) -> Any:
    """Leave credentials out of every config and metadata inside a value."""
    if isinstance(value, dict):
        cleaned = {key: _clean(inner) for key, inner in value.items()}
        named = {
            key: cleaned[key] for key in ("configurable", "metadata", "context") if isinstance(value.get(key), dict)
        }
        return cleaned | {key: without_secrets(inner) for key, inner in named.items()}
    return [_clean(inner) for inner in value] if isinstance(value, list | tuple) else value


def _name(mode: str, namespace: tuple[str, ...]) -> str:
    return "|".join((mode, *namespace))


def failure(error: BaseException) -> bytes:
    """Give the data of an `error` event: the class and the message, as LangGraph's server names them."""
    return orjson.dumps({"error": type(error).__name__, "message": _text(error)})


def _text(error: BaseException) -> str:
    return str(error).encode("utf-8", "replace").decode("utf-8")
