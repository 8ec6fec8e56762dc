"""Threads in the memory of one process; it keeps every promise of the SQLite store and nothing on disk.

Invariants: rows change only with the SQLite transaction of the rest, an undo is noted for each; whoever reads waits
for an open transaction of another thread; row numbers are never given twice.
"""

from collections.abc import Sequence
from typing import Any

from deerflow_lite import clock
from deerflow_lite.db import Database
from deerflow_lite.errors import ThreadExists, ThreadIdTaken, ThreadUnknown
from deerflow_lite.threads import changing, flags, order
from deerflow_lite.threads.filters import Clause
from deerflow_lite.threads.model import ABSENT, Archived, Change, Found, HeadValues, NewThread, Page, Thread
from deerflow_lite.threads.store import TOTAL_CAP, ThreadStore, fitting, kept


class MemoryThreads(ThreadStore):
    """The thread store of one process; `db` is where the rest of the service writes."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._threads: dict[int, Thread] = {}
        self._rows: dict[str, int] = {}
        self._values: dict[int, HeadValues] = {}
        self._deleted: set[str] = set()
        self._last_row = 0

    def create(self, owner: str, new: NewThread) -> Thread:
        with self._db.writing():
            thread = changing.opened(self._last_row + 1, owner, new, clock.now())
            taken = self._rows.get(new.thread_id)
            if taken is not None:
                raise ThreadExists(new.thread_id) if self._threads[taken].owner == owner else ThreadIdTaken()
            self._last_row = thread.row
            self._put(self._rows, thread.thread_id, thread.row)
            self._put(self._threads, thread.row, thread)
            self._mark(thread.thread_id, deleted=False)
            return thread

    def get(self, owner: str | None, thread_id: str) -> Thread:
        with self._db.lock:
            thread = self._threads.get(self._rows.get(thread_id, 0))
        if thread is None or owner not in (None, thread.owner):
            raise ThreadUnknown(thread_id)
        return thread

    def by_row(self, row: int) -> Thread | None:
        with self._db.lock:
            return self._threads.get(row)

    def change(self, owner: str | None, thread_id: str, change: Change, *, row: int | None = None) -> Thread:
        with self._db.writing():
            old = self.get(owner, thread_id)
            if row is not None and old.row != row:
                raise ThreadUnknown(thread_id)
            new = changing.applied(old, change, clock.now())
            self._put(self._threads, old.row, new)
            if change.values is not ABSENT:
                self._put(self._values, old.row, change.values)
            return new

    def delete(self, owner: str | None, thread_id: str) -> Thread:
        with self._db.writing():
            thread = self.get(owner, thread_id)
            self._put(self._rows, thread_id, None)
            self._put(self._threads, thread.row, None)
            self._put(self._values, thread.row, None)
            self._mark(thread_id, deleted=True)
            return thread

    def search(self, owner: str | None, clauses: Sequence[Clause], page: Page) -> Found:
        matches = sorted(self._matches(owner, clauses), key=order.sort_key(page), reverse=order.descending(page))
        total = len(matches)
        capped = total > TOTAL_CAP and not kept(clauses)
        if page.cursor is not None:
            matches = [thread for thread in matches if order.place(thread) < page.cursor]
        threads = matches[page.offset : page.offset + page.limit]
        more = len(matches) > page.offset + page.limit
        cursor = order.place(threads[-1]) if more and order.sort_name(page) is None else None
        return Found(threads, TOTAL_CAP if capped else total, capped, more, cursor)

    def count(self, owner: str | None, clauses: Sequence[Clause]) -> int:
        return len(self._matches(owner, clauses))

    def archive(
        self, owner: str | None, thread_ids: Sequence[str] | None, older_than: str | None, archived: bool, dry_run: bool
    ) -> Archived:
        with self._db.lock if dry_run else self._db.writing():
            chosen = self._chosen(owner, thread_ids, older_than)
            changed = [thread for thread in chosen if flags.archived(thread) is not archived]
            patch = Change(metadata=flags.archiving(archived))
            after = [changing.applied(thread, patch, clock.now()) for thread in changed]
            for thread in () if dry_run else after:
                self._put(self._threads, thread.row, thread)
            return Archived(len(chosen), len(changed), [thread.thread_id for thread in changed])

    def values(self, rows: Sequence[Thread]) -> dict[int, HeadValues]:
        with self._db.lock:
            heads = {thread.row: self._head_values(thread.row) for thread in rows}
        stored = {row: values for row, values in heads.items() if values is not None}
        return {row: stored[row] for row in fitting([(row, len(v.body.encode())) for row, v in stored.items()])}

    def settled(self, row: int) -> bool | None:
        with self._db.lock:
            values = self._head_values(row)
        return None if values is None else values.settled

    def deleted(self, thread_id: str) -> bool:
        with self._db.lock:
            return thread_id in self._deleted

    def with_ttl(self, owner: str | None) -> list[Thread]:
        return [thread for thread in self._matches(owner, ()) if thread.ttl_minutes is not None]

    def _matches(self, owner: str | None, clauses: Sequence[Clause]) -> list[Thread]:
        with self._db.lock:
            rows = [(thread, self._values.get(row)) for row, thread in self._threads.items()]
        mine = [pair for pair in rows if owner in (None, pair[0].owner)]
        return [thread for thread, values in mine if all(clause.matches(thread, values) for clause in clauses)]

    def _chosen(self, owner: str | None, thread_ids: Sequence[str] | None, older_than: str | None) -> list[Thread]:
        if thread_ids is not None:
            return [self.get(owner, thread_id) for thread_id in dict.fromkeys(thread_ids)]
        before = [thread for thread in self._matches(owner, ()) if thread.updated_at < (older_than or "")]
        return sorted(before, key=lambda thread: (thread.updated_at, thread.thread_id))

    def _head_values(self, row: int) -> HeadValues | None:
        thread, values = self._threads.get(row), self._values.get(row)
        if thread is None or values is None or values.checkpoint_id != (thread.head or thread.root):
            return None
        return values

    def _put(self, table: dict[Any, Any], key: int | str, value: object) -> None:
        """Set or (None) remove one entry, and note how to take that back."""
        before = table.get(key)
        self._db.undo(lambda: _set(table, key, before))
        _set(table, key, value)

    def _mark(self, thread_id: str, deleted: bool) -> None:
        if deleted is (thread_id in self._deleted):
            return
        change, back = self._deleted.add, self._deleted.remove
        if not deleted:
            change, back = back, change
        self._db.undo(lambda: back(thread_id))
        change(thread_id)


def _set(table: dict[Any, Any], key: int | str, value: object) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value
