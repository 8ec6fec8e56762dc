"""The newest root checkpoint of a run, readable before its commit; it stores nothing.

A run reads only what it has put itself: serving that from memory spares it a wait for the disk at every step. What is
read is decoded from the bytes that will be stored, so it shares no object with the graph.
"""

from typing import Any, cast

import orjson
from langgraph.checkpoint.base import CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite.utils import load_pending_writes

Row = tuple[Any, ...]


class Fresh:
    """One checkpoint row as it was put, with the writes put on it since."""

    def __init__(self, serde: SerializerProtocol, row: Row) -> None:
        self._serde, self._row = serde, row
        self._writes: dict[tuple[str, int], Row] = {}
        self.checkpoint_id: str = row[5]

    def put_writes(self, rows: list[Row], *, replace: bool) -> None:
        """Take writes in, with the saver's rule: only control channels replace."""
        for row in rows:
            key = (row[3], row[5])
            if replace or key not in self._writes:
                self._writes[key] = row

    def tuple(self) -> CheckpointTuple:
        """Give what the saver would read after the commit."""
        blob, kind, metadata, thread_id, namespace, checkpoint_id, parent_id = self._row
        place = {"thread_id": thread_id, "checkpoint_ns": namespace}
        pending = [(row[3], row[6], row[7], row[8], row[4], row[5]) for row in self._writes.values()]
        return CheckpointTuple(
            {"configurable": {**place, "checkpoint_id": checkpoint_id}},
            self._serde.loads_typed((kind, blob)),
            cast(CheckpointMetadata, orjson.loads(metadata)),
            {"configurable": {**place, "checkpoint_id": parent_id}} if parent_id else None,
            load_pending_writes(pending, self._serde),
        )
