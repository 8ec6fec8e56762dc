"""A thread is opened here and nowhere else: its row and its settled root checkpoint in one transaction."""

import dataclasses
from typing import Literal

from deerflow_lite.checkpoints import root, tables
from deerflow_lite.db import Database
from deerflow_lite.errors import ThreadExists
from deerflow_lite.threads.model import NewThread, Thread
from deerflow_lite.threads.store import ThreadStore

IfExists = Literal["do_nothing", "raise"]


class Opening:
    """Makes threads: for POST /threads, for runs with `if_not_exists` and for kept stateless runs."""

    def __init__(self, db: Database, threads: ThreadStore) -> None:
        self._db, self._threads = db, threads

    def create(self, owner: str, new: NewThread, *, if_exists: IfExists = "raise") -> tuple[Thread, bool]:
        """Give the thread and whether it was made now; do_nothing gives a thread of the owner's own unchanged.

        The root gets the id `new.root`, a fresh one where that is None. Raises ThreadExists, ThreadIdTaken, Invalid,
        TooLarge.
        """
        checkpoint_id = new.root or root.new_checkpoint_id()
        with self._db.writing() as connection:
            try:
                thread = self._threads.create(owner, dataclasses.replace(new, root=checkpoint_id))
            except ThreadExists:
                if if_exists == "raise":
                    raise
                return self._threads.get(owner, new.thread_id), False
            tables.allow(connection, new.thread_id)
            root.write_root(connection, new.thread_id, checkpoint_id, thread.created_at)
            return thread, True
