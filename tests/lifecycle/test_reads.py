"""What going back in a conversation reads: rows of its own thread, each state once; told by the statements sent."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from deerflow_lite.checkpoints.mutation import carried
from deerflow_lite.db import READERS, Database
from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.service import Service

OTHERS = 5_000
NO_TABLES = {"SCAN json_each VIRTUAL TABLE INDEX 1:", "SCAN ancestors", "SCAN a"}  # the last two are LangGraph's own
ROW = "SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints"
STATE = "SELECT thread_id, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints"


@pytest.fixture(params=["full", "delta"])
def talk(request: pytest.FixtureRequest, serve: Callable[..., Service]) -> Talk:
    made = Talk(serve(graphs=GRAPHS), request.param)
    for number in range(3):
        made.say(f"question {number}", f"h{number}")
    return made


@contextmanager
def traced(database: Database) -> Iterator[list[str]]:
    """Give what this thread sends meanwhile by any connection, with the values; the runner's own goes on beside it."""
    sent: list[str] = []
    own = threading.get_ident()

    def hear(text: str) -> None:
        if threading.get_ident() == own:
            sent.append(text)

    with ExitStack() as stack:
        connections = [database.writer, *(database._readers.get() for _ in range(READERS))]
        for connection in connections:
            connection.set_trace_callback(hear)
            stack.callback(connection.set_trace_callback, None)
        for connection in connections[1:]:
            database._readers.put(connection)
        yield sent


def answer(talk: Talk) -> str:
    return str(talk.service.state(talk.id)["values"]["messages"][-1]["id"])


def went_back(talk: Talk) -> dict[str, Callable[[], object]]:
    """Give the verbs that look for where a turn began."""
    message = {"message_id": answer(talk)}
    ask, thread = talk.service.ask, f"/threads/{talk.id}"
    return {
        "tree": talk.tree,
        "prepare": lambda: ask("POST", f"{thread}/runs/regenerate/prepare", message),
        "branch": lambda: ask("POST", f"{thread}/branches", message),
    }


def sent_by(talk: Talk, verb: str) -> list[str]:
    call = went_back(talk)[verb]
    call()
    with traced(talk.service.gateway.db) as sent:
        call()
    return sent


def beside(connection: sqlite3.Connection) -> None:
    """Store runs, checkpoints and writes of many other threads."""
    for table, *keys in (("runs", "thread_row", "run_id"), ("checkpoints", "thread_id"), ("writes", "thread_id")):
        names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
        names = [name for name in names if name not in ("row", *keys)]
        others = ["1000 + number" if key == "thread_row" else "'other' || number" for key in keys]
        connection.execute(
            f"INSERT INTO {table} ({', '.join([*keys, *names])}) WITH RECURSIVE numbers(number) AS"
            f" (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {OTHERS})"
            f" SELECT {', '.join([*others, *names])} FROM numbers, (SELECT * FROM {table} LIMIT 1)"
        )


def steps(talk: Talk, verb: str) -> list[str]:
    """Give how SQLite finds what a verb selects."""
    asked = [text for text in sent_by(talk, verb) if text.lstrip().startswith(("SELECT", "WITH"))]
    with talk.service.gateway.db.reading() as connection:
        return [row[3] for text in asked for row in connection.execute(f"EXPLAIN QUERY PLAN {text}")]


@pytest.mark.parametrize("verb", ["tree", "prepare", "branch"])
def test_no_table_is_scanned_to_go_back_and_no_thread_to_find_where(talk: Talk, verb: str) -> None:
    with talk.service.gateway.db.writing() as connection:
        beside(connection)
    for statistics in ("DROP TABLE IF EXISTS sqlite_stat1", "ANALYZE"):
        with talk.service.gateway.db.writing() as connection:
            connection.execute(statistics)
        found = steps(talk, verb)
        assert [one for one in found if one.startswith("SCAN") and one not in NO_TABLES] == []
        wide = [one for one in found if " checkpoints " in one or " writes " in one]
        assert wide
        assert verb == "tree" or [one for one in wide if "checkpoint_id=?" not in one] == []


def test_a_tree_sends_as_many_statements_for_many_turns_as_for_few_and_reads_no_input(talk: Talk) -> None:
    few = sent_by(talk, "tree")
    for number in range(3, 9):
        talk.say(f"question {number}", f"h{number}")
    many = sent_by(talk, "tree")
    assert len(talk.tree()["turns"]) == 9
    assert len(many) == len(few)
    assert [text for text in many if "kwargs" in text] == []


@pytest.mark.parametrize("talk", ["delta"], indirect=True)
def test_what_is_folded_is_read_once_and_nothing_of_the_runs(talk: Talk) -> None:
    sent = sent_by(talk, "prepare")
    head, *folded = [text for text in sent if text.startswith(ROW)]  # the head is looked at before, for its mode
    assert (len(folded), len(set(folded)), folded[0]) == (4, 4, head)
    assert [text for text in sent if " runs " in text] == []


def test_the_graph_reads_the_base_once_to_prepare_and_the_two_ends_of_a_turn_once_each_to_branch(talk: Talk) -> None:
    turn = talk.tree()["turns"][-1]
    base, end = turn["base_checkpoint_id"], turn["checkpoint_id"]
    for verb, wanted in {"prepare": [base], "branch": [base, end]}.items():
        read = [text for text in sent_by(talk, verb) if text.startswith(STATE)]
        assert [one for text in read for one in (base, end) if one in text] == wanted
        assert len(read) == len(wanted)


def test_messages_that_states_share_are_built_once_for_a_verb_that_reads_many(talk: Talk) -> None:
    rooms, turn = talk.service.gateway.rooms, talk.tree()["turns"][-1]
    with rooms.graphs.opened(talk.graph) as graph:
        many = rooms.savers.remembering()
        first, second = (
            carried(graph, many.saver(talk.graph, graph), talk.id, turn[name]).values["messages"]
            for name in ("base_checkpoint_id", "checkpoint_id")
        )
        alone = carried(graph, rooms.savers.saver(talk.graph, graph), talk.id, turn["checkpoint_id"]).values["messages"]
    assert (len(first), len(second)) == (4, 6)
    assert all(one is same for one, same in zip(first, second, strict=False))
    assert alone == second
    assert not any(one is other for one, other in zip(alone, second, strict=True))
