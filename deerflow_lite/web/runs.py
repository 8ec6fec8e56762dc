"""The verbs on runs: each asks the desk of runs and shapes its answer; it executes nothing."""

from dataclasses import replace
from typing import Any

import orjson
from flask import Response

from deerflow_lite.errors import Invalid
from deerflow_lite.runs.events import Live
from deerflow_lite.runs.model import ACTIVE, Run, RunRequest
from deerflow_lite.web import run_examples as examples
from deerflow_lite.web import streams
from deerflow_lite.web.contract import Call, Routes
from deerflow_lite.web.repeats import repeat_of
from deerflow_lite.web.schemas.runs import (
    KEYS,
    Action,
    ActionQuery,
    Cancelling,
    CancelQuery,
    Chosen,
    ChosenBody,
    Rejoin,
    RejoinQuery,
    RunAnswer,
    RunCreate,
    RunCreateBody,
    RunsPage,
    RunsQuery,
)

routes = Routes("Runs", "Executions of a graph on a thread")
RUNS = "/threads/<thread_id>/runs"
RUN = RUNS + "/<run_id>"
UNENDED = {"pending": ("pending",), "running": ("running",), "all": ACTIVE}
UNKEPT = (404,)
REFUSALS = (400, 404, 409, 503)


def request_of(call: Call, body: RunCreate) -> RunRequest:
    """Give the domain's request for a body; raises Invalid, AssistantUnknown."""
    if body.command is not None and body.input is not None:
        raise Invalid({"command": ["must not stand beside an input"]})
    place = body.checkpoint or {}
    assistant = call.gateway.graphs.assistant(body.assistant_id)
    config = {name: value for name, value in (body.config or {}).items() if value is not None}
    return RunRequest(
        assistant_id=assistant.assistant_id,
        graph_id=assistant.graph_id,
        input=body.input,
        command=body.command,
        config=config,
        context=body.context or {},
        metadata=body.metadata or {},
        stream_mode=body.stream_mode or ("values",),
        subgraphs=bool(body.stream_subgraphs),
        interrupt_before=body.interrupt_before,
        interrupt_after=body.interrupt_after,
        durability=body.durability or ("exit" if body.checkpoint_during is False else "async"),
        strategy=body.multitask_strategy or "enqueue",
        checkpoint_id=place.get("checkpoint_id") or body.checkpoint_id,
        checkpoint_ns=place.get("checkpoint_ns") or "",
        after_seconds=body.after_seconds or 0,
    )


def posted(call: Call, thread_id: str, body: RunCreate) -> tuple[Run, Live]:
    """Take the run in."""
    create, request = body.if_not_exists == "create", replace(request_of(call, body), repeat=repeat_of(call))
    return call.gateway.runs.post(call.owner, thread_id, request, create=create)


def run_json(run: Run) -> dict[str, Any]:
    """Give a run as LangGraph's server answers it."""
    return {
        "run_id": run.run_id,
        "thread_id": run.thread_id,
        "assistant_id": run.assistant_id,
        "metadata": orjson.Fragment(run.metadata),
        "status": run.status,
        "kwargs": orjson.Fragment(run.kwargs),
        "multitask_strategy": run.strategy,
        "created_at": run.created_at,
        "updated_at": run.updated_at,
        "error": None if run.error is None else orjson.Fragment(run.error),
    }


@routes.route("POST", RUNS, body=RunCreateBody, answer=RunAnswer, refusals=REFUSALS, example=examples.RUN)
def create_run(call: Call, thread_id: str, body: RunCreate) -> Any:
    """Start a run in the background."""
    run, _ = posted(call, thread_id, body)
    return run_json(run), 200, {"Content-Location": streams.place(run)}


@routes.route("POST", RUNS + "/stream", body=RunCreateBody, refusals=REFUSALS, media="text/event-stream")
def stream_run(call: Call, thread_id: str, body: RunCreate) -> Response:
    """Start a run and stream its events; the stream can be taken up again after any event id."""
    with streams.holding(call) as held:
        run, live = posted(call, thread_id, body)
        return streams.response(call, held, run, 0, None, live=live, cancel=body.on_disconnect == "cancel")


@routes.route("POST", RUNS + "/wait", body=RunCreateBody, answer={"type": "object"}, refusals=REFUSALS,
              example=examples.WAIT)  # fmt: skip
def wait_run(call: Call, thread_id: str, body: RunCreate) -> Response:
    """Start a run and give its final values, or `{"__error__": ...}`."""
    with streams.holding(call) as held:
        run, live = posted(call, thread_id, body)
        return streams.awaited(held, run, live, cancel=body.on_disconnect == "cancel")


@routes.route("GET", RUNS, query=RunsQuery, answer=[RunAnswer], refusals=(404,), example=examples.RUNS)
def list_runs(call: Call, thread_id: str, query: RunsPage) -> Any:
    """List a thread's runs, newest first."""
    runs, total = call.gateway.runs.listed(call.owner, thread_id, query.status, query.limit, query.offset)
    wanted = query.select or KEYS
    headers = {"X-Pagination-Total": str(total)}
    if query.offset + len(runs) < total:
        headers["X-Pagination-Next"] = str(query.offset + len(runs))
    return [{key: value for key, value in run_json(run).items() if key in wanted} for run in runs], 200, headers


@routes.route("GET", RUN, answer=RunAnswer, refusals=(404,))
def get_run(call: Call, thread_id: str, run_id: str) -> Any:
    """Give one run."""
    return run_json(call.gateway.runs.get(call.owner, thread_id, run_id))


@routes.route("DELETE", RUN, status=204, refusals=(404, 409))
def delete_run(call: Call, thread_id: str, run_id: str) -> None:
    """Delete a run that has ended or is not due yet, with its log; its checkpoints stay."""
    call.gateway.runs.delete(call.owner, thread_id, run_id)


@routes.route("POST", RUN + "/cancel", query=CancelQuery, status=202, refusals=(404, 503))
def cancel_run(call: Call, thread_id: str, run_id: str, query: Cancelling) -> Any:
    """Ask a run to stop; with `wait` the answer comes when it has ended, else at once (202)."""
    return cancelled(call, thread_id, run_id, query)


def cancelled(call: Call, thread_id: str, run_id: str, query: Cancelling) -> Any:
    """Cancel a run and answer at once, or when it has ended."""
    rollback = query.action == "rollback"
    if not query.wait:
        call.gateway.runs.cancel(call.owner, thread_id, run_id, rollback=rollback)
        return None, 202, {}
    with streams.holding(call) as held:
        run = call.gateway.runs.cancel(call.owner, thread_id, run_id, rollback=rollback)
        if run.status in ACTIVE:
            return streams.ended(call, held, run)
        held.release()
        return None, 202, {}


@routes.route("POST", "/runs/cancel", body=ChosenBody, query=ActionQuery, status=204, refusals=(404,))
def cancel_runs(call: Call, body: Chosen, query: Action) -> None:
    """Ask some runs of a thread to stop, or all that are pending, running or either; an unknown one stops none."""
    rollback = query.action == "rollback"
    if body.status is None:
        call.gateway.runs.cancel_chosen(call.owner, body.thread_id or "", body.run_ids or (), rollback=rollback)
    else:
        call.gateway.runs.cancel_every(call.owner, UNENDED[body.status], rollback=rollback)


@routes.route("GET", RUN + "/join", query=RejoinQuery, answer={"type": "object"}, refusals=(404, 409, 503))
def join_run(call: Call, thread_id: str, run_id: str, query: Rejoin) -> Response:
    """Wait for a run and give its final values."""
    run = call.gateway.runs.get(call.owner, thread_id, run_id)
    with streams.holding(call) as held:
        live = call.gateway.runs.live(run)
        return streams.awaited(held, run, live, cancel=bool(query.cancel_on_disconnect))


@routes.route("GET", RUN + "/stream", query=RejoinQuery, refusals=(404, 503), media="text/event-stream")
def rejoin_run(call: Call, thread_id: str, run_id: str, query: Rejoin) -> Response:
    """Take a stream up again after `Last-Event-ID`; absent, -1 and 0 are from the first event."""
    run = call.gateway.runs.get(call.owner, thread_id, run_id)
    after = streams.cursor(call.request.headers.get("Last-Event-ID"))
    with streams.holding(call) as held:
        return streams.response(call, held, run, after, query.stream_mode, cancel=bool(query.cancel_on_disconnect))
