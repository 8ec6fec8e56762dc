"""A copy of a thread: every checkpoint and write under a new id; runs, events and files stay with the source."""

import dataclasses

from deerflow_lite import clock
from deerflow_lite.checkpoints import lineage, tables
from deerflow_lite.db import Database
from deerflow_lite.runs.status import thread_status
from deerflow_lite.threads.flags import FLAGS
from deerflow_lite.threads.limits import read_metadata
from deerflow_lite.threads.model import Change, NewThread, Thread
from deerflow_lite.threads.store import ThreadStore


class Copying:
    """Copies threads of one owner."""

    def __init__(self, db: Database, threads: ThreadStore) -> None:
        self._db, self._threads = db, threads

    def copy(self, owner: str, thread_id: str) -> Thread:
        """Give the new thread: same metadata without pin and archive, same title, new times; raises ThreadUnknown."""
        with self._db.writing() as connection:
            source = self._threads.get(owner, thread_id)
            metadata = {key: value for key, value in read_metadata(source.metadata).items() if key not in FLAGS}
            new = NewThread(clock.new_id(), metadata, source.title, source.title_manual, source.root, source.head)
            made = self._threads.create(owner, new)
            tables.copy(connection, source.thread_id, made.thread_id)
            values = self._threads.values([source]).get(source.row)
            settled = lineage.at_rest(connection, source.thread_id, source.head) if values is None else values.settled
            change = Change(
                status=thread_status(busy=False, failed=False, settled=settled),
                interrupts=source.interrupts,
                touch=False,
            )
            if values is not None:
                change = dataclasses.replace(change, values=values)
            return self._threads.change(owner, made.thread_id, change)
