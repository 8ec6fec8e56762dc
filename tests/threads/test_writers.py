"""Many writers at once, as threads and as processes: nothing is lost and nothing is made twice."""

import json
import multiprocessing
import threading
from pathlib import Path

from deerflow_lite.db import Database
from deerflow_lite.errors import ThreadExists
from deerflow_lite.threads import schema
from deerflow_lite.threads.model import Change
from deerflow_lite.threads.sqlite import SqliteThreads
from deerflow_lite.threads.store import ThreadStore
from tests.threads.given import all_ids, made


def patch_fifty_keys(path: Path, name: str, start: "threading.Barrier") -> None:
    db = Database(path, "normal")
    db.migrate(schema.MIGRATIONS)
    store = SqliteThreads(db)
    start.wait(60)
    for number in range(50):
        store.change("U1", "T1", Change(metadata={f"{name}{number}": number}))
    db.close()


def test_two_processes_that_merge_fifty_keys_each_at_once_lose_none(db: Database, sql: SqliteThreads) -> None:
    made(sql, "T1", {"first": True})
    spawn = multiprocessing.get_context("spawn")
    start = spawn.Barrier(2)
    writers = [spawn.Process(target=patch_fifty_keys, args=(db.path, name, start)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0, 0]
    expected = {"first": True} | {f"{name}{number}": number for name in "ab" for number in range(50)}
    assert json.loads(sql.get("U1", "T1").metadata) == expected


def test_threads_that_merge_at_once_lose_none(store: ThreadStore) -> None:
    made(store, "T1")
    start = threading.Barrier(4)

    def write(name: str) -> None:
        start.wait(60)
        for number in range(25):
            store.change("U1", "T1", Change(metadata={f"{name}{number}": number}))

    run_all([threading.Thread(target=write, args=(name,)) for name in "abcd"])
    assert len(json.loads(store.get("U1", "T1").metadata)) == 100


def test_twenty_creates_of_one_id_at_once_make_one_thread(store: ThreadStore) -> None:
    start = threading.Barrier(20)
    made_by: list[int] = []
    refused: list[int] = []

    def create(number: int) -> None:
        start.wait(60)
        try:
            made(store, "T1", {"by": number})
            made_by.append(number)
        except ThreadExists:
            refused.append(number)

    run_all([threading.Thread(target=create, args=(number,)) for number in range(20)])
    assert (len(made_by), len(refused), all_ids(store)) == (1, 19, ["T1"])
    assert json.loads(store.get("U1", "T1").metadata) == {"by": made_by[0]}


def test_nobody_sees_what_is_not_committed(db: Database, store: ThreadStore) -> None:
    made(store, "T1")
    inside, seen = threading.Event(), []

    def read() -> None:
        inside.wait(60)
        seen.append(store.get("U1", "T1").status)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with db.writing():
            store.change("U1", "T1", Change(status="busy"))
            assert store.get("U1", "T1").status == "busy"
            inside.set()
            raise InterruptedError
    except InterruptedError:
        reader.join(60)
    assert seen == ["idle"]


def run_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
