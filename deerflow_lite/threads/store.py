"""The promises of a thread store; it does no storing itself, SQLite and Memory keep the same promises.

Every method takes the owner first; None means the whole store and is for migrations and the command line only.
A missing row and a foreign row give the same ThreadUnknown on every verb. A method either does what it says, or
raises, or answers that nothing changed: it is never silent. Methods that write join `db.writing()`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from deerflow_lite.errors import ThreadUnknown
from deerflow_lite.threads.filters import Clause
from deerflow_lite.threads.flags import ArchivedIs
from deerflow_lite.threads.model import Archived, Change, Found, HeadValues, NewThread, Page, Thread

TOTAL_CAP = 10_000
VALUES_BYTES = 8 * 1024 * 1024


def fitting(sizes: Iterable[Sequence[int]]) -> list[int]:
    """Give the rows of (row, bytes) whose bodies fit VALUES_BYTES, in order; one asked for alone always does."""
    rows, left, sizes = [], VALUES_BYTES, list(sizes)
    for row, size in sizes:
        if size <= left or len(sizes) == 1:
            rows.append(row)
            left -= size
    return rows


def kept(clauses: Sequence[Clause]) -> bool:
    """Say whether the total is exact above the cap, too: that of everything, and of one archive flag."""
    return not clauses or (len(clauses) == 1 and isinstance(clauses[0], ArchivedIs))


class ThreadStore(ABC):
    """Threads of every owner, with the values of their heads."""

    @abstractmethod
    def create(self, owner: str, new: NewThread) -> Thread:
        """Add a thread; raises ThreadExists for an id of the owner's own, ThreadIdTaken for anybody else's.

        Takes the id out of the deleted ones.
        """

    @abstractmethod
    def get(self, owner: str | None, thread_id: str) -> Thread:
        """Give the thread or raise ThreadUnknown."""

    @abstractmethod
    def by_row(self, row: int) -> Thread | None:
        """Give the thread of a row number, None when it is gone: a late writer asks this before it writes."""

    @abstractmethod
    def change(self, owner: str | None, thread_id: str, change: Change, *, row: int | None = None) -> Thread:
        """Apply one change atomically and give the thread; raises ThreadUnknown, also when `row` is another one.

        Raises Invalid or TooLarge when the merged metadata is over a limit. Times never go backwards.
        """

    @abstractmethod
    def delete(self, owner: str | None, thread_id: str) -> Thread:
        """Remove the row and its values, remember the id as deleted, give what was removed; raises ThreadUnknown."""

    @abstractmethod
    def search(self, owner: str | None, clauses: Sequence[Clause], page: Page) -> Found:
        """Give owner AND every clause, then order, then the page; nothing is filtered after the cut."""

    @abstractmethod
    def count(self, owner: str | None, clauses: Sequence[Clause]) -> int:
        """Count exactly what a full walk of `search` would give."""

    @abstractmethod
    def archive(
        self, owner: str | None, thread_ids: Sequence[str] | None, older_than: str | None, archived: bool, dry_run: bool
    ) -> Archived:
        """Set the archive flag of the chosen threads in one transaction; touches nothing else.

        Exactly one selector is not None; `older_than` is strict. Raises ThreadUnknown for the first id that is not the
        owner's; the answer is in the order of the ids given, by age the oldest first.
        """

    @abstractmethod
    def values(self, rows: Sequence[Thread]) -> dict[int, HeadValues]:
        """Give the stored values of the heads by row number; bodies that no longer fit VALUES_BYTES are left out."""

    @abstractmethod
    def settled(self, row: int) -> bool | None:
        """Say whether nothing is scheduled on the head, without reading its values; None where they are not stored."""

    @abstractmethod
    def deleted(self, thread_id: str) -> bool:
        """Say whether the id was deleted and not made again since."""

    @abstractmethod
    def with_ttl(self, owner: str | None) -> list[Thread]:
        """Give the threads that have a time to live, in no order."""

    def owned(self, owner: str | None, thread_id: str) -> bool:
        """Say whether `get` would find the thread."""
        try:
            self.get(owner, thread_id)
        except ThreadUnknown:
            return False
        return True
