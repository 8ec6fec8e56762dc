"""Threads whose time to live is over are deleted, or cut down to their latest checkpoint; it decides no time."""

from deerflow_lite import clock
from deerflow_lite.errors import Conflict, NotFound
from deerflow_lite.lifecycle.delete import Deleting
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Thread
from deerflow_lite.threads.ttl import expired
from deerflow_lite.upkeep.latest import Latest


class Expiring:
    """Ends what has lived its time."""

    def __init__(self, rooms: Rooms, deleting: Deleting, latest: Latest) -> None:
        self._rooms, self._deleting, self._latest = rooms, deleting, latest

    def sweep(self) -> None:
        """Look at every thread that has a time to live."""
        now = clock.now()
        for thread in self._rooms.threads.with_ttl(None):
            if expired(thread, now):
                try:
                    self._end(thread, now)
                except (NotFound, Conflict):  # deleted or begun to run meanwhile: the next round looks again
                    continue

    def _end(self, thread: Thread, now: str) -> None:
        if thread.ttl_strategy == "keep_latest":
            self._latest.keep(None, thread.thread_id)
            return
        with self._rooms.db.writing():
            known = self._rooms.threads.by_row(thread.row)
            if known is not None and expired(known, now):
                self._deleting.delete(None, known.thread_id)
