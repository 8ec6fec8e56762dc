"""Events that are kept as a reference to the checkpoint whose values they told: taken apart, and put together again.

A reference is made only where it gives the same JSON back; what the checkpoint does not hold stays in the event, and of
a list that grew later only its length.
"""

from collections.abc import Callable, Iterator, Mapping
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

HOLDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "values": (),
    "checkpoints": ("values",),
    "debug": ("payload", "values"),
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


def less(event: Event, stored: Any) -> bytes | None:
    """Give the data of an event without what a checkpoint holds, None where that would not spare its half."""
    root, holder, name = _opened(event)
    given = holder.get(name) if isinstance(holder, dict) else None
    if not isinstance(given, dict) or not isinstance(stored, dict):
        return None
    cut = {key: len(value) for key, value in given.items() if _begins(value, stored.get(key))}
    rest = {key: value for key, value in given.items() if key not in cut and _differs(value, key, stored)}
    kept = {"rest": rest, "cut": cut, "without": sorted(stored.keys() - given.keys())}
    if 2 * len(orjson.dumps(kept)) > len(orjson.dumps(given)):
        return None
    holder[name] = kept
    return orjson.dumps(root[""])


def more(event: Event, stored: Any) -> Event:
    """Give an event with what its checkpoint holds put back."""
    root, holder, name = _opened(event)
    kept = holder[name]
    values = {key: value for key, value in stored.items() if key not in kept["without"]}
    holder[name] = values | {key: stored[key][:length] for key, length in kept["cut"].items()} | kept["rest"]
    return Event(event.id, event.event, orjson.dumps(root[""]))


def _opened(event: Event) -> tuple[dict[str, Any], Any, str]:
    """Give an event's data under the name "", the object in it that holds the values, and the name they have there."""
    root = {"": orjson.loads(event.data)}
    *above, name = ("", *HOLDERS[event.event])
    holder: Any = root
    for part in above:
        holder = holder.get(part) if isinstance(holder, dict) else None
    return root, holder, name


def _begins(value: Any, stored: Any) -> bool:
    """Say whether a list is the beginning of a longer one: most conversations only grow."""
    if not isinstance(value, list) or not isinstance(stored, list) or len(value) >= len(stored):
        return False
    return orjson.dumps(value) == orjson.dumps(stored[: len(value)])


def _differs(value: Any, key: str, stored: dict[str, Any]) -> bool:
    """Compare as JSON: for Python true is 1 and 1 is 1.0."""
    return key not in stored or orjson.dumps(value) != orjson.dumps(stored[key])
