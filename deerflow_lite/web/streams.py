"""Answers that stay open: event streams, and JSON that is waited for; it knows no rule about runs.

Whatever way the client leaves, the generator is closed: that gives back the place among the open streams.
One whose token has ended is cut off within two BEATs.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from flask import Response

from deerflow_lite.errors import NotFound, StreamsFull
from deerflow_lite.runs.desk import BEAT
from deerflow_lite.runs.events import Live
from deerflow_lite.runs.model import Event, Run
from deerflow_lite.runs.sse import HEARTBEAT, cursor, frame
from deerflow_lite.web.contract import Call

__all__ = ["awaited", "cursor", "ended", "holding", "place", "response"]

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
ALWAYS = ("metadata", "error", "end")
FIRST_WAIT = 0.5


def place(run: Run) -> str:
    """Give the path of a run, relative to any mount: clients put their own base before it."""
    return f"/runs/{run.run_id}" if run.stateless else _full(run)


def _full(run: Run) -> str:
    return f"/threads/{run.thread_id}/runs/{run.run_id}"


class Held:
    """One place among the open streams; raises StreamsFull when there is none.

    `cancels` is the run to stop when the client leaves before `finished` is set, be it before the first byte.
    """

    def __init__(self, call: Call) -> None:
        self.call = call
        self._open = call.gateway.runs.take_stream()
        self.cancels: Run | None = None
        self.finished = False
        if not self._open:
            raise StreamsFull("too many streams are open", retry_after=2)

    def release(self) -> None:
        """Give the place back; again is nothing."""
        if not self._open:
            return
        self._open = False
        self.call.gateway.runs.give_stream()
        if self.cancels is not None and not self.finished:
            with suppress(NotFound):  # it has ended and nothing of it is kept
                self.call.gateway.runs.cancel(self.call.owner, self.cancels.thread_id, self.cancels.run_id)


@contextmanager
def holding(call: Call) -> Iterator[Held]:
    """Take a place for the answer that is made inside; it is given back at once where none is."""
    held = Held(call)
    try:
        yield held
    except BaseException:
        held.release()
        raise


def response(
    call: Call, held: Held, run: Run, after: int, modes: list[str] | None, *, live: Live | None = None, cancel: bool
) -> Response:
    """Stream a run's events after an id; `cancel` stops the run when the client leaves before the end.

    `live` is the log that the post gave: the run may have ended by now, and its log be gone.
    """
    held.cancels = run if cancel else None
    events = call.gateway.runs.follow(run, after, live)
    answer = Response(_frames(held, events, modes), mimetype="text/event-stream")
    answer.headers.update(HEADERS | {"Content-Location": place(run), "Location": place(run) + "/stream"})
    answer.call_on_close(held.release)
    return answer


def _frames(held: Held, events: Iterator[list[Event]], modes: list[str] | None) -> Iterator[bytes]:
    """Give what is ready as one piece, for each piece costs a way through the server; a heartbeat where none was."""
    wanted = None if modes is None else {"messages" if mode == "messages-tuple" else mode for mode in modes}
    asked = sent = time.monotonic()
    for ready in events:
        now = time.monotonic()
        if now - asked >= BEAT:
            if not held.call.welcome():
                return
            asked = now
        told = b"".join(frame(event) for event in ready if wanted is None or _wanted(event, wanted))
        if told or not ready or now - sent >= BEAT:
            sent = now
            yield told or HEARTBEAT
    held.finished = True


def _wanted(event: Event, modes: set[str]) -> bool:
    return event.event in ALWAYS or _mode(event.event) in modes


def _mode(event: str) -> str:
    return event.partition("|")[0].partition("/")[0]


def awaited(held: Held, run: Run, live: Live, *, cancel: bool) -> Response:
    """Give a run's final values as JSON, with white space before them while they are waited for."""
    held.cancels = run if cancel else None
    headers = {"Content-Location": _full(run), "Location": _full(run) + "/join"}
    held.finished = live.wait(FIRST_WAIT)
    body = live.result if held.finished else _patient(held, live)
    answer = Response(body, mimetype="application/json", headers=headers)
    answer.call_on_close(held.release)
    return answer


def _patient(held: Held, live: Live) -> Iterator[bytes]:
    while not live.wait(BEAT):
        if not held.call.welcome():
            return
        yield b"\n"
    held.finished = True
    yield live.result


def ended(call: Call, held: Held, run: Run) -> Response:
    """Answer `{}` when a run has ended."""
    answer = Response(_until_ended(call, call.gateway.runs.live(run)), mimetype="application/json")
    answer.call_on_close(held.release)
    return answer


def _until_ended(call: Call, live: Live) -> Iterator[bytes]:
    while not live.wait(BEAT):
        if not call.welcome():
            return
        yield b"\n"
    yield b"{}"
