"""Answers that stay open: event streams, and JSON that is waited for; it knows no rule about runs.

Whatever way the client leaves, the generator is closed: that gives back the place among the open streams.
"""

from collections.abc import Iterator

from flask import Response

from deerflow_lite.errors import StreamsFull
from deerflow_lite.runs.desk import BEAT, Desk
from deerflow_lite.runs.events import Live
from deerflow_lite.runs.model import Run
from deerflow_lite.runs.sse import HEARTBEAT, cursor, frame
from deerflow_lite.web.contract import Call

__all__ = ["Held", "awaited", "cursor", "ended", "place", "response"]

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
ALWAYS = ("metadata", "error", "end")
FIRST_WAIT = 0.5


def place(run: Run) -> str:
    """Give the path of a run, relative to any mount: clients put their own base before it."""
    return f"/threads/{run.thread_id}/runs/{run.run_id}"


class Held:
    """One place among the open streams; raises StreamsFull when there is none."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._open = desk.take_stream()
        if not self._open:
            raise StreamsFull("too many streams are open", retry_after=2)

    def release(self) -> None:
        """Give the place back; again is nothing."""
        if self._open:
            self._open = False
            self._desk.give_stream()


def response(call: Call, held: Held, run: Run, after: int, modes: list[str] | None, *, cancel: bool) -> Response:
    """Stream a run's events after an id; `cancel` stops the run when the client leaves before the end."""
    answer = Response(_frames(call, run, after, modes, cancel), mimetype="text/event-stream")
    answer.headers.update(HEADERS | {"Content-Location": place(run), "Location": place(run) + "/stream"})
    answer.call_on_close(held.release)
    return answer


def _frames(call: Call, run: Run, after: int, modes: list[str] | None, cancel: bool) -> Iterator[bytes]:
    wanted = None if modes is None else {"messages" if mode == "messages-tuple" else mode for mode in modes}
    left = True
    try:
        for event in call.gateway.runs.follow(run, after):
            if event is None:
                yield HEARTBEAT
            elif wanted is None or event.event in ALWAYS or _mode(event.event) in wanted:
                yield frame(event)
        left = False
    finally:
        if left and cancel:
            call.gateway.runs.cancel(call.owner, run.thread_id, run.run_id)


def _mode(event: str) -> str:
    return event.partition("|")[0].partition("/")[0]


def awaited(call: Call, run: Run, live: Live, *, cancel: bool) -> Response:
    """Give a run's final values as JSON, with white space before them while they are waited for."""
    headers = {"Content-Location": place(run), "Location": place(run) + "/join"}
    if live.wait(FIRST_WAIT):
        return Response(live.result, mimetype="application/json", headers=headers)
    return Response(_patient(call, run, live, cancel), mimetype="application/json", headers=headers)


def _patient(call: Call, run: Run, live: Live, cancel: bool) -> Iterator[bytes]:
    left = True
    try:
        while not live.wait(BEAT):
            yield b"\n"
        left = False
        yield live.result
    finally:
        if left and cancel:
            call.gateway.runs.cancel(call.owner, run.thread_id, run.run_id)


def ended(call: Call, run: Run) -> Response:
    """Answer `{}` when a run has ended."""
    return Response(_until_ended(call.gateway.runs.live(run)), mimetype="application/json")


def _until_ended(live: Live) -> Iterator[bytes]:
    while not live.wait(BEAT):
        yield b"\n"
    yield b"{}"
