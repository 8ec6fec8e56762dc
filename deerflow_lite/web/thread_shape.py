"""How a stored thread becomes JSON: its stored JSON is spliced in, never parsed; it reads no store.

Invariants: `values.title` is always the column; only keys that were asked for are made.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from deerflow_lite.threads.model import HeadValues, Thread
from deerflow_lite.threads.ttl import expires_at
from deerflow_lite.web.extract import Extract, follow

CONFIG = orjson.Fragment(b'{"configurable":{}}')
Values = Mapping[int, HeadValues | None]
_SHAPES: dict[str, Callable[[Thread, Values], Any]] = {
    "thread_id": lambda thread, _: thread.thread_id,
    "created_at": lambda thread, _: thread.created_at,
    "updated_at": lambda thread, _: thread.updated_at,
    "state_updated_at": lambda thread, _: thread.state_updated_at,
    "metadata": lambda thread, _: orjson.Fragment(thread.metadata),
    "status": lambda thread, _: thread.status,
    "values": lambda thread, values: _values(thread, values),
    "interrupts": lambda thread, _: orjson.Fragment(thread.interrupts),
    "error": lambda thread, _: None if thread.error is None else orjson.Fragment(thread.error),
    "config": lambda thread, _: CONFIG,
    "title": lambda thread, _: thread.title,
    "head_checkpoint_id": lambda thread, _: thread.head,
}


def thread_json(thread: Thread, values: Values, select: Sequence[str] | None = None) -> dict[str, Any]:
    """Give the asked keys of a thread, all of them for None."""
    return {key: _SHAPES[key](thread, values) for key in (_SHAPES if select is None else select)}


def ttl_json(thread: Thread) -> dict[str, Any] | None:
    """Give the time to live of a thread and its end, None where it has none."""
    if thread.ttl_minutes is None:
        return None
    return {"strategy": thread.ttl_strategy, "ttl_minutes": thread.ttl_minutes, "expires_at": expires_at(thread)}


def extracted(thread: Thread, values: Values, extract: Extract) -> dict[str, Any]:
    """Give what each path leads to; parses only the parts that a path starts with."""
    roots = {str(steps[0]) for steps in extract.values()}
    parsed = {root: orjson.loads(orjson.dumps(_SHAPES[root](thread, values))) for root in roots}
    return {alias: follow(steps, parsed) for alias, steps in extract.items()}


def _values(thread: Thread, values: Values) -> Any:
    """A head whose values are not at hand (too many for one answer) shows its title alone; an unreadable one null."""
    unreadable = values.get(thread.row, thread) is None
    if unreadable or (thread.head is None and thread.title is None):
        return None
    title = b'{"title":' + orjson.dumps(thread.title)
    stored = values.get(thread.row)
    body = b"{}" if stored is None else stored.body.encode()
    return orjson.Fragment(title + (b"}" if body == b"{}" else b"," + body[1:]))
