"""The file as a whole: why it cannot be used, whether it is damaged, a copy of it; it knows no table.

Invariants: what cannot be used is refused in one sentence and left as it is; a copy is one snapshot, checked, and
stands under its name whole or not at all.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from deerflow_lite.errors import FileRefused

# How text is read: what is no UTF-8, which other programs can store, would end the reading of every row.
TEXT: Final = partial(str, encoding="utf-8", errors="replace")
# About 30 ms of a start; `doctor` checks a file of any size.
CHECKED_BYTES: Final = 64 * 1024 * 1024
_REASONS: Final = {
    sqlite3.SQLITE_NOTADB: "is not a SQLite database",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore a backup of it",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full",
    sqlite3.SQLITE_READONLY: "cannot be written: it or its folder is read-only",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened in its folder",
    sqlite3.SQLITE_PERM: "may not be read and written by this user",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk reports an error",
    sqlite3.SQLITE_BUSY: "is held by another program",
}
_PRIMARY: Final = 0xFF


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise FileRefused, naming the file and the reason, for what SQLite reports of it as a whole."""
    try:
        yield
    except sqlite3.Error as error:
        reason = _REASONS.get(getattr(error, "sqlite_errorcode", -1) & _PRIMARY)
        if reason is None:
            raise
        raise FileRefused(f"{path} {reason}") from error


def damage(connection: sqlite3.Connection, path: Path) -> str | None:
    """Give the first damage that a check of every page and index finds, None where there is none."""
    try:
        (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        found = str(error)
    return None if found == "ok" else f"{path} is damaged: {' '.join(str(found).split())}"


def refuse_damaged(connection: sqlite3.Connection, path: Path) -> None:
    """Raise FileRefused for a file that is damaged; a larger one than CHECKED_BYTES is only opened."""
    with explained(path):
        if path.stat().st_size <= CHECKED_BYTES:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise FileRefused(f"{path} is damaged; restore a backup of it ({' '.join(str(found).split())})")


def copy(source: Path, target: Path) -> int:
    """Copy a database that may be in use, replacing the target, and give the size in bytes.

    It holds every write that was committed before the call. Raises FileRefused, OSError.
    """
    part = target.with_name(target.name + ".part")
    try:
        part.unlink(missing_ok=True)
        with explained(source), closing(sqlite3.connect(source, timeout=30)) as read:
            _snapshot(read, part)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        size = part.stat().st_size
        part.replace(target)
        return size
    finally:
        part.unlink(missing_ok=True)


def _snapshot(read: sqlite3.Connection, part: Path) -> None:
    with explained(part), closing(sqlite3.connect(part)) as written:
        read.backup(written)  # in one step: in several, each write of another process would begin it anew
        written.execute("PRAGMA journal_mode=DELETE")
        found = damage(written, part)
        if found is not None:
            raise FileRefused(found)
