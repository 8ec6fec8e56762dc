"""Delta checkpoints made whole: what stood in the writes of ancestors is put into the row itself; it stores nothing.

A row keeps its id, its parent and the writes that hang on it, so lineages, runs and turns stay what they are.
"""

from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import Checkpoint
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from deerflow_lite.checkpoints import modes
from deerflow_lite.checkpoints.modes import COUNTERS
from deerflow_lite.checkpoints.saver import FileSaver
from deerflow_lite.checkpoints.view import StoredView
from deerflow_lite.checkpoints.wire import to_json
from deerflow_lite.errors import LineageBroken


@dataclass(frozen=True, slots=True)
class Whole:
    """What a stored row becomes."""

    kind: str
    blob: bytes
    metadata: bytes


def whole(graph: Any, saver: FileSaver, thread_id: str, namespace: str, checkpoint_id: str) -> Whole | None:
    """Give a row that needs no ancestor to be read, None where it is one already.

    Raises LineageBroken where the graph cannot fold a channel, TypeBlocked.
    """
    place = {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}
    view = StoredView(saver, checkpoint_id)
    stored = view.get_tuple({"configurable": place})
    if stored is None:
        raise LineageBroken(f"checkpoint {checkpoint_id} is gone")
    values, metadata = stored.checkpoint["channel_values"], {**stored.metadata}
    counted: Any = metadata.pop(COUNTERS, None)
    snapshots = {name: value.value for name, value in values.items() if isinstance(value, _DeltaSnapshot)}
    if counted is None and not snapshots:
        return None
    missing = _missing(stored.checkpoint)
    read = graph.copy(update={"checkpointer": view}).get_state({"configurable": place}).values if missing else {}
    named = read if isinstance(read, dict) else {"__root__": read}
    lost = sorted(name for name in counted or () if name in missing and name not in named)
    if lost:
        raise LineageBroken(f"channel {', '.join(lost)} of checkpoint {checkpoint_id} cannot be read by its graph")
    folded = {name: value for name, value in named.items() if name in missing}
    made = {**stored.checkpoint, "channel_values": {**values, **snapshots, **folded}}
    return Whole(*saver.serde.dumps_typed(made), to_json(metadata))


def _missing(checkpoint: Checkpoint) -> set[str]:
    named = (name for name in checkpoint["channel_versions"] if modes.holds_state(name))
    return {name for name in named if name not in checkpoint["channel_values"]}
