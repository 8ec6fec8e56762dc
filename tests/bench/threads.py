"""What is asked about threads: create, read, patch, search, count."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, cycle
from typing import Any

from tests.bench import floor
from tests.bench.client import Client
from tests.bench.rounds import Effort, Question, measured
from tests.bench.service import seeded, thread
from tests.bench.table import Goal, Line

PAGE = {"limit": 50}
SEARCHES: dict[str, tuple[dict[str, Any], float, float]] = {
    "search, first page of 50": ({}, 1.5, 1.5),
    "search, metadata, 1 % match": ({"metadata": {"bucket": "b7"}}, 2, 3),
    "search, metadata, no match": ({"metadata": {"bucket": "none"}}, 1, 1),
    "search, archived": ({"archived": True}, 1.5, 1.5),
    "search, not archived": ({"archived": False}, 1.5, 1.5),
}


def ok(client: Client) -> Question:
    """Give what everything else is compared with."""
    return Question("GET /api/ok", partial(client.timed, "GET", "/api/ok"))


def small(effort: Effort) -> Iterator[Line]:
    """Measure everything over 10,000 threads."""
    yield from over(10_000, effort)


def large(effort: Effort) -> Iterator[Line]:
    """Measure everything over 100,000 threads."""
    yield from over(100_000, effort)


def over(threads: int, effort: Effort) -> Iterator[Line]:
    """Measure over so many threads."""
    with seeded(threads) as client, floor.commit() as commit:
        yield from measured(ok(client), [*single(client), *searches(client, threads), commit], effort)


def single(client: Client) -> list[Question]:
    """Give the questions on one thread."""
    path, numbers, flags = thread(client), count(), cycle((True, False))

    def patch(metadata: Callable[[], dict[str, Any]]) -> Callable[[], float]:
        return lambda: client.timed("PATCH", path, {"metadata": metadata()})

    return [
        Question("create a thread", partial(client.timed, "POST", "/api/threads", {}), Goal(1.2)),
        Question("read a thread", partial(client.timed, "GET", path), Goal(0.6)),
        Question("patch, a metadata key", patch(lambda: {"number": next(numbers)}), Goal(1.0)),
        Question("patch, the archive flag", patch(lambda: {"deerflow_archived": next(flags)}), Goal(1.0)),
    ]


def searches(client: Client, threads: int) -> list[Question]:
    """Give the questions on the list."""
    shown = f", {threads // 1000}k"
    asked = [
        Question(what + shown, search(client, body), Goal(large if threads > 10_000 else small))
        for what, (body, small, large) in SEARCHES.items()
    ]
    half = threads // 2
    _, headers = client.answer("POST", "/api/threads/search", {"limit": 1, "offset": half - 1})
    counted = partial(client.timed, "POST", "/api/threads/count")
    return [
        *asked,
        Question("search, offset 50 %" + shown, search(client, {"offset": half}), Goal(6)),
        Question("search, same by cursor" + shown, search(client, {"cursor": headers["X-Next-Cursor"]}), Goal(1.5)),
        Question("count, all" + shown, partial(counted, {})),
        Question("count, metadata, 1 % match" + shown, partial(counted, {"metadata": {"bucket": "b7"}})),
    ]


def search(client: Client, body: dict[str, Any]) -> Callable[[], float]:
    """Give the asking of one page."""
    return partial(client.timed, "POST", "/api/threads/search", PAGE | body)
