"""The whole service as one object, without HTTP: it opens the rooms and hands each what it needs.

Opening imports nothing of LangGraph; `start` loads it, with the graphs, in the background.
"""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Self

from deerflow_lite import accounts
from deerflow_lite.accounts import Accounts
from deerflow_lite.checkpoints import tables
from deerflow_lite.config import Config
from deerflow_lite.db import Database
from deerflow_lite.graphs.loader import Graphs
from deerflow_lite.items import tables as items_tables
from deerflow_lite.items.desk import Items
from deerflow_lite.journal import Journal
from deerflow_lite.lifecycle.branch import Branching
from deerflow_lite.lifecycle.convert import Converting
from deerflow_lite.lifecycle.copy import Copying
from deerflow_lite.lifecycle.delete import Deleting
from deerflow_lite.lifecycle.head import Heads
from deerflow_lite.lifecycle.naming import Naming
from deerflow_lite.lifecycle.replay import Replaying
from deerflow_lite.lifecycle.seeding import Seeding
from deerflow_lite.lifecycle.states import States
from deerflow_lite.lifecycle.tree import Trees
from deerflow_lite.lifecycle.update import Updating
from deerflow_lite.runs import schema as runs_schema
from deerflow_lite.runs.desk import Desk
from deerflow_lite.runs.events import EventLog
from deerflow_lite.runs.keeping import Keeping
from deerflow_lite.runs.ledger import Ledger
from deerflow_lite.runs.opening import Opening
from deerflow_lite.runs.recovery import recover
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.runs.savers import Savers
from deerflow_lite.threads import schema as threads_schema
from deerflow_lite.threads.memory import MemoryThreads
from deerflow_lite.threads.sqlite import SqliteThreads
from deerflow_lite.threads.store import ThreadStore
from deerflow_lite.upkeep.adopt import Adopting
from deerflow_lite.upkeep.doctor import Doctor
from deerflow_lite.upkeep.expiry import Expiring
from deerflow_lite.upkeep.latest import Latest
from deerflow_lite.upkeep.prune import Pruning
from deerflow_lite.upkeep.repair import Repairing
from deerflow_lite.upkeep.ticker import Ticker

MIGRATIONS = [
    *threads_schema.MIGRATIONS, *tables.MIGRATIONS, *runs_schema.MIGRATIONS, *items_tables.MIGRATIONS,
    *accounts.MIGRATIONS,
]  # fmt: skip


@dataclass(frozen=True)
class Gateway:
    """The rooms of one service; make it with `open`."""

    config: Config
    db: Database
    threads: ThreadStore
    graphs: Graphs
    items: Items
    rooms: Rooms
    opening: Opening
    seeding: Seeding
    copying: Copying
    deleting: Deleting
    states: States
    updating: Updating
    naming: Naming
    replaying: Replaying
    trees: Trees
    heads: Heads
    runs: Desk
    keeping: Keeping
    ticker: Ticker
    branching: Branching
    converting: Converting
    doctor: Doctor
    repairing: Repairing
    adopting: Adopting
    pruning: Pruning
    latest: Latest
    accounts: Accounts

    @classmethod
    def open(cls, config: Config, *, executing: bool = True) -> Self:
        """Open the file, bring it to the newest form and wire the rooms; raises SettingInvalid, FileRefused.

        With `executing=False` (the command line beside a running service) no run is ever started or recovered here.
        """
        rooms = _opened(config, executing=executing)
        db, threads, states, keeping = rooms.db, rooms.threads, States(rooms), Keeping(rooms)
        trees, pruning = Trees(rooms, states), Pruning(rooms, states, keeping)
        opening, repairing, latest = Opening(db, threads), Repairing(rooms), Latest(rooms, keeping)
        expiring = Expiring(rooms, Deleting(rooms), latest)
        stopped = recover(rooms) if executing else []
        return cls(
            config=config,
            db=db,
            threads=threads,
            graphs=rooms.graphs,
            items=rooms.items,
            rooms=rooms,
            opening=opening,
            seeding=Seeding(rooms, opening),
            copying=Copying(db, threads),
            deleting=Deleting(rooms),
            states=states,
            updating=Updating(rooms, states),
            naming=Naming(rooms, states),
            replaying=Replaying(rooms),
            trees=trees,
            heads=Heads(rooms, states),
            runs=Desk(rooms, opening, keeping, stopped),
            keeping=keeping,
            ticker=Ticker([keeping.sweep, pruning.sweep, expiring.sweep]),
            branching=Branching(rooms),
            converting=Converting(rooms),
            doctor=Doctor(rooms, repairing),
            repairing=repairing,
            adopting=Adopting(rooms),
            pruning=pruning,
            latest=latest,
            accounts=Accounts(db),
        )

    def start(self) -> None:
        """Load the graphs in the background and start to execute what is pending; may be called again."""
        threading.Thread(target=self.graphs.load, name="graphs", daemon=True).start()
        self.runs.start()
        self.ticker.start()

    def stop(self, grace: float) -> None:
        """End the streams and let the runs settle for `grace` seconds; a memory store's file is removed."""
        self.runs.stop(grace)
        self.ticker.stop()
        if self.config.store == "memory":
            _remove(self.config)

    def close(self) -> None:
        """Commit what has queued and close the file."""
        self.stop(0)
        self.rooms.journal.close()
        self.db.close()


@contextmanager
def open_accounts(config: Config) -> Iterator[Accounts]:
    """Open the tokens of a folder alone, beside a service or before its first start."""
    config.instance.mkdir(parents=True, exist_ok=True)
    db = Database(config.database, config.synchronous)
    with closing(db):
        _migrate(db)
        yield Accounts(db)


def _remove(config: Config) -> None:
    for suffix in ("", "-wal", "-shm"):
        config.database.with_name(config.database.name + suffix).unlink(missing_ok=True)


def _migrate(db: Database) -> None:
    with db.reading() as connection:
        tables.refuse_unknown(connection)
    db.migrate(MIGRATIONS)


def _opened(config: Config, *, executing: bool) -> Rooms:
    graphs = Graphs(config)
    config.instance.mkdir(parents=True, exist_ok=True)
    if config.store == "memory":
        _remove(config)
    db = Database(config.database, config.synchronous)
    if executing:
        db.refuse_damaged()
    _migrate(db)
    threads: ThreadStore = MemoryThreads(db) if config.store == "memory" else SqliteThreads(db)
    journal = Journal(db)
    ledger = Ledger(db)
    savers, items = Savers(db, journal, config.allowed_types), Items(db, journal)
    return Rooms(config, db, threads, graphs, journal, ledger, EventLog(db, journal), savers, items)
