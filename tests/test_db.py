"""The connections: one writer whose transactions are joined, readers that are lent, and what a failure undoes."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deerflow_lite.db import READERS, Database, DatabaseBusy
from deerflow_lite.errors import FileRefused


def _table(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE notes (text TEXT)")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "file.sqlite")
    database.migrate([("notes", _table)])
    yield database
    database.close()


def notes(db: Database) -> list[str]:
    with db.reading() as connection:
        return [text for (text,) in connection.execute("SELECT text FROM notes ORDER BY text")]


def add(db: Database, text: str) -> None:
    with db.writing() as connection:
        connection.execute("INSERT INTO notes VALUES (?)", (text,))


def test_a_nested_write_joins_the_transaction_and_is_undone_with_it(db: Database) -> None:
    with pytest.raises(ValueError, match="stop"), db.writing():
        add(db, "a")
        assert notes(db) == ["a"]
        raise ValueError("stop")
    assert notes(db) == []


def test_what_is_kept_outside_is_undone_newest_first_and_only_when_the_transaction_fails(db: Database) -> None:
    told: list[str] = []
    with pytest.raises(ValueError, match="stop"), db.writing():
        db.undo(lambda: told.append("first"))
        db.undo(lambda: told.append("second"))
        db.committed(lambda: told.append("committed"))
        raise ValueError("stop")
    assert told == ["second", "first"]
    with db.writing():
        db.undo(lambda: told.append("never"))
        db.committed(lambda: told.append("committed"))
    assert told == ["second", "first", "committed"]


def test_a_savepoint_takes_only_its_own_with_it(db: Database) -> None:
    told: list[str] = []
    with db.writing():
        add(db, "before")
        db.undo(lambda: told.append("outer"))
        with pytest.raises(ValueError, match="stop"), db.savepoint():
            add(db, "inside")
            db.undo(lambda: told.append("inner"))
            db.committed(lambda: told.append("committed"))
            raise ValueError("stop")
        add(db, "after")
    assert (notes(db), told) == (["after", "before"], ["inner"])


def test_a_reader_sees_no_uncommitted_row_of_another_thread(db: Database) -> None:
    seen: list[list[str]] = []
    with db.writing():
        add(db, "a")
        other = threading.Thread(target=lambda: seen.append(notes(db)))
        other.start()
        other.join()
    assert (seen, notes(db)) == ([[]], ["a"])


def test_a_thread_that_reads_within_a_read_is_lent_the_same_connection(db: Database) -> None:
    with db.reading() as outer, db.reading() as inner:
        assert inner is outer
    with db.reading() as again, db.writing() as writer, db.reading() as within:
        assert within is writer is not again


def test_reads_within_reads_of_many_threads_do_not_wait_for_each_other(db: Database) -> None:
    meeting, found = threading.Barrier(READERS), []

    def read() -> None:
        with db.reading():
            meeting.wait(20)
            found.append(notes(db))

    threads = [threading.Thread(target=read) for _ in range(READERS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(20)
    assert found == [[]] * READERS


def test_closing_does_not_wait_for_a_reader_that_was_never_given_back(tmp_path: Path) -> None:
    database = Database(tmp_path / "other.sqlite")
    lent = database.reading()
    lent.__enter__()
    database.close()
    with pytest.raises(sqlite3.ProgrammingError):
        database.writer.execute("SELECT 1")
    lent.__exit__(None, None, None)


def test_a_failed_migration_leaves_nothing_and_is_tried_again(tmp_path: Path) -> None:
    database = Database(tmp_path / "other.sqlite")

    def fail(connection: sqlite3.Connection) -> None:
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        database.migrate([("notes", _table), ("fails", fail)])
    assert database.writer.execute("SELECT name FROM sqlite_master").fetchall() == []
    database.migrate([("notes", _table)])
    database.migrate([("notes", _table)])
    assert notes(database) == []
    database.close()


def test_a_file_of_a_newer_version_is_refused_by_name(db: Database, tmp_path: Path) -> None:
    older = Database(tmp_path / "file.sqlite")
    with pytest.raises(FileRefused, match="file.sqlite was written by a newer version: notes"):
        older.migrate([])
    older.close()


def test_a_file_that_another_program_holds_is_told_as_busy(db: Database, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "file.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    db.writer.execute("PRAGMA busy_timeout = 1")
    with pytest.raises(DatabaseBusy, match="the database is busy"):
        add(db, "a")
    other.execute("ROLLBACK")
    other.close()
    add(db, "b")
    assert notes(db) == ["b"]
