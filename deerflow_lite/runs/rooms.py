"""What a run needs of the other rooms, in one record that is handed in; it opens none of them."""

from dataclasses import dataclass

from deerflow_lite.config import Config
from deerflow_lite.db import Database
from deerflow_lite.graphs.loader import Graphs
from deerflow_lite.items.desk import Items
from deerflow_lite.journal import Journal
from deerflow_lite.runs.events import EventLog
from deerflow_lite.runs.ledger import Ledger
from deerflow_lite.runs.savers import Savers
from deerflow_lite.threads.store import ThreadStore


@dataclass(frozen=True, slots=True)
class Rooms:
    """The rooms that runs cross."""

    config: Config
    db: Database
    threads: ThreadStore
    graphs: Graphs
    journal: Journal
    ledger: Ledger
    log: EventLog
    savers: Savers
    items: Items
