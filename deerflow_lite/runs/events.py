"""The log of a run and who follows it; it knows no format of a stream.

Invariants: ids count from 1 without a gap; an event is stored before any follower sees it; a slow follower keeps
nobody waiting, for it only reads a list that grows.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator

from deerflow_lite.db import Database
from deerflow_lite.journal import Journal
from deerflow_lite.runs.model import Event, RunRequest

BROKEN_OFF = b'{"__error__":{"error":"ServiceStopped","message":"the service stopped; ask again once it is back"}}'

TOGETHER = 500
STOPPING = b'{"error":"ServiceStopped","message":"the service stopped; take the stream up again once it is back"}'


class Batch:
    """Events that one queued write takes: all that wait, or those up to `last`."""

    last: int | None = None


class Live:
    """The log of a run in flight: what is committed is in `events`, what is not yet in `pending`.

    `request` is what was asked for with its credentials, None after a restart. `rolled_back`: however the run ends,
    nothing of it stays.
    """

    def __init__(self, row: int, request: RunRequest | None = None) -> None:
        self.row, self.request = row, request
        self.rolled_back = False
        self.broken_off = False
        self.events: list[Event] = []
        self.pending: list[Event] = []
        self.batch: Batch | None = None
        self.ended = False
        self.result: bytes = b"null"
        self.news = threading.Condition()
        self._next = 1

    def note(self, event: str, data: bytes) -> Event:
        """Number an event and let it wait for its commit."""
        with self.news:
            noted = Event(self._next, event, data)
            self._next += 1
            self.pending.append(noted)
        return noted

    def seal(self) -> None:
        """Let what is noted from now on wait for a later write than what is noted so far."""
        with self.news:
            if self.batch is not None:
                self.batch.last, self.batch = self._next - 1, None

    def take(self, batch: Batch | None = None) -> list[Event]:
        """Give what waits for its commit, of a batch or all; the caller stores it."""
        with self.news:
            last = self._next if batch is None or batch.last is None else batch.last
            taken = [event for event in self.pending if event.id <= last]
            self.pending = self.pending[len(taken) :]
            if batch is None or self.batch is batch:
                self.batch = None
        return taken

    def give_back(self, events: list[Event]) -> None:
        """Let events wait again whose commit failed."""
        with self.news:
            self.pending[:0] = events

    @property
    def next_id(self) -> int:
        """The id that the next event gets."""
        return self._next

    def cut(self, first: int) -> None:
        """Take back the events from an id on; none of them has been stored."""
        with self.news:
            self.pending = [event for event in self.pending if event.id < first]
            self._next = first

    def publish(self, events: list[Event], *, ended: bool = False) -> None:
        """Show committed events to the followers."""
        with self.news:
            self.events.extend(events)
            self.ended = self.ended or ended
            self.news.notify_all()

    def end(self, result: bytes, *, broken_off: bool = False) -> None:
        """Show that the run has ended, or that it cannot be followed any longer here."""
        with self.news:
            self.result, self.ended, self.broken_off = result, True, broken_off
            self.news.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the run; says whether it came."""
        until = time.monotonic() + seconds
        with self.news:
            while not self.ended and (left := until - time.monotonic()) > 0:
                self.news.wait(left)
            return self.ended

    def after(self, last: int, seconds: float) -> tuple[list[Event], bool]:
        """Give the events after id `last`, waiting up to `seconds` for the first, and whether the log has ended."""
        with self.news:
            if len(self.events) <= last and not self.ended:
                self.news.wait(seconds)
            return self.events[last:], self.ended


class EventLog:
    """The logs of all runs: in memory while a run is in flight, in the table always."""

    def __init__(self, db: Database, journal: Journal) -> None:
        self._db, self._journal = db, journal
        self._live: dict[int, Live] = {}

    def live(self, row: int) -> Live | None:
        """Give the log of a run in flight."""
        return self._live.get(row)

    def open(self, row: int, request: RunRequest | None = None) -> Live:
        """Begin the log of a run; one that was begun before a restart goes on after its stored events."""
        live = self._live[row] = Live(row, request)
        live.events = self.stored(row)
        live._next = len(live.events) + 1
        return live

    def drop(self, live: Live) -> None:
        """Forget the log of a run that was not stored after all."""
        self._live.pop(live.row, None)

    def append(self, live: Live, event: str, data: bytes, *, behind: bool = False) -> None:
        """Log an event; only the first of a run does not wait for company.

        With `behind` it is stored after whatever the journal was given before, for it tells of that.
        """
        if behind:
            live.seal()
        first = live.note(event, data).id <= 2
        if live.batch is None:
            batch = live.batch = Batch()
            self._journal.write(lambda connection: self.store(connection, live, batch), urgent=first)

    def store(
        self, connection: sqlite3.Connection, live: Live, batch: Batch | None = None, *, ended: bool = False
    ) -> None:
        """Store what waits, in the open transaction; followers see it after the commit."""
        events = live.take(batch)
        self._db.undo(lambda: live.give_back(events))
        connection.executemany(
            "INSERT INTO events (run, id, event, data) VALUES (?, ?, ?, ?)",
            [(live.row, event.id, event.event, event.data) for event in events],
        )
        self._db.committed(lambda: self._publish(live, events, ended))

    def end(self, row: int) -> None:
        """End the log of a run that was deleted before it began."""
        if (live := self._live.get(row)) is not None:
            first = live.next_id
            self._db.undo(lambda: live.cut(first))
            live.note("end", b"null")
            self.discard(live)

    def discard(self, live: Live) -> None:
        """End the log of a run that is no longer stored; who follows it sees it to its end, after the commit."""
        events = live.take()
        self._db.undo(lambda: live.give_back(events))
        self._db.committed(lambda: self._publish(live, events, ended=True))

    def _publish(self, live: Live, events: list[Event], ended: bool) -> None:
        if ended:
            self._live.pop(live.row, None)
        live.publish(events, ended=ended)

    def break_off(self) -> None:
        """Let every follower and waiter go: the service stops, what they followed goes on after its next start."""
        for live in list(self._live.values()):
            if not live.ended:
                live.end(BROKEN_OFF, broken_off=True)

    def stored(self, row: int) -> list[Event]:
        """Give the stored events of a run in flight."""
        with self._db.reading() as connection:
            rows = connection.execute("SELECT id, event, data FROM events WHERE run = ? ORDER BY id", (row,)).fetchall()
        return [Event(*values) for values in rows]


def followed(live: Live, after: int, beat: float) -> Iterator[list[Event]]:
    """Give the events after an id as they are committed, those of one commit together; [] is a heartbeat."""
    ended = False
    after = min(after, len(live.events))
    while not ended:
        events, ended = live.after(after, beat)
        yield from (events[first : first + TOGETHER] for first in range(0, len(events), TOGETHER))
        after += len(events)
        if not events and not ended:
            yield []
    if live.broken_off:
        yield [Event(after, "stopping", STOPPING)]
