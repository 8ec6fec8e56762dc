"""What the tests of the thread room begin with: threads at known places, whole walks, plain ids."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from deerflow_lite.db import Database
from deerflow_lite.threads.filters import Clause
from deerflow_lite.threads.memory import MemoryThreads
from deerflow_lite.threads.model import Found, HeadValues, NewThread, Page, Thread
from deerflow_lite.threads.store import ThreadStore

EVERYTHING = Page(limit=1000)


def made(store: ThreadStore, thread_id: str, metadata: dict[str, Any] | None = None, owner: str = "U1") -> Thread:
    return store.create(owner, NewThread(thread_id, metadata or {}))


def many(store: ThreadStore, count: int, metadata: dict[str, Any] | None = None, owner: str = "U1") -> list[str]:
    """Make T001, T002, ...; the last one is the newest."""
    return [made(store, f"T{number:03}", metadata, owner).thread_id for number in range(1, count + 1)]


def at(db: Database, store: ThreadStore, thread_id: str, **fields: str) -> None:
    """Give a stored thread other times or another status, as if it had been written then."""
    thread = store.get(None, thread_id)
    if isinstance(store, MemoryThreads):
        store._threads[thread.row] = dataclasses.replace(thread, **fields)
        return
    with db.writing() as connection:
        for name, value in fields.items():
            connection.execute(f"UPDATE threads SET {name} = ? WHERE id = ?", (value, thread.row))


def ids(found: Found | Sequence[Thread]) -> list[str]:
    return [thread.thread_id for thread in (found.threads if isinstance(found, Found) else found)]


def all_ids(store: ThreadStore, *clauses: Clause, owner: str | None = "U1") -> list[str]:
    return ids(store.search(owner, clauses, EVERYTHING))


def pages(store: ThreadStore, clauses: Sequence[Clause], limit: int, owner: str = "U1") -> list[list[str]]:
    """Walk by cursor to the end."""
    walked, cursor = [], None
    while True:
        found = store.search(owner, clauses, Page(limit=limit, cursor=cursor))
        walked.append(ids(found))
        if found.cursor is None:
            return walked
        cursor = found.cursor


def head(checkpoint_id: str, body: str = "{}") -> HeadValues:
    return HeadValues(checkpoint_id, body, False, None, True, "full", "2026-01-01T00:00:00.000000+00:00")
