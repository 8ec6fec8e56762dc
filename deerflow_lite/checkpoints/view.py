"""The saver as one reader sees it: "the latest checkpoint" is the head it was given; it writes nothing by itself."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)

from deerflow_lite.checkpoints.fresh import Fresh
from deerflow_lite.checkpoints.saver import FileSaver
from deerflow_lite.checkpoints.secrets import without_secrets
from deerflow_lite.checkpoints.wire import to_json

_PUT_ORDER = "checkpoint, type, metadata, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id"
_WRITE_ORDER = "thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value"
_AT = "thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
PUT = f"INSERT OR REPLACE INTO checkpoints ({_PUT_ORDER}) VALUES (?, ?, ?, ?, ?, ?, ?)"
_WRITE = f"INSERT OR {{}} INTO writes ({_WRITE_ORDER}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
Row = tuple[Any, ...]
Rows = list[Row]


class HeadView(BaseCheckpointSaver[str]):
    """Reads only: a state is read through it."""

    def __init__(self, saver: FileSaver, head: str | None) -> None:
        super().__init__(serde=saver.serde)
        self._saver = saver
        self.head = head

    def _pinned(self, config: RunnableConfig) -> RunnableConfig | None:
        asked = config["configurable"]
        namespace = asked.get("checkpoint_ns", "")
        checkpoint_id = asked.get("checkpoint_id") or ("" if namespace else self.head)
        if not namespace and not checkpoint_id:
            return None
        place = {"thread_id": asked["thread_id"], "checkpoint_ns": namespace}
        return {"configurable": place | ({"checkpoint_id": checkpoint_id} if checkpoint_id else {})}

    def _tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        pinned = self._pinned(config)
        return self._saver.get_tuple(pinned) if pinned else None

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Give the checkpoint asked for, the head where none is named."""
        return self._tuple(config)

    def list(self, config: RunnableConfig | None, **given: Any) -> Iterator[CheckpointTuple]:
        """Give the matching checkpoints, newest first."""
        return self._saver.list(config, **given)

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, Any]:
        """Give the writes that a delta channel's value is made of."""
        pinned = self._pinned(config)
        if pinned is None:
            return {channel: {"writes": []} for channel in channels}
        return self._saver.get_delta_channel_history(config=pinned, channels=channels)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Give the version after `current`, in the saver's own form."""
        return self._saver.get_next_version(current, channel)

    def _checkpoint_row(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> tuple[RunnableConfig, Row]:
        """Serialise a checkpoint at once: its values may change as soon as this returns."""
        asked = config["configurable"]
        place = (asked["thread_id"], asked.get("checkpoint_ns", ""), checkpoint["id"])
        kind, blob = self.serde.dumps_typed(checkpoint)
        configurable = {"thread_id": place[0], "checkpoint_ns": place[1], "checkpoint_id": place[2]}
        row = (blob, kind, to_json(_clean(config, metadata)), *place, asked.get("checkpoint_id") or None)
        return {"configurable": configurable}, row

    def _write_rows(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> tuple[str, Rows]:
        """Serialise the writes of a task; only control channels may be written again."""
        asked = config["configurable"]
        place = (asked["thread_id"], asked.get("checkpoint_ns", ""), asked["checkpoint_id"], task_id, task_path)
        rows = [
            (*place, WRITES_IDX_MAP.get(channel, index), channel, *self.serde.dumps_typed(value))
            for index, (channel, value) in enumerate(writes)
        ]
        return _WRITE.format("REPLACE" if all(channel in WRITES_IDX_MAP for channel, _ in writes) else "IGNORE"), rows


class StoredView(HeadView):
    """Reads rows as they were put, each decoded once: writes that hang on one are what came after it."""

    def __init__(self, saver: FileSaver, head: str | None) -> None:
        super().__init__(saver, head)
        self._read: dict[str, CheckpointTuple | None] = {}

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Give the checkpoint asked for, without the writes that hang on it."""
        key = repr(self._pinned(config))
        if key not in self._read:
            found = self._tuple(config)
            self._read[key] = found and found._replace(pending_writes=[])
        return self._read[key]


class DraftView(HeadView):
    """Reads, and keeps what is put until `store`: a graph's own code runs before the transaction begins.

    Checkpoints that were put are read again from what is kept, with the writes that were put on them.
    """

    def __init__(self, saver: FileSaver, head: str | None) -> None:
        super().__init__(saver, head)
        self._drafts: list[tuple[str, Rows]] = []
        self._fresh: dict[tuple[str, str], Fresh] = {}

    def begin_at(self, row: Row) -> None:
        """Stand on a root checkpoint that somebody else is yet to write; it is read as if it stood."""
        self._fresh[row[4], row[5]] = Fresh(self.serde, row)
        self.head = row[5]

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Give the checkpoint asked for, one that is only kept too."""
        asked = (self._pinned(config) or {}).get("configurable", {})
        fresh = self._fresh.get((asked.get("checkpoint_ns", ""), asked.get("checkpoint_id", "")))
        return self._tuple(config) if fresh is None else fresh.tuple()

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, Any]:
        """Give the writes that a delta channel's value is made of; those that are only kept are walked one by one."""
        asked = (self._pinned(config) or {}).get("configurable", {})
        if (asked.get("checkpoint_ns", ""), asked.get("checkpoint_id", "")) not in self._fresh:
            return super().get_delta_channel_history(config=config, channels=channels)
        return BaseCheckpointSaver.get_delta_channel_history(self, config=config, channels=channels)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint."""
        given, row = self._checkpoint_row(config, checkpoint, metadata)
        self._drafts.append((PUT, [row]))
        self._fresh[row[4], row[5]] = Fresh(self.serde, row)
        if row[4] == "":
            self.head = row[5]
        return given

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep the writes of a task."""
        statement, rows = self._write_rows(config, writes, task_id, task_path)
        self._drafts.append((statement, rows))
        fresh = self._written_on(*rows[0][:3]) if rows else None
        if fresh is not None:
            fresh.put_writes(rows, replace="REPLACE" in statement)

    def _written_on(self, *place: str) -> Fresh | None:
        """Give the checkpoint that writes are kept for; a stored one is read, with its writes, to be read from here."""
        if place[1:] not in self._fresh:
            with self._saver.db.reading() as connection:
                row = connection.execute(f"SELECT {_PUT_ORDER} FROM checkpoints WHERE {_AT}", place).fetchone()
                writes = connection.execute(f"SELECT {_WRITE_ORDER} FROM writes WHERE {_AT}", place).fetchall()
            if row is None:
                return None
            fresh = self._fresh[place[1], place[2]] = Fresh(self.serde, row)
            fresh.put_writes(writes, replace=True)
        return self._fresh[place[1], place[2]]

    def store(self, connection: sqlite3.Connection) -> None:
        """Write what was kept, in the open transaction."""
        for statement, rows in self._drafts:
            connection.executemany(statement, rows)


def _clean(config: RunnableConfig, metadata: CheckpointMetadata) -> CheckpointMetadata:
    shown: RunnableConfig = {
        "metadata": without_secrets(config.get("metadata")),
        "configurable": without_secrets(config.get("configurable")),
    }
    return get_checkpoint_metadata(shown, metadata)
