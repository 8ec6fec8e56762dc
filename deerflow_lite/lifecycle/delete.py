"""The end of a thread: every row that carries it, in one transaction; afterwards the id is unknown."""

from deerflow_lite.checkpoints import tables
from deerflow_lite.db import Database
from deerflow_lite.runs.ledger import Ledger
from deerflow_lite.threads.store import ThreadStore


class Deleting:
    """Deletes threads; a checkpoint that an old run still writes is refused by its row number and by the id."""

    def __init__(self, db: Database, threads: ThreadStore, ledger: Ledger) -> None:
        self._db, self._threads, self._ledger = db, threads, ledger

    def delete(self, owner: str | None, thread_id: str) -> None:
        """Remove the thread with its checkpoints, runs and events; raises ThreadUnknown, RunActive."""
        with self._db.writing() as connection:
            thread = self._threads.get(owner, thread_id)
            self._ledger.refuse_active(thread)
            self._ledger.forget(thread.row)
            tables.remove(connection, thread_id)
            tables.refuse(connection, thread_id)
            self._threads.delete(owner, thread_id)
