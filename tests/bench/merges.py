"""Merges of many writers beside many readers, in this process, straight at the thread store.

Readers without a pause keep the interpreter busy, so that writers wait for it and not for the file; readers with one
are what a service sees.

Every writer merges a key of its own into each thread, all at about the same time: one lost merge is one missing key.
"""

import json
import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from deerflow_lite.config import Config
from deerflow_lite.db import DatabaseBusy
from deerflow_lite.gateway import Gateway
from deerflow_lite.threads.model import Change, Page
from tests.bench import seed
from tests.bench.rounds import Effort
from tests.bench.service import folder
from tests.bench.table import Goal, Line

WRITERS, READERS = 8, 8
GOALS = {"full": 1500, "normal": 2500}
PAUSE_SECONDS = 0.002


@dataclass
class Crowd:
    """Writers and readers of one store, and what became of them."""

    gateway: Gateway
    names: list[str]
    label: str
    readers: int = READERS
    pause: float = 0.0
    barrier: threading.Barrier = field(init=False)
    done: threading.Event = field(default_factory=threading.Event)
    reads: int = 0
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.barrier = threading.Barrier(WRITERS + self.readers + 1)

    def write(self, key: str) -> None:
        self.barrier.wait()
        for number, name in enumerate(self.names):
            try:
                self.gateway.threads.change(seed.OWNER, name, Change(metadata={self.label + key: number}))
            except (DatabaseBusy, sqlite3.Error) as error:
                self.refused.append(str(error))

    def read(self, chance: random.Random) -> None:
        self.barrier.wait()
        while not self.done.is_set():
            if chance.random() < 0.1:
                self.gateway.threads.search(seed.OWNER, [], Page(limit=20))
            else:
                self.gateway.threads.get(seed.OWNER, chance.choice(self.names))
            self.reads += 1
            if self.pause:
                self.done.wait(self.pause)

    def lost(self) -> int:
        """Count the keys that are not there."""
        found = [json.loads(self.gateway.threads.get(seed.OWNER, name).metadata) for name in self.names]
        return sum(
            kept.get(f"{self.label}{key}") != number for number, kept in enumerate(found) for key in range(WRITERS)
        )


def merges(effort: Effort) -> Iterator[Line]:
    """Measure both synchronous modes."""
    for mode, goal in GOALS.items():
        with folder() as instance:
            threads = 30 * effort.rounds
            seed.fill(instance, threads)
            gateway = Gateway.open(Config(instance=instance, synchronous=mode), executing=False)
            names, shown = [f"seed-{number:07}" for number in range(threads)], mode.upper()
            yield from crowded(Crowd(gateway, names, f"{shown}, readers"), goal)
            yield from crowded(Crowd(gateway, names, f"{shown}, readers that pause", pause=PAUSE_SECONDS))
            yield from crowded(Crowd(gateway, names, f"{shown}, alone", readers=0))
            gateway.close()


def crowded(crowd: Crowd, goal: float | None = None) -> Iterator[Line]:
    """Let everybody go at once and count."""
    writers = [threading.Thread(target=crowd.write, args=(str(key),)) for key in range(WRITERS)]
    readers = [threading.Thread(target=crowd.read, args=(random.Random(key),)) for key in range(crowd.readers)]
    for thread in (*writers, *readers):
        thread.start()
    crowd.barrier.wait()
    began = time.perf_counter()
    for thread in writers:
        thread.join()
    seconds = time.perf_counter() - began
    crowd.done.set()
    for thread in readers:
        thread.join()
    merged = WRITERS * len(crowd.names)
    yield Line(f"{crowd.label}: merges", merged / seconds, None, Goal(goal, "/s", at_least=True))
    if readers:
        yield Line(f"{crowd.label}: reads", crowd.reads / seconds, None, Goal(None, "/s"))
    yield Line(f"{crowd.label}: merges lost or refused", crowd.lost() + len(crowd.refused), None, Goal(0, ""))
    for reason in sorted(set(crowd.refused)):
        print(f"  refused: {reason}")
