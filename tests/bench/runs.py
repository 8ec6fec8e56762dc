"""What is asked about runs and states, with the same graph driven in process beside it."""

from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

from tests.bench import floor
from tests.bench.client import Client
from tests.bench.rounds import Ask, Effort, Question, measured
from tests.bench.service import seeded, thread
from tests.bench.table import Goal, Line
from tests.bench.threads import ok

LONG_TURNS = 50
NUMBERS = count()


def small(effort: Effort) -> Iterator[Line]:
    """Measure everything over 10,000 threads."""
    with seeded(10_000) as client, floor.graphs(lambda: turn()["input"]) as least:
        yield from measured(ok(client), [*running(client), *states(client), *least], effort)


def message(role: str = "human") -> dict[str, Any]:
    """Give a message that no thread has yet."""
    number = next(NUMBERS)
    return {"type": role, "content": f"This is message {number}. " * 8, "id": f"m-{number}"}


def turn(*messages: dict[str, Any]) -> dict[str, Any]:
    """Give the body of a run of the no-op graph."""
    return {"assistant_id": "noop", "input": {"messages": messages or [message()]}}


class Conversation:
    """A thread that gives way to a new one after some turns, so that every round asks the same."""

    def __init__(self, client: Client) -> None:
        self._client, self._left, self._path = client, 0, ""

    def path(self) -> str:
        """Give the path of the thread for one more turn; a new one is made outside the time that counts."""
        if not self._left:
            self._path, self._left = thread(self._client), floor.TURNS
        self._left -= 1
        return self._path


def running(client: Client) -> list[Question]:
    """Give the questions on runs."""
    talk = Conversation(client)

    def first(event: str) -> Ask:
        body = {"stream_mode": ["values"]}
        return lambda: client.until_event(talk.path() + "/runs/stream", turn() | body, event)

    return [
        Question("no-op run, wait", lambda: client.timed("POST", talk.path() + "/runs/wait", turn()), Goal(6)),
        Question("no-op run, stream, first event", first("metadata"), Goal(2)),
        Question("no-op run, stream, first values", first("values"), Goal(6)),
    ]


def states(client: Client) -> list[Question]:
    """Give the questions on a thread of 100 messages."""
    path = thread(client)
    for _ in range(LONG_TURNS):
        client.ask("POST", path + "/runs/wait", turn(message(), message("ai")))
    assert len(client.ask("GET", path + "/state")["values"]["messages"]) == 2 * LONG_TURNS
    return [
        Question("state of 100 messages", partial(client.timed, "GET", path + "/state"), Goal(0.8)),
        Question("history of 10, 100 messages", partial(client.timed, "POST", path + "/history", {}), Goal(4)),
    ]
