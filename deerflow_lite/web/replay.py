"""The verbs that give another answer or ask another question: prepared for a run, or in one step."""

from contextlib import nullcontext
from typing import Any

from deerflow_lite.lifecycle.replay import Replay
from deerflow_lite.runs.model import RunRequest
from deerflow_lite.web import replay_examples as examples
from deerflow_lite.web import streams
from deerflow_lite.web.contract import Call, Routes
from deerflow_lite.web.repeats import repeat_of
from deerflow_lite.web.runs import RUNS, run_json
from deerflow_lite.web.schemas.replay import (
    Edit,
    EditBody,
    EditRun,
    EditRunBody,
    PreparedAnswer,
    Regenerate,
    RegenerateBody,
    RegenerateRun,
    RegenerateRunBody,
    Started,
)
from deerflow_lite.web.schemas.runs import RunAnswer

routes = Routes("Replay", "Another answer, or another question, in place of one that stands; both are kept")


def prepared(thread_id: str, replay: Replay) -> dict[str, Any]:
    """Give what to post as a run."""
    answer = {
        "input": {"messages": replay.messages},
        "checkpoint": {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": replay.checkpoint_id},
        "metadata": replay.metadata(),
        "target_run_id": replay.target,
        "head_checkpoint_id": replay.head,
    }
    if replay.replacement_id is None:
        return answer
    return answer | {
        "replacement_human_message_id": replay.replacement_id,
        "source_message_ids": list(replay.source_ids),
    }


@routes.route("POST", RUNS + "/regenerate/prepare", body=RegenerateBody, answer=PreparedAnswer, refusals=(404, 409))
def prepare_regenerate(call: Call, thread_id: str, body: Regenerate) -> Any:
    """Say what run gives another answer; nothing is written."""
    return prepared(thread_id, call.gateway.replaying.regenerate(call.owner, thread_id, body.message_id))


@routes.route("POST", RUNS + "/edit-regenerate/prepare", body=EditBody, answer=PreparedAnswer, refusals=(404, 409),
              example=examples.EDIT)  # fmt: skip
def prepare_edit(call: Call, thread_id: str, body: Edit) -> Any:
    """Say what run answers the edited question; nothing is written."""
    replaying = call.gateway.replaying
    return prepared(thread_id, replaying.edit(call.owner, thread_id, body.human_message_id, body.replacement_text))


@routes.route("POST", RUNS + "/regenerate", body=RegenerateRunBody, answer=RunAnswer, refusals=(404, 409, 503))
def regenerate(call: Call, thread_id: str, body: RegenerateRun) -> Any:
    """Give another answer; the old one stays beside it, the head moves when the run succeeds."""
    return started(
        call, thread_id, body, lambda: call.gateway.replaying.regenerate(call.owner, thread_id, body.message_id)
    )


@routes.route("POST", RUNS + "/edit", body=EditRunBody, answer=RunAnswer, refusals=(404, 409, 503))
def edit(call: Call, thread_id: str, body: EditRun) -> Any:
    """Ask otherwise; the old question and its answer stay beside it, the head moves when the run succeeds."""
    replaying = call.gateway.replaying
    return started(
        call, thread_id, body,
        lambda: replaying.edit(call.owner, thread_id, body.human_message_id, body.replacement_text),
    )  # fmt: skip


def started(call: Call, thread_id: str, body: Started, prepare: Any) -> Any:
    """Prepare and post under the thread's seat; a thread with a run in flight is refused."""
    with streams.holding(call) if body.stream else nullcontext() as held:
        run, live = call.gateway.runs.replay(
            call.owner, thread_id, lambda: request_of(call, thread_id, body, prepare()), repeat_of(call)
        )
        if held is None:
            return run_json(run), 200, {"Content-Location": streams.place(run)}
        return streams.response(call, held, run, 0, None, live=live, cancel=False)


def request_of(call: Call, thread_id: str, body: Started, replay: Replay) -> RunRequest:
    """Give the run that carries a replay out, on the thread's own graph."""
    thread = call.gateway.threads.get(call.owner, thread_id)
    assistant = call.gateway.graphs.assistant(call.gateway.states.graph_id(thread))
    config = {name: value for name, value in (body.config or {}).items() if value is not None}
    return RunRequest(
        assistant_id=assistant.assistant_id,
        graph_id=assistant.graph_id,
        input={"messages": replay.messages},
        config=config,
        context=body.context or {},
        metadata={**(body.metadata or {}), **replay.metadata()},
        stream_mode=body.stream_mode or ("values",),
        strategy="reject",
        checkpoint_id=replay.checkpoint_id,
    )
