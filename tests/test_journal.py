"""The journal: in order, in groups, each item for itself, and heard of after the commit."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deerflow_lite.db import Database
from deerflow_lite.journal import Journal, settled


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "file.sqlite")
    database.migrate(
        [("notes", lambda connection: connection.execute("CREATE TABLE notes (text TEXT UNIQUE)") and None)]
    )
    yield database
    database.close()


@pytest.fixture
def journal(db: Database) -> Iterator[Journal]:
    made = Journal(db)
    yield made
    made.close()


def noting(text: str) -> Callable[[sqlite3.Connection], None]:
    def note(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO notes VALUES (?)", (text,))

    return note


def notes(connection: sqlite3.Connection) -> list[str]:
    return [text for (text,) in connection.execute("SELECT text FROM notes ORDER BY rowid")]


def test_a_refused_write_takes_no_other_with_it_and_hears_its_own_reason(db: Database, journal: Journal) -> None:
    with db.lock:
        asked = [journal.write(noting(text)) for text in ("a", "b", "a", "c")]
    assert [future.exception(20) is None for future in asked] == [True, True, False, True]
    assert isinstance(asked[2].exception(), sqlite3.IntegrityError)
    with db.reading() as connection:
        assert notes(connection) == ["a", "b", "c"]


def test_an_answer_sees_every_write_that_was_queued_before_it_also_one_that_waits_for_company(journal: Journal) -> None:
    for text in ("a", "b", "c"):
        journal.write(noting(text), urgent=False)
    assert journal.ask(notes).result(20) == ["a", "b", "c"]


def test_what_was_heard_is_stored(db: Database, journal: Journal) -> None:
    seen: list[list[str]] = []
    done = threading.Event()

    def heard(_: object) -> None:
        with db.reading() as connection:
            seen.append(notes(connection))
        done.set()

    journal.write(noting("a")).add_done_callback(heard)
    assert done.wait(20)
    assert seen == [["a"]]


def test_closing_commits_what_has_queued(db: Database) -> None:
    journal = Journal(db)
    for number in range(50):
        journal.write(noting(f"{number:02}"), urgent=False)
    journal.close()
    with db.reading() as connection:
        assert notes(connection) == [f"{number:02}" for number in range(50)]


def test_who_is_cancelled_while_waiting_leaves_the_write_and_the_journal_alone(db: Database, journal: Journal) -> None:
    async def waits() -> None:
        with db.lock:
            task = asyncio.ensure_future(settled(journal.write(noting("a"))))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(waits())
    journal.write(noting("b")).result(20)
    assert journal.ask(notes).result(20) == ["a", "b"]
