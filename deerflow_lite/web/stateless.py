"""The verbs on runs that have no thread: nothing of one is kept after its end, unless a thread is asked for."""

from dataclasses import replace
from typing import Any

from flask import Response

from deerflow_lite.runs.events import Live
from deerflow_lite.runs.model import Run, RunRequest
from deerflow_lite.web import stateless_examples as examples
from deerflow_lite.web import streams
from deerflow_lite.web.contract import Call, Routes
from deerflow_lite.web.repeats import repeat_of
from deerflow_lite.web.runs import UNKEPT, cancelled, request_of, run_json
from deerflow_lite.web.schemas.runs import (
    Cancelling,
    CancelQuery,
    Rejoin,
    RejoinQuery,
    RunAnswer,
    RunCreate,
    RunCreateBody,
)

routes = Routes("Stateless runs", "Executions of a graph that keep nothing, unless `on_completion` is `keep`")
RUN = "/runs/<run_id>"
REFUSALS = (400, 404, 409, 503)


def stateless(call: Call, body: RunCreate, number: int = 0) -> RunRequest:
    """Give the domain's request for a body."""
    temporary = body.on_completion != "keep"
    return replace(request_of(call, body), temporary=temporary, repeat=repeat_of(call, number))


def posted(call: Call, body: RunCreate) -> tuple[Run, Live]:
    """Take the run in."""
    return call.gateway.runs.post_stateless(call.owner, [stateless(call, body)])[0]


@routes.route("POST", "/runs", body=RunCreateBody, answer=RunAnswer, refusals=REFUSALS, example=examples.RUN)
def create_stateless(call: Call, body: RunCreate) -> Any:
    """Start a run without a thread in the background."""
    run, _ = posted(call, body)
    return run_json(run), 200, {"Content-Location": streams.place(run)}


@routes.route("POST", "/runs/wait", body=RunCreateBody, answer={"type": "object"}, refusals=REFUSALS,
              example=examples.WAIT)  # fmt: skip
def wait_stateless(call: Call, body: RunCreate) -> Response:
    """Start a run without a thread and give its final values, or `{"__error__": ...}`."""
    with streams.holding(call) as held:
        run, live = posted(call, body)
        return streams.awaited(held, run, live, cancel=body.on_disconnect == "cancel")


@routes.route("POST", "/runs/stream", body=RunCreateBody, refusals=REFUSALS, media="text/event-stream")
def stream_stateless(call: Call, body: RunCreate) -> Response:
    """Start a run without a thread and stream its events."""
    with streams.holding(call) as held:
        run, live = posted(call, body)
        return streams.response(call, held, run, 0, None, live=live, cancel=body.on_disconnect == "cancel")


@routes.route("POST", "/runs/batch", body=[RunCreateBody], answer=[RunAnswer], refusals=REFUSALS,
              example=examples.BATCH)  # fmt: skip
def create_batch(call: Call, body: list[RunCreate]) -> Any:
    """Start runs without a thread in the background, all or none of them."""
    requests = [stateless(call, one, number) for number, one in enumerate(body)]
    return [run_json(run) for run, _ in call.gateway.runs.post_stateless(call.owner, requests)]


@routes.route("GET", RUN, answer=RunAnswer, refusals=UNKEPT)
def get_run_by_id(call: Call, run_id: str) -> Any:
    """Give a run by its id alone; one without a thread is known until it ends."""
    return run_json(call.gateway.runs.owned(call.owner, run_id))


@routes.route("GET", RUN + "/join", query=RejoinQuery, answer={"type": "object"}, refusals=(*UNKEPT, 503))
def join_run_by_id(call: Call, run_id: str, query: Rejoin) -> Response:
    """Wait for a run and give its final values."""
    run = call.gateway.runs.owned(call.owner, run_id)
    with streams.holding(call) as held:
        return streams.awaited(held, run, call.gateway.runs.live(run), cancel=bool(query.cancel_on_disconnect))


@routes.route("GET", RUN + "/stream", query=RejoinQuery, refusals=(*UNKEPT, 503), media="text/event-stream")
def rejoin_run_by_id(call: Call, run_id: str, query: Rejoin) -> Response:
    """Take a stream up again after `Last-Event-ID`; absent, -1 and 0 are from the first event."""
    run = call.gateway.runs.owned(call.owner, run_id)
    after = streams.cursor(call.request.headers.get("Last-Event-ID"))
    with streams.holding(call) as held:
        return streams.response(call, held, run, after, query.stream_mode, cancel=bool(query.cancel_on_disconnect))


@routes.route("POST", RUN + "/cancel", query=CancelQuery, status=202, refusals=(*UNKEPT, 503))
def cancel_run_by_id(call: Call, run_id: str, query: Cancelling) -> Any:
    """Ask a run to stop; with `wait` the answer comes when it has ended, else at once (202)."""
    return cancelled(call, call.gateway.runs.owned(call.owner, run_id).thread_id, run_id, query)
