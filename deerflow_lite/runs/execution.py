"""One run, from its seat to its end, inside the event loop; it takes no decision about other runs.

Invariants: what the graph stores is checked against the thread's row number and the run's closed flag in the same
transaction; the events, the status, the head and its values of the end are one transaction; the run is terminal in
the store before a follower sees the log end.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deerflow_lite.checkpoints import tables
from deerflow_lite.errors import CheckpointUnknown, DeerflowError, NothingToResume, ThreadUnknown
from deerflow_lite.graphs import call, channels
from deerflow_lite.runs import gate
from deerflow_lite.runs.ending import Ending, Outcome
from deerflow_lite.runs.events import Live
from deerflow_lite.runs.model import Run, RunRequest
from deerflow_lite.runs.passing import thread_of
from deerflow_lite.runs.posting import refuse_stale
from deerflow_lite.runs.seat import Seat
from deerflow_lite.runs.stream import Translator, failure, told_checkpoint
from deerflow_lite.threads.model import Thread

if TYPE_CHECKING:
    from deerflow_lite.checkpoints.passing import PassingView
    from deerflow_lite.checkpoints.run_view import RunView
    from deerflow_lite.runs.rooms import Rooms

    View = RunView | PassingView

EXITS = (SystemExit, KeyboardInterrupt)  # what a node may raise that is no Exception
TICKS = 5000  # of the loop; a checkpoint that is never put must not hold the run
_PLACE = ("thread_id", "checkpoint_ns", "checkpoint_id")
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Execution:
    """One run while it executes; `ends_as` is what a cancellation means."""

    rooms: "Rooms"
    run: Run
    request: RunRequest
    live: Live
    seat: Seat = field(init=False)
    ends_as: Outcome = Outcome("interrupted")

    def __post_init__(self) -> None:
        self.seat = Seat(self.rooms.db, self.rooms.threads, self.rooms.ledger, self.run)

    async def execute(self) -> None:
        """Run the graph to its end, its failure or its cancellation, and store which it was."""
        try:
            thread = thread_of(self.rooms.threads, self.run)
            if thread is None:
                raise ThreadUnknown(self.run.thread_id)
            config = self._config(thread)
            async with self.rooms.graphs.aopened(self.run.graph_id, config) as graph:
                store = self.rooms.items.of(thread.owner)
                await self._guarded(graph.copy(update={"store": store}), thread, config)
        except asyncio.CancelledError:
            await self._end(self.ends_as)
        except (Exception, *EXITS) as error:  # whatever a user's graph or factory raises is the run's own failure
            _log.info("run %s failed: %s", self.run.run_id, type(error).__name__)
            await self._end(Outcome("error", failure(error).decode()))

    async def _guarded(self, graph: Any, thread: Thread, config: dict[str, Any]) -> None:
        """Drive the graph and end the run while the graph is still open, for its head is read through it."""
        running, view = self._seen(graph, thread)
        ending = Ending(self.rooms, self.run, self.live, self.seat, running, view)
        try:
            await self._drive(running, view, thread, config)
            await ending.store(Outcome("success"))
        except asyncio.CancelledError:
            for _ in range(3):
                await asyncio.sleep(0)
            await ending.store(self.ends_as)
        except (Exception, *EXITS) as error:  # as above: the graph's own failure
            _log.info("run %s failed: %s", self.run.run_id, type(error).__name__)
            await ending.store(Outcome("error", failure(error).decode()))

    def _seen(self, graph: Any, thread: Thread) -> "tuple[Any, View]":
        """Give the graph as this run sees it, with what its checkpoints go through."""
        savers, graph_id = self.rooms.savers, self.run.graph_id
        if self.run.stateless:
            return savers.passing(graph_id, graph)
        head = self.seat.start = thread.head or thread.root
        return savers.running(graph_id, graph, head, self.seat, sync=self.request.durability == "sync")

    def _config(self, thread: Thread) -> dict[str, Any]:
        run, request = self.run, self.request
        ids = {"run_id": run.run_id, "graph_id": run.graph_id, "assistant_id": run.assistant_id}
        fixed = {"thread_id": thread.thread_id, "checkpoint_ns": "", **ids}
        metadata = {**request.metadata, **ids, "thread_id": thread.thread_id, "run_attempt": 1}
        return call.run_config(request.config, request.context, fixed, metadata, self.rooms.config.recursion_limit)

    async def _drive(self, graph: Any, view: "View", thread: Thread, config: dict[str, Any]) -> None:
        title = thread.title if thread.title_manual and channels.titled(graph) else None
        given = await self._given(graph, view, thread, config, title)
        translator = Translator(self.request.stream_mode, title, hidden=self.run.credentials)
        async for namespace, mode, chunk in self._chunks(graph, given, config):
            told = () if namespace else told_checkpoint(mode, chunk)
            await self._put_first(view, told)
            for event, data in translator.events(namespace, mode, chunk):
                self.rooms.log.append(self.live, event, data, behind=bool(told))
        view.check()

    async def _put_first(self, view: "View", told: tuple[str, ...]) -> None:
        """Wait until the checkpoint that an event tells of is queued: LangGraph tells of it before it puts it."""
        for _ in range(TICKS if self.request.durability != "exit" else 0):
            if not view.awaits(told):
                return
            await asyncio.sleep(0)

    async def _given(self, graph: Any, view: "View", thread: Thread, config: dict[str, Any], title: str | None) -> Any:
        """Put the run on its base, settled where a new turn begins on an unsettled one, and give the graph's input."""
        request = self.request
        refuse_stale(thread, request)
        if not self.run.continues:
            self._stand_on(view, config, self.run.base, thread)
        if self.run.status == "pending":  # what it was checked against as it was posted is not where it starts now
            place = view.head if not request.checkpoint_ns else None
            gate.refuse_lossy(self.rooms, thread, request, graph, place)
        self.seat.base = await self._settled(graph, view, thread, config)
        if request.command is not None:
            return call.command(request.command)
        if title is not None and isinstance(request.input, dict):
            return {**request.input, "title": title}
        return request.input

    def _stand_on(self, view: "View", config: dict[str, Any], base: str | None, thread: Thread) -> None:
        """Start elsewhere than at the head; raises CheckpointUnknown when the checkpoint went meanwhile."""
        namespace = self.request.checkpoint_ns
        with self.rooms.db.reading() as connection:
            if base is None or not tables.exists(connection, thread.thread_id, base, namespace):
                raise CheckpointUnknown(base or "")
        config["configurable"] |= {"checkpoint_id": base, "checkpoint_ns": namespace}
        if not namespace:
            view.head = base

    async def _settled(self, graph: Any, view: "View", thread: Thread, config: dict[str, Any]) -> str | None:
        """Give the base: a copy of the checkpoint where the run could not start from it as it stands.

        A new turn on an unsettled one and a Command's update start on a settled copy; an answer to a question that
        was answered there before starts on a copy that asks again.
        """
        request = self.request
        if request.checkpoint_ns or (request.input is None and request.command is None):
            return view.head
        pending = await self._pending(graph, view, thread, config)
        if request.command is not None and request.command.get("resume") is not None:
            if not pending:
                raise NothingToResume("command.resume: nothing is pending on this thread")
            if not self.run.continues and self._answered(thread, view.head):
                await self._copy(graph, config, call.COPY)
        elif pending != (request.command is not None) and (request.command is None or view.head != thread.root):
            if pending and not self.run.continues:  # what finished there belongs to the answer beside this one
                await self._copy(graph, config, call.COPY)
            await self._end_there(graph, view, thread, config)
        return view.head

    async def _end_there(self, graph: Any, view: "View", thread: Thread, config: dict[str, Any]) -> None:
        """Start on a settled copy, or on one of the step before, where the graph cannot take in what was written."""
        try:
            await self._copy(graph, config, call.END)
        except DeerflowError:
            raise
        except Exception as error:  # a stop of the service left what a user's reducer refuses: no run has said so
            with self.rooms.db.reading() as connection:
                above = tables.parent(connection, thread.thread_id, view.head or "")
            if not self.run.continues or above is None:
                raise
            _log.warning("run %s starts before checkpoint %s: %s", self.run.run_id, view.head, type(error).__name__)
            view.head = above
            if above == thread.root:
                return
            await self._copy(graph, config, call.END)
        # What a finished task wrote is counted with it, and may schedule the next one.
        while (await graph.aget_state(config)).next:
            await self._copy(graph, config, call.END)

    def _answered(self, thread: Thread, checkpoint_id: str | None) -> bool:
        with self.rooms.db.reading() as connection:
            return tables.answered(connection, thread.thread_id, checkpoint_id or "")

    async def _copy(self, graph: Any, config: dict[str, Any], as_node: str) -> None:
        """Start on a copy of the base, without the run's id: a checkpoint with it looks like one to resume."""
        place = {name: config["configurable"][name] for name in _PLACE if name in config["configurable"]}
        copied = await graph.aupdate_state({"configurable": place}, None, as_node=as_node)
        if not self.run.continues:
            config["configurable"]["checkpoint_id"] = copied["configurable"]["checkpoint_id"]

    async def _pending(self, graph: Any, view: "View", thread: Thread, config: dict[str, Any]) -> bool:
        """Say whether work is scheduled on the base; the stored values of the head tell without decoding it."""
        if view.head in (None, thread.root):
            return False
        if self.run.continues and (settled := self.rooms.threads.settled(thread.row)) is not None:
            return not settled
        try:
            return bool((await graph.aget_state(config)).next)
        except DeerflowError:
            raise
        except Exception:  # as in `_end_there`, which is asked then
            return True

    async def _chunks(
        self, graph: Any, given: Any, config: dict[str, Any]
    ) -> AsyncIterator[tuple[tuple[str, ...], str, Any]]:
        """Give (namespace, mode, chunk) of everything the graph streams."""
        request = self.request
        options = {
            "context": request.context or None,
            "stream_mode": call.graph_modes(request.stream_mode),
            "interrupt_before": _nodes(request.interrupt_before),
            "interrupt_after": _nodes(request.interrupt_after),
            "durability": request.durability,
            "subgraphs": request.subgraphs,
        }
        if "events" not in request.stream_mode:
            async for chunk in graph.astream(given, config, **options):
                yield _parts(chunk, request.subgraphs)
            return
        config["run_id"] = self.run.run_id
        async for event in graph.astream_events(given, config, version="v2", **options):
            if event["event"] == "on_chain_stream" and event["run_id"] == self.run.run_id:
                yield _parts(event["data"]["chunk"], request.subgraphs)
            else:
                yield (), "events", event

    async def _end(self, outcome: Outcome) -> None:
        """End a run whose graph could not be opened, or whose own end failed: the head stands."""
        await Ending(self.rooms, self.run, self.live, self.seat, None, None).store(outcome)


def _nodes(names: str | tuple[str, ...] | None) -> Any:
    return list(names) if isinstance(names, tuple) else names


def _parts(chunk: Any, subgraphs: bool) -> tuple[tuple[str, ...], str, Any]:
    return chunk if subgraphs else ((), *chunk)
