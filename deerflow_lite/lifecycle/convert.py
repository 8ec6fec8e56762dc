"""A thread rewritten for the other checkpoint mode: every checkpoint is made whole in its place, or none is.

Invariants: ids, parents, writes and the head stay, so every turn has the base it had; a broken lineage is refused,
since what could not be read would be lost for good; nothing is rewritten while a run is in flight.
"""

import dataclasses
import pickle
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

from deerflow_lite.checkpoints import chains, tables
from deerflow_lite.checkpoints.chains import Place
from deerflow_lite.checkpoints.modes import Mode
from deerflow_lite.errors import LineageBroken
from deerflow_lite.runs import gate
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Change, Thread

IN_MEMORY: Final = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Converted:
    """What a conversion did: `rewritten` of `checkpoints` rows."""

    thread_id: str
    to: Mode
    checkpoints: int
    rewritten: int


class Converting:
    """Converts threads of one owner."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def convert(self, owner: str | None, thread_id: str, to: Mode) -> Converted:
        """Make a thread readable by a graph of this mode; a delta graph reads full checkpoints as they are.

        Raises ThreadUnknown, RunActive, LineageBroken, GraphBroken, HeadStale where the thread changed meanwhile.
        """
        thread = self._rooms.threads.get(owner, thread_id)
        self._rooms.ledger.refuse_active(thread)
        known = self._links(thread)
        if to == "delta":
            return Converted(thread_id, to, len(known), 0)
        # On disk: whole checkpoints of a long thread are many times the size of its file.
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as spool:
            rewritten = self._spool(thread, known, spool)
            if rewritten:
                spool.seek(0)
                self._store(thread, known, _read(spool, rewritten))
        return Converted(thread_id, to, len(known), rewritten)

    def _links(self, thread: Thread) -> dict[Place, str | None]:
        with self._rooms.db.reading() as connection:
            known = chains.links(connection, thread.thread_id)
            fault = next(chains.faults(connection, thread.thread_id, known), None)
        if fault is not None:
            raise LineageBroken(f"checkpoint {fault.checkpoint_id} has a {fault.reason} parent link; see `doctor`")
        return known

    def _spool(self, thread: Thread, known: dict[Place, str | None], spool: IO[bytes]) -> int:
        from deerflow_lite.checkpoints.whole import whole

        rewritten, graph_id = 0, gate.graph_id(self._rooms, thread)
        with self._rooms.graphs.opened(graph_id) as graph:
            saver = self._rooms.savers.saver(graph_id, graph)
            for namespace, checkpoint_id in known:
                row = whole(graph, saver, thread.thread_id, namespace, checkpoint_id)
                if row is not None:
                    pickle.dump((row.kind, row.blob, row.metadata, thread.thread_id, namespace, checkpoint_id), spool)
                    rewritten += 1
        return rewritten

    def _store(self, thread: Thread, known: dict[Place, str | None], rows: Iterator[tuple[Any, ...]]) -> None:
        threads = self._rooms.threads
        with self._rooms.db.writing() as connection:
            now = gate.unchanged(self._rooms, thread, known)
            tables.rewrite(connection, rows)
            values = threads.values([now]).get(now.row)
            if values is not None:
                change = Change(values=dataclasses.replace(values, mode="full"), touch=False)
                threads.change(None, now.thread_id, change, row=now.row)


def _read(spool: IO[bytes], number: int) -> Iterator[tuple[Any, ...]]:
    for _ in range(number):
        yield pickle.load(spool)
