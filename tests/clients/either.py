"""LangGraph's Python client, the sync one or the async one, called alike; it knows no method."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any, Self

from langgraph_sdk import client as clients
from langgraph_sdk import get_client, get_sync_client

ROOMS = {
    "assistants": clients.AssistantsClient, "threads": clients.ThreadsClient, "runs": clients.RunsClient,
    "crons": clients.CronClient, "store": clients.StoreClient,
}  # fmt: skip
SYNC_ROOMS = {
    "assistants": clients.SyncAssistantsClient, "threads": clients.SyncThreadsClient, "runs": clients.SyncRunsClient,
    "crons": clients.SyncCronClient, "store": clients.SyncStoreClient,
}  # fmt: skip


def methods(rooms: dict[str, Any]) -> set[str]:
    """Give the public methods of a client as `room.method`."""
    found = ((room, inspect.getmembers(kind, inspect.isfunction)) for room, kind in rooms.items())
    return {f"{room}.{name}" for room, members in found for name, _ in members if not name.startswith("_")}


class Room:
    """One part of a client; streams are read to their end."""

    def __init__(self, client: "Either", name: str) -> None:
        self._client, self._name = client, name

    def __getattr__(self, method: str) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            self._client.called.add(f"{self._name}.{method}")
            room = getattr(self._client.real, self._name)
            return self._client.awaited(getattr(room, method)(*given, **named))

        return call


class Either:
    """A client of one kind; `called` are the methods that were used."""

    def __init__(self, kind: str, url: str, **options: Any) -> None:
        self._runner = asyncio.Runner()
        self.called: set[str] = set()
        make = get_client if kind == "async" else get_sync_client
        self.real: Any = make(url=url, api_key=None, **options)
        self.assistants, self.threads, self.runs = Room(self, "assistants"), Room(self, "threads"), Room(self, "runs")
        self.crons, self.store = Room(self, "crons"), Room(self, "store")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.awaited(self.real.aclose() if hasattr(self.real, "aclose") else self.real.close())
        self._runner.close()

    def started(self, **given: Any) -> Any:
        """Start a run by a stream of a thread, which is the newer protocol."""
        self.called.add("threads.stream")
        stream = self.real.threads.stream(**given)
        if hasattr(stream, "__aenter__"):
            return self._runner.run(_started(stream))
        with stream as opened:
            return opened.run.start(input={})

    def awaited(self, answer: Any) -> Any:
        if inspect.isawaitable(answer):
            return self._runner.run(_of(answer))
        if isinstance(answer, AsyncIterator):
            return self._runner.run(_all(answer))
        return list(answer) if isinstance(answer, Iterator) else answer


async def _of(answer: Any) -> Any:
    found = await answer
    return await _all(found) if isinstance(found, AsyncIterator) else found


async def _all(parts: AsyncIterator[Any]) -> list[Any]:
    return [part async for part in parts]


async def _started(stream: Any) -> Any:
    async with stream as opened:
        return await opened.run.start(input={})
