"""The right of one run to write into its thread, checked in the transaction of every write; it executes nothing."""

import sqlite3

from deerflow_lite.checkpoints.trail import Trail
from deerflow_lite.db import Database
from deerflow_lite.errors import Conflict
from deerflow_lite.runs.ledger import Ledger
from deerflow_lite.runs.model import Run
from deerflow_lite.threads.model import Change
from deerflow_lite.threads.store import ThreadStore


class RunClosed(Conflict):
    """The run has ended, or its thread is gone: what it still writes is refused."""


class Seat:
    """The seat of one run; once `closed` is set nothing more of it is stored.

    `start` is the checkpoint that the thread stood on as the run began, `base` the one that the run starts from.
    """

    def __init__(self, db: Database, threads: ThreadStore, ledger: Ledger, run: Run) -> None:
        self._db, self._threads, self._ledger, self._run = db, threads, ledger, run
        self.closed = False
        self.trail = Trail()
        self.start: str | None = None
        self.base: str | None = None
        self.last_root: str | None = None

    def allowed(self, connection: sqlite3.Connection) -> None:
        """Raise RunClosed unless the run may still write; the row number tells a new thread of the same id apart."""
        if self.closed or self._threads.by_row(self._run.thread_row) is None:
            raise RunClosed(f"run {self._run.run_id} may write no more")

    def stored(self, connection: sqlite3.Connection, checkpoint_id: str) -> None:
        """Note a root checkpoint; it becomes the head at once if the run continues it."""
        self.last_root = checkpoint_id
        self._ledger.stored_root(connection, self._run, checkpoint_id, self.base, self.start)
        if self._run.continues:
            change = Change(head=checkpoint_id, touch=False)
            self._threads.change(self._run.owner, self._run.thread_id, change, row=self._run.thread_row)
