"""What no service here can be faster than: the disk's own commit and the same graph in this process."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from typing import Any

from tests.bench.rounds import Question
from tests.bench.service import folder

TURNS = 12


@contextmanager
def commit() -> Iterator[Question]:
    """Lend the question of one row written and synced."""
    with _file() as connection:
        connection.execute("CREATE TABLE rows (number INTEGER)")
        yield Question("floor: one commit, FULL", partial(_commit, connection))


@contextmanager
def graphs(turn: Callable[[], dict[str, Any]]) -> Iterator[list[Question]]:
    """Lend the questions of the no-op graph, without a saver and with LangGraph's own; `turn` makes an input."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    from tests.sample_graphs import noop

    with _file() as connection:
        stored, number = noop.copy(update={"checkpointer": SqliteSaver(connection)}), count()

        def run(graph: Any) -> float:
            config = {"configurable": {"thread_id": f"floor-{next(number) // TURNS}"}}
            given = turn()
            began = time.perf_counter()
            graph.invoke(given, config)
            return time.perf_counter() - began

        yield [
            Question("floor: in process, no saver", partial(run, noop)),
            Question("floor: in process, LangGraph's SqliteSaver", partial(run, stored)),
        ]


@contextmanager
def _file() -> Iterator[sqlite3.Connection]:
    with folder() as instance:
        instance.mkdir()
        path = instance / "floor.sqlite"
        with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            yield connection


def _commit(connection: sqlite3.Connection) -> float:
    began = time.perf_counter()
    connection.execute("INSERT INTO rows (number) VALUES (1)")
    return time.perf_counter() - began
