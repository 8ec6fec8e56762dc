"""A run that streams thousands of tokens to a client, beside the same graph driven in this process."""

import asyncio
import time
from collections.abc import Iterator
from itertools import count
from typing import Any

from tests.bench.client import Client
from tests.bench.rounds import Effort, Question, measured
from tests.bench.service import folder, run, served, thread
from tests.bench.table import Goal, Line

TOKENS = 5000
GRAPHS = "noop=tests.sample_graphs:noop,echoing=tests.sample_graphs:inner"
NUMBERS = count()


def tokens(effort: Effort) -> Iterator[Line]:
    """Measure turn by turn, each on a thread of its own."""
    with folder() as instance, served(instance, graphs=GRAPHS) as service, Client(service.url) as client:
        run(client, thread(client))
        base = Question(f"floor: {TOKENS:,} tokens in process, no saver", in_process)
        asked = Question(f"{TOKENS:,} tokens streamed", lambda: streamed(client), Goal(1.5, ratio=True))
        yield from measured(base, [asked], Effort(effort.rounds, 1, effort.starts))


def turn() -> dict[str, Any]:
    """Give an input whose echo has that many tokens: words and the blanks between them."""
    words = " ".join(["word"] * (TOKENS // 2))
    return {"messages": [{"type": "human", "content": words, "id": f"m-{next(NUMBERS)}"}]}


def streamed(client: Client) -> float:
    """Give the seconds from the request to the last event."""
    path = thread(client)
    body = {"assistant_id": "echoing", "input": turn(), "stream_mode": ["messages-tuple"]}
    return client.timed("POST", path + "/runs/stream", body)


def in_process() -> float:
    """Give the seconds of the graph alone, its chunks only counted."""
    from tests.sample_graphs import inner

    async def drive() -> int:
        return len([chunk async for chunk in inner.astream(turn(), stream_mode="messages")])

    began = time.perf_counter()
    told = asyncio.run(drive())
    taken = time.perf_counter() - began
    assert TOKENS <= told <= TOKENS + 5, told
    return taken
