"""Looks through every stored checkpoint for what a lineage cannot be trusted with; it repairs none of it.

Only raw rows are read: no graph is asked and a crafted row runs no code. Nothing is written.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from deerflow_lite.checkpoints import chains
from deerflow_lite.checkpoints.chains import Place
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Page, Thread

PAGE: Final = 1000
_BROKEN: Final = "what comes after it cannot be replayed or branched; a backup of the file may hold it whole"
ADVICE: Final = {
    "dangling": f"its parent is not stored: {_BROKEN}",
    "foreign": f"its parent stands in another thread or namespace: {_BROKEN}",
    "cycle": f"its parents lead back to itself: {_BROKEN}",
    "unreadable": f"its row cannot be decoded: {_BROKEN}",
    "head": "the thread stands on a checkpoint that is not stored: select another with PUT /threads/{thread_id}/head",
    "orphan": "its checkpoints belong to no thread: `deerflow-lite doctor --adopt` shows what would be adopted",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong; `reason` is a key of ADVICE. `checkpoint_id` is None where it is of the whole thread."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str | None
    reason: str

    @property
    def advice(self) -> str:
        """Say in one sentence what it means and what to do."""
        return ADVICE[self.reason]


@dataclass(frozen=True, slots=True)
class Examined:
    """What was looked at and what was found, by thread and checkpoint id."""

    threads: int
    checkpoints: int
    findings: list[Finding]


class Doctor:
    """Examines the whole store, whoever owns it."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def examine(self) -> Examined:
        """Check every thread, and the checkpoints that belong to none."""
        threads = {thread.thread_id: thread for thread in self._threads()}
        findings: list[Finding] = []
        checkpoints = 0
        with self._rooms.db.reading() as connection:
            for thread_id in sorted({*threads, *chains.thread_ids(connection)}):
                known = chains.links(connection, thread_id)
                checkpoints += len(known)
                findings += _of_thread(connection, thread_id, threads.get(thread_id), known)
        return Examined(len(threads), checkpoints, findings)

    def _threads(self) -> Iterator[Thread]:
        cursor = None
        while True:
            found = self._rooms.threads.search(None, [], Page(limit=PAGE, cursor=cursor))
            yield from found.threads
            if not found.more:
                return
            cursor = found.cursor


def _of_thread(
    connection: sqlite3.Connection, thread_id: str, thread: Thread | None, known: dict[Place, str | None]
) -> Iterator[Finding]:
    if thread is None:
        yield Finding(thread_id, "", None, "orphan")
    elif thread.head is not None and ("", thread.head) not in known:
        yield Finding(thread_id, "", thread.head, "head")
    for fault in chains.faults(connection, thread_id, known):
        yield Finding(thread_id, fault.namespace, fault.checkpoint_id, fault.reason)
    # One row at a time: a long thread in full mode is hundreds of megabytes.
    for place in known:
        if not chains.readable(connection, thread_id, place):
            yield Finding(thread_id, *place, "unreadable")
