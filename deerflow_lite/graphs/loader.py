"""All graphs of the service: listed at once, loaded once, opened for a read or a run; it runs none of them.

A graph that cannot be loaded stays listed with its error, so that the service starts and stored threads stay readable.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from deerflow_lite import clock
from deerflow_lite.config import Config
from deerflow_lite.errors import AssistantUnknown, GraphBroken, Invalid, SettingInvalid
from deerflow_lite.graphs.factories import Factory, aentered, broken, entered, factory_of, graph_of, told
from deerflow_lite.graphs.model import Assistant, assistant_id_of
from deerflow_lite.graphs.modules import attribute_of, prepare
from deerflow_lite.graphs.sources import Source, read_sources

if TYPE_CHECKING:
    from deerflow_lite.graphs.factories import Graph

EMBEDDED = "agent"
FIRST = "lead_agent"


@dataclass(frozen=True)
class _Loaded:
    """What loading gave: exactly one of the three."""

    graph: "Graph | None" = None
    factory: Factory | None = None
    error: str = ""


class Graphs:
    """The user's graphs in their order, then the embedded agent."""

    def __init__(self, config: Config) -> None:
        """Read the settings GRAPHS and MODEL; raises SettingInvalid. Nothing is imported."""
        if config.model != "offline" and not all(config.model.partition(":")):
            raise SettingInvalid(f"MODEL: {config.model!r} is neither offline nor provider:name")
        self._config = config
        self._sources = read_sources(config.graphs)
        self._named: dict[str, Source | None] = {source.name: source for source in self._sources.graphs}
        self._named.setdefault(EMBEDDED, None)
        self._created_at = clock.now()
        self._lock = threading.Lock()
        self._loaded: dict[str, _Loaded] | None = None

    @property
    def first(self) -> str:
        """The name of the graph that is used where none is named."""
        return next(iter(self._named))

    @property
    def loaded(self) -> bool:
        """Whether `load` has been through, so that opening waits for nothing."""
        return self._loaded is not None

    def assistants(self) -> list[Assistant]:
        """List the assistants, the first graph's first; errors are known once the graphs are loaded."""
        return [self._assistant(name) for name in self._named]

    def assistant(self, name_or_id: str) -> Assistant:
        """Give the assistant of a graph name, of `lead_agent`, or of an assistant id in any form of a UUID.

        Raises AssistantUnknown for another UUID, Invalid for another name.
        """
        name = self._resolved(name_or_id)
        if name in self._named:
            return self._assistant(name)
        wanted = _uuid(name_or_id)
        if wanted is None:
            raise Invalid({"assistant_id": [f"{name_or_id} is unknown; the graphs are: {', '.join(self._named)}"]})
        for assistant in self.assistants():
            if assistant.assistant_id == wanted:
                return assistant
        raise AssistantUnknown(wanted)

    def load(self) -> None:
        """Import langgraph and every graph, once; others that call meanwhile wait."""
        with self._lock:
            if self._loaded is None:
                # In a thread of its own no event loop runs, and its future holds whatever a user's module may raise.
                with ThreadPoolExecutor(1, thread_name_prefix="graphs-load") as pool:
                    pool.submit(prepare, self._sources).result()
                    self._loaded = {name: self._load(pool, name) for name in self._named}

    def opened(self, graph_id: str, config: dict[str, Any] | None = None) -> "AbstractContextManager[Graph]":
        """Give a compiled graph for reads; a factory's is made for this one time and closed after it.

        Raises GraphBroken for an unknown graph, one that could not be loaded, and a factory that fails.
        """
        self.load()
        loaded = self._usable(graph_id)
        if loaded.graph is not None:
            return nullcontext(loaded.graph)
        if loaded.factory is not None:
            return entered(graph_id, loaded.factory, config or {"configurable": {}})
        raise broken(graph_id, loaded.error)

    @asynccontextmanager
    async def aopened(self, graph_id: str, config: dict[str, Any] | None = None) -> "AsyncIterator[Graph]":
        """Give a compiled graph for a run, inside the running event loop.

        Raises GraphBroken as `opened` does; what a factory itself raises is the run's own error and passes through.
        """
        if not self.loaded:
            await asyncio.to_thread(self.load)
        loaded = self._usable(graph_id)
        if loaded.graph is not None:
            yield loaded.graph
        elif loaded.factory is not None:
            async with aentered(graph_id, loaded.factory, config or {"configurable": {}}) as graph:
                yield graph
        else:
            raise broken(graph_id, loaded.error)

    def _resolved(self, name: str) -> str:
        return self.first if name == FIRST and FIRST not in self._named else name

    def _assistant(self, name: str) -> Assistant:
        error = self._loaded[name].error if self._loaded else ""
        return Assistant(assistant_id_of(name), name, name, error or None, self._created_at)

    def _load(self, pool: ThreadPoolExecutor, name: str) -> _Loaded:
        future = pool.submit(self._made, name)
        error = future.exception()
        return future.result() if error is None else _Loaded(error=told(error))

    def _made(self, name: str) -> _Loaded:
        source = self._named[name]
        if source is None:
            from deerflow_lite.graphs.embedded.agent import build_agent

            return _Loaded(graph=build_agent(self._config))
        value = attribute_of(source, self._sources.folders)
        graph = graph_of(name, value)
        return _Loaded(graph=graph) if graph else _Loaded(factory=factory_of(value))

    def _usable(self, graph_id: str) -> _Loaded:
        loaded = (self._loaded or {}).get(self._resolved(graph_id))
        if loaded is None:
            raise GraphBroken(f"assistant_id: {graph_id} is unknown; the graphs are: {', '.join(self._named)}")
        return loaded


def _uuid(text: str) -> str | None:
    try:
        return str(UUID(text))
    except ValueError:
        return None
