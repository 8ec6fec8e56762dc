"""The connections to the one SQLite file: one writer, a few readers, migrations; it knows no table by name.

Invariants: every write happens inside `writing()`, which is one BEGIN IMMEDIATE transaction under the process
lock; nested calls join it; what a store keeps outside SQLite is undone with the transaction (`undo`).
"""

import queue
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from deerflow_lite.db import file
from deerflow_lite.errors import FileRefused, SettingInvalid, Unavailable

READERS = 4
BUSY_SECONDS = 5.0
LENT_SECONDS = 0.2
CACHE_KIB = 16 * 1024
PIECE_PAGES = 1000
Migration = tuple[str, Callable[[sqlite3.Connection], None]]


class DatabaseBusy(Unavailable):
    """Another process held the file longer than the busy timeout."""


@dataclass
class Transaction:
    """What belongs to the open write transaction besides its SQL."""

    undo: list[Callable[[], None]] = field(default_factory=list)
    committed: list[Callable[[], None]] = field(default_factory=list)

    def roll_back_to(self, mark: int) -> None:
        while len(self.undo) > mark:
            self.undo.pop()()


@dataclass(slots=True)
class Waited:
    """How many write transactions began, the seconds that they waited for it, and how many gave up."""

    number: int = 0
    seconds: float = 0.0
    refused: int = 0

    def note(self, seconds: float) -> None:
        self.number += 1
        self.seconds += seconds


class Database:
    """One SQLite file; share one object between all threads of the process."""

    def __init__(self, path: Path, synchronous: str = "full") -> None:
        if sqlite3.sqlite_version_info < (3, 38):
            raise SettingInvalid(f"SQLite 3.38 or newer is needed, this Python has {sqlite3.sqlite_version}")
        self.path = path
        self.lock = threading.RLock()
        self.waited = Waited()
        self._synchronous = synchronous
        self._transaction: Transaction | None = None
        self.writer = self._connect()
        self._lent = threading.local()
        self._reading = [self._connect() for _ in range(READERS)]
        self._readers: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        for connection in self._reading:
            connection.execute("PRAGMA query_only=ON")
            self._readers.put(connection)

    def _connect(self) -> sqlite3.Connection:
        with file.explained(self.path):
            connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=512
            )
            connection.text_factory = file.TEXT
            try:
                connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # of a new file, before anything is in it
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute(f"PRAGMA synchronous={'FULL' if self._synchronous == 'full' else 'NORMAL'}")
                connection.execute("PRAGMA foreign_keys=ON")
                connection.execute("PRAGMA recursive_triggers=ON")
                connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
            except sqlite3.Error:
                connection.close()
                raise
        return connection

    def function(self, name: str, arguments: int, call: Callable[..., str | int | float | None]) -> None:
        """Register a deterministic Python function on the writer connection."""
        self.writer.create_function(name, arguments, call, deterministic=True)

    def migrate(self, migrations: Sequence[Migration]) -> None:
        """Apply the migrations that this file has not seen, each name once, in one transaction.

        A file that holds something is copied first, as it is. Raises FileRefused, also for a file of a newer version.
        """
        with file.explained(self.path), self.writing() as connection:
            fresh = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None
            connection.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) WITHOUT ROWID")
            seen = {name for (name,) in connection.execute("SELECT name FROM migrations")}
            newer = seen - {name for name, _ in migrations}
            if newer:
                raise FileRefused(f"{self.path.name} was written by a newer version: {', '.join(sorted(newer))}")
            missing = [(name, apply) for name, apply in migrations if name not in seen]
            if missing and not fresh:
                file.copy(self.path, self._before(missing[0][0]))
            if missing:
                self._apply(connection, missing)

    def _before(self, migration: str) -> Path:
        """Name the copy made before a migration; one that is tried again replaces the copy of the first try."""
        return self.path.with_name(f"{self.path.name}.before-{re.sub('[^a-z0-9]+', '-', migration.lower())}")

    def refuse_damaged(self) -> None:
        """Raise FileRefused for a damaged file, as far as that can be told within a start."""
        file.refuse_damaged(self.writer, self.path)

    def _apply(self, connection: sqlite3.Connection, missing: Sequence[Migration]) -> None:
        """Imports sqlite-utils, which takes as long as half a start, only when there is something to migrate."""
        import sqlite_utils

        done = sqlite_utils.Database(connection).table("migrations")
        for name, apply in missing:
            apply(connection)
            done.insert({"name": name})

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the one write transaction; nested use joins it, an error undoes all of it."""
        asked = time.perf_counter()
        with self.lock:
            if self._transaction is not None:
                yield self.writer
                return
            self._begin()
            self.waited.note(time.perf_counter() - asked)
            transaction = self._transaction = Transaction()
            try:
                yield self.writer
                self.writer.execute("COMMIT")
            except BaseException:
                if self.writer.in_transaction:
                    self.writer.execute("ROLLBACK")
                transaction.roll_back_to(0)
                raise
            finally:
                self._transaction = None
            for call in transaction.committed:
                call()

    def _begin(self) -> None:
        try:
            self.writer.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            self.waited.refused += 1
            raise DatabaseBusy("the database is busy; another program holds it") from None

    @contextmanager
    def savepoint(self) -> Iterator[sqlite3.Connection]:
        """Undo only what happens inside when it fails; for use inside `writing()`."""
        transaction = self._transaction
        assert transaction is not None, "a savepoint stands inside writing()"
        mark, told = len(transaction.undo), len(transaction.committed)
        self.writer.execute("SAVEPOINT item")
        try:
            yield self.writer
        except BaseException:
            self.writer.execute("ROLLBACK TO item")
            transaction.roll_back_to(mark)
            del transaction.committed[told:]
            raise
        finally:
            self.writer.execute("RELEASE item")

    def undo(self, call: Callable[[], None]) -> None:
        """Note how to take back a change kept outside SQLite, should the open transaction fail."""
        assert self._transaction is not None, "undo stands inside writing()"
        self._transaction.undo.append(call)

    def committed(self, call: Callable[[], None]) -> None:
        """Call when the open transaction has been committed."""
        assert self._transaction is not None, "committed stands inside writing()"
        self._transaction.committed.append(call)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for reads; inside `writing()` it is the writer, which sees its own rows.

        A thread that reads within a read is lent the same one: waiting for a second could wait for ever.
        """
        if self._transaction is not None and self._mine():
            yield self.writer
            return
        held: list[sqlite3.Connection] = getattr(self._lent, "held", [])
        if held:
            yield held[0]
            return
        connection = self._readers.get()
        held = self._lent.held = [connection]
        try:
            yield connection
        finally:
            held.clear()
            self._readers.put(connection)

    def give_back(self) -> None:
        """Give the disk what the file no longer needs, a piece at a time: others write in between.

        A file that was made without this ability is rewritten once, which keeps writers waiting.
        """
        with self.lock:
            if self.writer.execute("PRAGMA auto_vacuum").fetchone()[0] == 0:
                self.writer.execute("VACUUM")  # the wish for `auto_vacuum` of the connection is met by it
        while self.writer.execute("PRAGMA freelist_count").fetchone()[0]:
            with self.writing() as connection:
                connection.execute(f"PRAGMA incremental_vacuum({PIECE_PAGES})").fetchall()
        with self.lock:
            self.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def sizes(self) -> dict[str, int]:
        """Give the bytes of the file and of the log of writes beside it."""
        wal = self.path.with_name(self.path.name + "-wal")
        with suppress(FileNotFoundError):
            return {"database": self.path.stat().st_size, "wal": wal.stat().st_size}
        return {"database": self.path.stat().st_size, "wal": 0}

    def _mine(self) -> bool:
        if not self.lock.acquire(blocking=False):
            return False
        mine = self._transaction is not None
        self.lock.release()
        return mine

    def close(self) -> None:
        """Close every connection, a lent one after a short wait; the last to close folds the WAL into the file."""
        with self.lock:
            for connection in self._reading:
                with suppress(queue.Empty):
                    self._readers.get(timeout=LENT_SECONDS)
                connection.close()
            self.writer.close()
