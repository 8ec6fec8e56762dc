"""Where runs are asked for: post, read, follow, wait, cancel; the loop executes them, the ledger keeps them."""

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from deerflow_lite import clock
from deerflow_lite.errors import DeerflowError, RunActive, RunUnknown, Stopping, ThreadUnknown
from deerflow_lite.runs import gate
from deerflow_lite.runs.events import Live, followed
from deerflow_lite.runs.keeping import Keeping
from deerflow_lite.runs.model import ACTIVE, Event, Repeat, Run, RunRequest
from deerflow_lite.runs.opening import Opening
from deerflow_lite.runs.posting import Posting
from deerflow_lite.runs.queue import mark_rolled_back
from deerflow_lite.runs.recovery import refresh
from deerflow_lite.runs.results import result
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.runs.runner import Runner
from deerflow_lite.threads.model import NewThread

BEAT = 1.0
_log = logging.getLogger(__name__)


class Desk:
    """The runs of every owner."""

    def __init__(self, rooms: Rooms, opening: Opening, keeping: Keeping, stopped: list[Run] | None = None) -> None:
        self._rooms, self._opening, self._keeping = rooms, opening, keeping
        self._posting, self._runner = Posting(rooms), Runner(rooms)
        self._stopped_before = stopped or []
        self._streams, self.streams_open = threading.Lock(), 0
        self.stopping = threading.Event()
        self._refreshing = threading.Thread(target=self._refresh, name="refresh", daemon=True)

    def start(self) -> None:
        """Start to execute; heads that a stopped run left get their values in the background. Once only."""
        if not self._runner.started:
            self._runner.start()
            self._refreshing.start()

    def _refresh(self) -> None:
        for run in self._stopped_before:
            if self.stopping.is_set():
                return
            try:
                refresh(self._rooms, run)
            except (DeerflowError, sqlite3.Error):
                _log.warning("the head of thread %s could not be read anew", run.thread_id, exc_info=True)

    def stop(self, grace: float) -> None:
        """Take no more runs, tell the followers, let runs settle for `grace` seconds."""
        self.stopping.set()
        self._runner.stop(grace)
        self._rooms.log.break_off()
        if self._refreshing.is_alive():
            self._refreshing.join(timeout=5)

    def post(self, owner: str, thread_id: str, request: RunRequest, *, create: bool = False) -> tuple[Run, Live]:
        """Take a run in and give it with its log; with `create` an absent thread is made first.

        Raises ThreadUnknown, ThreadIdTaken, CheckpointUnknown, ModeMismatch, ChannelLost, and what Posting raises.
        """
        self._refuse_stopping()
        if (first := self._repeated(owner, request.repeat)) is not None:
            return first, self.live(first)
        if not create or self._rooms.threads.owned(owner, thread_id):
            gate.refuse_loss(self._rooms, self._rooms.threads.get(owner, thread_id), request)
        with self._rooms.db.writing():
            if (first := self._repeated(owner, request.repeat)) is None:
                if create:
                    self._opening.create(owner, NewThread(thread_id, {}), if_exists="do_nothing")
                run, live, stopped = self._posting.post(owner, thread_id, request, executed=self._runner.started)
                self._rooms.db.committed(lambda: self._stop_all(stopped))
                self._rooms.db.committed(lambda: self._runner.begin(run))
                return run, live
        return first, self.live(first)

    def post_stateless(self, owner: str, requests: Sequence[RunRequest]) -> list[tuple[Run, Live]]:
        """Take runs in, all or none, and give each with its log; what `temporary` says goes with the run's end.

        One that is kept gets a thread of its own. Raises what `post` and Posting raise.
        """
        self._refuse_stopping()
        with self._rooms.db.writing():
            taken = [self._take_stateless(owner, request) for request in requests]
        return [(run, live or self.live(run)) for run, live in taken]

    def _take_stateless(self, owner: str, request: RunRequest) -> tuple[Run, Live | None]:
        if (first := self._repeated(owner, request.repeat)) is not None:
            return first, None
        if not request.temporary:
            return self.post(owner, clock.new_id(), request, create=True)
        run, live = self._posting.post_stateless(owner, request, executed=self._runner.started)
        self._rooms.db.committed(lambda: self._runner.begin(run))
        return run, live

    def replay(
        self, owner: str, thread_id: str, prepare: Callable[[], RunRequest], repeat: Repeat | None = None
    ) -> tuple[Run, Live]:
        """Prepare a replay and post it; raises RunActive while a run is in flight, and what `prepare` raises.

        The head that was prepared for is checked again with the seat, so nothing comes between the two.
        """
        thread = self._rooms.threads.get(owner, thread_id)
        if (first := self._repeated(owner, repeat)) is not None:
            return first, self.live(first)
        self._rooms.ledger.refuse_active(thread)
        return self.post(owner, thread_id, replace(prepare(), repeat=repeat))

    def _refuse_stopping(self) -> None:
        if self.stopping.is_set():
            raise Stopping("the service is stopping")

    def _repeated(self, owner: str, repeat: Repeat | None) -> Run | None:
        return None if repeat is None else self._rooms.ledger.repeated(owner, repeat)

    def get(self, owner: str, thread_id: str, run_id: str) -> Run:
        """Give a run, also one that has no thread; raises ThreadUnknown, RunUnknown."""
        try:
            return self._rooms.ledger.get(self._rooms.threads.get(owner, thread_id).row, run_id)
        except ThreadUnknown:
            with suppress(RunUnknown):
                if (run := self._rooms.ledger.owned(owner, run_id)).stateless and run.thread_id == thread_id:
                    return run
            raise

    def owned(self, owner: str, run_id: str) -> Run:
        """Give a run of whatever thread, or of none; raises RunUnknown."""
        return self._rooms.ledger.owned(owner, run_id)

    def listed(self, owner: str, thread_id: str, status: str | None, limit: int, offset: int) -> tuple[list[Run], int]:
        """Give a page of a thread's runs, newest first, and their number."""
        return self._rooms.ledger.listed(self._rooms.threads.get(owner, thread_id).row, status, limit, offset)

    def delete(self, owner: str, thread_id: str, run_id: str) -> None:
        """Remove a run that has ended or is not due yet, with its log; raises RunActive."""
        with self._rooms.db.writing():
            run = self.get(owner, thread_id, run_id)
            if run.active:
                raise RunActive(f"run_id: run {run_id} is in flight; cancel it first")
            self._rooms.ledger.delete(run.row)
            self._rooms.log.end(run.row)

    def cancel(self, owner: str, thread_id: str, run_id: str, *, rollback: bool = False) -> Run:
        """Ask a run to end; gives it as it was. One that has ended stays as it is; with `rollback` nothing is left."""
        run = self.get(owner, thread_id, run_id)
        self._cancel_all([run], rollback)
        return run

    def cancel_chosen(self, owner: str, thread_id: str, run_ids: Sequence[str], *, rollback: bool = False) -> None:
        """Ask runs of a thread to end; raises ThreadUnknown, RunUnknown, then none of them is asked."""
        self._cancel_all([self.get(owner, thread_id, run_id) for run_id in run_ids], rollback)

    def cancel_every(self, owner: str, statuses: Sequence[str], *, rollback: bool = False) -> None:
        """Ask every run of an owner to end that has one of these statuses."""
        self._cancel_all(self._rooms.ledger.unended(owner, statuses), rollback)

    def _cancel_all(self, runs: Sequence[Run], rollback: bool) -> None:
        unended = [run for run in runs if run.status in ACTIVE]
        if rollback and unended:
            with self._rooms.db.writing():
                for run in unended:
                    mark_rolled_back(self._rooms, run)
        self._stop_all(unended)

    def _stop_all(self, runs: Sequence[Run]) -> None:
        for run in runs:
            self._runner.cancel(run)

    def live(self, run: Run) -> Live:
        """Give the log of a run; one that has ended has its final values in `result`."""
        live = self._rooms.log.live(run.row)
        if live is None:
            live = Live(run.row)
            live.end(result(self._rooms, run))
        return live

    def take_stream(self) -> bool:
        """Take one of the places for open streams; False when none is left."""
        with self._streams:
            free = self.streams_open < self._rooms.config.streams_max
            self.streams_open += free
            return free

    def give_stream(self) -> None:
        """Give a place back."""
        with self._streams:
            self.streams_open -= 1

    def follow(self, run: Run, after: int, live: Live | None = None) -> Iterator[list[Event]]:
        """Give a run's events after an id, those that are there together, [] as a heartbeat; its post gave `live`."""
        known = live if live is not None and live.events else self._rooms.log.live(run.row)
        if known is not None:
            return followed(known, after, BEAT)
        return ([event] for event in self._keeping.events(run, after))
