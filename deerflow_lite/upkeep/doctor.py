"""Looks through the whole file for what is damaged, broken or left over; it repairs none of it.

Only raw rows are read: no graph is asked and a crafted row runs no code. Nothing is written.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from deerflow_lite.checkpoints import chains
from deerflow_lite.checkpoints.chains import Place
from deerflow_lite.db import file
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Page, Thread
from deerflow_lite.upkeep.finding import Finding
from deerflow_lite.upkeep.repair import Repairing

PAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class Examined:
    """What was looked at and what was found, by thread and checkpoint id; `damage` is the file's own, None for none."""

    threads: int
    checkpoints: int
    findings: list[Finding]
    damage: str | None = None


class Doctor:
    """Examines the whole store, whoever owns it."""

    def __init__(self, rooms: Rooms, repairing: Repairing) -> None:
        self._rooms, self._repairing = rooms, repairing

    def examine(self) -> Examined:
        """Check the file, every thread, and the rows that belong to none."""
        with self._rooms.db.reading() as connection:
            damage = file.damage(connection, self._rooms.db.path)
        if damage is not None:
            return Examined(0, 0, [], damage)  # what else would be said of such a file could be wrong
        threads = {thread.thread_id: thread for thread in self.threads()}
        findings: list[Finding] = []
        checkpoints = 0
        with self._rooms.db.reading() as connection:
            for thread_id in sorted({*threads, *chains.thread_ids(connection)}):
                known = chains.links(connection, thread_id)
                checkpoints += len(known)
                findings += _of_thread(connection, thread_id, threads.get(thread_id), known)
            findings += self._repairing.findings(connection)
        return Examined(len(threads), checkpoints, findings)

    def threads(self) -> Iterator[Thread]:
        """Give every thread of every owner."""
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
