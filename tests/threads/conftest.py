"""Both thread stores, each on a file of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from deerflow_lite.db import Database
from deerflow_lite.threads import schema
from deerflow_lite.threads.memory import MemoryThreads
from deerflow_lite.threads.sqlite import SqliteThreads
from deerflow_lite.threads.store import ThreadStore

STORES = {"sqlite": SqliteThreads, "memory": MemoryThreads}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "threads.sqlite", "normal")
    database.migrate(schema.MIGRATIONS)
    yield database
    database.close()


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, db: Database) -> ThreadStore:
    return STORES[request.param](db)


@pytest.fixture
def sql(db: Database) -> SqliteThreads:
    return SqliteThreads(db)
