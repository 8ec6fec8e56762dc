"""The one loop that executes runs; it posts nothing and answers no HTTP.

Invariants: one run at a time on a thread; at most RUN_CONCURRENCY at once; a run that is cancelled while it waits
never starts; `stop` leaves no run `running` in the store.
"""

import asyncio
import logging
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Final

from deerflow_lite import clock
from deerflow_lite.journal import settled
from deerflow_lite.runs.ending import INTERRUPTED, STOPPED, TIMED_OUT, Ending, Outcome
from deerflow_lite.runs.execution import EXITS, Execution
from deerflow_lite.runs.model import Run
from deerflow_lite.runs.posting import request_of
from deerflow_lite.runs.queue import begin_next
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.runs.seat import Seat
from deerflow_lite.runs.stream import failure

ALARM: Final = 60.0
SETTLING: Final = 2.0
_log = logging.getLogger(__name__)


class Runner:
    """Executes what is pending, in the order it was posted."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._executing: dict[int, tuple[Execution, asyncio.Task[None]]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: dict[int, asyncio.Task[None]] = {}
        self._alarm: asyncio.TimerHandle | None = None
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
            with suppress(*EXITS):
                loop.run_until_complete(_put_down())
            loop.close()

    async def _begin(self) -> None:
        """Begin runs whenever one was posted or one ended, until the service stops."""
        while not self._stopped:
            self._wake.clear()
            try:
                if not self._stopping:
                    await self._begin_next()
            except sqlite3.Error:
                _log.error("waiting runs could not begin, they are tried again", exc_info=True)
                asyncio.get_running_loop().call_later(1, self._wake.set)
            await self._wake.wait()

    async def _begin_next(self) -> None:
        ledger = self._rooms.ledger
        due = ledger.next_due()
        if ledger.in_service()[0] or (due is not None and not clock.seconds_until(due)):
            begun, stopped = await settled(self._rooms.journal.write(partial(begin_next, self._rooms)))
            for run in stopped:
                self._cancel(run)
            for run in begun:
                self._execute(run)
            due = ledger.next_due()
        if self._alarm is not None:
            self._alarm.cancel()
        if due is not None:  # asked again after a while, for the clock may be set
            seconds = min(clock.seconds_until(due), ALARM)
            self._alarm = asyncio.get_running_loop().call_later(seconds, self._wake.set)

    def _execute(self, run: Run) -> None:
        live = self._rooms.log.live(run.row)
        if live is None or run.row in self._ending:
            return  # it was cancelled while it was being begun
        if self._stopping:  # nobody would wait for it any more
            self._end_waiting(run, STOPPED)
            return
        try:
            execution = Execution(self._rooms, run, live.request or request_of(run), live)
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

    def begin(self, run: Run) -> None:
        """Let a run start as soon as its thread and the service have a place for it; its post is committed."""
        if self._loop is not None and run.status == "running":
            self._loop.call_soon_threadsafe(self._execute, run)
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake.set)

    def cancel(self, run: Run) -> None:
        """Ask a run to end as `interrupted`; one that waits ends at once, one that had ended stays as it is."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._cancel, run)
        elif (ending := self._unbegun(run)) is not None:
            self._rooms.journal.write(ending.action(INTERRUPTED, None)).result()

    def _cancel(self, run: Run) -> None:
        executing = self._executing.get(run.row)
        if executing is None:
            self._end_waiting(run, INTERRUPTED)
        elif not executing[1].cancelling():  # told once: again would tear the end that is being stored
            executing[1].cancel()

    def _unbegun(self, run: Run) -> Ending | None:
        """Give the ending of a run that does not execute, None for one that has ended or is about to."""
        live = self._rooms.log.live(run.row)
        if live is None or run.row in self._ending:
            return None
        seat = Seat(self._rooms.db, self._rooms.threads, self._rooms.ledger, run)
        return Ending(self._rooms, run, live, seat, None, None)

    def _end_waiting(self, run: Run, outcome: Outcome) -> None:
        """End a run that does not execute, as soon as the file can be written."""
        if (ending := self._unbegun(run)) is not None:
            task = asyncio.get_running_loop().create_task(ending.store(outcome))
            self._ending[run.row] = task
            task.add_done_callback(partial(self._ended_waiting, run))

    def _ended_waiting(self, run: Run, task: "asyncio.Task[None]") -> None:
        del self._ending[run.row]
        self._wake.set()  # if it was being begun, its place is free again

    async def _settle_endings(self) -> None:
        """Wait a little for the ends of runs that never began; what cannot be stored now is so at the next start."""
        if self._ending:
            await asyncio.wait(self._ending.values(), timeout=SETTLING)

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
            await asyncio.wait(tasks, timeout=SETTLING)
        await self._settle_endings()
        self._stopped = True
        self._wake.set()


async def _put_down() -> None:
    """End the tasks that are left: their runs are recovered at the next start."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=SETTLING)
