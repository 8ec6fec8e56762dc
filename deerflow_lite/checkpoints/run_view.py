"""The saver as one run sees it: it reads its own writes, and writes through the journal.

Invariants: every write is checked by `allowed` and followed by `stored` in the same transaction, in order; what was
put is seen by the next read; a refused write fails the next put, or `check`.
"""

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple

from deerflow_lite.checkpoints.fresh import Fresh
from deerflow_lite.checkpoints.saver import FileSaver
from deerflow_lite.checkpoints.trail import Trail
from deerflow_lite.checkpoints.view import PUT, HeadView
from deerflow_lite.errors import Conflict
from deerflow_lite.journal import Journal, settled

Allowed = Callable[[sqlite3.Connection], None]
Stored = Callable[[sqlite3.Connection, str], None]


class RunView(HeadView):
    """Reads and writes of one run. With `sync` a put ends after its commit, else when it is queued."""

    def __init__(
        self,
        saver: FileSaver,
        journal: Journal,
        head: str | None,
        allowed: Allowed,
        stored: Stored,
        trail: Trail,
        *,
        sync: bool,
    ) -> None:
        super().__init__(saver, head)
        self._journal, self._allowed, self._stored, self._sync = journal, allowed, stored, sync
        self._trail = trail
        self._last: Future[Any] | None = None
        self._fresh: Fresh | None = None
        self.refused: BaseException | None = None
        self.closed = False
        self._known = {head}

    def _queue(self, action: Callable[[sqlite3.Connection], None], *, waits: bool) -> Future[Any]:
        self.check()
        if self.closed:
            raise Conflict("the run has ended: what it still writes is refused")

        def guarded(connection: sqlite3.Connection) -> None:
            self._allowed(connection)
            action(connection)

        self._last = self._journal.write(guarded, urgent=waits)
        self._last.add_done_callback(self._heard)
        return self._last

    def _heard(self, done: Future[Any]) -> None:
        self.refused = self.refused or done.exception()

    @property
    def stored(self) -> bool:
        """Whether anything was put: an answer to one of several questions puts writes and no checkpoint."""
        return self._last is not None

    def awaits(self, checkpoint_ids: tuple[str, ...]) -> bool:
        """Say whether one of these checkpoints is still to be put by this run."""
        told = set(checkpoint_ids) - {self.head}
        return self.refused is None and not self.closed and not self._known.issuperset(told)

    def check(self) -> None:
        """Raise what refused a put."""
        if self.refused is not None:
            raise self.refused

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint and wait for its commit; for sync nodes that run a subgraph."""
        given, future = self._put(config, checkpoint, metadata, waits=True)
        future.result()
        return given

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Queue a checkpoint."""
        given, future = self._put(config, checkpoint, metadata, waits=self._sync)
        if self._sync:
            await settled(future)
        return given

    def _put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, *, waits: bool
    ) -> tuple[RunnableConfig, Future[Any]]:
        given, row = self._checkpoint_row(config, checkpoint, metadata)
        root = row[4] == ""
        if root:
            self.head = checkpoint["id"]
            self._known.add(checkpoint["id"])
            self._fresh = Fresh(self.serde, row)

        def action(connection: sqlite3.Connection) -> None:
            self._trail.checkpoint(connection, row[3:6])
            connection.execute(PUT, row)
            if root:
                self._stored(connection, checkpoint["id"])

        return given, self._queue(action, waits=waits)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store the writes of a task and wait for their commit."""
        self._put_writes(config, writes, task_id, task_path, waits=True).result()

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Queue the writes of a task."""
        future = self._put_writes(config, writes, task_id, task_path, waits=self._sync)
        if self._sync:
            await settled(future)

    def _put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str, *, waits: bool
    ) -> Future[Any]:
        statement, rows = self._write_rows(config, writes, task_id, task_path)
        if self._fresh is not None and rows and rows[0][1:3] == ("", self._fresh.checkpoint_id):
            self._fresh.put_writes(rows, replace="REPLACE" in statement)

        def action(connection: sqlite3.Connection) -> None:
            self._trail.writes(connection, [(*row[:4], row[5]) for row in rows])
            connection.executemany(statement, rows)

        return self._queue(action, waits=waits)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Give the checkpoint asked for, seeing what this run has put."""
        if (fresh := self._unstored(config)) is not None:
            return fresh
        found: CheckpointTuple | None = self._journal.ask(lambda _: self._tuple(config)).result()
        return found

    def _unstored(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Give the newest root checkpoint from memory, if it is the one asked for."""
        asked = (self._pinned(config) or {}).get("configurable", {})
        if self._fresh is None or asked.get("checkpoint_ns") != "":
            return None
        return self._fresh.tuple() if asked.get("checkpoint_id") == self._fresh.checkpoint_id else None

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Give the checkpoint asked for; the journal is asked only while something that was put is not stored."""
        if (fresh := self._unstored(config)) is not None:
            return fresh
        if self._last is None or self._last.done():
            return self._tuple(config)
        found: CheckpointTuple | None = await settled(self._journal.ask(lambda _: self._tuple(config)))
        return found

    async def alist(self, config: RunnableConfig | None, **given: Any) -> AsyncIterator[CheckpointTuple]:
        """Give the matching checkpoints, newest first."""
        for found in await settled(self._journal.ask(lambda _: [*self._saver.list(config, **given)])):
            yield found

    async def aget_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, Any]:
        """Give the writes that a delta channel's value is made of, seeing what this run has put."""
        read = super().get_delta_channel_history
        history: Mapping[str, Any] = await settled(self._journal.ask(lambda _: read(config=config, channels=channels)))
        return history
