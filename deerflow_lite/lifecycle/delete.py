"""The end of a thread: every row that carries it, in one transaction; afterwards the id is unknown."""

from deerflow_lite.checkpoints import tables
from deerflow_lite.runs.rooms import Rooms


class Deleting:
    """Deletes threads; a checkpoint that an old run still writes is refused by its row number and by the id."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def delete(self, owner: str | None, thread_id: str) -> None:
        """Remove the thread with its checkpoints, runs and events; raises ThreadUnknown, RunActive."""
        rooms = self._rooms
        with rooms.db.writing() as connection:
            thread = rooms.threads.get(owner, thread_id)
            rooms.ledger.refuse_active(thread)
            for run in rooms.ledger.of_thread(thread.row):  # of those that are not due yet somebody may wait
                rooms.log.end(run.row)
            rooms.ledger.forget(thread.row)
            tables.remove(connection, thread_id)
            tables.refuse(connection, thread_id)
            rooms.threads.delete(owner, thread_id)
