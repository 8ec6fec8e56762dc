"""A run is posted here: checks, its row, its first event and its thread in one transaction; it executes nothing."""

import sqlite3

import orjson

from deerflow_lite import clock
from deerflow_lite.checkpoints import lineage, modes, tables
from deerflow_lite.checkpoints.secrets import without_secrets
from deerflow_lite.checkpoints.wire import to_json
from deerflow_lite.errors import CheckpointUnknown, HeadStale, NothingToResume, QueueFull
from deerflow_lite.graphs import call
from deerflow_lite.runs.events import Live
from deerflow_lite.runs.model import Run, RunRequest, RunStatus
from deerflow_lite.runs.naming import first_title
from deerflow_lite.runs.origin import at_origin
from deerflow_lite.runs.passing import passing_thread
from deerflow_lite.runs.queue import make_way
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Change, Thread

_STORED = (
    "input", "command", "stream_mode", "subgraphs", "interrupt_before", "interrupt_after", "durability",
    "checkpoint_id", "checkpoint_ns", "temporary",
)  # fmt: skip


class Posting:
    """Takes runs in."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def post(self, owner: str, thread_id: str, request: RunRequest, *, executed: bool) -> tuple[Run, Live, list[Run]]:
        """Store a run, as running where it may begin at once and runs are `executed` here; give it, and who must stop.

        Raises ThreadUnknown, CheckpointUnknown, RunActive, NothingToResume, QueueFull, Invalid.
        """
        refuse_markers(request)
        rooms = self._rooms
        with rooms.db.writing() as connection:
            thread = rooms.threads.get(owner, thread_id)
            request = at_origin(connection, thread_id, request)
            if request.strategy == "reject":
                rooms.ledger.refuse_active(thread)
            active = rooms.ledger.active(thread.row)
            refuse_stale(thread, request)
            continues = self._continues(thread, active, request)
            self._check_resume(thread, active, request, continues)
            stopped = [] if request.after_seconds else make_way(rooms, connection, active, request.strategy)
            begins = self._begins(thread, request, executed)
            run = rooms.ledger.add(self._new(thread, request, continues, "running" if begins else "pending"))
            live = self._logged(connection, run, request)
            rooms.threads.change(owner, thread_id, self._change(thread, request), row=thread.row)
        return run, live, stopped

    def post_stateless(self, owner: str, request: RunRequest, *, executed: bool) -> tuple[Run, Live]:
        """Store a run that has no thread; raises CheckpointUnknown, NothingToResume, QueueFull, Invalid."""
        refuse_markers(request)
        if request.checkpoint_id is not None:
            raise CheckpointUnknown(request.checkpoint_id)
        if request.command is not None and request.command.get("resume") is not None:
            raise NothingToResume("command.resume: a run without a thread has nothing pending")
        thread = passing_thread(owner, clock.new_id(), clock.now())
        with self._rooms.db.writing() as connection:
            begins = self._begins(thread, request, executed)
            run = self._rooms.ledger.add(self._new(thread, request, True, "running" if begins else "pending"))
            return run, self._logged(connection, run, request)

    def _logged(self, connection: sqlite3.Connection, run: Run, request: RunRequest) -> Live:
        """Begin the log of a new run with its first event."""
        log = self._rooms.log
        live = log.open(run.row, request)
        self._rooms.db.undo(lambda: log.drop(live))
        live.note("metadata", orjson.dumps({"run_id": run.run_id, "attempt": 1, "thread_id": run.thread_id}))
        log.store(connection, live)
        return live

    def _begins(self, thread: Thread, request: RunRequest, executed: bool) -> bool:
        """Say whether a run begins at once; raises QueueFull. One that is delayed takes no place of the queue."""
        if request.after_seconds:
            return False
        ledger, config = self._rooms.ledger, self._rooms.config
        waiting, running = ledger.in_service()
        if executed and not waiting and running < config.run_concurrency and not ledger.active(thread.row):
            return True
        if waiting >= config.run_queue:
            raise QueueFull("run: the queue of runs is full")
        return False

    def _continues(self, thread: Thread, active: list[Run], request: RunRequest) -> bool:
        """Say whether the run goes on from the head; raises CheckpointUnknown. Clients send the head they last saw."""
        if request.checkpoint_id is None:
            return True
        with self._rooms.db.reading() as connection:
            if not tables.exists(connection, thread.thread_id, request.checkpoint_id, request.checkpoint_ns):
                raise CheckpointUnknown(request.checkpoint_id)
        seen = {thread.head or thread.root, *(place for run in active for place in (run.base, run.start))}
        tied = "head_checkpoint_id" in request.metadata
        return not tied and not request.checkpoint_ns and request.checkpoint_id in seen

    def _check_resume(self, thread: Thread, active: list[Run], request: RunRequest, continues: bool) -> None:
        """Refuse an answer where nothing was asked; behind a run in flight the run itself finds out."""
        if request.command is None or request.command.get("resume") is None or (active and continues):
            return
        settled = self._rooms.threads.settled(thread.row) if continues else None
        if settled or (settled is None and not self._scheduled(thread, request, continues)):
            raise NothingToResume("command.resume: nothing is pending on this thread")

    def _scheduled(self, thread: Thread, request: RunRequest, continues: bool) -> bool:
        """Say from the raw row whether work is scheduled on the checkpoint that a run starts from."""
        base = thread.head if continues else request.checkpoint_id
        if base is None or request.checkpoint_ns:
            return base is not None
        with self._rooms.db.reading() as connection:
            row = modes.row(connection, thread.thread_id, base)
        return row is not None and lineage.pending(row)

    def _new(self, thread: Thread, request: RunRequest, continues: bool, status: RunStatus) -> Run:
        kwargs = {name: getattr(request, name) for name in _STORED}
        configurable = request.config.get("configurable") or {}
        context = without_secrets(request.context)
        kwargs["config"] = {**request.config, "configurable": without_secrets(configurable)}
        kwargs["context"] = context
        hidden = len(context) < len(request.context) or len(kwargs["config"]["configurable"]) < len(configurable)
        ids = {"created_by": "system", "graph_id": request.graph_id, "assistant_id": request.assistant_id}
        at = clock.now()
        return Run(
            row=0, run_id=clock.new_id(), thread_row=thread.row, thread_id=thread.thread_id, owner=thread.owner,
            assistant_id=request.assistant_id, graph_id=request.graph_id, status=status, created_at=at, updated_at=at,
            kwargs=to_json(kwargs).decode(), metadata=to_json({**request.metadata, **ids}).decode(),
            strategy=request.strategy, error=None, base=None if continues else request.checkpoint_id,
            continues=continues, last_root=None, credentials=hidden,
            due_at=clock.later(request.after_seconds) if request.after_seconds else None,
            repeat=request.repeat,
        )  # fmt: skip

    def _change(self, thread: Thread, request: RunRequest) -> Change:
        stamps = {"graph_id": request.graph_id, "assistant_id": request.assistant_id}
        if request.after_seconds:
            return Change(defaults=stamps)
        first = first_title(request.input) if thread.title is None else None
        if first:
            return Change(status="busy", defaults=stamps, auto_title=first)
        return Change(status="busy", defaults=stamps)


def refuse_markers(request: RunRequest) -> None:
    """Raise Invalid for values that LangGraph would take for its own markers, and for a goto that names no node."""
    command = request.command or {}
    call.refuse_overwrites("input", request.input)
    call.refuse_goto(command.get("goto"))
    call.refuse_overwrites("command.update", command.get("update"))


def refuse_stale(thread: Thread, request: RunRequest) -> None:
    """Raise HeadStale when a replay was prepared for another head than the one that stands."""
    seen = request.metadata.get("head_checkpoint_id")
    if seen is not None and seen != thread.head:
        raise HeadStale(f"metadata.head_checkpoint_id: stale, the head is {thread.head} by now")


def request_of(run: Run) -> RunRequest:
    """Give the request of a stored run, for one that was pending when the service stopped."""
    stored = orjson.loads(run.kwargs)
    for name in ("stream_mode", "interrupt_before", "interrupt_after"):
        stored[name] = tuple(stored[name]) if isinstance(stored[name], list) else stored[name]
    stored |= {"metadata": orjson.loads(run.metadata), "strategy": run.strategy}
    return RunRequest(run.assistant_id, run.graph_id, **stored)
