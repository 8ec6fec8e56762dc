"""Events that are kept as a reference to the checkpoint whose values they told: taken apart, and put together again.

A reference is made only where it gives the same bytes back; what the checkpoint does not hold stays in the event, and
of a list how much of its beginning the checkpoint holds, with what follows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

import orjson

from deerflow_lite.checkpoints import state, tables
from deerflow_lite.checkpoints.wire import to_json
from deerflow_lite.errors import CheckpointUnknown, ThreadUnknown
from deerflow_lite.runs import gate
from deerflow_lite.runs.model import Event, Run
from deerflow_lite.runs.rooms import Rooms

HOLDERS: Final[Mapping[str, Sequence[tuple[str, ...]]]] = {
    "values": [()],
    "checkpoints": [("values",)],
    "tasks": [("input",)],
    "debug": [("payload", "values"), ("payload", "input")],
}
ALL: Final = b'{"rest":{},"cut":{},"without":[]}'  # the values as their checkpoint holds them
Values = Callable[[str], Any]
_READ = 8


@contextmanager
def recalling(rooms: Rooms, run: Run) -> Iterator[Values]:
    """Lend a reader of the values of a run's checkpoints, as JSON; those read last are kept.

    Raises what opening the graph raises; the reader CheckpointUnknown and what decoding raises.
    """
    thread = rooms.threads.by_row(run.thread_row)
    if thread is None:
        raise ThreadUnknown(run.thread_id)
    gate.refuse_mode(rooms, thread, run.graph_id)
    with rooms.graphs.opened(run.graph_id) as graph:
        view = rooms.savers.reading(run.graph_id, graph, thread.head)

        @lru_cache(_READ)
        def values(checkpoint_id: str) -> Any:
            with rooms.db.reading() as connection:
                if not tables.exists(connection, run.thread_id, checkpoint_id):
                    raise CheckpointUnknown(checkpoint_id)
            return orjson.loads(to_json(state.snapshot(view, run.thread_id, checkpoint_id).values))

        yield values


def told_of(event: Event) -> str | None:
    """Give the root checkpoint that an event names, None for one that names none."""
    whole = orjson.loads(event.data)
    config = (whole.get("payload") or {} if event.event == "debug" else whole).get("config")
    asked = (config or {}).get("configurable") or {}
    return asked.get("checkpoint_id") if not asked.get("checkpoint_ns") else None


def referring(event: Event, refs: Sequence[str | None], values: Values) -> tuple[bytes, str] | None:
    """Give the data of an event as it refers to the first of these checkpoints that holds most of it, and which."""
    for ref in refs:
        if ref is not None and (data := less(event, values(ref))) is not None:
            return data, ref
    return None


def less(event: Event, stored: Any) -> bytes | None:
    """Give the data of an event without what a checkpoint holds, None where that would not spare its half."""
    root, holder, name = _opened(event)
    if holder is None or not isinstance(stored, dict):
        return None
    given = holder[name]
    differing = {key: value for key, value in given.items() if _differs(value, key, stored)}
    cut = {key: same for key, value in differing.items() if (same := _begun(value, stored.get(key)))}
    tail = {key: given[key][length:] for key, length in cut.items() if length < len(given[key])}
    rest = {key: value for key, value in differing.items() if key not in cut}
    holder[name] = {"keys": [*given], "rest": rest, "cut": cut, "tail": tail}
    if 2 * len(orjson.dumps(holder[name])) > len(orjson.dumps(given)):
        return None
    data = orjson.dumps(root[""])
    return data if more(Event(event.id, event.event, data), stored).data == event.data else None


def more(event: Event, stored: Any) -> Event:
    """Give an event with what its checkpoint holds put back."""
    root, holder, name = _opened(event)
    kept = holder[name]
    tail, keys = kept.get("tail", {}), kept.get("keys")
    begun = {key: stored[key][:length] + tail.get(key, []) for key, length in kept["cut"].items()}
    values = {key: value for key, value in stored.items() if key not in kept.get("without", ())} | begun | kept["rest"]
    holder[name] = values if keys is None else {key: values[key] for key in keys}
    return Event(event.id, event.event, orjson.dumps(root[""]))


def _opened(event: Event) -> tuple[dict[str, Any], Any, str]:
    """Give an event's data under the name "", the object in it that holds the values, and the name they have there."""
    root = {"": orjson.loads(event.data)}
    holder: Any = None
    for path in HOLDERS[event.event]:
        *above, name = ("", *path)
        holder = root
        for part in above:
            holder = holder.get(part) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and isinstance(holder.get(name), dict):
            return root, holder, name
    return root, None, ""


def _begun(value: Any, stored: Any) -> int:
    """Give how many items two lists have in common at their beginning: most conversations only grow."""
    if not isinstance(value, list) or not isinstance(stored, list):
        return 0
    pairs = zip(value, stored, strict=False)
    return next((at for at, (mine, other) in enumerate(pairs) if not _same(mine, other)), min(len(value), len(stored)))


def _differs(value: Any, key: str, stored: dict[str, Any]) -> bool:
    return key not in stored or not _same(value, stored[key])


def _same(value: Any, other: Any) -> bool:
    """Compare as JSON: for Python true is 1 and 1 is 1.0."""
    return orjson.dumps(value) == orjson.dumps(other)
