"""The one loop that executes runs; it posts nothing and answers no HTTP.

Invariants: one run at a time on a thread; at most RUN_CONCURRENCY at once; a run that is cancelled while it waits
never starts; `stop` leaves no run `running` in the store.
"""

import asyncio
import logging
import sqlite3
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from deerflow_lite.journal import settled
from deerflow_lite.runs.ending import STOPPED, TIMED_OUT, Ending, Outcome
from deerflow_lite.runs.execution import EXITS, Execution
from deerflow_lite.runs.model import Run, RunRequest
from deerflow_lite.runs.posting import request_of
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.runs.seat import Seat
from deerflow_lite.runs.stream import failure

_log = logging.getLogger(__name__)


class Runner:
    """Executes what is pending, in the order it was posted."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._requests: dict[int, RunRequest] = {}
        self._executing: dict[int, tuple[Execution, asyncio.Task[None]]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: set[int] = set()
        self._wake = asyncio.Event()
        self._stopping = self._stopped = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the loop; pending runs of the time before start too."""
        if self._loop is not None:
            return
        loop = self._loop = asyncio.new_event_loop()
        loop.set_default_executor(ThreadPoolExecutor(self._rooms.config.run_concurrency * 4, "node"))
        self._thread = threading.Thread(target=self._work, args=(loop,), name="runs", daemon=True)
        self._thread.start()

    @property
    def started(self) -> bool:
        """Whether runs are executed here; until then they wait in the store."""
        return self._loop is not None

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        begin = loop.create_task(self._begin())
        try:
            while not begin.done():
                with suppress(*EXITS):  # a node's sys.exit() passes through asyncio: it ends its run, not the loop
                    loop.run_until_complete(begin)
        finally:
            loop.close()

    async def _begin(self) -> None:
        """Begin runs whenever one was posted or one ended, until the service stops."""
        while not self._stopped:
            self._wake.clear()
            try:
                if not self._stopping and self._rooms.ledger.in_service()[0]:
                    for run in await settled(self._rooms.journal.write(self._next)):
                        self._execute(run)
            except sqlite3.Error as error:
                _log.error("waiting runs could not begin, they are tried again: %s", error)
                asyncio.get_running_loop().call_later(1, self._wake.set)
            await self._wake.wait()

    def _next(self, connection: sqlite3.Connection) -> list[Run]:
        return self._rooms.ledger.begin_next(self._rooms.config.run_concurrency)

    def _execute(self, run: Run) -> None:
        request, live = self._requests.pop(run.row, None), self._rooms.log.live(run.row)
        if live is None or run.row in self._ending:
            return  # it was cancelled while it was being begun
        try:
            execution = Execution(self._rooms, run, request or request_of(run), live)
        except (TypeError, ValueError, KeyError) as error:  # a stored request of another version
            self._end_waiting(run, Outcome("error", failure(error).decode()))
            return
        task = asyncio.get_running_loop().create_task(self._timed(execution))
        self._executing[run.row] = (execution, task)
        task.add_done_callback(partial(self._ended, execution))

    async def _timed(self, execution: Execution) -> None:
        seconds = self._rooms.config.run_timeout
        loop = asyncio.get_running_loop()
        timer = loop.call_later(seconds, self._time_out, execution) if seconds else None
        try:
            await execution.execute()
        finally:
            if timer is not None:
                timer.cancel()

    def _time_out(self, execution: Execution) -> None:
        execution.ends_as = TIMED_OUT
        self._executing[execution.run.row][1].cancel()

    def _ended(self, execution: Execution, task: "asyncio.Task[None]") -> None:
        self._executing.pop(execution.run.row, None)
        if task.cancelled():  # before its first step: nothing of it ran that could have stored its end
            self._end_waiting(execution.run, execution.ends_as)
        self._wake.set()

    def begin(self, run: Run, request: RunRequest) -> None:
        """Let a run start as soon as its thread and the service have a place for it; call it as its post is committed.

        Later, the run could have begun without its credentials, which only the request has.
        """
        self._requests[run.row] = request
        if self._loop is not None and run.status == "running":
            self._loop.call_soon_threadsafe(self._execute, run)
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake.set)

    def cancel(self, run: Run) -> None:
        """Ask a run to end as `interrupted`; one that waits ends at once, one that had ended stays as it is."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._cancel, run)
        elif (ended := self._end_waiting(run, Outcome("interrupted"))) is not None:
            ended.result()

    def _cancel(self, run: Run) -> None:
        executing = self._executing.get(run.row)
        if executing is None:
            self._end_waiting(run, Outcome("interrupted"))
            self._wake.set()  # if it was being begun, its place is free again
        elif not executing[1].cancelling():  # told once: again would tear the end that is being stored
            executing[1].cancel()

    def _end_waiting(self, run: Run, outcome: Outcome) -> Future[Any] | None:
        """End a run that does not execute; the future ends after the commit. None for one that had ended."""
        self._requests.pop(run.row, None)
        live = self._rooms.log.live(run.row)
        if live is None:
            return None
        seat = Seat(self._rooms.db, self._rooms.threads, self._rooms.ledger, run)
        ending = Ending(self._rooms, run, live, seat, None, None)
        self._ending.add(run.row)
        ended = self._rooms.journal.write(ending.action(outcome, None))
        ended.add_done_callback(lambda _: self._ending.discard(run.row))  # from here on it has no live log
        return ended

    def stop(self, grace: float) -> None:
        """Let the runs settle for `grace` seconds, then end them as stopped."""
        if self._thread is None or self._loop is None or self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._stop(grace), self._loop).result()
        self._thread.join(timeout=5)

    async def _stop(self, grace: float) -> None:
        self._stopping = True
        tasks = {task: execution for execution, task in self._executing.values()}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                tasks[task].ends_as = STOPPED
                task.cancel()
            await asyncio.wait(tasks, timeout=2)
        self._stopped = True
        self._wake.set()
