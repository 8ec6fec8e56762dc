"""One thread that commits in groups what runs write; it does not know what an item means.

Items are committed in the order they came, all that has queued in one transaction, each in a savepoint of its own:
one refused item takes no other with it. Whoever waits for an item hears of it after the commit, so what was heard is
stored. An answer to `ask` sees every item queued before it.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final

from deerflow_lite.db import Database, DatabaseBusy

GROUP_SECONDS: Final = 0.02
GROUP_ITEMS: Final = 2000
_log = logging.getLogger(__name__)

Action = Callable[[sqlite3.Connection], Any]


@dataclass(slots=True)
class _Item:
    action: Action
    urgent: bool
    guarded: bool
    done: Future[Any]


class Journal:
    """The queue of writes of the runs; `close` commits what has queued."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._queue: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def write(self, action: Action, *, urgent: bool = True) -> Future[Any]:
        """Queue a write; the future ends after its commit, with what the action gave or raised.

        What is not urgent may wait up to GROUP_SECONDS for company.
        """
        return self._put(_Item(action, urgent, True, Future()))

    def ask(self, action: Action) -> Future[Any]:
        """Queue a read that sees every write queued before it."""
        return self._put(_Item(action, True, False, Future()))

    def _put(self, item: _Item) -> Future[Any]:
        self._queue.put(item)
        return item.done

    def close(self) -> None:
        """Commit what has queued and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (group := self._gather()) is not None:
            self._commit(group)

    def _gather(self) -> list[_Item] | None:
        """Wait for the next group; None when the journal is closed and empty."""
        first = self._queue.get()
        if first is None:
            return None
        group, until = [first], time.monotonic() + GROUP_SECONDS
        urgent = first.urgent
        while len(group) < GROUP_ITEMS:
            try:
                item = self._queue.get(timeout=0 if urgent else max(0.0, until - time.monotonic()))
            except queue.Empty:
                break
            if item is None:
                self._queue.put(None)
                break
            group.append(item)
            urgent = urgent or item.urgent
        return group

    def _commit(self, group: list[_Item]) -> None:
        answers: list[tuple[_Item, Any, BaseException | None]] = []
        while True:
            answers.clear()
            try:
                with self._db.writing() as connection:
                    answers.extend((item, *self._answer(connection, item)) for item in group)
            except DatabaseBusy:
                _log.warning("the database is held by another program; %d writes wait", len(group))
                continue
            except sqlite3.Error as error:
                _log.error("%d writes failed", len(group), exc_info=True)
                answers = [(item, None, error) for item in group]
            break
        for item, value, failure in answers:
            if failure is None:
                item.done.set_result(value)
            else:
                item.done.set_exception(failure)

    def _answer(self, connection: sqlite3.Connection, item: _Item) -> tuple[Any, BaseException | None]:
        try:
            if not item.guarded:
                return item.action(connection), None
            with self._db.savepoint():
                return item.action(connection), None
        except sqlite3.OperationalError:
            raise
        except BaseException as error:
            return None, error


async def settled(future: Future[Any]) -> Any:
    """Await a future of the journal from an event loop; whoever is cancelled meanwhile leaves the write alone."""
    return await asyncio.shield(asyncio.wrap_future(future))
