"""Threads whose checkpoints were written by hand or by LangGraph alone, opened by the service; nothing is served."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deerflow_lite.config import Config
from deerflow_lite.gateway import Gateway
from deerflow_lite.lifecycle import base
from deerflow_lite.threads.model import NewThread, Thread

FIXTURES = Path(__file__).parent.parent / "fixtures"
MANIFEST: dict[str, dict[str, Any]] = json.loads((FIXTURES / "manifest.json").read_text())
NAMES = ("full", "delta", "moving_full", "moving_delta")
GRAPHS = ",".join(f"{name}=tests.lifecycle.graphs:{name}" for name in NAMES)
OWNER = "default"


@dataclass(frozen=True)
class Stored:
    """One service folder and the threads that its file holds."""

    gateway: Gateway

    def thread(self, thread_id: str, graph: str) -> Thread:
        """Make the row of a thread whose checkpoints are stored already; its head is the newest."""
        with self.gateway.db.writing() as connection:
            newest, oldest = connection.execute(
                "SELECT max(checkpoint_id), min(checkpoint_id) FROM checkpoints"
                " WHERE thread_id = ? AND checkpoint_ns = ''",
                (thread_id,),
            ).fetchone()
            new = NewThread(thread_id, {"graph_id": graph}, root=oldest, head=newest)
            return self.gateway.threads.create(OWNER, new)

    def reading(self, graph: str) -> Any:
        """Give a graph with the saver of the service, without a head of its own."""
        with self.gateway.graphs.opened(graph) as opened:
            return opened.copy(update={"checkpointer": self.gateway.rooms.savers.saver(graph, opened)})

    def execute(self, statement: str, *values: object) -> None:
        with self.gateway.db.writing() as connection:
            connection.execute(statement, values)

    def rows(self) -> dict[str, int]:
        """Count the rows of every table."""
        with self.gateway.db.reading() as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for (name,) in tables}


def opened(folder: Path, fixture: str | None = None, **settings: Any) -> Iterator[Stored]:
    """Open a service on a copy of a stored file, or on an empty one."""
    config = Config(**({"instance": folder, "graphs": GRAPHS} | settings))
    folder.mkdir(parents=True, exist_ok=True)
    if fixture is not None:
        shutil.copy(FIXTURES / f"{fixture}.sqlite", config.database)
    gateway = Gateway.open(config, executing=False)
    try:
        yield Stored(gateway)
    finally:
        gateway.close()


def of(found: Stored, thread: Thread, message_id: str, head: str | None = None) -> str:
    """Give the base of a message at the head, or another one; that nothing is written is checked each time."""
    before = found.rows()
    try:
        return base.replay_base(found.gateway.rooms, thread, message_id, head=head or thread.head or "").checkpoint_id
    finally:
        assert found.rows() == before


def ids(fixture: str, thread_id: str = "t") -> dict[str, str]:
    """Give the checkpoint ids of a fixture by their names."""
    return {row["name"]: row["id"] for row in MANIFEST[fixture]["threads"][thread_id]}
