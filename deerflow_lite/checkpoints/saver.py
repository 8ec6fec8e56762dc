"""LangGraph's SQLite saver on our one writer connection; it decides nothing about threads or runs.

Invariants: a put joins the transaction its thread holds and never commits it; rows are decoded by a strict
allow-list, so a crafted row builds no object; `list` is read to its end before anything is given; a delta value whose
checkpoints are not all stored is refused, never read short.
"""

import copy
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.sqlite import SqliteSaver

from deerflow_lite.checkpoints import lineage
from deerflow_lite.checkpoints.strict import StrictSerializer
from deerflow_lite.db import Database
from deerflow_lite.errors import CheckpointUnreadable

_PARTS: Final = frozenset({"v", "id", "ts", "channel_values", "channel_versions", "versions_seen"})


class FileSaver(SqliteSaver):
    """The saver of one graph: `types` are the (module, class) names its checkpoints may hold besides the safe ones."""

    def __init__(self, db: Database, types: Iterable[tuple[str, ...]] = ()) -> None:
        super().__init__(db.writer, serde=StrictSerializer(types))
        self.db = db
        self.lock = db.lock  # type: ignore[assignment]  # re-entrant: a transaction's own thread passes
        self.is_setup = True

    def remembering(self) -> Self:
        """Give one for a single read of many states: messages that they share are built once."""
        clone = copy.copy(self)
        clone.serde = cast(StrictSerializer, self.serde).remembering()
        return clone

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """Lend a cursor of the open write transaction, or of a reader."""
        with self.db.writing() if transaction else self.db.reading() as connection:
            cursor = connection.cursor()
            try:
                yield cursor
            finally:
                cursor.close()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Give a checkpoint; raises CheckpointUnreadable for bytes that are none, TypeBlocked."""
        try:
            found = super().get_tuple(config)
            if found is not None and not (_PARTS <= set(found.checkpoint) and isinstance(found.metadata, dict)):
                raise ValueError("parts of the checkpoint are missing")
            return found
        except (ValueError, TypeError, NotImplementedError):
            raise CheckpointUnreadable(config["configurable"].get("checkpoint_id") or "the newest one") from None

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, Any]:
        """Give the writes that a delta channel's value is made of; raises LineageBroken where some are lost."""
        try:
            found = super().get_delta_channel_history(config=config, channels=channels)
        except (AttributeError, ValueError, TypeError, NotImplementedError):
            self._refuse_broken(config)
            raise CheckpointUnreadable(config["configurable"].get("checkpoint_id") or "the newest one") from None
        # Only a walk that met no stored value went to the end of the parents: it may have ended too early.
        if any("seed" not in one for one in found.values()):
            self._refuse_broken(config)
        return found

    def _refuse_broken(self, config: RunnableConfig) -> None:
        asked = config["configurable"]
        if checkpoint_id := asked.get("checkpoint_id"):
            with self.db.reading() as connection:
                lineage.refuse_broken(connection, asked["thread_id"], checkpoint_id, asked.get("checkpoint_ns", ""))

    def list(self, config: RunnableConfig | None, **given: Any) -> Iterator[CheckpointTuple]:
        """Give the matching checkpoints, newest first."""
        with self.lock:
            return iter([*super().list(config, **given)])
